//! The body of an answer: JSON as a tree, a stream with a value of JSON in each of its lines, or as it came.

use crate::error::FileProblem;
use crate::json_style::JsonStyle;
use crate::node::LocatedValue;

use super::named_values::Definitions;

/// The names of fields before the JSON of a stream's line; Ollama's lines have none.
const PREFIXES: [&str; 3] = ["data: ", "data:", ""];

/// A body.
#[derive(Debug)]
pub(crate) enum CassetteBody {
    /// JSON, and its layout.
    Json(JsonStyle, LocatedValue),
    /// Lines, and whether they end with CR LF.
    Stream(Vec<StreamLine>, bool),
    /// As it came.
    Plain,
}

/// A line of a stream.
#[derive(Debug)]
pub(crate) enum StreamLine {
    /// A prefix, and a value.
    Json(&'static str, JsonStyle, LocatedValue),
    /// As it came.
    Plain(String),
}

impl StreamLine {
    fn new(line: &str) -> Self {
        let prefix = PREFIXES.into_iter().find(|prefix| line.starts_with(prefix)).unwrap_or("");
        match line.strip_prefix(prefix).and_then(JsonStyle::recognise) {
            Some((style, value)) => StreamLine::Json(prefix, style, value),
            None => StreamLine::Plain(line.to_owned()),
        }
    }

    fn text(&self) -> String {
        match self {
            StreamLine::Json(prefix, style, value) => format!("{prefix}{}", style.text(value)),
            StreamLine::Plain(line) => line.clone(),
        }
    }
}

impl CassetteBody {
    /// What these bytes are.
    pub(crate) fn new(bytes: &[u8]) -> Self {
        let Ok(text) = std::str::from_utf8(bytes) else { return CassetteBody::Plain };
        if let Some((style, value)) = JsonStyle::recognise(text) {
            return CassetteBody::Json(style, value);
        }
        let is_crlf = text.contains("\r\n");
        let lines: Vec<_> = match is_crlf {
            true => text.split("\r\n").map(StreamLine::new).collect(),
            false => text.split('\n').map(StreamLine::new).collect(),
        };
        match lines.iter().any(|line| matches!(line, StreamLine::Json(..))) {
            true => CassetteBody::Stream(lines, is_crlf),
            false => CassetteBody::Plain,
        }
    }

    /// Its values of JSON.
    pub(crate) fn values(&mut self) -> impl Iterator<Item = &mut LocatedValue> {
        let (one, lines) = match self {
            CassetteBody::Json(_, value) => (Some(value), None),
            CassetteBody::Stream(lines, _) => (None, Some(lines)),
            CassetteBody::Plain => (None, None),
        };
        let of_line = |line| match line {
            &mut StreamLine::Json(.., ref mut value) => Some(value),
            StreamLine::Plain(_) => None,
        };
        one.into_iter().chain(lines.into_iter().flatten().filter_map(of_line))
    }

    /// The text of a stream, with `\n` at the ends of its lines.
    pub(crate) fn stream_text(lines: &[StreamLine]) -> String {
        lines.iter().map(StreamLine::text).collect::<Vec<_>>().join("\n")
    }

    /// The bytes of a stream that was written as a text.
    ///
    /// # Errors
    /// Those of placeholders.
    pub(crate) fn stream_bytes(
        text: &str,
        is_crlf: bool,
        definitions: &mut Definitions<'_>,
    ) -> Result<String, FileProblem> {
        let line = |line: &str| match StreamLine::new(line) {
            StreamLine::Json(prefix, style, value) => {
                let value = definitions.put_back(&value)?;
                Ok(StreamLine::Json(prefix, style, value).text())
            }
            StreamLine::Plain(line) => Ok::<_, FileProblem>(line),
        };
        let lines = text.split('\n').map(line).collect::<Result<Vec<_>, _>>()?;
        Ok(lines.join(if is_crlf { "\r\n" } else { "\n" }))
    }

    /// A body that comes back byte for byte when it is read with these definitions; as it came, if this one does not.
    pub(crate) fn or_plain(self, bytes: &[u8], definitions: &mut Definitions<'_>) -> Self {
        let again = match &self {
            CassetteBody::Json(style, value) => {
                definitions.put_back(value).map(|value| style.text(&value))
            }
            CassetteBody::Stream(lines, is_crlf) => {
                Self::stream_bytes(&Self::stream_text(lines), *is_crlf, definitions)
            }
            CassetteBody::Plain => return self,
        };
        match again {
            Ok(again) if again.as_bytes() == bytes => self,
            _ => CassetteBody::Plain,
        }
    }
}
