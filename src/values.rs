//! The number of values in a JSON text, counted before it is parsed: a number of one digit takes
//! two bytes in a file and thirty-two in memory.

use memchr::memchr2;

/// The most values in a JSON text from outside. A batch of a hundred embeddings has about 300,000.
pub(crate) const MOST_VALUES: usize = 1_000_000;

/// Whether a JSON text has more than [`MOST_VALUES`] values: every value except the first of its
/// group follows a comma. The text may be invalid.
pub(crate) fn too_many(json: &[u8]) -> bool {
    // Each value takes at least two bytes.
    json.len() / 2 > MOST_VALUES && count(json) > MOST_VALUES
}

/// Commas and opening brackets outside strings, plus one for the text itself. Stops once there are
/// more than [`MOST_VALUES`].
pub(crate) fn count(json: &[u8]) -> usize {
    let (mut count, mut rest) = (1, json);
    loop {
        // The next string, and what precedes it.
        let quote = memchr::memchr(b'"', rest).unwrap_or(rest.len());
        count += memchr::memchr3_iter(b',', b'[', b'{', &rest[..quote]).count();
        let Some(text) = rest.get(quote + 1..) else { return count };
        rest = after_string(text);
        if count > MOST_VALUES {
            return count;
        }
    }
}

/// What follows a string, given the text after its opening quote.
fn after_string(mut text: &[u8]) -> &[u8] {
    loop {
        match memchr2(b'"', b'\\', text) {
            None => return &[],
            Some(at) if text[at] == b'"' => return &text[at + 1..],
            Some(at) => text = text.get(at + 2..).unwrap_or(&[]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_counted_outside_strings() {
        assert_eq!(count(b"1"), 1);
        assert_eq!(count(b"[1,2,3]"), 4);
        assert_eq!(count(br#"{"a,[":"\",{","b":[]}"#), 4);
        assert_eq!(count(br#"["never closed,,,"#), 2);
        assert_eq!(count(b"\"ends in a backslash\\"), 1);
    }

    #[test]
    fn long_texts_do_not_count_as_many_values() {
        assert!(!too_many(format!("[\"{}\"]", ",".repeat(3 * MOST_VALUES)).as_bytes()));
        assert!(too_many(format!("[{}0]", "0,".repeat(MOST_VALUES)).as_bytes()));
        assert!(!too_many(format!("[{}0]", "0,".repeat(MOST_VALUES / 2)).as_bytes()));
    }
}
