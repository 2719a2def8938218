//! Which part of an answer is searched: what comes after a tag or a code fence, or outside it.

use std::borrow::Cow;

use regex::Regex;

use super::doubt::ReadingDoubt;
use super::fields::{StrategyFields, check_name};
use super::pattern::built;
use crate::config::ConfigProblem;
use retold::patterns::PatternBudget;

/// The name of code fences.
const FENCE: &str = "```";

/// The mark that begins and ends a part.
enum PartMark {
    /// Three backticks or more: every second one ends the part that the one before began.
    Fence,
    /// The tags with this name.
    Tag { name: String, pattern: Regex },
}

/// The part of an answer that a strategy searches.
#[derive(Default)]
pub(super) struct AnswerPart {
    after: Option<PartMark>,
    outside: Vec<PartMark>,
}

/// A part as it was found.
pub(super) struct SearchedPart<'t> {
    pub(super) text: Cow<'t, str>,
    /// The part that was never closed, and therefore left out.
    pub(super) left_out: Option<ReadingDoubt>,
}

impl<'t> SearchedPart<'t> {
    /// All of a text.
    pub(super) fn whole(text: &'t str) -> Self {
        SearchedPart { text: Cow::Borrowed(text), left_out: None }
    }
}

impl AnswerPart {
    /// Whether it is all of an answer.
    pub(super) fn is_all(&self) -> bool {
        self.after.is_none() && self.outside.is_empty()
    }

    /// The part, and its piece of the method.
    pub(super) fn new(
        fields: &StrategyFields,
        patterns: &mut PatternBudget,
        key: &str,
    ) -> Result<(Self, Option<String>), ConfigProblem> {
        let StrategyFields { after, outside, tool, .. } = fields;
        let given = after.as_ref().map(|_| "after").or(outside.as_ref().map(|_| "outside"));
        if let (Some(given), Some(_)) = (given, tool) {
            let message = format!("{given} is for text, and this strategy reads calls of a tool");
            return Err(ConfigProblem::new(&format!("{key}.{given}"), message));
        }
        let after_key = format!("{key}.after");
        let after_mark =
            after.as_deref().map(|name| PartMark::new(name, patterns, &after_key)).transpose()?;
        let outside_names = outside.as_ref().map_or(&[][..], |names| names.as_slice());
        if outside.is_some() && outside_names.is_empty() {
            let message = "name a tag, or leave it out";
            return Err(ConfigProblem::new(&format!("{key}.outside"), message));
        }
        let outside_key = format!("{key}.outside");
        let outside: Vec<PartMark> = outside_names
            .iter()
            .map(|name| PartMark::new(name, patterns, &outside_key))
            .collect::<Result<_, _>>()?;
        let part = AnswerPart { after: after_mark, outside };
        let named = |kind: &str, mark: &PartMark| format!("{kind}_{}", mark.method());
        let after_name = part.after.iter().map(|mark| named("after", mark));
        let names: Vec<String> =
            after_name.chain(part.outside.iter().map(|mark| named("outside", mark))).collect();
        Ok((part, (!names.is_empty()).then(|| names.join("_"))))
    }

    /// The part of a text.
    pub(super) fn of<'t>(&self, text: &'t str) -> SearchedPart<'t> {
        let mut part = SearchedPart::whole(text);
        if let Some(mark) = &self.after {
            let (start, end, open) = mark.after(text);
            part.text = Cow::Borrowed(text.get(start..end).unwrap_or(""));
            part.left_out = open.then(|| mark.open());
        }
        for mark in &self.outside {
            let (text, open) = mark.outside(&part.text);
            part.text = Cow::Owned(text);
            part.left_out = part.left_out.or_else(|| open.then(|| mark.open()));
        }
        part
    }
}

/// A text without a reasoning that is never closed: it was cut off before the answer.
pub(super) fn without_open_reasoning(text: &str) -> SearchedPart<'_> {
    let mut open = None;
    for (at, _) in text.match_indices('<') {
        match reasoning_tag(text, at) {
            Some(true) => open = None,
            Some(false) => open = open.or(Some(at)),
            None => {}
        }
    }
    let text = text.get(..open.unwrap_or(text.len())).unwrap_or(text);
    SearchedPart { text: text.into(), left_out: open.map(|_| ReadingDoubt::OpenReasoning) }
}

