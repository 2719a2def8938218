//! Separates a model's reasoning from its answer.

/// The reasoning before the last `</think>`, and the answer after it. Without the tag, or with
/// nothing after it, the whole text is the answer.
pub fn split(text: &str) -> (Option<&str>, &str) {
    match text.rsplit_once("</think>") {
        Some((reasoning, answer)) if !answer.trim().is_empty() => {
            let reasoning = reasoning.trim();
            let reasoning = reasoning.strip_prefix("<think>").unwrap_or(reasoning).trim();
            (Some(reasoning), answer.trim())
        }
        _ => (None, text.trim()),
    }
}
