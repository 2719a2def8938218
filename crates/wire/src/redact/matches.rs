//! All matches of a pattern, in a time that grows with the length of the text alone.
//!
//! To find one match, an engine may have to read a text to its end, as for `a*b|a` among many `a`; with a match at every byte, that is the
//! square of the length. After so many bytes, a match is therefore looked for among the next few thousand bytes alone.

use std::ops::Range;

use regex::Regex;

/// How many bytes may be read for the matches of a text before each is looked for close by.
const READ: usize = 1 << 28;

/// The longest match that is found for certain after that.
const LONGEST: usize = 4 << 10;

/// The matches of a pattern in a text, from left to right.
pub(super) fn matches(pattern: &Regex, text: &str) -> Vec<Range<usize>> {
    let (mut found, mut at, mut read) = (Vec::new(), 0, 0_usize);
    while at < text.len() {
        let is_close = read > READ;
        let end = if is_close { boundary(text, at + 2 * LONGEST) } else { text.len() };
        // At the worst.
        read = read.saturating_add(text.len() - at);
        let next = pattern.find_at(&text[..end], at).map(|it| it.range());
        let begin = boundary(text, at + LONGEST);
        match next.filter(|it| end == text.len() || it.start < begin) {
            Some(place) => {
                at = place.end.max(at + 1);
                found.push(place);
            }
            None if end == text.len() => break,
            None => at = begin,
        }
        at = boundary(text, at);
    }
    found
}

/// The first boundary of a character at or after a place.
fn boundary(text: &str, at: usize) -> usize {
    (at..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_matches_are_those_of_the_pattern() {
        for (pattern, text) in [
            ("Ada|Bob", "Ada, Bob and Ada"),
            (r"\bé+\b", "é éé éa ü"),
            ("a*b|a", "aaaabaaa"),
            ("x", ""),
            ("(?s)BEGIN.*?END", &format!("BEGIN{}END BEGINEND", "é\n".repeat(20_000))),
        ] {
            let pattern = Regex::new(pattern).unwrap();
            let due: Vec<_> = pattern.find_iter(text).map(|it| it.range()).collect();
            assert_eq!(matches(&pattern, text), due);
        }
    }

    /// It would not end within a day if it were not bounded.
    #[test]
    fn a_match_at_every_byte_is_found_close_by() {
        let pattern = Regex::new("a*b|a").unwrap();
        let text = "a".repeat(60_000);
        assert_eq!(matches(&pattern, &text).len(), text.len());
    }
}
