//! Hypotheses in a file, as people write them down.

use std::collections::BTreeSet;
use std::path::PathBuf;

use retold::escaping::printable;
use retold_figures::{DefinitionError, FigureDefinition, FiguresFile};
use serde::{Deserialize, Serialize};

/// What a person expects of a study, in a file beside its config.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HypothesesFile {
    /// What is expected, each as a figure.
    pub hypotheses: Vec<Hypothesis>,
    /// The label by which draws are clustered where a figure does not say.
    #[serde(default)]
    pub clustered_by: Option<String>,
    /// When recording stops, in words; when the study has asked everything if not given.
    #[serde(default)]
    pub stopping: Option<String>,
    /// Which answers are left out, in words.
    #[serde(default)]
    pub exclusions: Vec<String>,
    /// Parsers that may decide besides those of the config, as `NAME@VERSION`.
    #[serde(default)]
    pub parsers: Vec<String>,
    /// The configs of the judges that will decide, as paths from this file.
    #[serde(default)]
    pub judges: Vec<PathBuf>,
    /// Models that may answer besides those of the config; of a program, those that may answer, any if there are none.
    #[serde(default)]
    pub models: Vec<String>,
    /// How many calls a program is to make. A study says that itself.
    #[serde(default)]
    pub calls: Option<u64>,
}

/// What is expected of a figure.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hypothesis {
    /// The figure, as on the command line.
    pub figure: String,
    /// The group with which the others are compared; for a figure without groups, a number.
    #[serde(default)]
    pub baseline: Option<BaselineText>,
    /// On which side of the baseline it is expected.
    #[serde(default)]
    pub direction: Direction,
}

/// A baseline, which YAML may read as a number.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum BaselineText {
    /// A number.
    Number(f64),
    /// Anything else.
    Text(String),
}

/// On which side of its baseline a figure is expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// On either side.
    #[default]
    Different,
    /// Above it.
    Greater,
    /// Below it.
    Less,
}

/// A hypothesis that was read.
#[derive(Debug, Clone, PartialEq)]
pub struct HypothesisDefinition {
    /// The figure, with its baseline if that is a group.
    pub figure: FigureDefinition,
    /// The baseline, if it is a number.
    pub number: Option<f64>,
    /// On which side of it the figure is expected.
    pub direction: Direction,
}

/// Hypotheses that cannot be registered.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HypothesesError {
    /// There are none.
    #[error("it has no hypotheses: a plan says what is expected, each as a figure")]
    Nothing,
    /// A figure cannot be read.
    #[error(transparent)]
    Definition(#[from] DefinitionError),
    /// There is nothing to be compared with a name.
    #[error(
        "figure \"{figure}\": its baseline is {baseline}, which is not a number, and the figure has no `by LABEL` whose values it could be one of"
    )]
    Baseline {
        /// The figure.
        figure: String,
        /// Its baseline.
        baseline: String,
    },
    /// A direction without anything that it is the direction from.
    #[error(
        "figure \"{figure}\": its direction is from a baseline, and it has none: add `baseline: VALUE`"
    )]
    Undirected {
        /// The figure.
        figure: String,
    },
    /// The figure itself names another baseline.
    #[error(
        "figure \"{figure}\": it has two baselines, {} and {}",
        printable(one, 60),
        printable(other, 60)
    )]
    TwoBaselines {
        /// The figure.
        figure: String,
        /// The one in the figure.
        one: String,
        /// The one beside it.
        other: String,
    },
    /// A figure comes twice.
    #[error("figure \"{figure}\" comes twice: one hypothesis of a figure is enough")]
    Twice {
        /// The figure.
        figure: String,
    },
}

impl Direction {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Direction::Different => "different",
            Direction::Greater => "greater",
            Direction::Less => "less",
        }
    }

    /// Whether a difference from the baseline is on the expected side; `None` without a side, or without a difference.
    pub fn holds(self, difference: f64) -> Option<bool> {
        match self {
            _ if difference == 0.0 => None,
            Direction::Different => None,
            Direction::Greater => Some(difference > 0.0),
            Direction::Less => Some(difference < 0.0),
        }
    }
}

impl HypothesesFile {
    /// The hypotheses.
    ///
    /// # Errors
    /// [`HypothesesError`] of the first that cannot be registered.
    pub fn definitions(&self) -> Result<Vec<HypothesisDefinition>, HypothesesError> {
        if self.hypotheses.is_empty() {
            return Err(HypothesesError::Nothing);
        }
        let figures = FiguresFile {
            figures: self.hypotheses.iter().map(|of| of.figure.clone()).collect(),
            clustered_by: self.clustered_by.clone(),
            against: None,
        };
        let mut seen = BTreeSet::new();
        let mut definitions = Vec::new();
        for (figure, of) in figures.definitions()?.into_iter().zip(&self.hypotheses) {
            let definition = of.with_baseline(figure)?;
            let figure = definition.figure.to_string();
            if !seen.insert(figure.clone()) {
                return Err(HypothesesError::Twice { figure: printable(&figure, 300) });
            }
            definitions.push(definition);
        }
        Ok(definitions)
    }
}

