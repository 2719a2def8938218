//! Makes foreign text harmless to display.
//!
//! Text from servers and files is shown in terminals and logs. Control characters could move the
//! cursor or recolour the screen, and bidirectional marks could make a text read as its opposite,
//! so both are shown as escapes.

/// The text with control and invisible formatting characters escaped, cut after `limit` characters.
pub fn inert(text: &str, limit: usize) -> String {
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

fn push_inert(shown: &mut String, c: char) {
    let dangerous = c.is_control()
        || matches!(c, '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}')
        || matches!(c, '\u{061C}' | '\u{FEFF}' | '\u{FFF9}'..='\u{FFFB}' | '\u{E0000}'..='\u{E007F}');
    if dangerous {
        shown.extend(c.escape_default());
    } else {
        shown.push(c);
    }
}

#[cfg(test)]
mod tests {
    use super::inert;

    #[test]
    fn characters_that_control_a_terminal_are_escaped() {
        assert_eq!(inert("\u{1b}[31mred\n\u{202e}x", 99), "\\u{1b}[31mred\\n\\u{202e}x");
    }

    #[test]
    fn cuts_by_characters() {
        assert_eq!(inert("äöü", 2), "äö…");
        assert_eq!(inert("äöü", 3), "äöü");
    }
}