/// Whether the tag at `at` closes a reasoning, if it is such a tag. One that opens it stands at the
/// beginning of a line; elsewhere, a text may be about it.
fn reasoning_tag(text: &str, at: usize) -> Option<bool> {
    let rest = text.get(at + 1..)?;
    let (is_closing, rest) = rest.strip_prefix('/').map_or((false, rest), |rest| (true, rest));
    let is_named = ["think>", "thinking>"]
        .iter()
        .any(|name| rest.get(..name.len()).is_some_and(|it| it.eq_ignore_ascii_case(name)));
    let before = text.get(..at)?.trim_end_matches([' ', '\t']);
    let is_first = before.is_empty() || before.ends_with('\n');
    (is_named && (is_closing || is_first)).then_some(is_closing)
}

impl PartMark {
    fn new(name: &str, patterns: &mut PatternBudget, key: &str) -> Result<Self, ConfigProblem> {
        if name == FENCE {
            return Ok(PartMark::Fence);
        }
        // The tag may be written as it stands in the answer.
        let tag = name.strip_suffix('>').and_then(|tag| tag.strip_prefix('<'));
        let name = tag.map_or(name, |tag| tag.strip_prefix('/').unwrap_or(tag)).to_owned();
        check_name(&name, key)?;
        let pattern = format!(r"(?is)<(/?){}(?:\s[^<>]*)?>", regex::escape(&name));
        Ok(PartMark::Tag { pattern: built(&pattern, patterns, key)?, name })
    }

    fn method(&self) -> &str {
        match self {
            PartMark::Fence => "fence",
            PartMark::Tag { name, .. } => name,
        }
    }

    fn open(&self) -> ReadingDoubt {
        ReadingDoubt::OpenPart(match self {
            PartMark::Fence => "a code fence".to_owned(),
            PartMark::Tag { name, .. } => format!("<{name}>"),
        })
    }

    /// The parts that the marks enclose, in order: where each begins and ends, and whether it is
    /// closed. A part with only an end began before the text: some models leave the opening tag to
    /// the prompt.
    fn spans(&self, text: &str) -> Vec<(usize, usize, bool)> {
        let mut enclosed: Vec<(usize, usize, bool)> = Vec::new();
        let mut open: Option<usize> = None;
        let mut mark = |start: usize, end: usize, is_closing: bool| {
            if !is_closing {
                open = open.or(Some(start));
                return;
            }
            match (open.take(), enclosed.last_mut()) {
                // A second closing tag ends the part that the first did not.
                (None, Some((_, known, _))) => *known = end,
                (from, _) => enclosed.push((from.unwrap_or(0), end, true)),
            }
        };
        match self {
            PartMark::Tag { pattern, .. } => {
                for tag in pattern.captures_iter(text) {
                    let is_closing = tag.get(1).is_some_and(|slash| !slash.is_empty());
                    let Some(tag) = tag.get(0) else { continue };
                    mark(tag.start(), tag.end(), is_closing);
                }
            }
            PartMark::Fence => {
                let mut at = 0;
                let mut is_closing = false;
                while let Some(found) = text.get(at..).and_then(|rest| rest.find(FENCE)) {
                    let start = at + found;
                    let rest = text.get(start..).unwrap_or("");
                    at = text.len() - rest.trim_start_matches('`').len();
                    mark(start, at, is_closing);
                    is_closing = !is_closing;
                }
            }
        }
        enclosed.extend(open.map(|from| (from, text.len(), false)));
        enclosed
    }

    /// Where the part after the last closing mark begins and ends, and whether an open one ends it.
    /// The whole text if the mark does not occur in it, and nothing if it is never closed.
    fn after(&self, text: &str) -> (usize, usize, bool) {
        let enclosed = self.spans(text);
        let closed = enclosed.iter().rev().find(|(_, _, closed)| *closed);
        let open = enclosed.last().filter(|(_, _, closed)| !closed);
        match (closed, open) {
            (None, None) => (0, text.len(), false),
            (Some((_, end, _)), None) => (*end, text.len(), false),
            (Some((_, end, _)), Some((open, ..))) => (*end, *open, true),
            (None, Some(_)) => (0, 0, true),
        }
    }

    /// The text outside, in lines of its own, and whether something was never closed.
    fn outside(&self, text: &str) -> (String, bool) {
        let enclosed = self.spans(text);
        let (mut outside, mut at) = (String::new(), 0);
        for (start, end, _) in &enclosed {
            outside.push_str(text.get(at..*start).unwrap_or(""));
            outside.push('\n');
            at = *end;
        }
        outside.push_str(text.get(at..).unwrap_or(""));
        (outside, enclosed.last().is_some_and(|(_, _, closed)| !closed))
    }
}
