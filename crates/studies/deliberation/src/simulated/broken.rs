//! Answers that break the requested format.

use super::read::PromptKind;

/// Their kinds: a refusal, two options at once, none of the options, a number out of range,
/// truncated JSON, `SATISFIED` at the end of a longer turn (which does not end a dialogue), and an
/// empty answer.
pub(super) const KINDS: [&str; 7] = [
    "refusal", "two_options", "no_option", "out_of_range", "broken_json", "late_satisfied", "empty",
];

/// The malformed answers to a kind of prompt. If any text is valid, only an empty answer is
/// malformed.
pub(super) fn ways(prompt: &PromptKind<'_>) -> Vec<(&'static str, String)> {
    let refusal = ("refusal", "I'm sorry, but I can't help with that.".to_owned());
    let empty = ("empty", String::new());
    match prompt {
        PromptKind::Vote { options, .. }
        | PromptKind::Revote { options, .. }
        | PromptKind::Judge { options, .. } => {
            let two: Vec<&str> = options.iter().copied().take(2).collect();
            let none = ("no_option", "None of these.".to_owned());
            vec![refusal, ("two_options", two.join(" or ")), empty, none]
        }
        PromptKind::Demographics { .. } => vec![
            refusal,
            ("out_of_range", r#"{"age": 81, "sex": "F"}"#.to_owned()),
            ("broken_json", r#"{"age": 40, "sex":"#.to_owned()),
            empty,
        ],
        PromptKind::Moderator { .. } => {
            vec![("late_satisfied", "Thank you, I understand now.\n\nSATISFIED".to_owned()), empty]
        }
        _ => vec![empty],
    }
}
