//! The facets by which a table can be narrowed down, with how many calls each choice would show.

use std::collections::BTreeSet;

use retold::id::Seq;
use retold::log::EventFilter;
use retold_figures::natural_order;
use serde::Serialize;

use super::TableSource;
use crate::question_columns::{QuestionRow, QuestionStatus};
use crate::texts::NONE;

/// The most values of a label that are offered.
const MOST: usize = 40;

/// The calls that are chosen.
#[derive(Clone, Copy)]
pub(crate) struct FacetChoices<'a> {
    pub(crate) filter: &'a EventFilter,
    pub(crate) status: Option<QuestionStatus>,
    /// Of a damaged run, the first event that cannot be trusted: calls from there on are left out.
    pub(crate) end: Option<u64>,
    /// Events with words that are looked for.
    pub(crate) hits: Option<&'a BTreeSet<Seq>>,
}

/// Something to narrow down by.
#[derive(Debug, Serialize)]
pub(crate) struct Facet {
    /// The key of the query: `label`, `model` or `status`.
    pub(crate) key: &'static str,
    /// Its name, for people.
    pub(crate) name: String,
    pub(crate) values: Vec<FacetValue>,
}

/// A choice.
#[derive(Debug, Serialize)]
pub(crate) struct FacetValue {
    /// The value in the query.
    pub(crate) value: String,
    /// The same for people.
    pub(crate) text: String,
    /// How many calls it shows.
    pub(crate) count: u64,
    pub(crate) chosen: bool,
}

/// The property of a question that a facet looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FacetOf {
    Label(u32),
    Model,
    Status,
}

/// The values of a facet, question by question.
enum FacetValues<'a> {
    Labels(&'a [u32]),
    Models,
    Statuses,
}

impl FacetValues<'_> {
    /// The value of a question: a text, or the number of a status.
    fn of(&self, at: usize, question: &QuestionRow) -> Option<u32> {
        let value = match self {
            FacetValues::Labels(values) => values.get(at).copied().unwrap_or(NONE),
            FacetValues::Models => question.model,
            FacetValues::Statuses => question.status as u32,
        };
        (value != NONE).then_some(value)
    }
}

/// How many questions have each value; `None` once there are too many values to be offered.
struct FacetCounts(Option<Vec<(u32, u64)>>);

impl FacetCounts {
    fn add(&mut self, value: u32) {
        let Some(counts) = &mut self.0 else { return };
        if let Some((_, count)) = counts.iter_mut().find(|(known, _)| *known == value) {
            *count += 1;
        } else if counts.len() < MOST {
            counts.push((value, 1));
        } else {
            self.0 = None;
        }
    }
}

impl FacetOf {
    fn values<'a>(self, source: &TableSource<'a>) -> FacetValues<'a> {
        match self {
            FacetOf::Label(name) => FacetValues::Labels(source.roll.questions.labels_of(name)),
            FacetOf::Model => FacetValues::Models,
            FacetOf::Status => FacetValues::Statuses,
        }
    }
}

