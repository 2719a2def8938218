//! Splits texts into words, so that quotes, punctuation and case do not matter.

/// The words of a text in lower case; every character that is neither letter nor digit is a
/// separator.
pub fn words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

/// A choice by number at the beginning (`2 ..`, `option 2 ..`), and the words after it.
pub(super) fn number(words: &[String]) -> Option<(usize, &[String])> {
    let rest = match words.split_first()? {
        (first, rest) if announces(first) => rest,
        _ => words,
    };
    let (digits, rest) = rest.split_first()?;
    Some((digits.parse().ok()?, rest))
}

/// Whether a word indicates that the number after it is that of an option.
pub(super) fn announces(word: &str) -> bool {
    matches!(word, "option" | "choice" | "number")
}
