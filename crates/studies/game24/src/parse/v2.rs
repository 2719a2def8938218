//! `game24@2`: the model's final answer, in any form that models write it.
//!
//! The strategies go from the most explicit marker to the least. Ambiguities are resolved as
//! follows:
//!
//! - **The final answer, not the best one.** Among markers of one kind, the last counts: a model
//!   that corrects itself writes the correction below. Version 1 takes the first `<answer>` block
//!   because a regular expression did. No choice ever depends on the value of an expression;
//!   otherwise a more eager parser would increase the solve rate.
//! - **A complete block beats an unclosed one**, wherever it is: a truncated answer may have been
//!   cut off inside the expression. An unclosed block beats a labelled line, because it is more
//!   explicit, but only if its expression is well-formed.
//! - **A refusal is an answer.** `Answer: not possible` and `<answer>NO_SOLUTION</answer>` give no
//!   candidate and the method `declined`, which keeps the bottom scan from turning the working
//!   above into a solution.
//! - **Reasoning is not the answer.** Text before `</think>` is reported as the reasoning and is
//!   not searched, unless nothing follows it.
//! - **A malformed answer is an answer.** `Answer: (12 - 4) * 2.4 = 24` is a candidate with a
//!   format error, and no line of the working is used instead.
//! - **The bottom scan needs a line that is only the equation**, over exactly the puzzle's numbers.
//!   It may still pick a line of the working; its method shows that.

use memchr::{memchr, memmem};

use super::PuzzleParams;
use super::label::{Label, gives_up, is_refusal, last_label};
use super::lines::lines;
use super::run::{equation, expression_in, plausible_equation};
use super::tags::{last_block, last_box, unclosed_blocks};
use retold::parse::{FoundValue, Strategy};

pub(super) const STRATEGIES: &[Strategy<PuzzleParams, String>] = &[
    Strategy { method: "declined", find: refusal_in_block },
    Strategy { method: "answer_block", find: answer_block },
    Strategy { method: "unclosed_answer_block", find: unclosed_answer_block },
    Strategy { method: "boxed", find: boxed_answer },
    Strategy { method: "answer_line", find: answer_line },
    Strategy { method: "got_output_format", find: output_line },
    Strategy { method: "whole_text", find: whole_text },
    Strategy { method: "declined", find: refusal },
    Strategy { method: "fallback_bottom_scan", find: bottom_scan },
];

/// Whether the last complete block that is not blank says that there is no solution
/// (`NO_SOLUTION`).
fn refusal_in_block(text: &str, params: &PuzzleParams) -> Option<FoundValue<String>> {
    let answer = SplitAnswer::new(text);
    let content = last_block(answer.body)?.content;
    let declines = is_refusal(content) && expression_in(content, params).is_none();
    declines.then(|| answer.found_value(String::new()))
}

/// The last complete block that is not blank. If it has no expression, its first line is still the
/// candidate, because the model chose to put it there.
fn answer_block(text: &str, params: &PuzzleParams) -> Option<FoundValue<String>> {
    let answer = SplitAnswer::new(text);
    let block = last_block(answer.body)?;
    let candidate = expression_in(block.content, params)
        .or_else(|| lines(block.content).next().map(str::to_owned));
    let mut found = answer.found_value(candidate?);
    if block.is_repeated {
        found.warnings.push("several answer blocks: the last one counts".to_owned());
    }
    Some(found)
}

/// The last opening tag that is followed by an expression, up to the next tag. Covers truncated
/// answers and tags closed with another opening tag. A text that ends within an expression, `(9 + 9
/// - 6) * (`, is not an answer: its well-formed part would be a different expression.
fn unclosed_answer_block(text: &str, params: &PuzzleParams) -> Option<FoundValue<String>> {
    let answer = SplitAnswer::new(text);
    let candidate = unclosed_blocks(answer.body).find_map(|content| {
        let line = lines(content).next()?;
        if line.ends_with(['(', '+', '-', '*', '/']) {
            return None;
        }
        expression_in(line, params)
    })?;
    let mut found = answer.found_value(candidate);
    found.warnings.push("the answer tag is not closed: the answer may have been cut".to_owned());
    Some(found)
}

