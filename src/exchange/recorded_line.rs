//! The three kinds of lines that follow the first of a recording.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::line_fault::LineFault;
use crate::event::EventLine;
use crate::id::{ContentHash, PromptHash};
use crate::prompt::{CanonicalError, canonical};

/// A text, or a vector of numbers.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ContentLine {
    pub(super) content: ContentHash,
    #[serde(default)]
    pub(super) text: Option<String>,
    #[serde(default)]
    pub(super) vector: Option<String>,
}

/// A request, or its part beyond the first messages of another request.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RequestLine {
    #[serde(default)]
    pub(super) base: Option<PromptHash>,
    pub(super) prompt: PromptHash,
    request: Value,
    #[serde(default)]
    pub(super) shared: Option<usize>,
}

impl RequestLine {
    /// The canonical request, in which long texts are `text:ID`.
    ///
    /// # Errors
    /// [`CanonicalError`] if it has no canonical form.
    pub(super) fn skeleton(&self) -> Result<String, CanonicalError> {
        canonical(&self.request)
    }
}

/// A line after the first.
pub(super) enum RecordedLine {
    Content(ContentLine),
    Event(Box<EventLine>),
    Request(RequestLine),
}

impl RecordedLine {
    /// Reads a line.
    ///
    /// # Errors
    /// [`LineFault`] if it is not one of the three.
    pub(super) fn parse(line: &str) -> Result<Self, LineFault> {
        RecordedLine::as_written(line).map_or_else(|| RecordedLine::as_given(line), Ok)
    }

    /// A line as retold writes it, with its keys in order: the first key gives its kind, so that no [`Value`] is made of it.
    fn as_written(line: &str) -> Option<Self> {
        if line.starts_with("{\"body\":") {
            return serde_json::from_str(line).ok().map(RecordedLine::Event);
        }
        if line.starts_with("{\"content\":") {
            return serde_json::from_str(line).ok().map(RecordedLine::Content);
        }
        serde_json::from_str(line).ok().map(RecordedLine::Request)
    }

    /// Any line.
    fn as_given(line: &str) -> Result<Self, LineFault> {
        let value: Value = serde_json::from_str(line).map_err(LineFault::NotJson)?;
        let is = |key: &str| value.get(key).is_some();
        if is("kind") {
            return from_value(value).map(RecordedLine::Event);
        }
        if is("request") {
            return from_value(value).map(RecordedLine::Request);
        }
        from_value(value).map(RecordedLine::Content)
    }
}

fn from_value<T: DeserializeOwned>(value: Value) -> Result<T, LineFault> {
    T::deserialize(value).map_err(LineFault::NoSuchLine)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the shortcut takes is what the long way takes.
    #[test]
    fn the_order_of_keys_does_not_matter() {
        let hash = "ab".repeat(32);
        let request = format!("{{\"prompt\":\"{hash}\",\"request\":{{\"n\":1.0}}}}");
        let turned = format!("{{\"request\":{{\"n\":1.0}},\"prompt\":\"{hash}\"}}");
        for line in [request, turned] {
            let Ok(RecordedLine::Request(read)) = RecordedLine::parse(&line) else {
                panic!("{line}")
            };
            assert_eq!(read.skeleton().unwrap(), "{\"n\":1}");
        }
        let content = format!("{{\"content\":\"{hash}\",\"text\":\"a\"}}");
        let turned = format!("{{\"text\":\"a\",\"content\":\"{hash}\"}}");
        for line in [content, turned] {
            assert!(matches!(RecordedLine::parse(&line), Ok(RecordedLine::Content(_))), "{line}");
        }
        let twice = format!("{{\"content\":\"{hash}\",\"text\":\"a\",\"text\":\"b\"}}");
        let Ok(RecordedLine::Content(read)) = RecordedLine::parse(&twice) else { panic!() };
        assert_eq!(read.text.as_deref(), Some("b"));
        let of_an_event =
            RecordedLine::parse("{\"body\":{},\"kind\":\"Noted\"}").err().unwrap().to_string();
        assert!(of_an_event.contains("hash"), "{of_an_event}");
    }
}
