//! Numbers on a scale: `8`, `8/10`, `8 out of 10`. A range, another scale and a denied number are no value.

use std::ops::Range;

use super::candidate::{Candidate, Mention};
use super::doubt::{Excerpt, ReadingDoubt};
use super::fields::NumberFields;
use super::negation::Clauses;
use super::numerals::{Numeral, numerals};
use super::words::{Word, words};

/// Words and signs between a value and the top of its scale.
const OF: [&str; 10] = ["/", "⁄", "out of", "of", "von", "sur", "de", "su", "van", "из"];

/// Words and signs between the ends of a range.
const TO: [&str; 15] =
    ["-", "–", "—", "−", "‑", "~", "to", "or", "and", "bis", "oder", "à", "ou", "a", "o"];

/// Words after which a number is a bound.
const BOUNDS: [&str; 8] =
    ["least", "most", "than", "above", "below", "over", "under", "mindestens"];

/// The connection of two numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Link {
    Of,
    To,
}

/// The values on a scale that a text has.
pub(super) fn values(scale: &NumberFields, text: &str, cuts: &[usize]) -> Vec<Mention> {
    let numerals = numerals(text, scale.decimal, cuts);
    let words = words(text, cuts);
    let clauses = Clauses::new(text, &words);
    let (mut mentions, mut rest) = (Vec::new(), numerals.as_slice());
    while let Some(first) = rest.first() {
        let links: Vec<Link> =
            rest.windows(2).map_while(|pair| link(text, &pair[0], &pair[1])).collect();
        let (linked, after) = rest.split_at(links.len() + 1);
        rest = after;
        let at = first.at.start..linked.last().unwrap_or(first).at.end;
        mentions.extend(
            candidate(scale, text, (&words, &clauses), linked, &links)
                .map(|candidate| Mention { at, candidate }),
        );
    }
    mentions
}

/// The connection of two numbers that follow each other, if there is one.
fn link(text: &str, first: &Numeral, second: &Numeral) -> Option<Link> {
    let between = text.get(first.at.end..second.at.start)?;
    let between = between.trim_matches([' ', '\u{a0}', '(', '*', '_', '\\']).to_lowercase();
    match between.as_str() {
        "" if text.get(second.at.clone())?.starts_with(['-', '−', '–']) => Some(Link::To),
        it if OF.contains(&it) => Some(Link::Of),
        it if TO.contains(&it) => Some(Link::To),
        _ => None,
    }
}

/// The value of some numbers that are connected.
fn candidate(
    scale: &NumberFields,
    text: &str,
    (words, clauses): (&[Word<'_>], &Clauses<'_, '_>),
    linked: &[Numeral],
    links: &[Link],
) -> Option<Candidate> {
    let numbers: Option<Vec<&str>> = linked.iter().map(|it| it.number.as_deref()).collect();
    let at = linked.first()?.at.start..linked.last()?.at.end;
    let doubt = || {
        let written = Excerpt::new(text.get(at.clone()).unwrap_or(""));
        Some(Candidate::Doubtful(ReadingDoubt::Scale(written)))
    };
    let is_end = |number: &str, end: Option<f64>| number.parse::<f64>().ok() == end;
    let value = match (numbers.as_deref(), links) {
        (Some([number]), []) => scale.read(number)?,
        (Some([number, top]), [Link::Of]) if is_end(top, scale.to) => match scale.read(number) {
            Some(value) => value,
            None => return doubt(),
        },
        // The scale itself: `from 1 to 10`.
        (Some([from, to]), [Link::To]) if is_end(from, scale.from) && is_end(to, scale.to) => {
            return None;
        }
        _ => return doubt(),
    };
    if is_inexact(text, &at) {
        return doubt();
    }
    let found = words.partition_point(|word| word.end() <= at.start)
        ..words.partition_point(|word| word.at < at.end);
    Some(match clauses.negation(found) {
        Some(written) => Candidate::Doubtful(ReadingDoubt::Negated(Excerpt::new(written))),
        None => Candidate::Certain(value),
    })
}

/// True if a number is a bound, or a share of a hundred.
fn is_inexact(text: &str, at: &Range<usize>) -> bool {
    let before = text.get(..at.start).unwrap_or("").trim_end();
    let after = text.get(at.end..).unwrap_or("").trim_start();
    let word = before.rsplit(|c: char| !c.is_alphabetic()).next().unwrap_or("").to_lowercase();
    let is_tag = before.strip_suffix('>').is_some_and(|before| {
        let name = before.rfind(['<', '>', ' ', '\n']).and_then(|at| before.get(at..));
        name.and_then(|name| name.strip_prefix('<'))
            .is_some_and(|name| name.starts_with(|c: char| c.is_alphabetic() || c == '/'))
    });
    ["%", "+", "/", "out of", "or "].iter().any(|more| after.starts_with(more))
        || before.ends_with("up to")
        || before.ends_with(['≥', '≤', '~', '≈', '<', '>']) && !is_tag
        || BOUNDS.contains(&word.as_str())
}
