//! Reassembles the story from the text between the markers.

use super::words::{self, CONJUNCTIONS, PREPOSITIONS};

/// The story's text on the line before a marker.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Before {
    /// Nothing: the marker is on a line of its own.
    #[default]
    Nothing,
    /// A whole sentence.
    Sentence,
    /// A sentence that needs a noun: its last word is a preposition, an article or a verb such as
    /// `face`.
    Preposition,
    /// An incomplete sentence.
    Part,
}

/// The story while it is assembled.
#[derive(Default)]
pub(super) struct Story {
    text: String,
    /// Whether a marker was removed at the end.
    gap: bool,
    /// Whether a value was removed from a sentence that continues after it.
    sentence_continues: bool,
    /// The text on the last line.
    before: Before,
    /// Whether a marker preceded the whole story.
    behind_marker: bool,
}

impl Story {
    /// Adds a piece of the answer; returns the story's text on its last line.
    pub(super) fn push(&mut self, piece: &str) -> Before {
        let mut piece = piece;
        if self.gap && matches!(self.before, Before::Nothing | Before::Sentence) {
            // The full stop after a value does not end anything.
            let rest = piece.trim_start_matches(' ').strip_prefix(['.', ',', ';']);
            let is_alone = |t: &&str| t.is_empty() || t.starts_with(char::is_whitespace);
            piece = rest.filter(is_alone).unwrap_or(piece);
        }
        if self.gap && self.before == Before::Nothing {
            // The marker was alone on its line, so the line is removed.
            let rest = piece.trim_start_matches([' ', '\t']);
            piece = rest.strip_prefix("\r\n").or(rest.strip_prefix('\n')).unwrap_or(piece);
            let above = self.text.trim_end_matches([' ', '\t', '\r']);
            if above.is_empty() || self.ends_with_empty_line() {
                // One of the empty lines around it is removed as well.
                let below = piece.strip_prefix("\r\n").or(piece.strip_prefix('\n'));
                piece = below.unwrap_or(piece);
            }
        }
        if self.gap && !piece.trim().is_empty() {
            self.gap = false;
            let is_line = self.text.is_empty() || self.text.ends_with('\n');
            let is_new = !piece.trim_start().starts_with(char::is_lowercase);
            if is_line && is_new {
                self.text.push_str(piece);
            } else {
                self.join(piece.trim_start_matches([' ', '\t']));
            }
        } else {
            self.text.push_str(if self.gap { piece.trim_matches([' ', '\t']) } else { piece });
        }
        let line = piece.rsplit(['\n', '\r']).next().unwrap_or("");
        if !line.trim().is_empty() {
            self.before = line_end(line);
        } else if line.len() < piece.len() {
            self.before = Before::Nothing;
        }
        self.before
    }

    /// A marker was removed here; `sentence_continues` if its value was in a sentence that
    /// continues.
    pub(super) fn mark_removal(&mut self, sentence_continues: bool) {
        self.behind_marker |= self.text.is_empty();
        self.gap = true;
        self.sentence_continues = sentence_continues;
    }

    /// Adds the text after a marker.
    fn join(&mut self, piece: &str) {
        // A colon after a value would turn the word before it into a marker.
        let mut piece = piece.trim_start_matches([':', ' ']);
        let is_after_sentence = matches!(self.before, Before::Nothing | Before::Sentence);
        if self.sentence_continues && is_after_sentence {
            piece = piece.trim_start_matches([',', ';', '–', '—', ' ']);
        }
        if !piece.starts_with(char::is_lowercase) {
            let is_apart = piece.starts_with(['\n', '\r', '.', ',', ';', '!', '?', ')'])
                && !piece.starts_with("..");
            if is_apart {
                self.text.truncate(self.text.trim_end_matches([' ', '\t']).len());
            } else if self.text.ends_with(|c: char| !c.is_whitespace()) {
                self.text.push(' ');
            }
            self.text.push_str(piece);
            return;
        }
        // It continues the sentence that the markers interrupted.
        self.text.truncate(self.text.trim_end().len());
        let mut rest = piece.chars();
        let ended = self.text.is_empty() || self.text.ends_with(['.', '!', '?']);
        if self.sentence_continues && ended {
            let joins = words::is_one_of(words::first(piece), &CONJUNCTIONS);
            if joins && self.text.ends_with('.') && !self.text.ends_with("..") {
                self.text.pop();
            } else if let Some(first) = rest.next() {
                self.space();
                self.text.extend(first.to_uppercase());
                self.text.push_str(rest.as_str());
                return;
            }
        }
        self.space();
        self.text.push_str(rest.as_str());
    }

    fn space(&mut self) {
        if !self.text.is_empty() {
            self.text.push(' ');
        }
    }

    /// The finished story: with `took_any`, markers were removed from it.
    pub(super) fn finish(self, took_any: bool) -> String {
        if took_any { self.finish_without_markers() } else { self.text }
    }

    /// Whether the last line, except for a line break, is empty.
    fn ends_with_empty_line(&self) -> bool {
        let last = self.text.strip_suffix('\n').map(|t| t.strip_suffix('\r').unwrap_or(t));
        last.is_some_and(|text| text.is_empty() || text.ends_with('\n'))
    }

    /// The story unchanged, except for empty fences and rules that the markers have left, and the
    /// line breaks that separated it from markers before or after all of it.
    fn finish_without_markers(self) -> String {
        let mut story = String::with_capacity(self.text.len());
        let mut fence = None;
        for line in self.text.split_inclusive('\n') {
            let bare = line.trim();
            if let Some(open) = fence.take().filter(|_| bare == "```") {
                story.truncate(open);
                continue;
            }
            if bare.starts_with("```") {
                fence = Some(story.len());
            }
            story.push_str(line);
        }
        while let Some(last) = story.trim_end().lines().next_back().filter(|last| is_rule(last)) {
            let end = story.trim_end().len() - last.len();
            story.truncate(end);
        }
        let start = story.len() - story.trim_start_matches(['\n', '\r']).len();
        if self.behind_marker && start > 0 {
            story.drain(..start);
        }
        if self.gap {
            story.truncate(story.trim_end().len());
        }
        story
    }
}

/// The text on a line that is not empty.
fn line_end(line: &str) -> Before {
    let line = line.trim_end_matches(|c: char| c.is_whitespace() || "\"”*)]`_".contains(c));
    if line.is_empty() || line.ends_with(['.', '!', '?', '…', ':', '—', '–']) {
        return Before::Sentence;
    }
    let last = line.rsplit(char::is_whitespace).next().unwrap_or("");
    if words::is_one_of(last, &PREPOSITIONS) { Before::Preposition } else { Before::Part }
}

/// A horizontal rule.
fn is_rule(line: &str) -> bool {
    line.len() >= 3
        && ["-", "*", "_", "="].iter().any(|c| line.trim_matches(|l| c.contains(l)).is_empty())
}
