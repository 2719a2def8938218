//! Refusals that a server gives to every request of a kind, as far as the words of its error say: the next request would
//! meet them as well.

use super::failure::{Failure, FailureKind};
use crate::prompt::Request;

/// A refusal of every request of a kind.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// It does not have the model.
    Model,
    /// It has another name for `max_tokens`: [`LIMIT`].
    LimitName,
    /// It does not take this parameter, or not with this value.
    Field(String),
    /// It wants turns that alternate, a user's first, and instructions only before them.
    Turns,
}

/// The name that reasoning models have for `max_tokens`.
pub const LIMIT: &str = "max_completion_tokens";

/// The name that all others have.
pub(super) const OLD_LIMIT: &str = "max_tokens";

/// How errors say that a parameter, or its value, is not taken.
const NOT_TAKEN: &[&str] = &[
    "unsupported", "not support", "not permitted", "not allowed", "unrecognized", "unrecognised",
    "unknown", "unexpected", "deprecated", "cannot be", "can't be", "may only be",
    "only the default", "should be", "must be", "at most", "maximum allowed", "only 1 is allowed",
    "invalid value",
];

/// How errors of templates and APIs say that the turns are not in order.
const TURNS: &[&str] = &[
    "must alternate",
    "should alternate",
    "roles alternate",
    "system message must be at the beginning",
    "system message must be the first",
    "first message must use the \"user\"",
    "first message must be",
    "last role must be user",
    "expected last role",
    "no user query found",
    "multiple in a row",
    "end with a user",
    "successive user or assistant messages",
    "requests alternate between user and model",
    "start with a user message",
    "last message must have role",
];

/// How errors say that there is no such model.
const NO_MODEL: &[&str] = &[
    "not found",
    "not exist",
    "not_found",
    "unknown model",
    "invalid model",
    "no such model",
    "not a valid model",
    "model not available",
];

impl Refusal {
    /// The refusal in a failed attempt that holds for all requests like it; `None` if the attempt failed for this request
    /// alone, or not because of the request.
    pub fn of(failure: &Failure, request: &Request) -> Option<Self> {
        let said = failure.message.to_lowercase();
        let fields = || request.body().as_object().into_iter().flatten().map(|(name, _)| name);
        let has_old_limit = fields().any(|name| name == OLD_LIMIT);
        if !is_of_the_request(failure) || is_too_long(&said) {
            return None;
        }
        if let Some(refusal) = Refusal::of_any(failure) {
            return Some(refusal);
        }
        if failure.kind != FailureKind::Rejected
            || !NOT_TAKEN.iter().any(|words| said.contains(words))
        {
            return None;
        }
        if has_old_limit && names(&said, OLD_LIMIT) && names(&said, LIMIT) {
            return Some(Refusal::LimitName);
        }
        let is_parameter =
            |name: &&String| !["model", "messages", "input"].contains(&name.as_str());
        fields().filter(is_parameter).find(|name| names(&said, name)).cloned().map(Refusal::Field)
    }

    /// The same, as far as it does not depend on the request.
    pub(super) fn of_any(failure: &Failure) -> Option<Self> {
        let said = failure.message.to_lowercase();
        if !is_of_the_request(failure) {
            return None;
        }
        // Servers with templates answer 500 to turns that a template does not take.
        if TURNS.iter().any(|words| said.contains(words)) {
            return Some(Refusal::Turns);
        }
        let is_missing =
            failure.status == Some(404) || NO_MODEL.iter().any(|words| said.contains(words));
        let is_rejected = failure.kind == FailureKind::Rejected
            && ["model", "models"].iter().any(|word| names(&said, word));
        (is_rejected && is_missing).then_some(Refusal::Model)
    }
}

/// Whether the server itself has answered, and about the request.
fn is_of_the_request(failure: &Failure) -> bool {
    failure.status.is_some() && matches!(failure.kind, FailureKind::Rejected | FailureKind::Server)
}

