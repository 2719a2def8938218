//! The body of a decision's event. Canonical JSON would round integers beyond 2^53: a value has these as texts, and their places
//! are named beside it.

use serde::{Deserialize, Serialize};

use super::kinds::DecisionDetails;
use crate::exact::{EXACT_INTEGERS, exact_value, give_back_integers};
use crate::prompt::{CanonicalError, canonical};

/// The places of integers in a value.
#[derive(Serialize, Deserialize)]
struct ExactIntegers {
    #[serde(default)]
    exact_integers: Vec<String>,
}

/// The details of a decision whose value has integers beyond 2^53.
#[derive(Serialize)]
struct ExactDecision {
    #[serde(flatten)]
    details: DecisionDetails,
    #[serde(flatten)]
    integers: ExactIntegers,
}

impl DecisionDetails {
    /// Canonical JSON, in which every integer is kept.
    ///
    /// # Errors
    /// [`CanonicalError`] for what JSON cannot represent.
    pub fn canonical(&self) -> Result<String, CanonicalError> {
        match exact_value(&self.value) {
            None => canonical(self),
            Some((value, exact_integers)) => {
                let details = DecisionDetails { value, ..self.clone() };
                canonical(&ExactDecision { details, integers: ExactIntegers { exact_integers } })
            }
        }
    }

    /// The details in a body.
    pub(super) fn of_body(body: &str) -> Result<Self, serde_json::Error> {
        let mut details: DecisionDetails = serde_json::from_str(body)?;
        if body.contains(EXACT_INTEGERS) {
            let ExactIntegers { exact_integers } = serde_json::from_str(body)?;
            let places = exact_integers.iter().map(String::as_str);
            give_back_integers(&mut details.value, places);
        }
        Ok(details)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn details(value: Value) -> DecisionDetails {
        DecisionDetails { choice: None, reasoning: None, value, warnings: Vec::new() }
    }

    #[test]
    fn every_integer_survives() {
        for value in [
            json!(9_007_199_254_740_993_u64),
            json!({"all": [1, -9_007_199_254_740_993_i64, u64::MAX], "text": "9007199254740993"}),
            json!({"exact_integers": ["/value"], "n": 3}),
            json!(9_007_199_254_740_992_u64),
            json!(2.5),
        ] {
            let body = details(value.clone()).canonical().unwrap();
            assert_eq!(DecisionDetails::of_body(&body).unwrap(), details(value), "{body}");
        }
        let body = details(json!(u64::MAX)).canonical().unwrap();
        assert_eq!(body, r#"{"exact_integers":[""],"value":"18446744073709551615"}"#);
        assert_eq!(details(json!(3)).canonical().unwrap(), r#"{"value":3}"#);
    }
}
