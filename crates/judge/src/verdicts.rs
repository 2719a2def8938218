//! Which verdicts a judge may give, how it is asked for one, and how its answer is read.

use retold_study::config::ConfigProblem;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The verdicts: some values, or numbers of a scale.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdicts {
    /// One of these.
    Values(Vec<String>),
    /// A whole number of a scale.
    Scale(JudgeScale),
}

/// A scale of whole numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JudgeScale {
    /// The lowest.
    pub from: i64,
    /// The highest.
    pub to: i64,
}

/// What a judge is asked for begins with this.
pub(crate) const ASKED: &str = "End your answer with <verdict>VERDICT</verdict>, where VERDICT is ";
pub(crate) const ONE_OF: &str = "one of: ";
pub(crate) const NUMBER: &str = "a whole number from ";

impl Verdicts {
    /// From the two keys of a config, of which one must be given.
    ///
    /// # Errors
    /// The key, and what is wrong with it.
    pub(crate) fn from_keys(
        values: Option<Vec<String>>,
        scale: Option<JudgeScale>,
    ) -> Result<Self, ConfigProblem> {
        match (values, scale) {
            (Some(values), None) => {
                let is_usable = |value: &String| {
                    !value.trim().is_empty() && !value.contains([',', '<', '>', '\n'])
                };
                if values.len() < 2 || !values.iter().all(is_usable) {
                    let message =
                        "write at least two values, without commas, angle brackets and line breaks";
                    return Err(ConfigProblem::new("values", message));
                }
                Ok(Verdicts::Values(values))
            }
            (None, Some(scale)) if scale.from < scale.to => Ok(Verdicts::Scale(scale)),
            (None, Some(_)) => {
                Err(ConfigProblem::new("scale", "its end must be greater than its beginning"))
            }
            (Some(_), Some(_)) => {
                Err(ConfigProblem::new("scale", "a judge has either values or a scale"))
            }
            (None, None) => Err(ConfigProblem::new(
                "values",
                "which verdicts may the judge give? Write `values: [polite, rude]` or `scale: {from: 1, to: 5}`",
            )),
        }
    }

    /// The sentence that asks for one.
    pub(crate) fn question(&self) -> String {
        match self {
            Verdicts::Values(values) => format!("{ASKED}{ONE_OF}{}.", values.join(", ")),
            Verdicts::Scale(JudgeScale { from, to }) => format!("{ASKED}{NUMBER}{from} to {to}."),
        }
    }

    /// How an answer is read, in the form of a parser file: the tag that was asked for, then the last line.
    pub(crate) fn strategies(&self) -> Value {
        match self {
            Verdicts::Values(values) => json!([
                {"tag": "verdict", "one_of": values, "pick": "last"},
                {"last_line": true, "one_of": values},
            ]),
            Verdicts::Scale(JudgeScale { from, to }) => {
                let scale = json!({"from": from, "to": to, "whole": true});
                json!([
                    {"tag": "verdict", "scale": scale, "pick": "last"},
                    {"last_line": true, "scale": scale},
                ])
            }
        }
    }

    /// The verdict of several samples: of numbers, their median; of values, the one that most of them have. Null if no
    /// sample was read, or if two values are equally frequent.
    pub(crate) fn of_samples(&self, samples: &[Value]) -> Value {
        let found: Vec<&Value> = samples.iter().filter(|value| !value.is_null()).collect();
        match self {
            Verdicts::Scale(_) => {
                let mut numbers: Vec<f64> =
                    found.iter().filter_map(|value| value.as_f64()).collect();
                numbers.sort_by(f64::total_cmp);
                let (low, high) = match numbers.len() {
                    0 => return Value::Null,
                    n => (numbers[(n - 1) / 2], numbers[n / 2]),
                };
                let median = f64::midpoint(low, high);
                if median.fract() == 0.0 { json!(median as i64) } else { json!(median) }
            }
            Verdicts::Values(_) => {
                let times = |value: &Value| found.iter().filter(|other| **other == value).count();
                let most = found.iter().map(|value| times(value)).max().unwrap_or(0);
                let mut winners = found.iter().filter(|value| times(value) == most);
                let Some(first) = winners.next() else { return Value::Null };
                match winners.all(|other| other == first) {
                    true => (*first).clone(),
                    false => Value::Null,
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use retold::parse::Parser;
    use retold_study::parser_file::written_parser;

    use super::*;

    #[test]
    fn several_samples_give_one_verdict() {
        let values = Verdicts::Values(vec!["polite".into(), "rude".into()]);
        let scale = Verdicts::Scale(JudgeScale { from: 1, to: 5 });
        for (verdicts, samples, verdict) in [
            (&values, json!(["polite"]), json!("polite")),
            (&values, json!(["polite", "rude", "polite"]), json!("polite")),
            (&values, json!(["polite", null, null]), json!("polite")),
            (&values, json!(["polite", "rude"]), Value::Null),
            (&values, json!([null]), Value::Null),
            (&values, json!([]), Value::Null),
            (&scale, json!([3]), json!(3)),
            (&scale, json!([5, 1, 4]), json!(4)),
            (&scale, json!([2, 3]), json!(2.5)),
            (&scale, json!([2, null, 4]), json!(3)),
            (&scale, json!([null, null]), Value::Null),
        ] {
            assert_eq!(verdicts.of_samples(samples.as_array().unwrap()), verdict, "{samples}");
        }
    }

    #[test]
    fn an_answer_that_is_no_verdict_has_none() {
        let values = Verdicts::Values(vec!["polite".into(), "rude".into()]);
        let scale = |to| Verdicts::Scale(JudgeScale { from: 1, to });
        for (verdicts, text, verdict) in [
            (&values, "<verdict>Polite</verdict>", json!("polite")),
            (&values, "<verdict>Not polite at all</verdict>", Value::Null),
            (&values, "<verdict>polite</verdict>, no: <verdict>rude</verdict>", json!("rude")),
            (&values, "<verdict>polite or rude</verdict>", Value::Null),
            (&scale(10), "<verdict>8/10</verdict>", json!(8)),
            (&scale(5), "<verdict>4 out of 5</verdict>", json!(4)),
            (&scale(5), "<verdict>8/10</verdict>", Value::Null),
            (&scale(10), "<verdict>7-8</verdict>", Value::Null),
            (&scale(10), "I say\n8", json!(8)),
            (&scale(10), "not an 8", Value::Null),
        ] {
            let parser = written_parser("v", &verdicts.strategies()).unwrap();
            assert_eq!(parser.parse(text).value, verdict, "{text}");
        }
    }

    #[test]
    fn verdicts_are_given_in_one_way() {
        let values = |values: &[&str]| Some(values.iter().map(|v| (*v).to_owned()).collect());
        let scale = |from, to| Some(JudgeScale { from, to });
        assert!(Verdicts::from_keys(values(&["a", "b"]), None).is_ok());
        assert!(Verdicts::from_keys(None, scale(1, 5)).is_ok());
        for (values, scale, key) in [
            (None, None, "values"),
            (values(&["a"]), None, "values"),
            (values(&["a", "b, c"]), None, "values"),
            (values(&["a", " "]), None, "values"),
            (values(&["a", "b"]), scale(1, 5), "scale"),
            (None, scale(5, 5), "scale"),
        ] {
            assert_eq!(Verdicts::from_keys(values, scale).unwrap_err().key, key);
        }
    }
}
