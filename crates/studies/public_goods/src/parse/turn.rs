//! Splits an answer into the player's turn, its reasoning, and the contents of the action's tag.
//!
//! Tags are recognised in upper and lower case, with spaces in them (`</ Contribute >`) and escaped
//! (`&lt;CONTRIBUTE&gt;`). Code fences around them do not matter.
//!
//! - The turn ends where the model, after acting, begins to reason again or opens a `<ROUND`: it is
//!   inventing future rounds, and its actions there are not decisions.
//! - The reasoning extends from its opening tag to its last closing tag in the turn; without a
//!   closing tag, to the action's tag or to the end.
//! - `<think>`, which some models write without being asked, is also reasoning. Everything before
//!   its closing tag is reasoning, whatever tags are in it.

use retold::parse::thinking;

/// One tag.
#[derive(Debug, Clone, Copy)]
struct Tag {
    kind: TagKind,
    closing: bool,
    start: usize,
    end: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TagKind {
    Reasoning,
    Action,
    Round,
}

/// An answer, split into its parts.
#[derive(Debug)]
pub(super) struct AnswerTurn<'t> {
    /// The model's reasoning.
    pub(super) reasoning: Option<&'t str>,
    /// The contents of the complete action tags outside the reasoning, in order.
    pub(super) blocks: Vec<&'t str>,
    /// The same inside the reasoning.
    pub(super) blocks_in_reasoning: Vec<&'t str>,
    /// What follows an action tag that is never closed.
    pub(super) unclosed: Option<&'t str>,
    /// The turn without its reasoning.
    pub(super) rest: [&'t str; 2],
    /// Whether any text follows the turn.
    pub(super) has_more: bool,
}

/// The last of the contents of some tags that is not blank.
pub(super) fn last_filled<'t>(blocks: &[&'t str]) -> Option<&'t str> {
    blocks.iter().rev().find(|block| !block.trim().is_empty()).copied()
}

impl<'t> AnswerTurn<'t> {
    /// Splits an answer whose action is in the tag `action`.
    pub(super) fn new(text: &'t str, action: &str) -> AnswerTurn<'t> {
        let (thought, answer) = thinking::split(text);
        let mut turn = AnswerTurn::of_answer(if thought.is_some() { answer } else { text }, action);
        if let Some(thought) = thought {
            let tags = tags(thought, action);
            let inside = pairs(&tags).filter_map(|(from, to)| thought.get(from..to));
            turn.blocks_in_reasoning.splice(..0, inside);
            turn.reasoning = turn.reasoning.or(Some(thought)).filter(|r| !r.is_empty());
        }
        turn
    }

    fn of_answer(text: &'t str, action: &str) -> AnswerTurn<'t> {
        let mut tags = tags(text, action);
        let end = turn_end(text, &tags);
        tags.retain(|tag| tag.start < end);
        let part = |from: usize, to: usize| text.get(from..to).unwrap_or("");
        let (start, inner, stop) = reasoning(&tags, end);
        let inside = |tag: &Tag| tag.start >= start && tag.start < stop;
        let (within, outside): (Vec<Tag>, Vec<Tag>) = tags.iter().partition(|tag| inside(tag));
        let blocks = |tags: &[Tag]| -> Vec<&'t str> {
            pairs(tags).map(|(from, to)| part(from, to)).collect()
        };
        let last = outside.iter().rev().find(|tag| tag.kind == TagKind::Action);
        let unclosed = last.filter(|tag| !tag.closing).map(|tag| part(tag.end, end));
        AnswerTurn {
            reasoning: inner.map(|(from, to)| part(from, to).trim()).filter(|r| !r.is_empty()),
            blocks: blocks(&outside),
            blocks_in_reasoning: blocks(&within),
            unclosed,
            rest: [part(0, start), part(stop, end)],
            has_more: !part(end, text.len()).trim().is_empty(),
        }
    }

    /// The text outside the reasoning, if only one piece of it is not empty.
    pub(super) fn body(&self) -> Option<&'t str> {
        let [before, after] = self.rest.map(str::trim);
        match (before.is_empty(), after.is_empty()) {
            (false, true) => Some(before),
            (true, false) => Some(after),
            _ => None,
        }
    }