/// Whether this one prompt is too long, which is about it alone, whatever parameters the error names.
fn is_too_long(said: &str) -> bool {
    ["context length", "context window", "prompt is too long", "context size", "maximum context"]
        .iter()
        .any(|words| said.contains(words))
}

/// Whether a text has a name, not as a part of another.
fn names(said: &str, name: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    said.match_indices(name).any(|(at, _)| {
        let (before, after) =
            (said[..at].chars().next_back(), said[at + name.len()..].chars().next());
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn refusal(status: u16, kind: FailureKind, says: &str) -> Option<Refusal> {
        let body = json!({"model": "m", "messages": [{"role": "user", "content": "?"}], "temperature": 0.7,
            "max_tokens": 500});
        let message = format!("HTTP {status}: the request was rejected: {says}");
        let failure = Failure { kind, status: Some(status), message, retry_after: None };
        Refusal::of(&failure, &Request::from_body(body).unwrap())
    }

    #[test]
    fn errors_of_providers_say_what_they_refuse() {
        let field = |name: &str| Some(Refusal::Field(name.to_owned()));
        for (status, says, due) in [
            (
                400,
                "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
                Some(Refusal::LimitName),
            ),
            (
                400,
                "Unsupported value: 'temperature' does not support 0.7 with this model. Only the default (1) value is supported.",
                field("temperature"),
            ),
            (
                400,
                "`temperature` may only be set to 1 when thinking is enabled.",
                field("temperature"),
            ),
            (400, "temperature: Extra inputs are not permitted", field("temperature")),
            (
                400,
                "max_tokens: 100000 > 8192, which is the maximum allowed number of output tokens for claude-3",
                field("max_tokens"),
            ),
            (
                404,
                "The model `gpt-9` does not exist or you do not have access to it.",
                Some(Refusal::Model),
            ),
            (404, "model: gpt-4o", Some(Refusal::Model)),
            (404, "models/gpt-4o is not found for API version v1beta", Some(Refusal::Model)),
            (400, "openai/gpt-9 is not a valid model ID", Some(Refusal::Model)),
            (
                400,
                "Conversation roles must alternate user/assistant/user/assistant/...",
                Some(Refusal::Turns),
            ),
            (
                400,
                "messages: roles must alternate between \"user\" and \"assistant\", but found multiple in a row",
                Some(Refusal::Turns),
            ),
            (400, "System message must be at the beginning.", Some(Refusal::Turns)),
            (
                400,
                "deepseek-reasoner does not support successive user or assistant messages (messages[1] and messages[2] in your input)",
                Some(Refusal::Turns),
            ),
            (
                400,
                "Please ensure that multiturn requests alternate between user and model.",
                Some(Refusal::Turns),
            ),
            (
                400,
                "A conversation must start with a user message. Try again with a conversation that starts with a user message.",
                Some(Refusal::Turns),
            ),
            (400, "Last message must have role `user`.", Some(Refusal::Turns)),
            (400, "invalid temperature: only 1 is allowed for this model", field("temperature")),
            // About this prompt alone.
            (
                400,
                "'max_tokens' or 'max_completion_tokens' is too large: 500. This model's maximum context length is 4096 tokens",
                None,
            ),
            (400, "messages[3].content: expected a string, got null", None),
            (400, "Your prompt was flagged: it may not mention the temperature of the sun", None),
            (404, "Not Found", None),
            (422, "the request makes no sense", None),
        ] {
            assert_eq!(refusal(status, FailureKind::Rejected, says), due, "{says}");
        }
        // llama.cpp, whose templates fail with 500.
        let said =
            refusal(500, FailureKind::Server, "Conversation roles must alternate user/assistant");
        assert_eq!(said, Some(Refusal::Turns));
        assert_eq!(refusal(500, FailureKind::Server, "unsupported: temperature"), None);
        assert_eq!(refusal(429, FailureKind::RateLimited, "model not found"), None);
    }
}
