//! The story, put together again from what stands between the markers.

use super::Rules;
use super::words::{self, CONJUNCTIONS, PREPOSITIONS};

/// What the story holds on the line before a marker.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Before {
    /// Nothing: the marker stands on a line of its own.
    #[default]
    Nothing,
    /// A whole sentence.
    Sentence,
    /// A sentence that needs a noun: its last word is a preposition, an article or a verb such as `face`.
    Preposition,
    /// A sentence without its end.
    Part,
}

/// The story while it is put together.
#[derive(Default)]
pub(super) struct Story {
    text: String,
    /// A marker was taken out at the end.
    gap: bool,
    /// A value was taken out of a sentence that goes on behind it.
    goes_on: bool,
    /// What the last line holds.
    before: Before,
    /// White space is kept as it is, but where a marker was taken out.
    exact: bool,
    /// A marker stood in front of all of it.
    behind_marker: bool,
}

impl Story {
    /// A story by the rules of a version.
    pub(super) fn by(rules: Rules) -> Self {
        Story { exact: rules.is_exact(), ..Story::default() }
    }

    /// Adds a piece of the answer; what the story's last line holds then.
    pub(super) fn push(&mut self, piece: &str) -> Before {
        let mut piece = piece;
        if self.gap && matches!(self.before, Before::Nothing | Before::Sentence) {
            // The stop behind a value ends nothing.
            let rest = piece.trim_start_matches(' ').strip_prefix(['.', ',', ';']);
            let is_alone = |t: &&str| t.is_empty() || t.starts_with(char::is_whitespace);
            piece = rest.filter(is_alone).unwrap_or(piece);
        }
        if self.gap && self.before == Before::Nothing {
            // The marker had the line to itself: the line goes.
            let rest = piece.trim_start_matches([' ', '\t']);
            piece = rest.strip_prefix("\r\n").or(rest.strip_prefix('\n')).unwrap_or(piece);
            let above = self.text.trim_end_matches([' ', '\t', '\r']);
            if self.exact && (above.is_empty() || self.ends_with_empty_line()) {
                // One of the empty lines around it goes, too.
                let below = piece.strip_prefix("\r\n").or(piece.strip_prefix('\n'));
                piece = below.unwrap_or(piece);
            }
        }
        if self.gap && !piece.trim().is_empty() {
            self.gap = false;
            let is_line = self.text.is_empty() || self.text.ends_with('\n');
            let is_new = !piece.trim_start().starts_with(char::is_lowercase);
            if self.exact && is_line && is_new {
                self.text.push_str(piece);
            } else {
                self.join(piece.trim_start_matches([' ', '\t']));
            }
        } else {
            self.text.push_str(if self.gap { piece.trim_matches([' ', '\t']) } else { piece });
        }
        let line = piece.rsplit(['\n', '\r']).next().unwrap_or_default();
        if !line.trim().is_empty() {
            self.before = held(line);
        } else if line.len() < piece.len() {
            self.before = Before::Nothing;
        }
        self.before
    }

    /// A marker was taken out here; `goes_on` if its value stood in a sentence that goes on.
    pub(super) fn taken(&mut self, goes_on: bool) {
        self.behind_marker |= self.text.is_empty();
        self.gap = true;
        self.goes_on = goes_on;
    }

    /// Adds what stands behind a marker.
    fn join(&mut self, piece: &str) {
        // A colon that stood behind a value would make the word before it a marker.
        let mut piece = piece.trim_start_matches([':', ' ']);
        let is_after_sentence = matches!(self.before, Before::Nothing | Before::Sentence);
        if self.goes_on && is_after_sentence {
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
        if self.goes_on && ended {
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

    /// The story: lines without space at their ends, no more than one empty line in a row, no fence
    /// around nothing and no rule above nothing.
    pub(super) fn finish(self, took_any: bool) -> String {
        if self.exact {
            return if took_any { self.finish_exactly() } else { self.text };
        }
        let mut story = String::with_capacity(self.text.len());
        let mut empty = 0_usize;
        let mut fence = None;
        for line in self.text.lines().map(str::trim) {
            if line.is_empty() {
                empty += 1;
                continue;
            }
            if let Some(open) = fence.take().filter(|_| took_any && line == "```") {
                // The markers were all there was between the two.
                story.truncate(open);
                empty += 1;
                continue;
            }
            fence = line.starts_with("```").then_some(story.len());
            if !story.is_empty() {
                story.push_str(if empty > 0 { "\n\n" } else { "\n" });
            }
            empty = 0;
            let mut space = false;
            for c in line.chars() {
                let is_space = c == ' ' || c == '\t';
                if !(is_space && space) {
                    story.push(c);
                }
                space = is_space;
            }
        }
        while took_any && story.lines().next_back().is_some_and(is_rule) {
            let end = story.rfind('\n').unwrap_or_default();
            story.truncate(story.get(..end).map_or(0, |t| t.trim_end().len()));
        }
        story
    }

    /// Whether the last line but one break is empty.
    fn ends_with_empty_line(&self) -> bool {
        let last = self.text.strip_suffix('\n').map(|t| t.strip_suffix('\r').unwrap_or(t));
        last.is_some_and(|text| text.is_empty() || text.ends_with('\n'))
    }

    /// The story as it stands, without the fences and rules around nothing that markers have left, and without
    /// the line breaks that parted it from markers above or below all of it.
    fn finish_exactly(self) -> String {
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

/// What a line with something on it holds.
fn held(line: &str) -> Before {
    let line = line.trim_end_matches(|c: char| c.is_whitespace() || "\"”*)]`_".contains(c));
    if line.is_empty() || line.ends_with(['.', '!', '?', '…', ':', '—', '–']) {
        return Before::Sentence;
    }
    let last = line.rsplit(char::is_whitespace).next().unwrap_or_default();
    if words::is_one_of(last, &PREPOSITIONS) { Before::Preposition } else { Before::Part }
}

/// A line across the page.
fn is_rule(line: &str) -> bool {
    line.len() >= 3
        && ["-", "*", "_", "="].iter().any(|c| line.trim_matches(|l| c.contains(l)).is_empty())
}
