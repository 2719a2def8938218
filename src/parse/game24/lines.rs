//! Lines of an answer.

/// The trimmed lines that are not blank; a line ends with `\n`, `\r` or both.
pub(super) fn lines(text: &str) -> impl DoubleEndedIterator<Item = &str> {
    // Two searches for one byte each are several times faster than one for either character.
    text.split('\n').flat_map(|line| line.split('\r')).map(str::trim).filter(|l| !l.is_empty())
}
