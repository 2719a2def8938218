//! Grades of answers whose right value is known.

use std::fmt;

use serde_json::Value;

use super::ValueComparison;

/// A quantity of values that are right or wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grade {
    /// The share of values that are right.
    Accuracy,
    /// How often at least one of so many samples of a call is right: the estimator without bias (Chen et al. 2021).
    PassAt(u64),
    /// How often the commonest value of a call's samples is right.
    Majority,
}

impl Grade {
    /// The grade of a word: `accuracy`, `majority`, `pass@5`.
    pub(super) fn from_word(word: &str) -> Option<Self> {
        match word {
            "accuracy" => Some(Grade::Accuracy),
            "majority" => Some(Grade::Majority),
            _ => {
                let samples = word.strip_prefix("pass@")?.parse().ok();
                samples.filter(|samples| *samples > 0).map(Grade::PassAt)
            }
        }
    }
}

impl fmt::Display for Grade {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Grade::Accuracy => f.write_str("accuracy"),
            Grade::PassAt(samples) => write!(f, "pass@{samples}"),
            Grade::Majority => f.write_str("majority"),
        }
    }
}

/// True if a value is the right one, or one of several that are, which are written as a list of JSON.
pub(crate) fn is_right(value: &Value, right: &str, ignores_case: bool) -> bool {
    let is_it = |right: &str| {
        let same = ValueComparison::Equal.holds(value, right) == Some(true);
        let text = value.as_str().filter(|_| ignores_case);
        same || text.is_some_and(|text| text.to_lowercase() == right.to_lowercase())
    };
    match serde_json::from_str::<Value>(right) {
        Ok(Value::Array(all)) if !value.is_array() => all.iter().any(|one| match one {
            Value::String(text) => is_it(text),
            other => is_it(&other.to_string()),
        }),
        _ => is_it(right),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_value_is_right_as_it_is_written_or_as_one_of_several() {
        for (value, right, ignores_case, is_it) in [
            (json!("Paris"), "Paris", false, true),
            (json!("paris"), "Paris", false, false),
            (json!("PARIS"), "paris", true, true),
            (json!("\u{c4}rger"), "\u{e4}rger", true, true),
            (json!(18), "18.0", false, true),
            (json!("18"), "18.0", false, false),
            (json!(true), "true", false, true),
            (json!("NYC"), r#"["New York", "NYC"]"#, false, true),
            (json!("nyc"), r#"["New York", "NYC"]"#, true, true),
            (json!(7), "[6, 7]", false, true),
            (json!("LA"), r#"["New York", "NYC"]"#, true, false),
            (json!(["a"]), r#"["a"]"#, false, true),
        ] {
            assert_eq!(is_right(&value, right, ignores_case), is_it, "{value} {right}");
        }
    }
}
