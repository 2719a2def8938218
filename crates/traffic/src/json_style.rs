//! How the bytes of a JSON body were laid out, so that a body that is shown as a tree can be written again byte for
//! byte.

use std::fmt::Write;

use serde_json::Value as Json;

use crate::node::{LocatedValue, Value};

/// A layout of JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct JsonStyle {
    layout: JsonLayout,
    /// Whether everything beyond ASCII is escaped, as Python does it.
    ascii: bool,
    /// Whether a line break follows.
    newline: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum JsonLayout {
    /// Without spaces.
    Compact,
    /// With a space after each comma and colon, as Python does it.
    Spaced,
    /// In lines that are indented by two spaces, as OpenAI does it.
    Pretty,
}

const LAYOUTS: [(JsonLayout, &str); 3] = [
    (JsonLayout::Compact, "compact"),
    (JsonLayout::Spaced, "spaced"),
    (JsonLayout::Pretty, "pretty"),
];

impl JsonStyle {
    /// The value of a body, and the style in which it is written as these bytes; `None` if there is none.
    pub(crate) fn recognise(body: &str) -> Option<(JsonStyle, LocatedValue)> {
        let value: LocatedValue = serde_json::from_str(body).ok()?;
        // A text or a number alone is better seen as it is.
        if !matches!(value.value, Value::Map(_) | Value::List(_)) {
            return None;
        }
        JsonStyle::all().find(|style| style.text(&value) == body).map(|style| (style, value))
    }

    /// The style with this name.
    pub(crate) fn by_name(name: &str) -> Option<JsonStyle> {
        JsonStyle::all().find(|style| style.name() == name)
    }

    fn all() -> impl Iterator<Item = JsonStyle> {
        let endings = [(false, false), (false, true), (true, false), (true, true)];
        LAYOUTS.into_iter().flat_map(move |(layout, _)| {
            endings.into_iter().map(move |(ascii, newline)| JsonStyle { layout, ascii, newline })
        })
    }

    /// Its name: `compact`, `spaced` or `pretty`, with suffixes for unusual properties.
    pub(crate) fn name(self) -> String {
        let layout = LAYOUTS.iter().find(|(layout, _)| *layout == self.layout);
        let mut name = layout.map_or("", |(_, name)| name).to_owned();
        if self.ascii {
            name.push_str("-ascii");
        }
        if self.newline {
            name.push_str("-newline");
        }
        name
    }

    /// The bytes of a value.
    pub(crate) fn text(self, value: &LocatedValue) -> String {
        let mut out = String::new();
        self.write(value, 0, &mut out);
        if self.newline {
            out.push('\n');
        }
        out
    }

    fn write(self, value: &LocatedValue, depth: usize, out: &mut String) {
        match &value.value {
            Value::Null => out.push_str("null"),
            Value::Bool(truth) => out.push_str(if *truth { "true" } else { "false" }),
            Value::Number(number) => out.push_str(&number.to_string()),
            Value::Text(text) => self.quote(text, out),
            Value::Bytes(bytes) => self.quote(&String::from_utf8_lossy(bytes), out),
            Value::List(items) if items.is_empty() => out.push_str("[]"),
            Value::Map(fields) if fields.is_empty() => out.push_str("{}"),
            Value::List(items) => {
                out.push('[');
                for (at, item) in items.iter().enumerate() {
                    self.before(at, depth, out);
                    self.write(item, depth + 1, out);
                }
                self.line(depth, out);
                out.push(']');
            }
            Value::Map(fields) => {
                out.push('{');
                for (at, (name, field)) in fields.iter().enumerate() {
                    self.before(at, depth, out);
                    self.quote(name, out);
                    out.push_str(if self.layout == JsonLayout::Compact { ":" } else { ": " });
                    self.write(field, depth + 1, out);
                }
                self.line(depth, out);
                out.push('}');
            }
        }
    }

    /// Writes the separator before an item.
    fn before(self, at: usize, depth: usize, out: &mut String) {
        if at > 0 {
            out.push_str(if self.layout == JsonLayout::Spaced { ", " } else { "," });
        }
        self.line(depth + 1, out);
    }

    fn line(self, depth: usize, out: &mut String) {
        if self.layout == JsonLayout::Pretty {
            out.push('\n');
            out.extend(std::iter::repeat_n("  ", depth));
        }
    }

    fn quote(self, text: &str, out: &mut String) {
        let quoted = Json::from(text).to_string();
        if !self.ascii {
            out.push_str(&quoted);
            return;
        }
        for c in quoted.chars() {
            if c.is_ascii() && c != '\u{7F}' {
                out.push(c);
                continue;
            }
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                // Writing to a string cannot fail.
                let _ = write!(out, "\\u{unit:04x}");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_has_the_style_in_which_it_is_written_again() {
        for (body, due) in [
            (r#"{"b":1,"a":[1.5,"ä"]}"#, Some("compact")),
            (r#"{"b": 1, "a": [1.5, "\u00e4\ud83d\ude00"]}"#, Some("spaced-ascii")),
            ("{\n  \"b\": 1,\n  \"a\": [\n    {}\n  ]\n}\n", Some("pretty-newline")),
            (r#"{"a" :1}"#, None),
            (r#"{"a":1.50}"#, None),
            (r#"{"a":1,"a":2}"#, None),
            (r#""text""#, None),
            ("data: {}", None),
        ] {
            let found = JsonStyle::recognise(body);
            assert_eq!(found.as_ref().map(|(style, _)| style.name()).as_deref(), due, "{body}");
            if let Some((style, value)) = found {
                assert_eq!(JsonStyle::by_name(&style.name()).unwrap().text(&value), body);
            }
        }
    }
}
