//! Splits answers into lines, for both versions. Do not change this: it would change version 1.

/// The trimmed lines that are not blank; a line ends with `\n`, `\r` or both.
pub(super) fn lines(text: &str) -> impl DoubleEndedIterator<Item = &str> {
    // Two searches for one byte each are several times faster than one for either character.
    text.split('\n').flat_map(|line| line.split('\r')).map(str::trim).filter(|l| !l.is_empty())
}

/// The line without a final `= 24`.
pub(super) fn without_target(line: &str) -> &str {
    let line = line.trim();
    let bare = line.strip_suffix("24").and_then(|rest| rest.trim_end().strip_suffix('='));
    bare.map_or(line, str::trim_end)
}
