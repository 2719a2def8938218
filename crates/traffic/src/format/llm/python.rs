//! JSON as Python writes it, with a space after commas and colons and `\u` escapes: llm sends the
//! arguments of earlier tool calls in this form.

use std::fmt::Write;

use crate::node::{LocatedValue, Value};

/// A value as `json.dumps` writes it; numbers as they are read.
pub(super) fn dumps(node: &LocatedValue) -> String {
    let mut out = String::new();
    write(node, [", ", ": "], &mut out);
    out
}

/// The same without spaces.
pub(super) fn compact(node: &LocatedValue) -> String {
    let mut out = String::new();
    write(node, [",", ":"], &mut out);
    out
}

fn write(node: &LocatedValue, between: [&str; 2], out: &mut String) {
    let [comma, colon] = between;
    match &node.value {
        Value::Null => out.push_str("null"),
        Value::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Value::Number(number) => out.push_str(&number.to_string()),
        Value::Text(text) => quote(text, out),
        // JSON has none.
        Value::Bytes(bytes) => quote(&String::from_utf8_lossy(bytes), out),
        Value::List(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                out.push_str(if at > 0 { comma } else { "" });
                write(item, between, out);
            }
            out.push(']');
        }
        Value::Map(fields) => {
            out.push('{');
            for (at, (name, item)) in fields.iter().enumerate() {
                out.push_str(if at > 0 { comma } else { "" });
                quote(name, out);
                out.push_str(colon);
                write(item, between, out);
            }
            out.push('}');
        }
    }
}

fn quote(text: &str, out: &mut String) {
    out.push('"');
    for unit in text.encode_utf16() {
        match unit {
            0x22 => out.push_str("\\\""),
            0x5C => out.push_str("\\\\"),
            0x0A => out.push_str("\\n"),
            0x0D => out.push_str("\\r"),
            0x09 => out.push_str("\\t"),
            0x08 => out.push_str("\\b"),
            0x0C => out.push_str("\\f"),
            0x20..=0x7E => out.extend(char::from_u32(unit.into())),
            // Writing to a string cannot fail.
            _ => drop(write!(out, "\\u{unit:04x}")),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    #[test]
    fn it_is_written_as_python_writes_it() {
        let text = "{\"b\": [1, 2.5, null, true], \"a\": {\"x\\\"\": \"\u{e4}\u{1f600}\\n\u{7f}\"}, \"c\": {}}";
        let node = crate::file::json(text).unwrap_or_else(|(_, wrong)| panic!("{wrong}"));
        let due = "{\"b\": [1, 2.5, null, true], \"a\": {\"x\\\"\": \"\\u00e4\\ud83d\\ude00\\n\\u007f\"}, \"c\": {}}";
        assert_eq!(super::dumps(&node), due);
        assert_eq!(super::compact(&node).len(), due.len() - 9);
    }
}
