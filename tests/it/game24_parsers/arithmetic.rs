//! The evaluator compared with an oracle that works differently.

use proptest::prelude::*;
use retold_game24::parse::{
    CandidateVerdict, Expression, problem_numbers, puzzle_numbers, validate,
};

/// A fraction, numerator and denominator, in lowest terms with a positive denominator.
type Fraction = (i64, i64);

fn reduced(n: i64, d: i64) -> Option<Fraction> {
    let (mut a, mut b) = (n.abs(), d.abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    if d == 0 { None } else { Some((n / a * d.signum(), d.abs() / a)) }
}

/// Value and numbers of an expression, by recursive descent over `i64` fractions. The library
/// converts to postfix with a stack, over reduced `i128` ratios, so the two share no code.
pub(super) fn oracle(text: &str) -> Option<(Fraction, Vec<i64>)> {
    let chars: Vec<char> = text.chars().filter(|c| !c.is_whitespace()).collect();
    let (mut at, mut used) = (0, Vec::new());
    let value = sum(&chars, &mut at, &mut used)?;
    (at == chars.len()).then_some((value, used))
}

fn sum(chars: &[char], at: &mut usize, used: &mut Vec<i64>) -> Option<Fraction> {
    let mut left = product(chars, at, used)?;
    while let Some(sign @ ('+' | '-')) = chars.get(*at) {
        *at += 1;
        let right = product(chars, at, used)?;
        let term = if *sign == '+' { right.0 } else { -right.0 };
        left = reduced(left.0 * right.1 + term * left.1, left.1 * right.1)?;
    }
    Some(left)
}

fn product(chars: &[char], at: &mut usize, used: &mut Vec<i64>) -> Option<Fraction> {
    let mut left = factor(chars, at, used)?;
    while let Some(sign @ ('*' | '/')) = chars.get(*at) {
        *at += 1;
        let (n, d) = factor(chars, at, used)?;
        let (n, d) = if *sign == '*' { (n, d) } else { (d, n) };
        left = reduced(left.0 * n, left.1 * d)?;
    }
    Some(left)
}

fn factor(chars: &[char], at: &mut usize, used: &mut Vec<i64>) -> Option<Fraction> {
    match chars.get(*at)? {
        '-' => {
            *at += 1;
            let (n, d) = factor(chars, at, used)?;
            Some((-n, d))
        }
        '(' => {
            *at += 1;
            let inner = sum(chars, at, used)?;
            (chars.get(*at) == Some(&')')).then_some(())?;
            *at += 1;
            Some(inner)
        }
        _ => {
            let digits: String = chars[*at..].iter().take_while(|c| c.is_ascii_digit()).collect();
            *at += digits.len();
            let number = digits.parse().ok()?;
            used.push(number);
            Some((number, 1))
        }
    }
}

/// Expressions of up to about twelve small numbers, in random spacing.
fn expressions() -> impl Strategy<Value = String> {
    let leaf = (0_i64..14).prop_map(|n| n.to_string());
    leaf.prop_recursive(4, 12, 2, |inner| {
        prop_oneof![
            4 => (inner.clone(), "[ ]?[-+*/][ ]?", inner.clone())
                .prop_map(|(a, sign, b)| format!("({a}{sign}{b})")),
            4 => (inner.clone(), "[ ]?[-+*/][ ]?", inner.clone())
                .prop_map(|(a, sign, b)| format!("{a}{sign}{b}")),
            1 => inner.prop_map(|a| format!("-({a})")),
        ]
    })
}

fn value_of(text: &str) -> Option<Fraction> {
    let value = Expression::parse(text)?.value()?;
    Some(((*value.numer()).try_into().ok()?, (*value.denom()).try_into().ok()?))
}

proptest! {
    #[test]
    fn values_and_literals_agree_with_the_oracle(text in expressions()) {
        let parsed = Expression::parse(&text);
        prop_assert!(parsed.is_some(), "{text} is an expression");
        let theirs = oracle(&text);
        prop_assert_eq!(value_of(&text), theirs.as_ref().map(|(value, _)| *value));
        if let Some((_, used)) = theirs {
            prop_assert_eq!(parsed.unwrap().literals().collect::<Vec<_>>(), used);
        }
    }

    #[test]
    fn text_that_the_oracle_cannot_read_is_not_an_expression(text in "[-+*/() 0-9]{0,12}") {
        let reads = Expression::parse(&text);
        if oracle(&text).is_some() && !text.contains(' ') && !has_leading_zero(&text) {
            prop_assert!(reads.is_some());
        } else if reads.as_ref().is_some_and(|e| e.value().is_some()) {
            prop_assert!(oracle(&text).is_some());
        }
    }
}

/// The oracle is laxer than the grammar: it joins `1 2` and accepts `04`.
fn has_leading_zero(text: &str) -> bool {
    text.split(|c: char| !c.is_ascii_digit()).any(|n| n.len() > 1 && n.starts_with('0'))
}

#[test]
fn grammar() {
    let reads = [
        ("8/(3-8/3)", (24, 1)),
        ("-2*-3", (6, 1)),
        ("2--3", (5, 1)),
        ("2-3-4", (-5, 1)),
        ("48/4/2", (6, 1)),
        ("-(1-2)*3", (3, 1)),
        ("4.0*6.", (24, 1)),
        ("1\n+\t2", (3, 1)),
        ("00+1", (1, 1)),
    ];
    for (text, value) in reads {
        assert_eq!(value_of(text), Some(value), "{text}");
    }
    let refused = [
        "", " ", "+1", "1+", "1 2", "(1", "1)", "()", "2(3)", "2**3", "7//2", "04", "1.5", ".",
        "1e1", "1,2", "x", "1=1", "²", "٣",
    ];
    for text in refused {
        assert_eq!(Expression::parse(text), None, "{text}");
    }
}

#[test]
fn expressions_without_a_value() {
    let huge = "9".repeat(40);
    let tower = ["9999999999999"; 10].join("*");
    for text in ["1/0", "1/(2-2)", &huge, &tower] {
        let expression = Expression::parse(text).unwrap();
        assert_eq!(expression.value(), None, "{text}");
    }
}

#[test]
fn verdicts_name_the_first_thing_wrong() {
    let judged = [
        ("", CandidateVerdict::Empty),
        (" ", CandidateVerdict::Empty),
        ("8/(3-8/3)", CandidateVerdict::Valid),
        ("8/(3-8/3) = 24", CandidateVerdict::FormatError),
        ("8/3-8/3", CandidateVerdict::MathError),
        ("8*3", CandidateVerdict::WrongNumbers),
        ("83-83", CandidateVerdict::WrongNumbers),
        ("8/(3-3)+8", CandidateVerdict::FormatError),
        ("24", CandidateVerdict::WrongNumbers),
        ("99999999999999999999999", CandidateVerdict::WrongNumbers),
    ];
    for (candidate, verdict) in judged {
        assert_eq!(validate(candidate, &[3, 3, 8, 8]), verdict, "{candidate:?}");
    }
}

#[test]
fn nearly_24_is_not_24() {
    // Within 1e-6 of 24, which a floating-point test would accept as 24.
    assert_eq!(validate("24+1/10000000", &[1, 24, 10_000_000]), CandidateVerdict::MathError);
}

#[test]
fn the_target_is_not_one_of_the_numbers() {
    assert_eq!(problem_numbers("2 4 6 8 → 24"), [2, 4, 6, 8, 24]);
    assert_eq!(puzzle_numbers("2 4 6 8 → 24"), [2, 4, 6, 8]);
    assert_eq!(puzzle_numbers("1 1 1 24"), [1, 1, 1, 24], "a puzzle may deal a 24");
    assert_eq!(problem_numbers("nan inf -3 4.9"), [3, 4]);
}
