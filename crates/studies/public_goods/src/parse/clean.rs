//! Removes invisible characters from a text.

use std::borrow::Cow;

use retold::parse::python::digit;

/// The text without invisible characters (zero-width marks, joiners, soft hyphens, marks of
/// direction, a byte-order mark), with plain spaces, and with the digits of any script as ASCII.
pub(super) fn visible(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || !text.chars().any(|c| is_invisible(c) || other(c).is_some()) {
        return Cow::Borrowed(text);
    }
    let seen = text.chars().filter(|c| !is_invisible(*c));
    Cow::Owned(seen.map(|c| other(c).unwrap_or(c)).collect())
}

fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

/// The replacement of a character.
fn other(c: char) -> Option<char> {
    match c {
        '\u{2000}'..='\u{2008}' | '\u{200a}' | '\u{205f}' | '\u{3000}' => Some(' '),
        '＜' => Some('<'),
        '＞' => Some('>'),
        '／' => Some('/'),
        c if c.is_ascii() => None,
        c => digit(c).and_then(|value| char::from_digit(value.into(), 10)),
    }
}
