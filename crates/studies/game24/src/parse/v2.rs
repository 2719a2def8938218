//! `game24@2`: the model's final answer, in any form that models write it.
//!
//! - **The final answer, not the best one.** No choice ever depends on the value of an expression;
//!   otherwise a more eager parser would increase the solve rate.
//! - **A claim** is a complete `<answer>` block, a box, or a labelled line with an expression, an
//!   attempt at one, or words of refusal. Labels may be other words (`FINAL:`, `Result:`,
//!   `Equation:`, `####`), in bold, in a heading, with a remark in parentheses, or on a line of
//!   their own above the answer. `Result`, `Equation` and `####` also announce steps, so after
//!   these only an expression over the puzzle's numbers is a claim.
//! - **The last complete claim counts**, whatever its kind: a model that writes a labelled line
//!   below a block corrects the block. If the line says the same, the method remains that of the
//!   block. Version 1 takes the first `<answer>` block because a regular expression did.
//! - **A complete claim beats a truncated one**, wherever it is: a claim cut off by the end of the
//!   text (`<answer>(9 - 6`, `Answer: (9 - 6) *`) counts only if it is alone.
//! - **Inside a sentence** (`so the answer is 4 * 6`), an expression over the puzzle's numbers
//!   counts if nothing else is claimed; after a claim, only in a sentence that corrects it (`Wait,
//!   the answer should be ..`).
//! - **A refusal is an answer.** `Answer: not possible` and `<answer>NO_SOLUTION</answer>` give no
//!   candidate and the method `declined`, which keeps the bottom scan from turning the working
//!   above into a solution. It needs words: `Answer: (8 - 4) * 5 != 24` is an answer, and wrong,
//!   and `There is no other way` after a solution is a remark.
//! - **A malformed answer is an answer.** `Answer: (12 - 4) * 2.4 = 24` is a candidate with a
//!   format error, and no line of the working is used instead.
//! - **Reasoning is not the answer.** Text before `</think>` is reported as the reasoning and is
//!   not searched, unless nothing follows it.
//! - **The bottom scan needs a line that is only the equation**, over exactly the puzzle's numbers.
//!   It may still pick a line of the working; its method shows that.

use super::PuzzleParams;
use super::claims::{Claim, ClaimLabel, is_cut_off, last_labelled, last_sentence};
use super::lines::lines;
use super::refusal::{gives_up, is_refusal};
use super::run::{attempt_in, equation, expression_in, plausible_equation};
use super::split_answer::SplitAnswer;
use super::tags::{last_block, last_boxed, unclosed_blocks, within};
use retold::parse::FoundValue;

/// The possible methods of a decision.
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

/// A claim that decides, and its end.
#[derive(Default)]
struct DecisiveClaim {
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
pub(super) fn decide(text: &str, params: &PuzzleParams) -> (&'static str, FoundValue<String>) {
    let answer = SplitAnswer::new(text);
    let body = answer.body;
    let (method, candidate, warning) = match explicit(body, params) {
        Some(decided) => match correction(body, decided.end, params) {
            Some(candidate) => ("answer_in_sentence", candidate, None),
            None if decided.is_denied && declines(body, params) => {
                ("declined", String::new(), None)
            }
            None => (decided.method, decided.candidate, decided.warning),
        },
        None => implicit(body, params),
    };
    let mut found = answer.found_value(candidate);
    found.warnings.extend(warning.map(str::to_owned));
    (method, found)
}

/// A sentence after the claim that corrects it.
fn correction(body: &str, end: usize, params: &PuzzleParams) -> Option<String> {
    let below = body.get(end..).filter(|below| !below.trim().is_empty())?;
    last_sentence(below, params, true)
}

/// The last complete claim, or otherwise a truncated one.
fn explicit(body: &str, params: &PuzzleParams) -> Option<DecisiveClaim> {
    let block = block(body, params);
    let after = block.as_ref().map_or(0, |block| block.end);
    let boxed = last_boxed(body).filter(|(at, _)| *at >= after).and_then(|(at, content)| {
        let candidate = expression_in(content, params)?;
        let end = at + content.len();
        Some(DecisiveClaim { method: "boxed", candidate, end, ..DecisiveClaim::default() })
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
        // A block without an expression yields to a line with one.
        (Some(block), Some(line)) if line.candidate == block.candidate => Some(block),
        (Some(block), Some(line)) => {
            let warning = if block.end == 0 { NO_EXPRESSION } else { SUPERSEDED };
            let warning = (block.method == "answer_block").then_some(warning);
            Some(DecisiveClaim { warning, ..line })
        }
        (block, line) => line.or(block),
    };
    let after = complete.as_ref().map_or(0, |claim| claim.end);
    let unclosed = unclosed_claim(body, params);
    match (complete, unclosed) {
        (Some(complete), Some((unclosed, false))) if unclosed.end > after => {
            // The block that was found may be the same one, closed.
            Some(if unclosed.candidate == complete.candidate { complete } else { unclosed })
        }
        (Some(complete), unclosed) => {
            let is_cut = was_cut || unclosed.is_some_and(|(u, cut)| cut && u.end > after);
            let warning = complete.warning.or(is_cut.then_some(CUT));
            Some(DecisiveClaim { warning, ..complete })
        }
        (None, Some((unclosed, _))) => Some(unclosed),
        (None, None) => cut_line.map(|line| DecisiveClaim { warning: Some(CUT_ALONE), ..line }),
    }
}

/// The last complete block that is not blank: its expression, its words of refusal, or its first
/// line, because the model chose to put that there.
fn block(body: &str, params: &PuzzleParams) -> Option<DecisiveClaim> {
    let block = last_block(body)?;
    let expression = expression_in(block.content, params);
    let end = block.start + block.content.len();
    if expression.is_none() && is_refusal(block.content) {
        return Some(DecisiveClaim { method: "declined", end, ..DecisiveClaim::default() });
    }
    let candidate = expression.or_else(|| lines(block.content).next().map(str::to_owned))?;
    let warning = block.is_repeated.then_some(REPEATED);
    // Without an expression in it, a labelled line above counts as much as one below.
    let is_claim = attempt_in(&candidate).is_some();
    let end = if is_claim { end } else { 0 };
    Some(DecisiveClaim { method: "answer_block", candidate, end, warning, is_denied: false })
}

fn of_line(body: &str, after: usize, claim: Claim) -> DecisiveClaim {
    let method = match (&claim.candidate, claim.label) {
        (None, _) => "declined",
        (_, ClaimLabel::Output) => "got_output_format",
        _ => "answer_line",
    };
    let at = after + claim.at;
    let rest = body.get(at..).unwrap_or("");
    let end = at + rest.find('\n').unwrap_or(rest.len());
    let Claim { candidate, is_denied, .. } = claim;
    let candidate = candidate.unwrap_or_default();
    DecisiveClaim { method, candidate, end, warning: None, is_denied }
}

/// The last opening tag that is followed by an expression, and whether the end of the text cut it
/// off.
fn unclosed_claim(body: &str, params: &PuzzleParams) -> Option<(DecisiveClaim, bool)> {
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
        Some((DecisiveClaim { method, candidate, end, warning, is_denied: false }, is_cut))
    })
}

/// Whether the last line gives up.
fn declines(body: &str, params: &PuzzleParams) -> bool {
    let last = lines(body).next_back().unwrap_or("");
    gives_up(last) && plausible_equation(last, params).is_none()
}

/// If there is no claim: the only line, a last line that gives up, a sentence, or a line of the
/// working.
fn implicit(body: &str, params: &PuzzleParams) -> (&'static str, String, Option<&'static str>) {
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
