//! Makes foreign text harmless to display.
//!
//! Text from servers and files is shown in terminals and logs. Control characters could move the
//! cursor or recolour the screen, and bidirectional marks could make a text read as its opposite,
//! so both are shown as escapes.

use std::borrow::Cow;

/// The text with control and invisible formatting characters escaped, cut after `limit` characters.
pub fn printable(text: &str, limit: usize) -> String {
    let mut shown = String::new();
    let mut chars = text.chars();
    for c in chars.by_ref().take(limit) {
        push_inert(&mut shown, c);
    }
    if chars.next().is_some() {
        shown.push('…');
    }
    shown
}

/// The same escaping, but line breaks and tabs are kept.
pub fn inert_lines(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' => shown.push(c),
            c => push_inert(&mut shown, c),
        }
    }
    shown
}

/// JSON that is safe to display: the same characters, with those that [`printable`] escapes written as JSON
/// escapes.
pub fn inert_json(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_ascii() && !c.is_control() || !is_dangerous(c) {
            out.push(c);
        } else {
            for unit in c.encode_utf16(&mut [0; 2]) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
    out
}

fn push_inert(shown: &mut String, c: char) {
    if is_dangerous(c) {
        shown.extend(c.escape_default());
    } else {
        shown.push(c);
    }
}

/// True if a character could control the display, or hide or reorder text.
fn is_dangerous(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}')
        || matches!(c, '\u{061C}' | '\u{FEFF}' | '\u{FFF9}'..='\u{FFFB}' | '\u{E0000}'..='\u{E007F}')
}

/// A text on one line, inert, and cut after so many characters.
pub fn excerpt(text: &str, most: usize) -> String {
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        if line.len() > most * 4 {
            break;
        }
    }
    printable(&line, most)
}

/// A cell of a file that people open in a spreadsheet. A text that it would take for a formula begins with an apostrophe (OWASP,
/// CSV Injection); numbers stay as they are.
pub fn spreadsheet_cell(cell: &str) -> Cow<'_, str> {
    let is_formula = cell.starts_with(['=', '+', '-', '@', '\t', '\r']);
    match is_formula && !cell.parse::<f64>().is_ok_and(f64::is_finite) {
        true => Cow::Owned(format!("'{cell}")),
        false => Cow::Borrowed(cell),
    }
}

#[cfg(test)]
mod tests {
    use super::{inert_json, printable};

    #[test]
    fn characters_that_control_a_terminal_are_escaped() {
        assert_eq!(printable("\u{1b}[31mred\n\u{202e}x", 99), "\\u{1b}[31mred\\n\\u{202e}x");
    }

    #[test]
    fn json_means_the_same_when_it_is_inert() {
        let value = serde_json::json!({"a\u{202e}": "x\u{1b}[31m\u{2066}\u{e0041}\n\u{feff}ä😀"});
        let shown = inert_json(&value.to_string());
        assert!(shown.contains("\\u202e") && shown.contains("\\udb40\\udc41"), "{shown}");
        assert!(!shown.contains(['\u{202e}', '\u{2066}', '\u{e0041}', '\u{feff}']), "{shown}");
        assert!(shown.contains("ä😀"), "{shown}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).unwrap(), value);
    }

    #[test]
    fn cuts_by_characters() {
        assert_eq!(printable("äöü", 2), "äö…");
        assert_eq!(printable("äöü", 3), "äöü");
    }
}