/// The questions that are chosen, and the facets to narrow them down by.
pub(crate) fn facets(
    source: &TableSource<'_>,
    choices: FacetChoices<'_>,
) -> (Vec<u32>, Vec<Facet>) {
    let FacetChoices { filter, status, .. } = choices;
    let number = |text: &str| source.roll.text_number(text).unwrap_or(NONE);
    let names: Vec<u32> = source.roll.questions.label_names().collect();
    let mut chosen: Vec<(FacetOf, u32)> = Vec::new();
    for (name, value) in &filter.labels {
        chosen.push((FacetOf::Label(number(name)), number(value)));
    }
    chosen.extend(filter.model.as_deref().map(|model| (FacetOf::Model, number(model))));
    chosen.extend(status.map(|status| (FacetOf::Status, status as u32)));
    let of: Vec<FacetOf> =
        names.into_iter().map(FacetOf::Label).chain([FacetOf::Model, FacetOf::Status]).collect();
    let mut counts: Vec<FacetCounts> = of.iter().map(|_| FacetCounts(Some(Vec::new()))).collect();
    let columns: Vec<FacetValues<'_>> = of.iter().map(|of| of.values(source)).collect();
    let chosen_columns = chosen.iter().map(|(of, value)| (*of, of.values(source), *value));
    let chosen_columns: Vec<(FacetOf, FacetValues<'_>, u32)> = chosen_columns.collect();
    let mut selected = Vec::new();
    for (place, question) in source.roll.questions.rows().iter().enumerate() {
        let Ok(at) = u32::try_from(place) else { break };
        if choices.end.is_some_and(|end| u64::from(question.seq) >= end) {
            break;
        }
        if !choices.has(source, at, question) {
            continue;
        }
        let mut unmet = chosen_columns.iter().filter(|(of, values, value)| {
            let is_it = values.of(place, question) == Some(*value);
            // Either name of a model chooses it.
            let is_reported = *of == FacetOf::Model && question.reported == *value;
            !(is_it || is_reported)
        });
        // A facet counts the questions that each of its other values would show if it were chosen.
        let (first, second) = (unmet.next(), unmet.next());
        if first.is_none() {
            selected.push(at);
        }
        if second.is_some() {
            continue;
        }
        for ((facet, values), counts) in of.iter().zip(&columns).zip(&mut counts) {
            if first.is_none_or(|(unmet, ..)| unmet == facet)
                && let Some(value) = values.of(place, question)
            {
                counts.add(value);
            }
        }
    }
    let shown = of.iter().zip(counts).filter_map(|(of, counts)| {
        let facet = of.facet(source, counts.0?, &chosen);
        let is_useful = facet.values.len() > 1 || facet.values.iter().any(|value| value.chosen);
        is_useful.then_some(facet)
    });
    let shown = shown.collect();
    (selected, shown)
}

impl FacetChoices<'_> {
    /// True if a question matches the filter besides the facets.
    fn has(&self, source: &TableSource<'_>, at: u32, question: &QuestionRow) -> bool {
        let EventFilter { call, method, failed, since, .. } = self.filter;
        let is_hit = |hits: &BTreeSet<Seq>| {
            // The answer to a question comes after it, and may be the event with the words.
            let seq = Seq(question.seq.into());
            hits.contains(&seq) || question.answer().is_some_and(|answer| hits.contains(&answer))
        };
        let has_method = |method: &String| {
            let method = source.decisions.find(method);
            let mut about = source.decisions.about(usize::try_from(at).unwrap_or(usize::MAX));
            about.any(|entry| source.decisions.is_method(entry, method))
        };
        (call.is_none() || self.filter.is_call(source.roll.text(question.call)))
            && method.as_ref().is_none_or(has_method)
            && (!failed || question.failed > 0)
            && since.is_none_or(|since| question.asked_at >= since)
            && self.hits.is_none_or(is_hit)
    }
}

impl FacetOf {
    fn facet(
        self,
        source: &TableSource<'_>,
        counts: Vec<(u32, u64)>,
        chosen: &[(FacetOf, u32)],
    ) -> Facet {
        let (key, name) = match self {
            FacetOf::Label(name) => ("label", source.roll.text(name).to_owned()),
            FacetOf::Model => ("model", "model".to_owned()),
            FacetOf::Status => ("status", "status".to_owned()),
        };
        let mut values: Vec<FacetValue> = counts
            .into_iter()
            .map(|(number, count)| {
                let text = match self {
                    FacetOf::Status => {
                        let is = |status: &&QuestionStatus| **status as u32 == number;
                        QuestionStatus::ALL.iter().find(is).map_or("", |status| status.name())
                    }
                    _ => source.roll.text(number),
                };
                let value = match self {
                    FacetOf::Label(_) => format!("{name}={text}"),
                    _ => text.to_owned(),
                };
                let chosen = chosen.contains(&(self, number));
                FacetValue { value, text: text.to_owned(), count, chosen }
            })
            .collect();
        values.sort_by(|one, other| natural_order(&one.text, &other.text));
        Facet { key, name, values }
    }
}
