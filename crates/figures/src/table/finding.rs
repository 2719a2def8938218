//! What looks wrong with a figure once its values are known.

use std::collections::BTreeSet;
use std::fmt;

use retold::counted::count_of;
use retold::escaping::printable;
use serde::Serialize;
use serde_json::Value;

use super::group::GroupValue;
use super::value_name::name_of;
use crate::definition::{Measure, ValueComparison, options_of};

/// How many different values are named, and how much of each.
const MOST_NAMED: usize = 6;
const LONGEST: usize = 40;

/// What looks wrong with a figure: a value that nothing has, or a mean of texts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FigureFinding {
    /// No value is the one whose share is asked for.
    NoSuchValue {
        /// The value in the figure.
        value: String,
        /// Values that there are, in order.
        values: Vec<String>,
        /// Whether there are others.
        more: bool,
    },
    /// No group has the value with which the others were to be compared.
    NoSuchBaseline {
        /// The value in the figure.
        baseline: String,
        /// Values that there are, in order.
        values: Vec<String>,
    },
    /// A mean, or a comparison of numbers, leaves out values that are not numbers.
    NotNumbers {
        /// How many.
        values: u64,
        /// One of them.
        such_as: String,
    },
    /// Ranks, points and options are those of ballots, and values are none.
    NotBallots {
        /// How many.
        values: u64,
        /// One of them.
        such_as: String,
    },
}

impl FigureFinding {
    /// That no group has the value of a baseline, if it is so. `values` are those of the label that is compared.
    pub(super) fn of_baseline<'a>(
        baseline: &str,
        values: impl Iterator<Item = &'a GroupValue>,
    ) -> Option<Self> {
        let values: BTreeSet<&GroupValue> = values.collect();
        if values.is_empty() || values.iter().any(|value| value.text() == Some(baseline)) {
            return None;
        }
        let values = values.into_iter().take(MOST_NAMED).map(ToString::to_string).collect();
        Some(FigureFinding::NoSuchBaseline { baseline: baseline.to_owned(), values })
    }
}

impl fmt::Display for FigureFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let quoted = |value: &str| format!("\"{}\"", printable(value, LONGEST));
        match self {
            FigureFinding::NoSuchValue { value, values, more } => {
                let named: Vec<String> = values.iter().map(|value| quoted(value)).collect();
                let (are, named) = match (named.as_slice(), more) {
                    ([only], false) => ("the only value is", only.clone()),
                    (all, false) => ("the values are", all.join(", ")),
                    (all, true) => ("values are, for example,", all.join(", ")),
                };
                write!(f, "no value is {}: {are} {named}", quoted(value))
            }
            FigureFinding::NoSuchBaseline { baseline, values } => write!(
                f,
                "no group is compared with {}, because none has this value: there are {}",
                quoted(baseline),
                values.join(", ")
            ),
            FigureFinding::NotBallots { values, such_as } => {
                let (count, such_as) = (count_of(*values, "value"), quoted(such_as));
                let (are, counts) = match values {
                    1 => ("is not a ballot", "counts"),
                    _ => ("are not ballots", "count"),
                };
                write!(
                    f,
                    "{count} {are}, such as {such_as}, and {counts} as missing: `contains` and `mean rank` need lists, `mean points` needs \
                     objects of numbers"
                )
            }
            FigureFinding::NotNumbers { values, such_as } => {
                let (count, such_as) = (count_of(*values, "value"), quoted(such_as));
                let (are, counts) = match values {
                    1 => ("is not a number", "counts"),
                    _ => ("are not numbers", "count"),
                };
                write!(
                    f,
                    "{count} {are}, such as {such_as}, and {counts} as missing: means, < and > need numbers; `share of NAME = VALUE` counts texts"
                )
            }
        }
    }
}

/// The values of a figure, as far as they show if it is the figure that the user meant.
#[derive(Debug, Default)]
pub(super) struct SeenValues {
    is_matched: bool,
    texts: BTreeSet<String>,
    more: bool,
    strangers: u64,
    example: Option<String>,
}

impl SeenValues {
    /// Takes note of a value.
    pub(super) fn add(&mut self, measure: &Measure, value: &Value) {
        match measure {
            Measure::Share { comparison: ValueComparison::Contains, value: option, .. }
            | Measure::MeanOf { option: Some(option), .. } => {
                let Some(options) = options_of(value) else { return self.add_stranger(value) };
                self.is_matched |= options.contains(option);
                options.into_iter().for_each(|it| self.add_text(it));
            }
            Measure::MeanOf { quantity, option: None, .. } if quantity.each(value).is_none() => {
                self.add_stranger(value);
            }
            Measure::Share { comparison, value: written, .. } if comparison.is_of_names() => {
                // What is true or false may as well never be the other.
                let may_be = value.is_boolean() && ["true", "false"].contains(&written.as_str());
                self.is_matched |=
                    may_be || ValueComparison::Equal.holds(value, written) == Some(true);
                self.add_text(name_of(value));
            }
            Measure::Share { .. } | Measure::Mean { .. } if !value.is_number() => {
                self.add_stranger(value);
            }
            Measure::Share { .. }
            | Measure::EachShare { .. }
            | Measure::Mean { .. }
            | Measure::MeanOf { .. }
            | Measure::Graded { .. }
            | Measure::Changed { .. } => {}
        }
    }

    /// Takes note of a text that may have been meant.
    fn add_text(&mut self, text: String) {
        let has_room = self.texts.len() < MOST_NAMED || self.texts.contains(&text);
        match has_room {
            _ if self.is_matched => {}
            true => drop(self.texts.insert(text)),
            false => self.more = true,
        }
    }

    /// Takes note of a value of another type.
    fn add_stranger(&mut self, value: &Value) {
        self.strangers += 1;
        self.example.get_or_insert_with(|| name_of(value));
    }

    /// What looks wrong.
    pub(super) fn finding(self, measure: &Measure) -> Option<FigureFinding> {
        let SeenValues { is_matched, texts, more, strangers, example } = self;
        match measure {
            Measure::Share { comparison, value, .. }
                if comparison.is_of_names() && !is_matched && !texts.is_empty() =>
            {
                let (value, values) = (value.clone(), texts.into_iter().collect());
                Some(FigureFinding::NoSuchValue { value, values, more })
            }
            Measure::MeanOf { option: Some(option), .. } if !is_matched && !texts.is_empty() => {
                let (value, values) = (option.clone(), texts.into_iter().collect());
                Some(FigureFinding::NoSuchValue { value, values, more })
            }
            Measure::MeanOf { .. }
            | Measure::Share { comparison: ValueComparison::Contains, .. } => {
                example.map(|such_as| FigureFinding::NotBallots { values: strangers, such_as })
            }
            _ => example.map(|such_as| FigureFinding::NotNumbers { values: strangers, such_as }),
        }
    }
}
