//! A figure of any run, as people write it down:
//!
//! ```text
//! share of vote = yes by condition against control
//! share of vote by condition
//! mean of contribution by round, condition clustered by game
//! changed(before.vote, after.vote) by condition
//! mean of contribution clustered by game per cluster
//! accuracy of answer against gold by model
//! share of ballot contains library by condition
//! mean rank of library in ballot by condition
//! mean points of ballot
//! ```
//!
//! A name is that of a field of a study's own tables, of a decision, of a fact, or of a field of either. A figure is computed
//! for each group with the same labels, and compared along the label that is named last: with the baseline, if there is one.

mod ballot;
mod file;
mod grade;
mod parse;

use std::fmt;

use serde::Serialize;
use serde_json::Value;

pub use ballot::OptionQuantity;
pub(crate) use ballot::{contains, options_of};
pub use file::FiguresFile;
pub use grade::Grade;
pub(crate) use grade::is_right;
pub use parse::DefinitionError;

use crate::FigureKind;

/// A figure, as it was written down.
#[derive(Debug, Clone, PartialEq)]
pub struct FigureDefinition {
    /// The measured quantity.
    pub measure: Measure,
    /// The labels whose values are the groups.
    pub by: Vec<String>,
    /// The value of the last label with which the others are compared; `None` if the figure names none.
    pub against: Option<String>,
    /// Which draws are independent; `None` if the figure does not say.
    pub clustering: Option<Clustering>,
    /// What counts the same.
    pub per: CountedUnit,
}

/// What counts the same in a mean: a mean of the means of clusters is not the mean of all answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CountedUnit {
    /// Every answer, so that clusters count by their size.
    #[default]
    Answer,
    /// Every cluster, however many answers it has.
    Cluster,
}

/// A quantity to measure.
#[derive(Debug, Clone, PartialEq)]
pub enum Measure {
    /// How many of the values are like this.
    Share {
        /// The name of the values.
        of: String,
        /// How they are compared.
        comparison: ValueComparison,
        /// With what.
        value: String,
    },
    /// The share of each value that there is; of ballots, the share of those that contain each option.
    EachShare {
        /// The name of the values.
        of: String,
    },
    /// The mean of numbers.
    Mean {
        /// The name of the numbers.
        of: String,
    },
    /// The mean rank or the mean points of the options of ballots.
    MeanOf {
        /// The quantity.
        quantity: OptionQuantity,
        /// The option; each that there is if `None`.
        option: Option<String>,
        /// The name of the ballots.
        of: String,
    },
    /// How many participants have another value after than before.
    Changed {
        /// The name of the values before.
        before: String,
        /// The name of the values after.
        after: String,
    },
    /// How good values are whose right one is known.
    Graded {
        /// The quantity.
        grade: Grade,
        /// The name of the values.
        of: String,
        /// The label with the right one, or with a list of those that are.
        against: String,
        /// True if capital letters count like small ones.
        ignores_case: bool,
    },
}

/// How a value is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueComparison {
    /// It is the same.
    Equal,
    /// It is another.
    Unequal,
    /// It is a lesser number.
    Less,
    /// It is at most that number.
    AtMost,
    /// It is a greater number.
    Greater,
    /// It is at least that number.
    AtLeast,
    /// It is a ballot that has the option.
    Contains,
}

/// Which draws are independent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Clustering {
    /// Those of calls with different values of a label.
    By(String),
    /// All of them.
    Independent,
}

impl FigureDefinition {
    /// How the figure is read: shares of clusters may be any share, which the interval of single answers does not fit.
    pub fn kind(&self) -> FigureKind {
        match (self.measure.kind(), self.per) {
            (FigureKind::Share, CountedUnit::Cluster) => FigureKind::Proportion,
            (kind, _) => kind,
        }
    }
}

impl Measure {
    /// How the figure is read if every answer counts.
    fn kind(&self) -> FigureKind {
        match self {
            Measure::Share { .. } | Measure::EachShare { .. } | Measure::Changed { .. } => {
                FigureKind::Share
            }
            Measure::Graded { grade: Grade::Accuracy, .. } => FigureKind::Share,
            // A call may count in part.
            Measure::Graded { .. } => FigureKind::Proportion,
            Measure::Mean { .. } | Measure::MeanOf { .. } => FigureKind::Mean,
        }
    }

    /// The names of its values.
    pub fn names(&self) -> Vec<&str> {
        match self {
            Measure::Share { of, .. }
            | Measure::EachShare { of }
            | Measure::Mean { of }
            | Measure::MeanOf { of, .. }
            | Measure::Graded { of, .. } => vec![of],
            Measure::Changed { before, after } => vec![before, after],
        }
    }
}