    /// The pieces of the text outside the reasoning.
    pub(super) fn pieces(&self) -> impl Iterator<Item = &'t str> {
        self.rest.into_iter().map(str::trim).filter(|piece| !piece.is_empty())
    }
}

/// The end of the turn: the first tag after a complete action that begins another turn.
fn turn_end(text: &str, tags: &[Tag]) -> usize {
    let Some((_, acted)) = pairs(tags).next() else {
        return text.len();
    };
    // While the reasoning is still open, it continues: the action was only quoted in it.
    let mut open = false;
    for tag in tags {
        match tag.kind {
            TagKind::Reasoning if tag.closing => open = false,
            TagKind::Reasoning | TagKind::Round if tag.start > acted && !open && !tag.closing => {
                return tag.start;
            }
            TagKind::Reasoning => open = true,
            _ => {}
        }
    }
    text.len()
}

/// The beginning of the reasoning block, its content, and the end of the block.
fn reasoning(tags: &[Tag], end: usize) -> (usize, Option<(usize, usize)>, usize) {
    let is =
        |closing: bool| move |tag: &&Tag| tag.kind == TagKind::Reasoning && tag.closing == closing;
    let close = tags.iter().rev().find(is(true));
    let Some(open) = tags.iter().find(is(false)) else {
        // There is only the closing tag: the opening one was part of the prompt.
        return close.map_or((0, None, 0), |close| (0, Some((0, close.start)), close.end));
    };
    if let Some(close) = close.filter(|close| close.start >= open.end) {
        return (open.start, Some((open.end, close.start)), close.end);
    }
    let action = tags.iter().find(|tag| tag.kind == TagKind::Action && tag.start > open.start);
    let stop = action.map_or(end, |tag| tag.start);
    (open.start, Some((open.end, stop)), stop)
}

/// The contents of complete pairs of action tags: from an opening tag to the next closing one, with
/// no other opening tag in between.
fn pairs(tags: &[Tag]) -> impl Iterator<Item = (usize, usize)> {
    let mut open = None;
    tags.iter().filter(|tag| tag.kind == TagKind::Action).filter_map(move |tag| {
        if tag.closing {
            open.take().map(|from| (from, tag.start))
        } else {
            open = Some(tag.end);
            None
        }
    })
}

/// All relevant tags, in order.
fn tags(text: &str, action: &str) -> Vec<Tag> {
    let starts = text.match_indices(['<', '&']).map(|(at, _)| at);
    starts.filter_map(|start| tag(text, start, action)).collect()
}

fn tag(text: &str, start: usize, action: &str) -> Option<Tag> {
    let rest = text.get(start..)?;
    let rest = rest.strip_prefix('<').or_else(|| rest.strip_prefix("&lt;"))?;
    let rest = rest.trim_start_matches(' ');
    let (closing, rest) = match rest.strip_prefix('/') {
        Some(rest) => (true, rest.trim_start_matches(' ')),
        None => (false, rest),
    };
    if starts_with(rest, "ROUND") && !closing {
        return Some(Tag { kind: TagKind::Round, closing, start, end: start + 1 });
    }
    let kinds = [
        ("REASONING", TagKind::Reasoning),
        ("think", TagKind::Reasoning),
        (action, TagKind::Action),
    ];
    kinds.into_iter().find_map(|(name, kind)| {
        let rest = rest.get(name.len()..).filter(|_| starts_with(rest, name))?;
        let rest = rest.trim_start_matches(' ');
        let rest = rest.strip_prefix('>').or_else(|| rest.strip_prefix("&gt;"))?;
        Some(Tag { kind, closing, start, end: text.len() - rest.len() })
    })
}

fn starts_with(text: &str, name: &str) -> bool {
    text.get(..name.len()).is_some_and(|head| head.eq_ignore_ascii_case(name))
}
