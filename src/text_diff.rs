//! What two texts have in common, and how they differ.

use std::time::Duration;

use serde::Serialize;
use similar::{ChangeTag, TextDiff};

use crate::char_boundary::{ceil, floor};

/// For how long the shortest difference is looked for. A longer one is shown instead.
const PATIENCE: Duration = Duration::from_millis(50);

/// The most of each text that is compared word by word, in bytes.
const MOST_COMPARED: usize = 32 << 10;

/// How much of what two texts have in common is shown around what differs, in bytes.
const AROUND: usize = 120;

/// What became of a piece of a text in another text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WordChange {
    /// It is in both.
    Same,
    /// It is only in the first.
    Removed,
    /// It is only in the second.
    Added,
}

/// How two versions of something differ, word by word.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WordDifference {
    /// What differs.
    pub of: String,
    /// The words that differ, and a little around them.
    pub words: Vec<WordPiece>,
}

/// A piece of a text, and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WordPiece {
    /// Whether both texts have it.
    pub change: WordChange,
    /// The piece.
    pub text: String,
}

impl WordDifference {
    /// How two texts differ; `None` if they do not.
    pub fn new(of: String, before: &str, after: &str) -> Option<Self> {
        let pieces = word_diff(before, after).into_iter();
        let words: Vec<_> = pieces.map(|(change, text)| WordPiece { change, text }).collect();
        (!words.is_empty()).then_some(WordDifference { of, words })
    }

    /// By which equal changes are known, whatever is around them.
    pub(crate) fn key(&self) -> (String, Vec<(WordChange, String)>) {
        let changed = self.words.iter().filter(|piece| piece.change != WordChange::Same);
        (self.of.clone(), changed.map(|piece| (piece.change, piece.text.clone())).collect())
    }

    /// As text: `[-removed-]{+added+}`, as git shows it.
    pub fn text(&self) -> String {
        let piece = |WordPiece { change, text }: &WordPiece| match change {
            WordChange::Same => text.clone(),
            WordChange::Removed => format!("[-{text}-]"),
            WordChange::Added => format!("{{+{text}+}}"),
        };
        self.words.iter().map(piece).collect()
    }
}

/// The words that differ, in the order of the texts, with a little of the text around them; `…` stands for omitted text.
/// Empty if the texts are equal.
pub fn word_diff(before: &str, after: &str) -> Vec<(WordChange, String)> {
    if before == after {
        return Vec::new();
    }
    // A long text costs only as much as its differences.
    let common = before.bytes().zip(after.bytes()).take_while(|(a, b)| a == b).count();
    let begin = word_start(before, floor(before, common));
    let (old, new) = (&before[begin..], &after[begin..]);
    let common = old.bytes().rev().zip(new.bytes().rev()).take_while(|(a, b)| a == b).count();
    let end = ceil(old, old.len() - common);
    let end = old[end..].find(char::is_whitespace).map_or(old.len(), |at| end + at);
    let tail = &old[end..];
    let (old, new) = (&old[..end], &new[..new.len() - tail.len()]);
    let cut = |text: &str| match floor(text, MOST_COMPARED) {
        cut if cut < text.len() => format!("{}…", &text[..cut]),
        _ => text.to_owned(),
    };
    let (old, new) = (cut(old), cut(new));
    let mut config = TextDiff::configure();
    let diff = config.timeout(PATIENCE).diff_words(&*old, &*new);
    let mut pieces = vec![(WordChange::Same, before[..begin].to_owned())];
    for change in diff.iter_all_changes() {
        let tag = match change.tag() {
            ChangeTag::Equal => WordChange::Same,
            ChangeTag::Delete => WordChange::Removed,
            ChangeTag::Insert => WordChange::Added,
        };
        push(&mut pieces, tag, change.value());
    }
    push(&mut pieces, WordChange::Same, tail);
    pieces.retain(|(_, text)| !text.is_empty());
    let last = pieces.len().saturating_sub(1);
    for (at, (change, text)) in pieces.iter_mut().enumerate() {
        if *change == WordChange::Same {
            *text = shorten(text, at > 0, at < last);
        }
    }
    pieces
}

fn push(pieces: &mut Vec<(WordChange, String)>, change: WordChange, text: &str) {
    match pieces.last_mut() {
        Some((last, so_far)) if *last == change => so_far.push_str(text),
        _ => pieces.push((change, text.to_owned())),
    }
}

/// The beginning of the word at a place.
fn word_start(text: &str, at: usize) -> usize {
    text[..at].rfind(char::is_whitespace).map_or(0, |space| ceil(text, space + 1))
}

/// The ends of a text that are next to something else.
fn shorten(text: &str, has_before: bool, has_after: bool) -> String {
    let kept = usize::from(has_before) * AROUND + usize::from(has_after) * AROUND;
    if text.len() <= kept + AROUND {
        return text.to_owned();
    }
    let head = if has_before { &text[..floor(text, AROUND)] } else { "" };
    let tail = if has_after { &text[ceil(text, text.len() - AROUND)..] } else { "" };
    format!("{head} … {tail}")
}

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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Like `one [-two-] {+2+} three`.
    fn shown(before: &str, after: &str) -> String {
        WordDifference::new(String::new(), before, after).map_or_else(String::new, |it| it.text())
    }

    #[test]
    fn words_that_differ_are_shown_in_their_place() {
        assert_eq!(shown("a park for all", "a park for all"), "");
        assert_eq!(shown("build a park now", "build a pool now"), "build a [-park-]{+pool+} now");
        assert_eq!(shown("", "new words"), "{+new words+}");
        assert_eq!(shown("vote", "vote again"), "vote{+ again+}");
        assert_eq!(shown("ä b", "ö b"), "[-ä-]{+ö+} b");
    }

    #[test]
    fn what_is_the_same_is_left_out_but_for_a_little() {
        let (before, after) = ("same ".repeat(900), "same ".repeat(900));
        let shown = shown(&format!("{before}old {before}"), &format!("{after}new {after}"));
        assert!(shown.starts_with(" … same") && shown.ends_with("same … "), "{shown}");
        assert!(shown.contains("[-old-]{+new+}") && shown.len() < 4 * AROUND, "{shown}");
    }

    proptest! {
        #[test]
        fn each_text_is_made_of_its_pieces(before in "[ab \u{e4}]{0,40}", after in "[ab \u{e4}]{0,40}") {
            let pieces = word_diff(&before, &after);
            let of = |other: WordChange| -> String {
                pieces.iter().filter(|(change, _)| *change != other).map(|(_, text)| &**text).collect()
            };
            if before != after {
                prop_assert_eq!(of(WordChange::Added), before);
                prop_assert_eq!(of(WordChange::Removed), after);
            }
        }
    }
}
