//! Distinguishes the nine examples in the prompt from answers.

use serde_json::{Map, Value};

use retold::parse::keys::lookup;

/// An example: its action, and its fields as in the prompt.
type Example = (&'static str, &'static [(&'static str, &'static str)]);

const EXAMPLES: [Example; 9] = [
    ("forum_post", &[("content", "Your message here")]),
    ("forum_reply", &[("parent_message_id", "123"), ("content", "Your reply here")]),
    ("direct_message", &[("recipient_agent_id", "42"), ("content", "Your private message")]),
    (
        "create_proposal",
        &[
            ("title", "Short title"),
            ("description", "Full description of what you're proposing"),
            ("proposal_type", "law|allocation|rule|infrastructure|other"),
        ],
    ),
    (
        "vote",
        &[
            ("proposal_id", "456"),
            ("vote", "yes|no|abstain"),
            ("reasoning", "Optional: why you voted this way"),
        ],
    ),
    ("work", &[("work_type", "farm|generate|gather"), ("hours", "1-8")]),
    (
        "trade",
        &[
            ("recipient_agent_id", "42"),
            ("resource_type", "food|energy|materials"),
            ("amount", "10"),
        ],
    ),
    ("set_name", &[("display_name", "Your chosen name")]),
    ("idle", &[("reasoning", "Why you chose not to act")]),
];

/// Whether an object is a copy of one of them: all of its action's fields that are present equal
/// the example's, and one of them has the example's words.
pub(super) fn is_one(object: &Map<String, Value>) -> bool {
    let action = lookup(object, "action").and_then(|(value, _)| value.as_str());
    let Some(action) = action.map(str::trim) else { return false };
    let known = EXAMPLES.iter().find(|(name, _)| action.eq_ignore_ascii_case(name));
    known.is_some_and(|(_, fields)| {
        let given = |name: &str| lookup(object, name).map(|(value, _)| value);
        let is_copied = |(name, example): &(&str, &str)| given(name).map(|v| is(v, example));
        let has_words = fields.iter().any(|(name, example)| {
            let is_text = example.starts_with(|c: char| c.is_alphabetic()) || example.contains('-');
            is_text && given(name).is_some_and(|value| is(value, example))
        });
        has_words && fields.iter().filter_map(is_copied).all(|is_copied| is_copied)
    })
}

/// Whether a value is that text, ignoring case, and with either apostrophe.
fn is(value: &Value, example: &str) -> bool {
    match value {
        Value::String(text) => text.trim().replace('’', "'").eq_ignore_ascii_case(example),
        Value::Number(number) => number.to_string() == example,
        _ => false,
    }
}
