//! Lines that claim an answer: after a label in any style, or inside a sentence.

use super::PuzzleParams;
use super::lines::lines;
use super::refusal::is_refusal;
use super::run::{attempt_in, equation, expression_in, is_over_the_numbers};
use super::tags::within;

/// The kind of label that announces a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ClaimLabel {
    /// `Answer`, `Solution`, `Expression`, `Final`.
    Answer,
    /// `Output`.
    Output,
    /// `Result`, `Equation`, `####`: these also announce steps, so only an expression over the
    /// puzzle's numbers is a claim.
    Step,
}

/// A line that claims.
pub(super) struct Claim {
    pub(super) label: ClaimLabel,
    /// `None` is a refusal.
    pub(super) candidate: Option<String>,
    /// Where the line begins, in bytes.
    pub(super) at: usize,
    /// Whether its own line says that it is not 24.
    pub(super) is_denied: bool,
    /// Whether the text ends in the middle of it.
    pub(super) is_cut: bool,
}

const LABELS: [(&str, ClaimLabel); 9] = [
    ("answer", ClaimLabel::Answer),
    ("solution", ClaimLabel::Answer),
    ("expression", ClaimLabel::Answer),
    ("final", ClaimLabel::Answer),
    ("output", ClaimLabel::Output),
    ("result", ClaimLabel::Step),
    ("equation", ClaimLabel::Step),
    ("calculation", ClaimLabel::Step),
    ("formula", ClaimLabel::Step),
];

/// Words that may precede the one that makes a line a labelled line.
const LEADS: [&str; 34] = [
    "the", "my", "a", "an", "our", "your", "so", "thus", "hence", "therefore", "and", "here", "is",
    "one", "possible", "correct", "corrected", "revised", "updated", "valid", "complete", "full",
    "finally", "in", "conclusion", "resulting", "actual", "actually", "wait", "no", "sorry",
    "correction", "new", "single",
];

/// Words of a line that corrects what precedes it.
const CORRECTIONS: [&str; 12] = [
    "wait", "actually", "correction", "corrected", "sorry", "instead", "mistake", "oops", "rather",
    "should", "revised", "wrong",
];

/// The last labelled line that makes a claim. One at the end of the text that is cut off within an
/// expression only counts if there is no complete one above it.
pub(super) fn last_labelled(text: &str, params: &PuzzleParams) -> Option<Claim> {
    let mut below = "";
    let mut is_last = true;
    let mut cut = None;
    for line in lines(text).rev() {
        if let Some((label, content)) = split_label(line)
            && let Some(mut claim) = claim(label, content, below, params)
        {
            claim.at = within(text, line);
            claim.is_cut = is_last && is_cut_off(content);
            if !claim.is_cut {
                return Some(claim);
            }
            cut = Some(claim);
        }
        is_last = false;
        if !is_bare(line) && !line.starts_with("```") {
            below = line;
        }
    }
    cut
}

/// The claim of a labelled line; `below` is the line that a label on its own announces.
fn claim(label: ClaimLabel, content: &str, below: &str, params: &PuzzleParams) -> Option<Claim> {
    let is_alone = is_bare(content);
    let content = if is_alone { below } else { content };
    // `Answer: X. Wait, that is wrong. Answer: Y`: an answer taken back on its line does not count.
    if let Some(corrected) = last_sentence(content, params, true) {
        let (candidate, is_denied, is_cut) = (Some(corrected), false, false);
        return Some(Claim { label, candidate, at: 0, is_denied, is_cut });
    }
    // Also of an equation that its own line denies (`(8 - 4) * 5 != 24`): that is the answer, and
    // wrong.
    let stated = before_denial(content);
    let is_denied = stated.len() < content.len();
    let claim = |candidate| Some(Claim { label, candidate, at: 0, is_denied, is_cut: false });
    let over = |found: &String| is_over_the_numbers(found, params);
    let expression = match (is_alone, label) {
        (true, _) => {
            let line = equation(stated).map(|(text, _)| text);
            line.or_else(|| expression_in(stated, params).filter(over))
        }
        (false, ClaimLabel::Step) => expression_in(stated, params).filter(over),
        (false, _) => expression_in(stated, params),
    };
    if expression.is_some() {
        return claim(expression);
    }
    if is_refusal(content) {
        return claim(None);
    }
    let is_meant = !is_alone && label != ClaimLabel::Step;
    attempt_in(stated).filter(|_| is_meant).and_then(|attempt| claim(Some(attempt)))
}

/// The last sentence after a position that claims an expression over the puzzle's numbers
/// (`so the answer is 4 * 6`). If the text has already claimed an answer, only a sentence that
/// corrects it counts.
pub(super) fn last_sentence(text: &str, params: &PuzzleParams, corrects: bool) -> Option<String> {
    // Without a digit there is no expression. Most prose has no digits, so its words need not be
    // examined.
    let has_digits = |line: &&str| line.bytes().any(|b| b.is_ascii_digit() || b >= 0x80);
    let claims = lines(text).rev().filter(has_digits);
    claims.filter(|line| !corrects || is_correction(line)).find_map(|line| {
        let found =
            after_labels(line).find_map(|content| expression_in(before_denial(content), params));
        found.filter(|found| is_over_the_numbers(found, params))
    })
}

