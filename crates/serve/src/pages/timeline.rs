//! A run's events in order, filtered.

use std::collections::BTreeSet;
use std::sync::Arc;

use retold::content::Content;
use retold::decide::last_resort;
use retold::escaping::{excerpt, printable};
use retold::event::{Event, kind_in_words};
use retold::id::{CallPath, Seq};
use retold::log::{EventFilter, MOMENTS, NAME_AND_VALUE, each_event_at, moment, name_and_value};
use serde::Serialize;

use super::outcome::{Outcome, status};
use super::row::{ListedEvent, row};
use super::{PageReply, RunPageRequest};
use crate::error::PageError;
use crate::event_columns::EventColumns;
use crate::event_set::EventSet;
use crate::job::JobState;
use crate::query::Query;
use retold_archive::search::{around, terms};

/// Events on one page.
const MOST: usize = 100;

/// The most entries of a list of models or methods to choose from.
const MOST_CHOICES: usize = 60;

/// The keys of its query, and of the queries of its parts: the table's file, and the events that are added.
pub(super) const KEYS: &[&str] = &[
    "kind", "call", "label", "method", "model", "status", "failed", "since", "q", "by", "sort",
    "skip", "window", "after", "before", "so_far",
];

#[derive(Serialize)]
struct Timeline {
    #[serde(flatten)]
    outcome: Outcome,
    rows: Vec<ListedEvent>,
    /// How many events the filter lists; `None` if the run is still being read.
    matching: Option<u64>,
    /// The filter as it was given.
    filter: GivenFilter,
    is_filtered: bool,
    /// Labels of the filter that are not among the facets; an empty one if there may be some.
    other_labels: Vec<String>,
    /// The parts of the query that the form keeps and does not show.
    kept: Vec<(&'static str, String)>,
    /// While the words are being indexed: how many events are.
    indexed: Option<u64>,
    /// The queries for other pages.
    first: Option<String>,
    previous: Option<String>,
    next: Option<String>,
    last: Option<String>,
    /// The choices of the form.
    kinds: Vec<FilterChoice>,
    methods: Vec<FilterChoice>,
    models: Vec<FilterChoice>,
    failed: u64,
    /// How often somebody looked at what came out before the run had ended, as far as it is recorded.
    looks: u64,
    /// The methods of decisions for which nothing was found in the answer.
    last_resorts: Vec<FilterChoice>,
    totals: Totals,
    /// Where events come from as they are added; `None` if no more can come, or not here.
    live: Option<String>,
    /// How many events were read for filters.
    read: u64,
}

/// The filter as it was given.
#[derive(Serialize)]
struct GivenFilter {
    kinds: Vec<String>,
    call: Option<String>,
    labels: Vec<String>,
    method: Option<String>,
    model: Option<String>,
    failed: bool,
    /// Only events from this time on, as it was written.
    since: Option<String>,
    /// The words that prompts or answers have.
    q: Option<String>,
}

/// A value to choose, and how many events have it.
#[derive(Serialize)]
struct FilterChoice {
    value: String,
    label: String,
    count: u64,
    chosen: bool,
    /// The query that chooses it, or that no longer does.
    query: String,
}

/// Sums over the run.
#[derive(Serialize)]
struct Totals {
    questions: u64,
    /// Questions whose last attempt failed.
    failed: u64,
    /// The cost at list prices, as far as it is known, and whether it is known of all answers.
    dollars: Option<f64>,
    is_whole_cost: bool,
    /// The day on which the prices were taken, if their file says it.
    prices_taken: Option<String>,
    answers: u64,
    /// How many of the answers were recorded before, in this run or another.
    reused: u64,
    decisions: u64,
    facts: u64,
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
    milliseconds: Option<i64>,
}

/// The filter in a query: the same as the options of `retold log`.
pub(super) fn filter(query: &Query) -> Result<EventFilter, PageError> {
    let call = query.text("call")?.map(|call| {
        let call = call.trim_matches('/');
        CallPath::new(call).map_err(|error| PageError::BadRequest(error.to_string()))
    });
    let since = query.text("since")?.map(|since| {
        let wrong = || PageError::BadRequest(format!("since={}: {MOMENTS}", printable(&since, 60)));
        moment(&since).ok_or_else(wrong)
    });
    let labels = query.all("label").into_iter().map(|label| {
        let wrong =
            || PageError::BadRequest(format!("label={}: {NAME_AND_VALUE}", printable(&label, 60)));
        name_and_value(label.trim()).ok_or_else(wrong)
    });
    Ok(EventFilter {
        labels: labels.collect::<Result<_, _>>()?,
        kinds: query.all("kind"),
        call: call.transpose()?,
        method: query.text("method")?,
        model: query.text("model")?,
        failed: query.get("failed").is_some(),
        since: since.transpose()?,
    })
}

pub(super) fn page(mut of: RunPageRequest<'_>) -> Result<PageReply, PageError> {
    let query = &of.asked.query.clone();
    let filter = filter(query)?;
    let q = query.text("q")?;
    let WordHits { found: hits, indexed } = of.hits(query)?;
    let status = status(query)?;
    let is_on = filter.is_on() || q.is_some() || status.is_some();
    let untrusted = of.asked.site.first_untrusted(&of.head);
    let jobs = of.outcome_jobs();
    let is_complete = jobs.is_complete;
    let slot = of.asked.site.roll(&of.head);
    let is_read = slot.is_read(&of.head);
    let roll = slot.roll();
    let outcome = of.outcome(&roll, &filter, hits.as_deref(), jobs)?;
    let chooses_calls = filter.chooses_calls() || status.is_some();
    let belonging = chooses_calls.then(|| roll.belonging(&filter, status));
    let only = EventSet::of(belonging, hits.as_deref());
    let only = only.as_ref();
    let end = of.head.head.seq.max(roll.end());
    let after = query.parse::<u64>("after")?;
    let can_grow = of.asked.site.source.path().is_some() && of.info.can_grow() && q.is_none();
    // A run that is being recorded opens on its newest events, where it is followed.
    let is_followed = can_grow && after.is_none() && untrusted.is_none();
    let before = query.parse::<u64>("before")?;
    let before = before.or(is_followed.then(|| end.0 + 1));
    // One more than is shown says whether there are more.
    let places = match (after, before) {
        // Without a filter, the places of events are known, however far the run was read.
        _ if !is_on => {
            let (from, to) = match (after, before) {
                (_, Some(before)) => {
                    (before.saturating_sub(MOST as u64 + 1), before.saturating_sub(1))
                }
                (after, None) => {
                    let after = after.unwrap_or(0);
                    (after, after.saturating_add(MOST as u64))
                }
            };
            (from + 1..=to.min(end.0)).map(Seq).collect()
        }
        (_, Some(before)) => roll.list(&filter, only, 0, before.saturating_sub(1), MOST, true),
        (after, None) => roll.list(&filter, only, after.unwrap_or(0), u64::MAX, MOST, false),
    };
    let mut rows = Vec::with_capacity(places.len());
    let run = of.head.run;
    let read = each_event_at::<retold::log::LogError>(of.reader.as_mut(), run, &places, |event| {
        rows.push(row(run, &event, untrusted));
        Ok(())
    });
    // The events that were read before the damage are shown; the notice says the rest.
    if let Err(error) = read
        && untrusted.is_none()
    {
        return Err(error.into());
    }
    if let Some(q) = &q {
        let terms = terms(q);
        for row in &mut rows {
            if let Some(text) = of.text_of(Seq(row.seq))? {
                row.text = excerpt(around(&text, &terms, 400), 260);
            }
        }
    }
    let (first_shown, last_shown) = match (places.first(), places.last()) {
        (Some(first), Some(last)) => (first.0, last.0),
        _ => (after.unwrap_or(0) + 1, after.unwrap_or(0)),
    };
    let has_before = match is_on {
        true => !roll.list(&filter, only, 0, first_shown.saturating_sub(1), 1, true).is_empty(),
        false => first_shown > 1,
    };
    let has_after = match is_on {
        true => !roll.list(&filter, only, last_shown, u64::MAX, 1, false).is_empty(),
        false => last_shown < end.0,
    };
    let to = |key: &str, at: u64| {
        let at = at.to_string();
        let other = if key == "after" { "before" } else { "after" };
        query.with(&[(key, Some(&at)), (other, None)])
    };
    let counts = &roll.counts;
    let count = |kind: &str| counts.kinds.get(kind).copied().unwrap_or(0);
    let choices = |all: &std::collections::BTreeMap<String, u64>, key: &str, chosen: &[String]| {
        let mut choices: Vec<FilterChoice> = all
            .iter()
            .map(|(value, count)| {
                let chosen = chosen.contains(value);
                let set = if chosen { None } else { Some(value.as_str()) };
                let query = query.with(&[(key, set), ("after", None), ("before", None)]);
                let label = if key == "kind" { kind_in_words(value) } else { value };
                let label = printable(label, 60);
                FilterChoice { value: value.clone(), label, count: *count, chosen, query }
            })
            .collect();
        choices.sort_by_key(|choice| (!choice.chosen, std::cmp::Reverse(choice.count)));
        choices.truncate(MOST_CHOICES);
        choices
    };
    let last_resorts = of.last_resorts(&roll, query)?;
    let (dollars, is_whole_cost) = roll.questions.cost();
    let prices_taken = of.asked.site.prices.taken().map(str::to_owned);
    let list = |one: &Option<String>| one.iter().cloned().collect::<Vec<String>>();
    let times = roll.times();
    let live = (can_grow && !has_after).then(|| {
        let path = of.href("/live");
        format!("{path}{}", to("after", last_shown))
    });
    let is_facet = |label: &String| {
        let name = label.split_once('=').map_or("", |(name, _)| name);
        outcome.facets.iter().any(|facet| facet.key == "label" && facet.name == name)
    };
    let mut other_labels = query.all("label");
    other_labels.retain(|label| !is_facet(label));
    let is_facet = |name: &str| is_facet(&format!("{name}="));
    if other_labels.is_empty() && roll.labels().any(|(name, ..)| !is_facet(name)) {
        other_labels.push(String::new());
    }
    let keep = |key: &'static str| query.all(key).into_iter().map(move |value| (key, value));
    let data = Timeline {
        other_labels,
        kept: ["kind", "by", "sort"].into_iter().flat_map(keep).collect(),
        outcome,
        matching: (is_read && indexed.is_none()).then(|| roll.count(&filter, only)),
        is_filtered: is_on,
        indexed,
        first: has_before.then(|| query.with(&[("after", None), ("before", None)])),
        previous: has_before.then(|| to("before", first_shown)),
        next: has_after.then(|| to("after", last_shown)),
        last: has_after.then(|| to("before", end.0 + 1)),
        kinds: choices(&counts.kinds, "kind", &filter.kinds),
        methods: choices(&counts.methods, "method", &list(&filter.method)),
        models: choices(&counts.models, "model", &list(&filter.model)),
        failed: count("AttemptFailed"),
        looks: count("LookedAt"),
        last_resorts,
        totals: Totals {
            questions: count("RequestSent"),
            failed: roll.questions.failures(),
            dollars,
            is_whole_cost,
            prices_taken,
            answers: count("ResponseReceived") + count("AnswerReused"),
            reused: count("AnswerReused"),
            decisions: count("DecisionMade"),
            facts: count("Occurred"),
            prompt_tokens: counts.tokens_in,
            completion_tokens: counts.tokens_out,
            milliseconds: times.map(|(first, last)| last.0 - first.0),
        },
        live,
        read: roll.end().0,
        filter: GivenFilter {
            kinds: filter.kinds,
            call: filter.call.map(|call| call.to_string()),
            labels: query.all("label"),
            method: filter.method,
            model: filter.model,
            failed: filter.failed,
            since: query.text("since")?,
            q: q.clone(),
        },
        rows,
    };
    drop(roll);
    // Without a filter, the rows are complete, but not the counts above them.
    let unfinished = !is_read || !is_complete || data.indexed.is_some();
    let title = format!("{} {}", of.info.experiment, of.info.short);
    of.page("timeline", title, unfinished, data)
}

/// The events with the words of a query; while the run is being indexed, how many events are.
pub(super) struct WordHits {
    /// `None` without words.
    pub(super) found: Option<Arc<BTreeSet<Seq>>>,
    pub(super) indexed: Option<u64>,
}

impl RunPageRequest<'_> {
    /// The methods of decisions for which a parser found nothing, as the first decision by each says.
    fn last_resorts(
        &mut self,
        roll: &EventColumns,
        query: &Query,
    ) -> Result<Vec<FilterChoice>, PageError> {
        let mut found = Vec::new();
        for (method, count) in roll.counts.methods.iter().take(MOST_CHOICES) {
            let by = EventFilter { method: Some(method.clone()), ..EventFilter::default() };
            let Some(first) = roll.list(&by, None, 0, u64::MAX, 1, false).first().copied() else {
                continue;
            };
            let Ok(Event::DecisionMade(made)) = self.event(first)?.event() else { continue };
            let parsers = self.asked.site.studies.parsers();
            if last_resort(&made.by.parser, parsers) == Some(method) {
                let query =
                    query.with(&[("method", Some(method)), ("after", None), ("before", None)]);
                let decision = made.by.name.as_deref().or(made.by.parser["name"].as_str());
                let label = printable(decision.unwrap_or(method), 60);
                let value = method.clone();
                found.push(FilterChoice { value, label, count: *count, chosen: false, query });
            }
        }
        Ok(found)
    }

    /// The events with the words of a query.
    pub(super) fn hits(&self, query: &Query) -> Result<WordHits, PageError> {
        let Some(q) = query.text("q")? else { return Ok(WordHits { found: None, indexed: None }) };
        match self.asked.site.hits(&self.head, &q)? {
            JobState::Done(hits) => Ok(WordHits { found: Some(hits), indexed: None }),
            JobState::Running(done) => {
                Ok(WordHits { found: Some(Arc::default()), indexed: Some(done) })
            }
            JobState::Failed(why) => Err(PageError::NotFound(why.to_string())),
        }
    }

    /// The text of a question or answer that is searched.
    fn text_of(&mut self, seq: Seq) -> Result<Option<String>, PageError> {
        let stored = self.event(seq)?;
        Ok(match (stored.event(), &stored.content) {
            (Ok(Event::RequestSent(sent)), _) => {
                let messages = self.reader.request(sent.prompt)?.map(|request| request.messages());
                let texts = messages.into_iter().flatten().map(|(_, text)| text);
                Some(texts.collect::<Vec<_>>().join("\n"))
            }
            (_, Some(Content::Text(text))) => Some(text.to_string()),
            _ => None,
        })
    }
}
