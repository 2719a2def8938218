//! An answer without the model's reasoning.

use memchr::{memchr, memmem};

use retold::parse::FoundValue;

/// A text split into the model's reasoning and its answer.
pub(super) struct SplitAnswer<'t> {
    reasoning: Option<&'t str>,
    pub(super) body: &'t str,
}

impl<'t> SplitAnswer<'t> {
    /// Splits at the last `</think>`; the opening tag is often part of the prompt's template. If
    /// nothing follows it, there was no separate answer, and the whole text is searched.
    pub(super) fn new(text: &'t str) -> SplitAnswer<'t> {
        const CLOSE: &str = "</think>";
        let whole = SplitAnswer { reasoning: None, body: text };
        if memchr(b'<', text.as_bytes()).is_none() {
            return whole;
        }
        let Some(at) = memmem::rfind(text.as_bytes(), CLOSE.as_bytes()) else {
            return whole;
        };
        let (reasoning, body) = (&text[..at], &text[at + CLOSE.len()..]);
        if body.trim().is_empty() {
            return whole;
        }
        let reasoning = reasoning.trim();
        let reasoning = reasoning.strip_prefix("<think>").unwrap_or(reasoning).trim();
        SplitAnswer { reasoning: Some(reasoning), body }
    }

    pub(super) fn found_value(&self, candidate: String) -> FoundValue<String> {
        let reasoning = self.reasoning.map(str::to_owned);
        FoundValue { value: candidate, reasoning, warnings: Vec::new() }
    }
}
