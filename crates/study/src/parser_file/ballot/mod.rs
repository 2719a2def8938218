//! Several options at once: those that apply, a ranking, or points for each.
//!
//! A ballot is read as a whole, or not at all: what may be one more option, another order or other points
//! leaves nothing, with a warning.

mod json;
mod points;
mod ranking;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use serde_json::{Map, Value};

use super::candidate::Candidate;
use super::doubt::ReadingDoubt;
use super::fields::{CountFields, LetterCase, StrategyFields};
use super::options::{OptionMention, Options};
use super::searched::{Place, SearchedText};
use super::shape::number_value;
use crate::config::ConfigProblem;

/// What a ballot says of its options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BallotKind {
    /// They apply.
    Choices,
    /// Their order.
    Ranking,
    /// A number for each.
    Points,
}

/// Some options, of which an answer has several.
pub(super) struct Ballot {
    kind: BallotKind,
    options: Options,
    count: Option<CountFields>,
}

impl BallotKind {
    /// Its key in a strategy.
    pub(super) fn key(self) -> &'static str {
        match self {
            BallotKind::Choices => "choices",
            BallotKind::Ranking => "ranking",
            BallotKind::Points => "points",
        }
    }

    /// The kind of ballot that a strategy asks for, with its options.
    pub(super) fn of(fields: &StrategyFields) -> impl Iterator<Item = (Self, &[String])> {
        let StrategyFields { choices, ranking, points, .. } = fields;
        let all = [
            (BallotKind::Choices, choices),
            (BallotKind::Ranking, ranking),
            (BallotKind::Points, points),
        ];
        all.into_iter().filter_map(|(kind, options)| Some((kind, options.as_deref()?)))
    }
}

impl Ballot {
    pub(super) fn new(
        kind: BallotKind,
        options: &[String],
        case: Option<LetterCase>,
        count: Option<CountFields>,
        key: &str,
    ) -> Result<Self, ConfigProblem> {
        let made = Options::new(options, case, &format!("{key}.{}", kind.key()))?;
        if let Some(count) = &count {
            count.check(options.len(), &format!("{key}.count"))?;
        }
        Ok(Ballot { kind, options: made, count })
    }

    /// The ballot of each place of a text.
    pub(super) fn in_places(&self, text: &str, places: &[Place]) -> Vec<Option<Candidate>> {
        let read = self.read_each(text, places, |mentions| mentions);
        read.into_iter().map(|read| self.candidate(read)).collect()
    }

    /// The one ballot that all places of a text have together.
    pub(super) fn in_all_places(&self, text: &str, places: &[Place]) -> Option<Candidate> {
        let together = |of_places: Vec<Vec<OptionMention>>| match self.kind {
            BallotKind::Choices | BallotKind::Ranking => {
                vec![of_places.into_iter().flatten().collect()]
            }
            // Each place has its own numbers.
            BallotKind::Points => of_places,
        };
        let mut all = BTreeMap::new();
        for read in self.read_each(text, places, together) {
            match read {
                Ok(Some(BallotValue::Pointed(points))) => {
                    for (option, points) in points {
                        let known = *all.entry(option).or_insert(points);
                        if known != points {
                            let doubt = points::doubt(self.options.text(option), known, points);
                            return self.candidate(Err(doubt));
                        }
                    }
                }
                Ok(None) => {}
                read => return self.candidate(read),
            }
        }
        self.candidate(Ok((!all.is_empty()).then_some(BallotValue::Pointed(all))))
    }

    /// Reads the ballots of places, after the options that they mention were put together.
    fn read_each(
        &self,
        text: &str,
        places: &[Place],
        together: impl FnOnce(Vec<Vec<OptionMention>>) -> Vec<Vec<OptionMention>>,
    ) -> Vec<Result<Option<BallotValue>, ReadingDoubt>> {
        let searched = SearchedText::new(text, places);
        let text = &*searched.plain.text;
        let cuts = points::cuts(text, &self.options, &searched.cuts);
        let mentions = self.options.mentions(text, &cuts);
        let of_places = searched.in_each_place(&mentions, |mention| &mention.at);
        let of_places = together(of_places.map(<[OptionMention]>::to_vec).collect());
        let read = |(mentions, place): (Vec<OptionMention>, Range<usize>)| {
            self.in_place(text, &cuts, &mentions, place)
        };
        of_places.into_iter().zip(searched.ranges()).map(read).collect()
    }

    /// The ballot of a text in which these options are mentioned.
    fn in_place(
        &self,
        text: &str,
        cuts: &[usize],
        mentions: &[OptionMention],
        place: Range<usize>,
    ) -> Result<Option<BallotValue>, ReadingDoubt> {
        let certain: BTreeSet<usize> =
            mentions.iter().filter(|it| it.doubt.is_none()).map(|it| it.option).collect();
        let mut in_doubt = mentions.iter().filter(|mention| !certain.contains(&mention.option));
        if let Some(doubt) = in_doubt.find_map(|mention| mention.doubt.clone()) {
            return Err(doubt);
        }
        if certain.is_empty() {
            return Ok(None);
        }
        let mentions: Vec<&OptionMention> =
            mentions.iter().filter(|mention| mention.doubt.is_none()).collect();
        Ok(match self.kind {
            BallotKind::Choices => Some(BallotValue::Chosen(certain)),
            BallotKind::Ranking => Some(BallotValue::Ranked(ranking::read(text, &mentions)?)),
            BallotKind::Points => {
                let given = points::read(text, cuts, &mentions, place, &self.options)?;
                (!given.is_empty()).then_some(BallotValue::Pointed(given))
            }
        })
    }

    /// What may be the ballot in a JSON value.
    pub(super) fn in_json(&self, value: &Value) -> Option<Candidate> {
        if let Value::String(text) = value {
            return self.in_places(text, &[Place::of(0..text.len())]).pop().flatten();
        }
        json::read(value, self.kind, &self.options).and_then(|read| self.candidate(read.map(Some)))
    }

    /// A ballot as a candidate, if it has as many options as it should.
    fn candidate(&self, read: Result<Option<BallotValue>, ReadingDoubt>) -> Option<Candidate> {
        let ballot = match read {
            Ok(ballot) => ballot?,
            Err(doubt) => return Some(Candidate::Doubtful(doubt)),
        };
        let found = ballot.len();
        if let Some(count) = self.count.filter(|count| !count.has(found)) {
            return Some(Candidate::Doubtful(ReadingDoubt::Count(found, count.to_string())));
        }
        let name = |option: usize| Value::from(self.options.text(option));
        Some(Candidate::Certain(match ballot {
            BallotValue::Chosen(options) => options.into_iter().map(name).collect(),
            BallotValue::Ranked(options) => options.into_iter().map(name).collect(),
            BallotValue::Pointed(points) => {
                let of =
                    |(option, points)| (self.options.text(option).to_owned(), number_value(points));
                Value::Object(points.into_iter().map(of).collect::<Map<_, _>>())
            }
        }))
    }
}

/// A ballot, with the numbers of its options.
enum BallotValue {
    Chosen(BTreeSet<usize>),
    Ranked(Vec<usize>),
    Pointed(BTreeMap<usize, f64>),
}

impl BallotValue {
    /// How many options it chooses, ranks or gives points to.
    fn len(&self) -> usize {
        match self {
            BallotValue::Chosen(options) => options.len(),
            BallotValue::Ranked(options) => options.len(),
            BallotValue::Pointed(points) => points.values().filter(|it| **it > 0.0).count(),
        }
    }
}

#[cfg(test)]
mod tests;
