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
    /// How the answer compares with another one.
    Pair,
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

/// What a judge says of a pair, by the order in which it sees the answers.
const FIRST: &str = "first";
const SECOND: &str = "second";
/// The verdict about a pair of which no answer is better.
pub(crate) const TIE: &str = "tie";

/// What a judge is asked for begins with this.
pub(crate) const ASKED: &str = "End your answer with <verdict>VERDICT</verdict>, where VERDICT is ";
const ASKED_AS_JSON: &str = "Answer with a JSON object that has your reasons under \"reasons\" and then VERDICT under \"verdict\", where \
    VERDICT is ";
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
        is_of_pairs: bool,
    ) -> Result<Self, ConfigProblem> {
        match (values, scale) {
            (None, None) if is_of_pairs => Ok(Verdicts::Pair),
            (values, _) if is_of_pairs => {
                let key = if values.is_some() { "values" } else { "scale" };
                let message = "a judge of pairs says win, loss or tie: leave this out";
                Err(ConfigProblem::new(key, message))
            }
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

    /// The values that a judge may say; none on a scale.
    fn values(&self) -> Vec<&str> {
        match self {
            Verdicts::Values(values) => values.iter().map(String::as_str).collect(),
            Verdicts::Pair => vec![FIRST, SECOND, TIE],
            Verdicts::Scale(_) => Vec::new(),
        }
    }

    /// The sentence that asks for one.
    pub(crate) fn question(&self, is_structured: bool) -> String {
        let asked = if is_structured { ASKED_AS_JSON } else { ASKED };
        match self {
            Verdicts::Scale(JudgeScale { from, to }) => format!("{asked}{NUMBER}{from} to {to}."),
            _ => format!("{asked}{ONE_OF}{}.", self.values().join(", ")),
        }
    }

    /// The form of an answer, as structured output: the reasons come before the verdict, so that the model has them.
    pub(crate) fn response_format(&self) -> Value {
        let verdict = match self {
            Verdicts::Scale(JudgeScale { from, to }) => {
                json!({"type": "integer", "minimum": from, "maximum": to})
            }
            _ => json!({"type": "string", "enum": self.values()}),
        };
        json!({"type": "json_schema", "json_schema": {"name": "verdict", "strict": true, "schema": {
            "type": "object",
            "properties": {"reasons": {"type": "string"}, "verdict": verdict},
            "required": ["reasons", "verdict"],
            "additionalProperties": false,
        }}})
    }

    /// How an answer is read, in the form of a parser file: JSON or the tag, whichever was asked for. The last line is read
    /// only of texts: that of JSON that was cut off has the reasons.
    pub(crate) fn strategies(&self, is_structured: bool) -> Value {
        let (kind, of) = match self {
            Verdicts::Scale(JudgeScale { from, to }) => {
                ("scale", json!({"from": from, "to": to, "whole": true}))
            }
            _ => ("one_of", json!(self.values())),
        };
        let tag = json!({"tag": "verdict", kind: of, "pick": "last"});
        match is_structured {
            true => json!([{"json": "verdict", kind: of}, tag]),
            false => json!([tag, {"last_line": true, kind: of}]),
        }
    }

    /// The verdict about the judged answer of a pair, whose order may be swapped.
    pub(crate) fn of_pair(said: &Value, is_swapped: bool) -> Value {
        match (said.as_str(), is_swapped) {
            (Some(FIRST), false) | (Some(SECOND), true) => "win".into(),
            (Some(SECOND), false) | (Some(FIRST), true) => "loss".into(),
            _ => said.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use retold::parse::Parser;
    use retold_study::parser_file::written_parser;

    use super::*;

    #[test]
    fn an_answer_that_is_no_verdict_has_none() {
        let values = Verdicts::Values(vec!["polite".into(), "rude".into()]);
        let scale = |to| Verdicts::Scale(JudgeScale { from: 1, to });
        for (verdicts, text, verdict) in [
            (&values, "<verdict>Polite</verdict>", json!("polite")),
            (&values, "<verdict>Not polite at all</verdict>", Value::Null),
            (&values, "<verdict>polite</verdict>, no: <verdict>rude</verdict>", json!("rude")),
            (&values, "<verdict>polite or rude</verdict>", Value::Null),
            (&values, "{\"reasons\": \"not rude\", \"verdict\": \"polite\"}", json!("polite")),
            (&values, "{\"reasons\": \"rude?\", \"verdict\": \"po", Value::Null),
            (&scale(10), "{\"reasons\": \"9 of 10\", \"verdict\": 8}", json!(8)),
            (&Verdicts::Pair, "<verdict>second</verdict>", json!("second")),
            (&scale(10), "<verdict>8/10</verdict>", json!(8)),
            (&scale(5), "<verdict>4 out of 5</verdict>", json!(4)),
            (&scale(5), "<verdict>8/10</verdict>", Value::Null),
            (&scale(10), "<verdict>7-8</verdict>", Value::Null),
            (&scale(10), "I say\n8", json!(8)),
            (&scale(10), "not an 8", Value::Null),
        ] {
            let strategies = verdicts.strategies(text.starts_with('{'));
            let parser = written_parser("v", &strategies).unwrap();
            assert_eq!(parser.parse(text).value, verdict, "{text}");
        }
    }

    #[test]
    fn verdicts_are_given_in_one_way() {
        let values = |values: &[&str]| Some(values.iter().map(|v| (*v).to_owned()).collect());
        let scale = |from, to| Some(JudgeScale { from, to });
        assert!(Verdicts::from_keys(values(&["a", "b"]), None, false).is_ok());
        assert!(Verdicts::from_keys(None, scale(1, 5), false).is_ok());
        assert!(Verdicts::from_keys(None, None, true).is_ok());
        assert_eq!(Verdicts::from_keys(None, scale(1, 5), true).unwrap_err().key, "scale");
        for (values, scale, key) in [
            (None, None, "values"),
            (values(&["a"]), None, "values"),
            (values(&["a", "b, c"]), None, "values"),
            (values(&["a", " "]), None, "values"),
            (values(&["a", "b"]), scale(1, 5), "scale"),
            (None, scale(5, 5), "scale"),
        ] {
            assert_eq!(Verdicts::from_keys(values, scale, false).unwrap_err().key, key);
        }
    }
}
