//! Arithmetic expressions: the validator's input, evaluated exactly.
//!
//! The grammar is the arithmetic part of the original project's: integers, `+ - * /`, parentheses
//! and a minus sign. A whole decimal such as `4.0` counts as `4`; `1.5` and `04` are not numbers in
//! this game. A plus sign, `//` and `**` are refused.

use num_rational::Ratio;
use num_traits::{CheckedAdd, CheckedDiv, CheckedMul, CheckedSub};

/// An exact value.
pub type Rational = Ratio<i128>;

/// A well-formed expression, which may still have no value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expression {
    /// Reverse Polish notation: evaluation needs a stack of values and no recursion.
    postfix: Vec<EvaluationStep>,
    /// Whether a literal was too large and was clamped, so that there is no value.
    clamped: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EvaluationStep {
    Number(i64),
    Apply(Operator),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    Open,
    Add,
    Subtract,
    Multiply,
    Divide,
    Negate,
}

impl Operator {
    fn binary(byte: u8) -> Option<Operator> {
        Some(match byte {
            b'+' => Operator::Add,
            b'-' => Operator::Subtract,
            b'*' => Operator::Multiply,
            b'/' => Operator::Divide,
            _ => return None,
        })
    }

    /// How tightly it binds; an open parenthesis stops everything.
    fn rank(self) -> u8 {
        match self {
            Operator::Open => 0,
            Operator::Add | Operator::Subtract => 1,
            Operator::Multiply | Operator::Divide => 2,
            Operator::Negate => 3,
        }
    }
}

impl Expression {
    /// Parses an expression in one pass with an explicit stack, so that a megabyte of `(` takes a
    /// megabyte of memory rather than the call stack. `None` if the text is not an expression.
    #[must_use]
    pub fn parse(text: &str) -> Option<Expression> {
        let bytes = text.as_bytes();
        let mut postfix = Vec::with_capacity(8);
        let mut waiting: Vec<Operator> = Vec::with_capacity(8);
        let mut clamped = false;
        let mut want_operand = true;
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            at += 1;
            match byte {
                _ if byte.is_ascii_whitespace() => {}
                b'0'..=b'9' | b'.' if want_operand => {
                    let literal = literal(bytes, at - 1)?;
                    postfix.push(EvaluationStep::Number(literal.value));
                    clamped |= literal.clamped;
                    at = literal.end;
                    want_operand = false;
                }
                b'(' if want_operand => waiting.push(Operator::Open),
                b'-' if want_operand => waiting.push(Operator::Negate),
                b')' if !want_operand => loop {
                    match waiting.pop()? {
                        Operator::Open => break,
                        operator => postfix.push(EvaluationStep::Apply(operator)),
                    }
                },
                _ if !want_operand => {
                    let operator = Operator::binary(byte)?;
                    while let Some(&top) = waiting.last()
                        && top.rank() >= operator.rank()
                    {
                        postfix.push(EvaluationStep::Apply(top));
                        waiting.pop();
                    }
                    waiting.push(operator);
                    want_operand = true;
                }
                _ => return None,
            }
        }
        if want_operand {
            return None;
        }
        while let Some(operator) = waiting.pop() {
            if operator == Operator::Open {
                return None;
            }
            postfix.push(EvaluationStep::Apply(operator));
        }
        Some(Expression { postfix, clamped })
    }

    /// The number literals, in order. Signs are operators, so a literal is never negative. One that
    /// is too large is `i64::MAX`.
    pub fn literals(&self) -> impl Iterator<Item = i64> + '_ {
        self.postfix.iter().filter_map(|step| match step {
            EvaluationStep::Number(number) => Some(*number),
            EvaluationStep::Apply(_) => None,
        })
    }

    /// Whether it has two or more operands: a bare number does not answer a puzzle.
    #[must_use]
    pub fn combines(&self) -> bool {
        self.literals().nth(1).is_some()
    }

    /// The exact value; `None` for a division by zero, or if a number exceeds 128 bits.
    #[must_use]
    pub fn value(&self) -> Option<Rational> {
        if self.clamped {
            return None;
        }
        let mut values: Vec<Rational> = Vec::with_capacity(8);
        for step in &self.postfix {
            let value = match *step {
                EvaluationStep::Number(number) => Rational::from_integer(number.into()),
                EvaluationStep::Apply(operator) => {
                    let right = values.pop()?;
                    if operator == Operator::Negate {
                        Rational::from_integer(0).checked_sub(&right)?
                    } else {
                        apply(operator, values.pop()?, right)?
                    }
                }
            };
            values.push(value);
        }
        values.pop()
    }
}

fn apply(operator: Operator, left: Rational, right: Rational) -> Option<Rational> {
    match operator {
        Operator::Add => left.checked_add(&right),
        Operator::Subtract => left.checked_sub(&right),
        Operator::Multiply => left.checked_mul(&right),
        Operator::Divide => left.checked_div(&right),
        Operator::Open | Operator::Negate => None,
    }
}

struct Literal {
    value: i64,
    clamped: bool,
    end: usize,
}

/// The number literal at `start`; `None` if it is not a plainly written whole number.
fn literal(bytes: &[u8], start: usize) -> Option<Literal> {
    let digits = |from: usize| bytes.iter().skip(from).take_while(|b| b.is_ascii_digit()).count();
    let mut end = start + digits(start);
    let whole = bytes.get(start..end)?;
    let (mut value, mut clamped) = (0_i64, false);
    for digit in whole {
        let next = value.checked_mul(10).and_then(|v| v.checked_add(i64::from(digit - b'0')));
        clamped |= next.is_none();
        value = next.unwrap_or(i64::MAX);
    }
    let is_decimal = bytes.get(end) == Some(&b'.');
    if is_decimal {
        let fraction = digits(end + 1);
        let zeros = bytes.get(end + 1..end + 1 + fraction)?.iter().all(|b| *b == b'0');
        if !zeros || whole.len() + fraction == 0 {
            return None;
        }
        end += 1 + fraction;
    } else if value != 0 && whole.first() == Some(&b'0') {
        return None;
    }
    Some(Literal { value: if clamped { i64::MAX } else { value }, clamped, end })
}
