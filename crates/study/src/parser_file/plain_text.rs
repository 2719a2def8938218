//! A text as a person sees it: without invisible characters, and with one spelling of each digit and letter.

use std::borrow::Cow;

/// The zeros of the scripts that have digits of their own; the other nine follow each.
const ZEROS: [char; 27] = [
    '\u{660}', '\u{6f0}', '\u{7c0}', '\u{966}', '\u{9e6}', '\u{a66}', '\u{ae6}', '\u{b66}',
    '\u{be6}', '\u{c66}', '\u{ce6}', '\u{d66}', '\u{de6}', '\u{e50}', '\u{ed0}', '\u{f20}',
    '\u{1040}', '\u{1090}', '\u{17e0}', '\u{1810}', '\u{1946}', '\u{a9d0}', '\u{1d7ce}',
    '\u{1d7d8}', '\u{1d7e2}', '\u{1d7ec}', '\u{1d7f6}',
];

/// A text in which numbers and options are searched.
pub(super) struct PlainText<'t> {
    pub(super) text: Cow<'t, str>,
    /// Positions in the original and in the text, wherever a character has another length in it.
    shifts: Vec<(usize, usize)>,
}

impl<'t> PlainText<'t> {
    pub(super) fn new(original: &'t str) -> Self {
        let mut shifts = Vec::new();
        if original.chars().all(|c| plain(c) == Some(c)) {
            return PlainText { text: Cow::Borrowed(original), shifts };
        }
        let mut text = String::with_capacity(original.len());
        let mut rest = original.chars();
        for (at, c) in original.char_indices() {
            rest.next();
            let before = text.len();
            let divides = matches!(c, '\u{ad}' | '\u{200b}')
                && text.ends_with(char::is_alphanumeric)
                && rest.as_str().starts_with(['\n', '\r']);
            text.extend(if divides { Some('-') } else { plain(c) });
            if text.len() - before != c.len_utf8() {
                shifts.push((at + c.len_utf8(), text.len()));
            }
        }
        PlainText { text: Cow::Owned(text), shifts }
    }

    /// The position that corresponds to one between two characters of the original.
    pub(super) fn position(&self, original: usize) -> usize {
        let known = self.shifts.partition_point(|(at, _)| *at <= original);
        let (at, plain) = match known.checked_sub(1) {
            Some(last) => self.shifts[last],
            None => (0, 0),
        };
        plain + (original - at)
    }
}

/// The pieces of a text between cuts, with where each begins: nothing continues over a cut.
pub(super) fn pieces<'t>(text: &'t str, cuts: &[usize]) -> impl Iterator<Item = (usize, &'t str)> {
    let starts = std::iter::once(0).chain(cuts.iter().copied());
    let ends = cuts.iter().copied().chain([text.len()]);
    starts.zip(ends).filter_map(|(start, end)| Some((start, text.get(start..end)?)))
}

/// The character as it is read: none if it is invisible (at the end of a line, it is a hyphen), in ASCII if it is a digit or of full width.
fn plain(c: char) -> Option<char> {
    match c {
        '\0'..='\u{ac}' => Some(c),
        '\u{ad}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' => None,
        '\u{2060}'..='\u{2069}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' => None,
        '\u{66b}' => Some('.'),
        '\u{66c}' => Some('\''),
        '\u{3000}' => Some(' '),
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xff01 + u32::from('!')),
        _ => Some(ZEROS.iter().find_map(|zero| digit(c, *zero)).unwrap_or(c)),
    }
}

fn digit(c: char, zero: char) -> Option<char> {
    let value = u32::from(c).checked_sub(u32::from(zero))?;
    char::from_digit(value, 10)
}

#[cfg(test)]
mod tests {
    use super::PlainText;

    #[test]
    fn each_position_has_one_in_the_plain_text() {
        let original = "a\u{ad}b \u{ff22}\u{663}c";
        let plain = PlainText::new(original);
        assert_eq!(plain.text, "ab B3c");
        for (sought, at) in [("b", 1), ("\u{ff22}", 3), ("\u{663}", 4), ("c", 5)] {
            assert_eq!(plain.position(original.find(sought).unwrap()), at, "{sought}");
        }
        assert_eq!(plain.position(original.len()), plain.text.len());
        assert_eq!(PlainText::new("abc").position(2), 2);
    }
}
