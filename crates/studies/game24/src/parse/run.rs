//! Finds an expression in a passage of prose that is known to contain the answer.

use super::PuzzleParams;
use super::expression::Expression;
use super::lines::{lines, without_target};
use super::normalise::normalise;
use super::validate::uses_exactly;

/// The expression that a passage gives as its answer, in plain notation.
///
/// If there are several, the last line with one over the puzzle's numbers counts, and in that line
/// the first such expression (`(4 + 8) * 2 = 12 * 2 = 24` states its left side; the rest is
/// working). If none is over those numbers, it is the first expression of all. The choice depends
/// on which numbers an expression uses, like the plausibility check of the source document, and
/// never on its value.
pub(super) fn expression_in(passage: &str, params: &PuzzleParams) -> Option<String> {
    let mut fallback = None;
    for line in lines(passage).rev() {
        let line = normalise(line);
        let mut first = None;
        for (text, expression) in expressions(&line) {
            if is_plausible(&expression, params) {
                return Some(text.to_owned());
            }
            first.get_or_insert(text);
        }
        if let Some(first) = first {
            fallback = Some(first.to_owned());
        }
    }
    fallback
}

/// The expression that a line consists of, if it is over the puzzle's numbers; see [`equation`].
pub(super) fn plausible_equation(line: &str, params: &PuzzleParams) -> Option<String> {
    let (text, expression) = equation(line)?;
    is_plausible(&expression, params).then_some(text)
}

/// The expression that a line consists of, without a target: `E`, `E = 24`, `24 = E`, or working
/// such as `E = 12 * 2 = 24`. Surrounding prose disqualifies the line, and so does another result.
pub(super) fn equation(line: &str) -> Option<(String, Expression)> {
    // Cheap tests first: most lines of an answer are prose or steps.
    if !line.bytes().any(|b| b.is_ascii_digit() || b >= 0x80) || line.contains(':') {
        return None;
    }
    let line = normalise(line);
    let line = without_list_mark(line.trim());
    let line = line.trim_matches(|c: char| c.is_whitespace() || matches!(c, '*' | '_' | '.' | '>'));
    let mut sides = line.split('=').map(str::trim);
    let first = sides.next()?;
    let (stated, closing) = if first == "24" {
        (sides.next()?, sides.next())
    } else {
        let mut closing = None;
        for side in sides {
            Expression::parse(side)?;
            closing = Some(side);
        }
        (first, closing)
    };
    if closing.is_some_and(|closing| closing != "24") {
        return None;
    }
    let expression = Expression::parse(stated).filter(Expression::combines)?;
    Some((stated.to_owned(), expression))
}

/// A passage that was meant as an expression but is malformed, without a target.
pub(super) fn attempt_in(passage: &str) -> Option<String> {
    let text = normalise(passage);
    let calculates =
        text.contains(['+', '-', '*', '/']) && text.contains(|c: char| c.is_ascii_digit());
    calculates.then(|| without_target(&text).to_owned())
}

/// Whether a text is an expression over the puzzle's numbers; any numbers are accepted if those are
/// unknown.
pub(super) fn is_over_the_numbers(text: &str, params: &PuzzleParams) -> bool {
    Expression::parse(text).is_some_and(|expression| is_plausible(&expression, params))
}

/// Whether it is over the puzzle's numbers; any numbers are accepted if those are unknown.
fn is_plausible(expression: &Expression, params: &PuzzleParams) -> bool {
    params.numbers.is_empty() || uses_exactly(expression, &params.numbers)
}

/// A line without a leading `- `, `* `, `• `, `> ` or `3. `. A minus sign before an operand has no
/// space after it.
fn without_list_mark(line: &str) -> &str {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let (number, rest) = line.split_at(digits);
    let marked = if number.is_empty() {
        rest.strip_prefix(['-', '*', '>'])
    } else {
        rest.strip_prefix(['.', ')'])
    };
    match marked {
        Some(rest) if rest.starts_with(' ') => rest.trim_start(),
        _ => line,
    }
}

/// The expressions with at least two operands in a line of plain notation, in order.
fn expressions(line: &str) -> impl Iterator<Item = (&str, Expression)> {
    let mut rest = without_list_mark(line.trim());
    let mut before = None;
    std::iter::from_fn(move || {
        while !rest.is_empty() {
            let start = rest.bytes().position(is_arithmetic).unwrap_or(rest.len());
            before = rest[..start].chars().next_back().or(before);
            rest = &rest[start..];
            let run = run(rest);
            let left_glued = before.is_some_and(glues) && !run.starts_with([' ', '\t']);
            rest = &rest[run.len()..];
            if let Some(after) = rest.strip_prefix(')') {
                // `(3 * 3) - 6) * 7` is malformed: the model did not mean its left part alone.
                if after.trim_start_matches(' ').starts_with(continues) {
                    rest = "";
                    return None;
                }
                rest = after;
            }
            let right_glued = rest.chars().next().is_some_and(glues) && !run.ends_with([' ', '\t']);
            before = None;
            if !run.bytes().any(|b| b.is_ascii_digit()) {
                continue;
            }
            // `sqrt(9) * 8` and `2 * 12x` are more than the arithmetic in them.
            if left_glued || right_glued {
                continue;
            }
            let text = trim(run);
            if let Some(expression) = Expression::parse(text).filter(Expression::combines) {
                return Some((text, expression));
            }
        }
        None
    })
}

/// What continues an expression after a closing parenthesis.
fn continues(c: char) -> bool {
    c.is_ascii_digit() || matches!(c, '(' | '+' | '-' | '*' | '/')
}

/// Letters that touch an expression make it part of something else.
fn glues(c: char) -> bool {
    c.is_alphabetic() || matches!(c, '_' | '\\')
}

/// The characters of a run. `! ^ %` do not occur in this game: a run with one of them is rejected
/// as a whole, rather than leaving a well-formed part (`2^3 * 3`, `(..) != 24`).
fn is_arithmetic(byte: u8) -> bool {
    byte.is_ascii_digit()
        || matches!(byte, b' ' | b'\t' | b'(' | b')' | b'.')
        || matches!(byte, b'+' | b'-' | b'*' | b'/' | b'!' | b'^' | b'%')
}

/// The run at the start of `text`, up to an unmatched closing parenthesis.
fn run(text: &str) -> &str {
    let mut depth = 0_usize;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'(' => depth += 1,
            b')' if depth == 0 => return &text[..at],
            b')' => depth -= 1,
            _ if is_arithmetic(byte) => {}
            _ => return &text[..at],
        }
    }
    text
}

/// A run without characters that can neither begin nor end an expression. A dash followed by a
/// space is punctuation.
fn trim(run: &str) -> &str {
    let is_space = |c: char| matches!(c, ' ' | '\t');
    let run =
        run.trim_end_matches(|c| is_space(c) || matches!(c, '(' | '+' | '-' | '*' | '/' | '.'));
    let run = run.trim_start_matches(|c| is_space(c) || matches!(c, '+' | '*' | '/' | '.'));
    match run.strip_prefix('-') {
        Some(rest) if rest.starts_with(is_space) => rest.trim_start_matches(is_space),
        _ => run,
    }
}
