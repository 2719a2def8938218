//! `game24@3`: as version 2, with labels in any words and dress, and the last complete claim.
//!
//! - **A claim** is a complete `<answer>` block, a box, or a labelled line with an expression, an attempt at one,
//!   or words of refusal. Labels may be other words (`FINAL:`, `Result:`, `Equation:`, `####`), stand in bold, as
//!   a heading, with a remark in parentheses, or alone above their answer. `Result`, `Equation` and `####` also
//!   announce steps, so there only an expression over the puzzle's numbers is a claim.
//! - **The last complete claim counts**, whatever its kind: who writes a labelled line below a block corrects
//!   it. One that says the same leaves the block its method.
//! - **A complete claim beats a cut one**, wherever it stands: what the end of the text cuts (`<answer>(9 - 6`,
//!   `Answer: (9 - 6) *`) counts only if there is no other.
//! - **Inside a sentence** (`so the answer is 4 * 6`) an expression over the puzzle's numbers counts where nothing
//!   else claims; below a claim only in a sentence that takes it back (`Wait, the answer should be ..`).
//! - **Words of refusal** are needed for `declined`: `Answer: (8 - 4) * 5 != 24` is an answer, and wrong, and
//!   `There is no other way` below a solution is a remark.
//! - What version 2 says of values and of reasoning holds: no choice looks at a value, and what was thought is no
//!   answer.

use super::Params;
use super::claims::{Claim, Label, is_cut_off, last_labelled, last_sentence};
use super::lines::lines;
use super::refusal::{gives_up, is_refusal};
use super::run::{attempt_in, equation, expression_in, plausible_equation};
use super::tags::{last_block_at, last_boxed_at, unclosed_blocks, within};
use super::v2::Answer;
use retold::parse::Found;

/// What a decision may have as its method.
pub(super) const METHODS: &[&str] = &[
    "answer_block",
    "unclosed_answer_block",
    "boxed",
    "answer_line",
    "got_output_format",
    "whole_text",
    "declined",
    "answer_in_sentence",
    "fallback_bottom_scan",
    "empty",
];

/// A claim that decides, and where it ends.
#[derive(Default)]
struct Decided {
    method: &'static str,
    candidate: String,
    end: usize,
    warning: Option<&'static str>,
    /// See [`Claim::is_denied`].
    is_denied: bool,
}

const REPEATED: &str = "several answer blocks: the last one counts";
const UNCLOSED: &str = "the answer tag is not closed: the answer may have been cut";
const SUPERSEDED: &str = "a later answer takes the place of the one in the answer block";
const NO_EXPRESSION: &str = "the answer block holds no expression: the labelled line counts";
const CUT: &str = "the last answer was cut: the complete one before it counts";
const CUT_ALONE: &str = "the answer was cut";

/// The decision.
pub(super) fn decide(text: &str, params: &Params) -> (&'static str, Found<String>) {
    let answer = Answer::of(text);
    let body = answer.body;
    let (method, candidate, warning) = match explicit(body, params) {
        Some(decided) => match corrected(body, decided.end, params) {
            Some(candidate) => ("answer_in_sentence", candidate, None),
            None if decided.is_denied && declines(body, params) => {
                ("declined", String::new(), None)
            }
            None => (decided.method, decided.candidate, decided.warning),
        },
        None => implicit(body, params),
    };
    let mut found = answer.found(candidate);
    found.warnings.extend(warning.map(str::to_owned));
    (method, found)
}

/// A sentence below the claim that takes it back.
fn corrected(body: &str, end: usize, params: &Params) -> Option<String> {
    let below = body.get(end..).filter(|below| !below.trim().is_empty())?;
    last_sentence(below, params, true)
}

