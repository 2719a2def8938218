//! Where a text can be cut.

/// The last place up to a byte where a character begins.
pub fn floor(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

/// The first place from a byte on where a character begins.
pub fn ceil(text: &str, at: usize) -> usize {
    (at..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_character_is_cut() {
        let text = "aäb";
        assert_eq!([0, 1, 2, 3, 9].map(|at| floor(text, at)), [0, 1, 1, 3, 4]);
        assert_eq!([0, 1, 2, 3, 9].map(|at| ceil(text, at)), [0, 1, 3, 3, 4]);
    }
}