/// The last `\boxed{..}`, if there is an expression in it: a box around a bare `24` does not answer
/// this puzzle, and its line is left to the other strategies.
fn boxed_answer(text: &str, params: &PuzzleParams) -> Option<FoundValue<String>> {
    let answer = SplitAnswer::new(text);
    let candidate = expression_in(last_box(answer.body)?, params)?;
    Some(answer.found_value(candidate))
}

fn answer_line(text: &str, params: &PuzzleParams) -> Option<FoundValue<String>> {
    by_label(text, params, Label::Answer)
}

fn output_line(text: &str, params: &PuzzleParams) -> Option<FoundValue<String>> {
    by_label(text, params, Label::Output)
}

/// The last decisive labelled line, if it has this label and gives an answer.
fn by_label(text: &str, params: &PuzzleParams, label: Label) -> Option<FoundValue<String>> {
    let answer = SplitAnswer::new(text);
    let line = last_label(answer.body, params)?;
    let candidate = line.candidate.filter(|_| line.label == label)?;
    Some(answer.found_value(candidate))
}

/// A single line that is only an equation: whatever its numbers, it is the answer. With more lines,
/// only the puzzle's numbers distinguish an answer from a step.
fn whole_text(text: &str, _: &PuzzleParams) -> Option<FoundValue<String>> {
    let answer = SplitAnswer::new(text);
    let mut lines = lines(answer.body);
    let line = lines.next()?;
    if lines.next().is_some() {
        return None;
    }
    let (candidate, _) = equation(line)?;
    Some(answer.found_value(candidate))
}

/// Whether the last decisive labelled line, or otherwise the last line, is a refusal.
fn refusal(text: &str, params: &PuzzleParams) -> Option<FoundValue<String>> {
    let answer = SplitAnswer::new(text);
    let declines = last_label(answer.body, params).is_some() || {
        lines(answer.body)
            .next_back()
            .is_some_and(|line| gives_up(line) && plausible_equation(line, params).is_none())
    };
    declines.then(|| answer.found_value(String::new()))
}

fn bottom_scan(text: &str, params: &PuzzleParams) -> Option<FoundValue<String>> {
    let answer = SplitAnswer::new(text);
    let mut lines = lines(answer.body).rev();
    let candidate = lines.find_map(|line| plausible_equation(line, params))?;
    Some(answer.found_value(candidate))
}

/// A text split into the model's reasoning and its answer.
pub(super) struct SplitAnswer<'t> {
    reasoning: Option<&'t str>,
    pub(super) body: &'t str,
}

impl<'t> SplitAnswer<'t> {
    /// Splits at the last `</think>`; the opening tag is often part of the prompt's template. If
    /// nothing follows it, there was no separate answer, and the whole text is searched.
    pub(super) fn new(text: &'t str) -> SplitAnswer<'t> {
        const CLOSE: &str = "</think>";
        let whole = SplitAnswer { reasoning: None, body: text };
        if memchr(b'<', text.as_bytes()).is_none() {
            return whole;
        }
        let Some(at) = memmem::rfind(text.as_bytes(), CLOSE.as_bytes()) else {
            return whole;
        };
        let (reasoning, body) = (&text[..at], &text[at + CLOSE.len()..]);
        if body.trim().is_empty() {
            return whole;
        }
        let reasoning = reasoning.trim();
        let reasoning = reasoning.strip_prefix("<think>").unwrap_or(reasoning).trim();
        SplitAnswer { reasoning: Some(reasoning), body }
    }

    pub(super) fn found_value(&self, candidate: String) -> FoundValue<String> {
        let reasoning = self.reasoning.map(str::to_owned);
        FoundValue { value: candidate, reasoning, warnings: Vec::new() }
    }
}
