//! How a reply ended, as its API says it.

use serde_json::Value;

use crate::escaping::printable;
use crate::model::{Failure, FailureKind};

/// The longest text of an error that is kept beside its bytes.
const LONGEST: usize = 300;

/// How a reply ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// It is an answer. Its finish reason says whether a limit ended it.
    Answered,
    /// It is the beginning of an answer: its stream was closed without this mark.
    CutOff(&'static str),
    /// The API says that it failed, and perhaps sent the beginning of an answer before.
    Failed(Failure),
}

impl Ending {
    /// That of a reply without an error; `mark` is what ends a stream, if this one did not have it.
    pub(super) fn by_mark(has_mark: bool, mark: &'static str) -> Self {
        if has_mark { Ending::Answered } else { Ending::CutOff(mark) }
    }

    /// A failure, if there is one.
    pub(super) fn or(failed: Option<Failure>, otherwise: impl FnOnce() -> Self) -> Self {
        failed.map_or_else(otherwise, Ending::Failed)
    }
}

/// The failure in the `error` of a reply; `None` if it says nothing, such as null or an empty
/// object.
pub(super) fn error_in(error: &Value) -> Option<Failure> {
    let said = match error {
        Value::String(text) if !text.is_empty() => text.clone(),
        Value::Object(fields) if !fields.is_empty() => match &error["message"] {
            Value::String(text) if !text.is_empty() => text.clone(),
            _ => error.to_string(),
        },
        // As SDKs have it: any value that is not empty.
        Value::Array(items) if !items.is_empty() => error.to_string(),
        Value::Number(number) if number.as_f64() != Some(0.0) => error.to_string(),
        Value::Bool(true) => error.to_string(),
        _ => return None,
    };
    let code = ["code", "type", "status"].into_iter().find_map(|name| error[name].as_str());
    let number =
        error.as_u64().or(error["code"].as_u64()).or_else(|| error["code"].as_str()?.parse().ok());
    let status = match (number.and_then(|number| u16::try_from(number).ok()), code) {
        (Some(status @ 400..600), _) => status,
        (_, Some(code)) if code.starts_with("rate_limit") => 429,
        _ => 500,
    };
    Some(Failure::new(FailureKind::of_status(status, code), printable(said.trim(), LONGEST)))
}

/// That a reply says by a word alone that it failed.
pub(super) fn failed_as(word: &str) -> Failure {
    Failure::new(FailureKind::of_status(500, None), format!("the answer ended with \"{word}\""))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_error_that_says_nothing_is_not_a_failure() {
        for nothing in [json!(null), json!(""), json!({}), json!(false), json!([])] {
            assert_eq!(error_in(&nothing), None, "{nothing}");
        }
    }

    #[test]
    fn an_error_is_called_as_its_code_says() {
        let kind = |error: Value| error_in(&error).unwrap().kind;
        assert_eq!(kind(json!({"code": 429, "message": "slow down"})), FailureKind::RateLimited);
        assert_eq!(kind(json!({"code": "502", "message": "down"})), FailureKind::Server);
        assert_eq!(kind(json!({"type": "rate_limit_error"})), FailureKind::RateLimited);
        assert_eq!(kind(json!({"type": "overloaded_error"})), FailureKind::Server);
        assert_eq!(kind(json!({"code": 503, "status": "UNAVAILABLE"})), FailureKind::Server);
        assert_eq!(kind(json!("model not found")), FailureKind::Server);
        assert_eq!(kind(json!({"code": "insufficient_quota"})), FailureKind::QuotaExhausted);
        assert_eq!(error_in(&json!({"code": 1})).unwrap().message, "{\"code\":1}");
    }
}
