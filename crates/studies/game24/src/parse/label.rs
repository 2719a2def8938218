//! Labelled lines: `Answer: ..`, `**Final answer:** ..`, `The answer is ..`, `Output: ..`.

use super::PuzzleParams;
use super::lines::lines;
use super::run::{attempt_in, equation, expression_in};

/// The kind of label on a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Label {
    Answer,
    Output,
}

/// A labelled line that decides: it gives an answer, or refuses to.
pub(super) struct LabelledLine {
    pub(super) label: Label,
    /// `None` is a refusal. Text that was meant as an expression but is malformed is still a
    /// candidate (`(12 - 4) * 2.4`, a superfluous parenthesis): the validator reports the fault,
    /// and no line of the working is used instead.
    pub(super) candidate: Option<String>,
}

/// The last labelled line that decides. One with neither an answer nor a refusal (`Answer: see
/// above`, `Answer: 24`) is skipped. A label on its own announces the line below it if that line is
/// only an equation: often it is the first step of the working.
pub(super) fn last_label(text: &str, params: &PuzzleParams) -> Option<LabelledLine> {
    let mut below = "";
    for line in lines(text).rev() {
        if let Some((label, content)) = label(line) {
            let is_bare = is_bare(content);
            let content = if is_bare { below } else { content };
            let expression = if is_bare {
                equation(content).map(|(text, _)| text)
            } else {
                expression_in(content, params)
            };
            if expression.is_some() || is_refusal(content) {
                return Some(LabelledLine { label, candidate: expression });
            }
            if let Some(attempt) = attempt_in(content).filter(|_| !is_bare) {
                return Some(LabelledLine { label, candidate: Some(attempt) });
            }
        }
        if !is_bare(line) && !line.starts_with("```") {
            below = line;
        }
    }
    None
}

/// Words that may precede the one that makes a line a labelled line.
const LEADS: [&str; 11] =
    ["the", "my", "a", "so", "thus", "hence", "therefore", "final", "one", "possible", "correct"];

/// The label of a line, and what follows it.
fn label(line: &str) -> Option<(Label, &str)> {
    let mut rest = line.trim_start_matches(is_decoration);
    // A label is short; prose that mentions an answer later in the line is not a label.
    for _ in 0..6 {
        let end = rest.bytes().take_while(u8::is_ascii_alphabetic).count();
        let (word, after) = rest.split_at(end);
        let is = |name: &str| word.eq_ignore_ascii_case(name);
        let label = match end {
            6 if is("answer") => Some(Label::Answer),
            8 if is("solution") => Some(Label::Answer),
            10 if is("expression") => Some(Label::Answer),
            6 if is("output") => Some(Label::Output),
            _ => None,
        };
        rest = after.trim_start_matches(is_decoration);
        if let Some(label) = label {
            return content(rest).map(|content| (label, content));
        }
        if end == 0 || !LEADS.iter().any(|lead| is(lead)) {
            return None;
        }
        rest = rest.trim_start_matches([',', ' ']);
    }
    None
}

/// What follows a label word: after a colon, or after `is`, or after `is:`.
fn content(rest: &str) -> Option<&str> {
    let verb = rest.strip_prefix("is").filter(|rest| !rest.starts_with(char::is_alphanumeric));
    let after = verb.unwrap_or(rest).trim_start_matches(is_decoration);
    match after.strip_prefix([':', '：']) {
        Some(content) => Some(content.trim()),
        None => verb.map(str::trim),
    }
}

/// Markdown around a label.
fn is_decoration(c: char) -> bool {
    matches!(c, ' ' | '\t' | '*' | '_' | '#' | '>' | '`' | '-' | '•')
}

/// Whether it has no readable content, as in `**`, `$$` or `\[`.
fn is_bare(text: &str) -> bool {
    !text.chars().any(char::is_alphanumeric)
}

/// Words that make a line without an answer a refusal.
const NEGATIONS: [&str; 14] = [
    "no",
    "not",
    "none",
    "never",
    "cannot",
    "can't",
    "impossible",
    "unable",
    "invalid",
    "unsolvable",
    "doesn't",
    "isn't",
    "unfortunately",
    "nothing",
];

/// Words for the subject of a refusal.
const TOPICS: [&str; 23] = [
    "solution",
    "solutions",
    "answer",
    "solvable",
    "solve",
    "solved",
    "possible",
    "impossible",
    "unsolvable",
    "way",
    "combination",
    "obtain",
    "obtained",
    "make",
    "made",
    "get",
    "reach",
    "reached",
    "form",
    "formed",
    "unable",
    "find",
    "done",
];

/// Whether the content of a labelled line says that there is no solution, or denies its own
/// equation (`!= 24`).
pub(super) fn is_refusal(content: &str) -> bool {
    mentions(content, &NEGATIONS)
        || content.eq_ignore_ascii_case("n/a")
        || content.contains("!=")
        || content.contains('≠')
}

/// Whether a line without a label says that there is no solution. A negation is not enough: it may
/// be a remark on a solution above (`every number is used, and no other`).
pub(super) fn gives_up(line: &str) -> bool {
    mentions(line, &NEGATIONS) && (mentions(line, &TOPICS) || line.contains("24"))
}

fn mentions(line: &str, list: &[&str]) -> bool {
    let mut words = line.split(|c: char| !c.is_ascii_alphabetic() && c != '\'');
    words.any(|word| list.iter().any(|listed| word.eq_ignore_ascii_case(listed)))
}
