//! Excerpts of two texts, taken where they differ.

use retold::escaping::printable;

/// The most characters of the common beginning that are shown before the first difference.
const BEFORE: usize = 20;

/// Two texts on one line each, cut to `most` characters. If they begin alike and would be cut before
/// they differ, both begin shortly before the first difference.
pub(crate) fn where_they_differ(one: &str, other: &str, most: usize) -> [String; 2] {
    let alike = one.chars().zip(other.chars()).take_while(|(one, other)| one == other).count();
    // Of a short excerpt, most has to be left for the difference.
    if alike < most / 2 {
        return [printable(one, most), printable(other, most)];
    }
    let from = alike.saturating_sub(BEFORE);
    let excerpt = |text: &str| {
        let rest: String = text.chars().skip(from).collect();
        format!("…{}", printable(&rest, most))
    };
    [excerpt(one), excerpt(other)]
}

#[cfg(test)]
mod tests {
    use super::where_they_differ;

    #[test]
    fn short_texts_are_shown_whole() {
        assert_eq!(where_they_differ("one", "other", 80), ["one", "other"]);
        let (one, other) = ("a".repeat(30), "a".repeat(31));
        assert_eq!(where_they_differ(&one, &other, 80), [one, other]);
    }

    #[test]
    fn long_beginnings_that_are_the_same_are_left_out() {
        let same = "ä".repeat(500);
        let one = format!("{same}\u{202e}one{}", "x".repeat(200));
        let [one, other] = where_they_differ(&one, &format!("{same}, and more"), 40);
        let before = "ä".repeat(20);
        assert_eq!(one, format!("…{before}\\u{{202e}}one{}…", "x".repeat(16)));
        assert_eq!(other, format!("…{before}, and more"));
        // One text is the beginning of the other.
        let [one, other] = where_they_differ(&same, &format!("{same}."), 40);
        assert_eq!([one, other], [format!("…{before}"), format!("…{before}.")]);
    }
}