/// What follows each of the last labels inside a line, last first. Only a few are examined, because
/// a line may be long.
fn after_labels(line: &str) -> impl Iterator<Item = &str> {
    let mut head = line.len();
    let mut labels = 0;
    std::iter::from_fn(move || {
        while labels < 8 {
            let before = line.get(..head)?;
            let end = before.rfind(|c: char| c.is_ascii_alphabetic())? + 1;
            let start = before.get(..end)?.rfind(|c: char| !c.is_ascii_alphabetic());
            let start =
                start.map_or(0, |at| at + before[at..].chars().next().map_or(1, char::len_utf8));
            head = start;
            if label_of(before.get(start..end)?).is_some() {
                labels += 1;
                if let Some(content) = content(line.get(end..)?).filter(|c| !is_bare(c)) {
                    return Some(content);
                }
            }
        }
        None
    })
}

fn is_correction(line: &str) -> bool {
    let mut words = line.split(|c: char| !c.is_ascii_alphabetic());
    words.any(|word| CORRECTIONS.iter().any(|listed| word.eq_ignore_ascii_case(listed)))
}

/// The label of a line, and what follows it.
fn split_label(line: &str) -> Option<(ClaimLabel, &str)> {
    if let Some(rest) = line.strip_prefix("####") {
        let content = rest.trim_start_matches(is_decoration);
        if !content.starts_with(|c: char| c.is_alphabetic()) {
            return Some((ClaimLabel::Step, content.trim()));
        }
    }
    let mut rest = line.trim_start_matches(is_dress);
    // A label is short; prose that mentions an answer later in the line is not a label.
    for _ in 0..8 {
        let end = rest.bytes().take_while(u8::is_ascii_alphabetic).count();
        let (word, after) = rest.split_at(end);
        rest = without_remark(after.trim_start_matches(is_mark));
        if let Some(label) = label_of(word) {
            // `Final answer`, `Answer expression`: the last word of the label decides.
            let next = rest.bytes().take_while(u8::is_ascii_alphabetic).count();
            if label_of(rest.get(..next)?).is_some() {
                continue;
            }
            return content(rest).map(|content| (label, content));
        }
        if end == 0 || !LEADS.iter().any(|lead| word.eq_ignore_ascii_case(lead)) {
            return None;
        }
        // `Here's the answer`: the letter belongs to the lead, and `solution` keeps its own.
        rest = rest.strip_prefix("'s").or(rest.strip_prefix("’s")).unwrap_or(rest);
        rest = rest.trim_start_matches([',', ':', '!', ' ']);
    }
    None
}

fn label_of(word: &str) -> Option<ClaimLabel> {
    if !(5..=11).contains(&word.len()) {
        return None;
    }
    let known = LABELS.iter().find(|(name, _)| word.eq_ignore_ascii_case(name));
    known.map(|(_, label)| *label)
}

/// A text without leading remarks in parentheses: `(using each number once)`.
fn without_remark(text: &str) -> &str {
    let inner = text.strip_prefix('(').and_then(|rest| rest.split_once(')'));
    match inner {
        Some((remark, rest))
            if remark.len() < 80 && remark.starts_with(|c: char| c.is_alphabetic()) =>
        {
            rest.trim_start_matches(is_mark)
        }
        _ => text,
    }
}

/// What follows a label word: after a colon, a dash or an arrow, or after a verb. If the label is
/// the whole line, nothing follows it.
fn content(rest: &str) -> Option<&str> {
    let rest = rest.trim_start_matches(is_mark);
    if rest.is_empty() {
        return Some(rest);
    }
    for verb in ["is", "would be", "will be", "should be", "could be", "can be", "becomes", "was"] {
        let after = rest.strip_prefix(verb);
        if let Some(after) = after.filter(|rest| !rest.starts_with(char::is_alphanumeric)) {
            let after = after.trim_start_matches(is_mark);
            return Some(after.trim_start_matches([':', '：']).trim());
        }
    }
    let signs = [":", "：", "=>", "->", "→", "⇒", "=", "- ", "– ", "— "];
    let after = signs.iter().find_map(|sign| rest.strip_prefix(sign));
    after.map(str::trim)
}

/// The part of a line before its denial.
fn before_denial(content: &str) -> &str {
    let at = ["!=", "≠", "\\ne"].iter().filter_map(|sign| content.find(sign)).min();
    content.get(..at.unwrap_or(content.len())).unwrap_or(content)
}

/// Whether a line ends in the middle of an expression: after an operator, or within parentheses.
pub(super) fn is_cut_off(line: &str) -> bool {
    let line = line.trim_end_matches(|c: char| c.is_whitespace() || matches!(c, '`' | '$'));
    let opened = line.bytes().filter(|b| *b == b'(').count();
    let closed = line.bytes().filter(|b| *b == b')').count();
    let ends_open = line.ends_with(['(', '+', '-', '/', '×', '÷']) || line.ends_with(" *");
    ends_open || opened > closed && !line.contains('=')
}

/// Markdown around a label.
fn is_decoration(c: char) -> bool {
    matches!(c, ' ' | '\t' | '*' | '_' | '#' | '>' | '`' | '-' | '•')
}

/// Markdown, quotes and pictures around a label.
fn is_dress(c: char) -> bool {
    is_decoration(c)
        || matches!(
            c,
            '"' | '“' | '”' | '[' | ']' | '~' | '|' | '–' | '—' | '✅' | '✔' | '\u{fe0f}'
        )
}

/// Like [`is_dress`], except for characters that can replace a colon.
fn is_mark(c: char) -> bool {
    is_dress(c) && !matches!(c, '-' | '>' | '–' | '—')
}

/// Whether it has no readable content, as in `**`, `$$` or `\[`.
fn is_bare(text: &str) -> bool {
    !text.chars().any(char::is_alphanumeric)
}
