//! How several verdicts about one answer become one.

use retold_study::config::ConfigProblem;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::verdicts::{TIE, Verdicts};

/// How several verdicts become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum VerdictRule {
    /// The value that most of them have.
    Majority,
    /// The middle one of numbers.
    Median,
    /// The mean of numbers.
    Mean,
}

/// A verdict that was made of several, and what looked odd about them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct JointVerdict {
    pub(crate) verdict: Value,
    pub(crate) warning: Option<String>,
}

impl VerdictRule {
    /// The rule of some verdicts if the config names none.
    pub(crate) fn of(verdicts: &Verdicts) -> Self {
        match verdicts {
            Verdicts::Scale(_) => VerdictRule::Median,
            Verdicts::Values(_) | Verdicts::Pair => VerdictRule::Majority,
        }
    }

    /// Checks that verdicts can be joined by it.
    ///
    /// # Errors
    /// The key `rule`, and the problem.
    pub(crate) fn check(self, verdicts: &Verdicts) -> Result<(), ConfigProblem> {
        let is_of_numbers = self != VerdictRule::Majority;
        match is_of_numbers && !matches!(verdicts, Verdicts::Scale(_)) {
            true => {
                let message = "the median and the mean are of numbers: this judge needs `majority`";
                Err(ConfigProblem::new("rule", message))
            }
            false => Ok(()),
        }
    }

    /// The verdict of several, of which those that are missing do not count. Where most of them are equally frequent, it is a
    /// tie: null, or for pairs the verdict `tie`.
    pub(crate) fn join(self, all: &[Value], verdicts: &Verdicts) -> JointVerdict {
        let found: Vec<&Value> = all.iter().filter(|value| !value.is_null()).collect();
        let mut numbers: Vec<f64> = found.iter().filter_map(|value| value.as_f64()).collect();
        numbers.sort_by(f64::total_cmp);
        let (verdict, warning) = match (self, numbers.len()) {
            _ if found.is_empty() => (Value::Null, None),
            (VerdictRule::Majority, _) => return majority(&found, verdicts),
            (_, 0) => (Value::Null, None),
            (VerdictRule::Median, n) => {
                (number(f64::midpoint(numbers[(n - 1) / 2], numbers[n / 2])), None)
            }
            (VerdictRule::Mean, n) => (number(numbers.iter().sum::<f64>() / n as f64), None),
        };
        JointVerdict { verdict, warning }
    }
}

fn number(value: f64) -> Value {
    if value.fract() == 0.0 { json!(value as i64) } else { json!(value) }
}

/// The value that most of some verdicts have.
fn majority(found: &[&Value], verdicts: &Verdicts) -> JointVerdict {
    let times = |value: &Value| found.iter().filter(|other| **other == value).count();
    let most = found.iter().map(|value| times(value)).max().unwrap_or(0);
    let mut winners: Vec<&Value> = Vec::new();
    for value in found {
        if times(value) == most && !winners.contains(value) {
            winners.push(value);
        }
    }
    match winners.as_slice() {
        [only] => JointVerdict { verdict: (*only).clone(), warning: None },
        several => {
            let names: Vec<String> = several.iter().map(ToString::to_string).collect();
            let warning = Some(format!("a tie between {}", names.join(" and ")));
            let verdict = if *verdicts == Verdicts::Pair { TIE.into() } else { Value::Null };
            JointVerdict { verdict, warning }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdicts::JudgeScale;

    #[test]
    fn several_verdicts_are_one() {
        let values = Verdicts::Values(vec!["polite".into(), "rude".into()]);
        let scale = Verdicts::Scale(JudgeScale { from: 1, to: 5 });
        use VerdictRule::{Majority, Mean, Median};
        for (rule, verdicts, all, verdict) in [
            (Majority, &values, json!(["polite"]), json!("polite")),
            (Majority, &values, json!(["polite", "rude", "polite"]), json!("polite")),
            (Majority, &values, json!(["polite", null, null]), json!("polite")),
            (Majority, &values, json!(["polite", "rude"]), Value::Null),
            (Majority, &values, json!([null]), Value::Null),
            (Majority, &values, json!([]), Value::Null),
            (Majority, &scale, json!([3, 3, 5]), json!(3)),
            (Majority, &Verdicts::Pair, json!(["win", "loss"]), json!("tie")),
            (Majority, &Verdicts::Pair, json!(["win", "loss", "win"]), json!("win")),
            (Median, &scale, json!([3]), json!(3)),
            (Median, &scale, json!([5, 1, 4]), json!(4)),
            (Median, &scale, json!([2, 3]), json!(2.5)),
            (Median, &scale, json!([2, null, 4]), json!(3)),
            (Median, &scale, json!([null, null]), Value::Null),
            (Mean, &scale, json!([1, 1, 4]), json!(2)),
            (Mean, &scale, json!([1, null, 2]), json!(1.5)),
            (Mean, &scale, json!([null]), Value::Null),
        ] {
            let joint = rule.join(all.as_array().unwrap(), verdicts);
            assert_eq!(joint.verdict, verdict, "{all}");
            let is_tie = rule == Majority
                && ["[\"polite\",\"rude\"]", "[\"win\",\"loss\"]"].contains(&&*all.to_string());
            assert_eq!(joint.warning.is_some(), is_tie, "{all}");
        }
    }

    #[test]
    fn a_rule_fits_the_verdicts() {
        let values = Verdicts::Values(vec!["a".into(), "b".into()]);
        assert!(VerdictRule::Majority.check(&values).is_ok());
        assert_eq!(VerdictRule::Mean.check(&values).unwrap_err().key, "rule");
        assert_eq!(VerdictRule::Median.check(&Verdicts::Pair).unwrap_err().key, "rule");
    }
}
