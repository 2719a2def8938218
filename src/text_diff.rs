//! What two texts have in common, and how they differ.

use similar::TextDiff;

/// The lines that differ, with two lines of context, as `diff -u` shows them; empty if the texts are equal.
pub fn unified_diff(before: &str, after: &str, names: [&str; 2]) -> String {
    let diff = TextDiff::from_lines(before, after);
    let text = diff.unified_diff().context_radius(2).header(names[0], names[1]).to_string();
    text.replace("\\ No newline at end of file\n", "")
}

/// The share of characters that two words have in common, in the same order: from 0 to 1.
pub fn likeness(a: &str, b: &str) -> f32 {
    TextDiff::from_chars(a, b).ratio()
}

/// The share of lines that two texts have in common, in the same order: from 0 to 1.
pub(crate) fn line_likeness(a: &str, b: &str) -> f32 {
    TextDiff::from_lines(a, b).ratio()
}