impl Hypothesis {
    fn with_baseline(
        &self,
        mut figure: FigureDefinition,
    ) -> Result<HypothesisDefinition, HypothesesError> {
        let direction = self.direction;
        let shown = || printable(&self.figure, 300);
        let baseline = match &self.baseline {
            None if figure.against.is_none() && direction != Direction::Different => {
                return Err(HypothesesError::Undirected { figure: shown() });
            }
            None => return Ok(HypothesisDefinition { figure, number: None, direction }),
            Some(BaselineText::Number(number)) => number.to_string(),
            Some(BaselineText::Text(text)) => text.clone(),
        };
        if figure.by.is_empty() {
            let number = baseline.parse::<f64>().ok().filter(|number| number.is_finite());
            let baseline = printable(&baseline, 60);
            return match number {
                None => Err(HypothesesError::Baseline { figure: shown(), baseline }),
                number => Ok(HypothesisDefinition { figure, number, direction }),
            };
        }
        match figure.against.replace(baseline.clone()) {
            Some(one) if one != baseline => {
                Err(HypothesesError::TwoBaselines { figure: shown(), one, other: baseline })
            }
            _ => Ok(HypothesisDefinition { figure, number: None, direction }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(hypotheses: &[(&str, Option<&str>, Direction)]) -> HypothesesFile {
        let hypothesis =
            |(figure, baseline, direction): &(&str, Option<&str>, Direction)| Hypothesis {
                figure: (*figure).to_owned(),
                baseline: baseline.map(|text| BaselineText::Text(text.to_owned())),
                direction: *direction,
            };
        HypothesesFile {
            hypotheses: hypotheses.iter().map(hypothesis).collect(),
            clustered_by: Some("pair".to_owned()),
            stopping: None,
            exclusions: Vec::new(),
            parsers: Vec::new(),
            judges: Vec::new(),
            models: Vec::new(),
            calls: None,
        }
    }

    #[test]
    fn a_baseline_is_a_group_of_a_figure_that_has_groups_and_a_number_otherwise() {
        use Direction::{Different, Greater, Less};
        let read = file(&[
            ("mean of sum by day", Some("1"), Greater),
            ("share of vote = yes", Some("0.5"), Less),
            ("mean of sum by pair against a", None, Less),
            ("mean of sum independent", None, Different),
        ]);
        let read = read.definitions().unwrap();
        let text: Vec<(String, Option<f64>)> =
            read.iter().map(|of| (of.figure.to_string(), of.number)).collect();
        let of = |text: &str, number| (text.to_owned(), number);
        assert_eq!(
            text,
            [
                of("mean of sum by day against 1 clustered by pair", None),
                of("share of vote = yes clustered by pair", Some(0.5)),
                of("mean of sum by pair against a", None),
                of("mean of sum independent", None),
            ]
        );
    }

    #[test]
    fn what_cannot_be_registered_is_named() {
        use Direction::{Different, Greater};
        let wrong = [
            file(&[]),
            file(&[("median of sum", None, Different)]),
            file(&[("share of vote = yes", Some("control"), Greater)]),
            file(&[("share of vote = yes", None, Greater)]),
            file(&[("mean of sum by day against 1", Some("2"), Greater)]),
            file(&[("mean of sum", None, Different), ("mean  of sum", None, Different)]),
        ];
        let errors = wrong.map(|file| file.definitions().unwrap_err().to_string());
        insta::assert_snapshot!(errors.join("\n"), @r#"
        it has no hypotheses: a plan says what is expected, each as a figure
        figure "median of sum", character 1: expected `share of`, `mean of`, `changed(`, `accuracy of`, `majority of` or `pass@5 of`, found `median`
        figure "share of vote = yes": its baseline is control, which is not a number, and the figure has no `by LABEL` whose values it could be one of
        figure "share of vote = yes": its direction is from a baseline, and it has none: add `baseline: VALUE`
        figure "mean of sum by day against 1": it has two baselines, 1 and 2
        figure "mean of sum clustered by pair" comes twice: one hypothesis of a figure is enough
        "#);
    }

    #[test]
    fn a_difference_is_on_one_side() {
        assert_eq!(Direction::Greater.holds(0.1), Some(true));
        assert_eq!(Direction::Greater.holds(-0.1), Some(false));
        assert_eq!(Direction::Less.holds(-0.1), Some(true));
        assert_eq!(Direction::Less.holds(0.0), None);
        assert_eq!(Direction::Different.holds(1.0), None);
    }
}