impl ValueComparison {
    /// Whether it asks for a value, in contrast to a comparison of numbers.
    pub(crate) fn is_of_names(self) -> bool {
        use ValueComparison::{Contains, Equal, Unequal};
        matches!(self, Equal | Unequal | Contains)
    }

    const ALL: [(ValueComparison, &str); 7] = [
        (ValueComparison::Equal, "="),
        (ValueComparison::Unequal, "!="),
        (ValueComparison::Less, "<"),
        (ValueComparison::AtMost, "<="),
        (ValueComparison::Greater, ">"),
        (ValueComparison::AtLeast, ">="),
        (ValueComparison::Contains, "contains"),
    ];

    fn as_str(self) -> &'static str {
        ValueComparison::ALL.iter().find(|(it, _)| *it == self).map_or("=", |(_, text)| text)
    }

    /// Whether a recorded value compares like this with one that was written down; `None` if they cannot be compared:
    /// only numbers are less or greater.
    pub fn holds(self, recorded: &Value, written: &str) -> Option<bool> {
        if self == ValueComparison::Contains {
            return contains(recorded, written);
        }
        let number = written.parse::<f64>().ok();
        if self.is_of_names() {
            let same = match recorded {
                Value::Null => return None,
                Value::String(text) => text == written,
                Value::Number(recorded) => recorded.as_f64() == number && number.is_some(),
                Value::Bool(_) | Value::Array(_) | Value::Object(_) => {
                    let text = recorded.to_string();
                    text == written
                }
            };
            return Some(same == (self == ValueComparison::Equal));
        }
        let (recorded, number) = (recorded.as_f64()?, number?);
        Some(match self {
            ValueComparison::Less => recorded < number,
            ValueComparison::AtMost => recorded <= number,
            ValueComparison::Greater => recorded > number,
            _ => recorded >= number,
        })
    }
}

impl fmt::Display for FigureDefinition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |name: &str| parse::quote(name);
        match &self.measure {
            Measure::Share { of, comparison, value } => {
                write!(f, "share of {} {} {}", name(of), comparison.as_str(), name(value))?;
            }
            Measure::EachShare { of } => write!(f, "share of {}", name(of))?,
            Measure::Mean { of } => write!(f, "mean of {}", name(of))?,
            Measure::MeanOf { quantity, option: None, of } => {
                write!(f, "mean {quantity} of {}", name(of))?;
            }
            Measure::MeanOf { quantity, option: Some(option), of } => {
                write!(f, "mean {quantity} of {} in {}", name(option), name(of))?;
            }
            Measure::Changed { before, after } => {
                write!(f, "changed({}, {})", name(before), name(after))?;
            }
            Measure::Graded { grade, of, against, ignores_case } => {
                write!(f, "{grade} of {} against {}", name(of), name(against))?;
                f.write_str(if *ignores_case { " ignoring case" } else { "" })?;
            }
        }
        if !self.by.is_empty() {
            let by: Vec<String> = self.by.iter().map(|label| name(label)).collect();
            write!(f, " by {}", by.join(", "))?;
        }
        if let Some(baseline) = &self.against {
            write!(f, " against {}", name(baseline))?;
        }
        match &self.clustering {
            None => {}
            Some(Clustering::By(label)) => write!(f, " clustered by {}", name(label))?,
            Some(Clustering::Independent) => f.write_str(" independent")?,
        }
        match self.per {
            CountedUnit::Answer => Ok(()),
            CountedUnit::Cluster => f.write_str(" per cluster"),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_compared_as_what_they_are() {
        use ValueComparison::*;
        for (recorded, comparison, written, holds) in [
            (json!("yes"), Equal, "yes", Some(true)),
            (json!("yes"), Unequal, "no", Some(true)),
            (json!(10), Equal, "10.0", Some(true)),
            (json!(10), Equal, "ten", Some(false)),
            (json!("10"), Equal, "10", Some(true)),
            (json!(true), Equal, "true", Some(true)),
            (json!(["a"]), Equal, "[\"a\"]", Some(true)),
            (json!(null), Equal, "null", None),
            (json!(3), AtLeast, "3", Some(true)),
            (json!(3), Less, "3", Some(false)),
            (json!(3), Greater, "2", Some(true)),
            (json!(3), AtMost, "2", Some(false)),
            (json!("3"), AtMost, "2", None),
            (json!(["a", 2]), Contains, "a", Some(true)),
            (json!(["a", 2]), Contains, "2", Some(true)),
            (json!([]), Contains, "a", Some(false)),
            (json!({"a": 3, "b": 0}), Contains, "a", Some(true)),
            (json!({"a": 3, "b": 0}), Contains, "b", Some(false)),
            (json!("a"), Contains, "a", None),
            (json!(null), Contains, "a", None),
            (json!(3), AtMost, "two", None),
        ] {
            assert_eq!(comparison.holds(&recorded, written), holds, "{recorded} {written}");
        }
    }
}