/// The last complete claim, or else one that was cut.
fn explicit(body: &str, params: &Params) -> Option<Decided> {
    let block = block(body, params);
    let after = block.as_ref().map_or(0, |block| block.end);
    let boxed = last_boxed_at(body).filter(|(at, _)| *at >= after).and_then(|(at, content)| {
        let candidate = expression_in(content, params)?;
        let end = at + content.len();
        Some(Decided { method: "boxed", candidate, end, ..Decided::default() })
    });
    let latest = boxed.or(block);
    let after = latest.as_ref().map_or(0, |claim| claim.end);
    let line = body.get(after..).and_then(|rest| last_labelled(rest, params));
    let line = line.map(|claim| (claim.is_cut, of_line(body, after, claim)));
    let (line, cut_line) = match line {
        Some((true, line)) => (None, Some(line)),
        Some((false, line)) => (Some(line), None),
        None => (None, None),
    };
    let was_cut = cut_line.is_some();
    let complete = match (latest, line) {
        // A block that holds no expression does not stand against a line that does.
        (Some(block), Some(line)) if line.candidate == block.candidate => Some(block),
        (Some(block), Some(line)) => {
            let warning = if block.end == 0 { NO_EXPRESSION } else { SUPERSEDED };
            let warning = (block.method == "answer_block").then_some(warning);
            Some(Decided { warning, ..line })
        }
        (block, line) => line.or(block),
    };
    let after = complete.as_ref().map_or(0, |claim| claim.end);
    let unclosed = unclosed(body, params);
    match (complete, unclosed) {
        (Some(complete), Some((unclosed, false))) if unclosed.end > after => {
            // The block that was found may be the same one, closed.
            Some(if unclosed.candidate == complete.candidate { complete } else { unclosed })
        }
        (Some(complete), unclosed) => {
            let is_cut = was_cut || unclosed.is_some_and(|(u, cut)| cut && u.end > after);
            let warning = complete.warning.or(is_cut.then_some(CUT));
            Some(Decided { warning, ..complete })
        }
        (None, Some((unclosed, _))) => Some(unclosed),
        (None, None) => cut_line.map(|line| Decided { warning: Some(CUT_ALONE), ..line }),
    }
}

/// The last complete block that is not blank: its expression, its words of refusal, or its first line, since the
/// model chose to put that there.
fn block(body: &str, params: &Params) -> Option<Decided> {
    let block = last_block_at(body)?;
    let expression = expression_in(block.content, params);
    let end = block.start + block.content.len();
    if expression.is_none() && is_refusal(block.content) {
        return Some(Decided { method: "declined", end, ..Decided::default() });
    }
    let candidate = expression.or_else(|| lines(block.content).next().map(str::to_owned))?;
    let warning = block.is_repeated.then_some(REPEATED);
    // Without an expression in it, a labelled line above counts as much as one below.
    let is_claim = attempt_in(&candidate).is_some();
    let end = if is_claim { end } else { 0 };
    Some(Decided { method: "answer_block", candidate, end, warning, is_denied: false })
}

fn of_line(body: &str, after: usize, claim: Claim) -> Decided {
    let method = match (&claim.candidate, claim.label) {
        (None, _) => "declined",
        (_, Label::Output) => "got_output_format",
        _ => "answer_line",
    };
    let at = after + claim.at;
    let rest = body.get(at..).unwrap_or_default();
    let end = at + rest.find('\n').unwrap_or(rest.len());
    let Claim { candidate, is_denied, .. } = claim;
    let candidate = candidate.unwrap_or_default();
    Decided { method, candidate, end, warning: None, is_denied }
}

/// The last opening tag after which an expression stands, and whether the end of the text cut it.
fn unclosed(body: &str, params: &Params) -> Option<(Decided, bool)> {
    unclosed_blocks(body).find_map(|content| {
        let line = lines(content).next()?;
        let candidate = expression_in(line, params)?;
        let from = within(body, content);
        let reaches_the_end = from + content.len() == body.len() && content.trim() == line;
        let is_cut = reaches_the_end && !line.contains('=');
        if is_cut_off(line) {
            return None;
        }
        let end = from + content.len();
        let warning = Some(UNCLOSED);
        let method = "unclosed_answer_block";
        Some((Decided { method, candidate, end, warning, is_denied: false }, is_cut))
    })
}

/// Whether the last line gives up.
fn declines(body: &str, params: &Params) -> bool {
    let last = lines(body).next_back().unwrap_or_default();
    gives_up(last) && plausible_equation(last, params).is_none()
}

/// Where nothing claims: the only line, a last line that gives up, a sentence, or a line of the working.
fn implicit(body: &str, params: &Params) -> (&'static str, String, Option<&'static str>) {
    let mut all = lines(body);
    let first = all.next();
    if let (Some(line), None) = (first, all.next())
        && let Some((candidate, _)) = equation(line)
    {
        return ("whole_text", candidate, None);
    }
    if declines(body, params) {
        return ("declined", String::new(), None);
    }
    if let Some(candidate) = last_sentence(body, params, false) {
        return ("answer_in_sentence", candidate, None);
    }
    match lines(body).rev().find_map(|line| plausible_equation(line, params)) {
        Some(candidate) => ("fallback_bottom_scan", candidate, None),
        None => ("empty", String::new(), None),
    }
}
