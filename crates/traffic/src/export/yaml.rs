//! Writes YAML that every reader of YAML 1.1 and 1.2 reads in the same way: all texts are quoted.

use std::fmt::Write;

use data_encoding::BASE64;

/// A text in double quotes, on one line.
pub(super) fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        // Writing to a string cannot fail.
        let _ = match c {
            '"' => out.write_str("\\\""),
            '\\' => out.write_str("\\\\"),
            '\n' => out.write_str("\\n"),
            '\r' => out.write_str("\\r"),
            '\t' => out.write_str("\\t"),
            '\0'..='\u{1F}' | '\u{7F}'..='\u{9F}' => write!(out, "\\x{:02X}", u32::from(c)),
            // Line breaks and marks, which readers take for something else.
            '\u{2028}' | '\u{2029}' | '\u{FEFF}' | '\u{FFFE}' | '\u{FFFF}' => {
                write!(out, "\\u{:04X}", u32::from(c))
            }
            c => out.write_char(c),
        };
    }
    out.push('"');
    out
}

/// A text, or bytes that are not one.
pub(super) fn text_or_bytes(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => quote(text),
        Err(_) => format!("!!binary \"{}\"", BASE64.encode(bytes)),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::node::Value;
    use crate::yaml::{Schema, read};

    proptest! {
        #[test]
        fn what_is_written_is_read_again(text in any::<String>(), bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            let text_of_both = format!("a: {}\nb: {}\n", quote(&text), text_or_bytes(&bytes));
            let node = read(&text_of_both, Schema::Yaml11).unwrap().remove(0);
            prop_assert_eq!(node.get("a").unwrap().text(), Some(text.as_str()));
            let read = match &node.get("b").unwrap().value {
                Value::Text(text) => text.clone().into_bytes(),
                Value::Bytes(bytes) => bytes.clone(),
                other => panic!("{}", other.kind()),
            };
            prop_assert_eq!(read, bytes);
        }
    }
}
