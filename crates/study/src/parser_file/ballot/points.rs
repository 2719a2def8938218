//! Points for options: `B: 3`, `B (3 points)`, `B - a description - 3 points`, `3 points to B`.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::super::doubt::{Excerpt, ReadingDoubt};
use super::super::fields::DecimalMark;
use super::super::numerals::{Numeral, numerals};
use super::super::options::{OptionMention, Options};

/// Words for what is given.
const UNITS: [&str; 20] = [
    "point", "points", "pt", "pts", "punkt", "punkte", "punkten", "puntos", "punti", "vote",
    "votes", "credit", "credits", "token", "tokens", "coin", "coins", "stimmen", "each", "out",
];

/// The most letters of one of these.
const LONGEST_UNIT: usize = 7;

/// Words between points and the option that gets them.
const TO: [&str; 12] =
    ["to", "for", "on", "towards", "an", "für", "auf", "à", "pour", "para", "→", "->"];

/// Words before the name of an option.
const BEFORE: [&str; 9] =
    ["the", "project", "projects", "option", "candidate", "item", "number", "no", "projekt"];

/// Positions at which an option ends although a sign joins it to digits, as in `#5,3`, and those at which digits
/// end although a unit follows at once, as in `3pts`.
pub(super) fn cuts(text: &str, options: &Options, known: &[usize]) -> Vec<usize> {
    let mut cuts = known.to_vec();
    let lower = text.to_lowercase();
    // Letters whose small form has another length are rare, and then nothing is cut.
    let is_aligned = lower.len() == text.len();
    let written: Vec<String> = options.texts().map(str::to_lowercase).collect();
    let is_option = |before: &str| {
        written.iter().any(|option| {
            before.strip_suffix(option.as_str()).is_some_and(|it| {
                !option.bytes().all(|byte| byte.is_ascii_digit()) && !it.ends_with(is_word)
            })
        })
    };
    let bytes = text.as_bytes();
    for at in 1..bytes.len().saturating_sub(1) {
        let is_joiner = matches!(bytes[at], b',' | b':' | b'-' | b'=' | b'/');
        if is_joiner
            && is_aligned
            && bytes[at + 1].is_ascii_digit()
            && bytes[at - 1].is_ascii_alphanumeric()
            && lower.get(..at).is_some_and(is_option)
        {
            cuts.extend([at, at + 1]);
        }
        if bytes[at - 1].is_ascii_digit()
            && bytes[at].is_ascii_alphabetic()
            && UNITS.contains(&first_word(lower.get(at..).unwrap_or("")))
        {
            cuts.push(at);
        }
    }
    cuts.sort_unstable();
    cuts.dedup();
    cuts
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric()
}

/// The first word of a text, unless it is longer than any unit.
fn first_word(text: &str) -> &str {
    let beginning = text.char_indices().take(LONGEST_UNIT + 1);
    let end = beginning.clone().find(|(_, c)| !is_word(*c)).map(|(at, _)| at);
    let is_all = beginning.count() <= LONGEST_UNIT;
    end.or(is_all.then_some(text.len())).and_then(|end| text.get(..end)).unwrap_or("")
}

/// The points of each option that a place of a text mentions.
///
/// # Errors
/// The doubt, if an option has different ones.
pub(super) fn read(
    text: &str,
    cuts: &[usize],
    mentions: &[&OptionMention],
    place: Range<usize>,
    options: &Options,
) -> Result<BTreeMap<usize, f64>, ReadingDoubt> {
    let masked = mask(text, mentions);
    let numbers = numerals(&masked, DecimalMark::Point, cuts);
    let reading = Reading { text, mentions, numbers: &numbers, place };
    let found = reading.each_points();
    let mut given: BTreeMap<usize, Given> = BTreeMap::new();
    for (mention, points) in mentions.iter().zip(found) {
        let Some(points) = points else { continue };
        let points = points.number(reading.numbers, text)?;
        match given.get(&mention.option) {
            Some(known) if known.is_beside && !points.is_beside => {}
            Some(known) if known.is_beside == points.is_beside && known.points != points.points => {
                return Err(doubt(options.text(mention.option), known.points, points.points));
            }
            _ => drop(given.insert(mention.option, points)),
        }
    }
    Ok(given.into_iter().map(|(option, given)| (option, given.points)).collect())
}

/// The doubt about an option with different points.
pub(super) fn doubt(option: &str, one: f64, other: f64) -> ReadingDoubt {
    let [one, other] = [one, other].map(|it| Excerpt::new(&it.to_string()));
    ReadingDoubt::Points(Excerpt::new(option), one, other)
}

/// The text with bars in place of its options, and without dashes between words, so that the numbers are those of points.
fn mask(text: &str, mentions: &[&OptionMention]) -> String {
    let mut masked = text.as_bytes().to_vec();
    for mention in mentions {
        masked[mention.at.clone()].fill(b'|');
    }
    for dash in [" - ", " – ", " — "] {
        for (at, _) in text.match_indices(dash) {
            let before = text.get(..at).unwrap_or("").trim_end();
            // After a colon it is a sign.
            if !before.ends_with([':', '=']) {
                masked[at..at + dash.len()].fill(b' ');
            }
        }
    }
    String::from_utf8(masked).unwrap_or_else(|_| text.to_owned())
}

/// The points of an option, and whether they are directly beside it.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Given {
    points: f64,
    is_beside: bool,
}

/// The number that an option may have: directly beside it, or somewhere after it.
#[derive(Debug, Clone, Copy)]
struct Candidate {
    number: usize,
    is_beside: bool,
}

impl Candidate {
    /// The points.
    ///
    /// # Errors
    /// The doubt, if they are not certainly one number.
    fn number(self, numbers: &[Numeral], text: &str) -> Result<Given, ReadingDoubt> {
        let numeral = &numbers[self.number];
        let points = numeral.number.as_deref().and_then(|number| number.parse().ok());
        match points.filter(|points: &f64| *points >= 0.0 && points.is_finite()) {
            Some(points) => Ok(Given { points, is_beside: self.is_beside }),
            None => {
                let written = text.get(numeral.at.clone()).unwrap_or("");
                Err(ReadingDoubt::Number(Excerpt::new(written.trim())))
            }
        }
    }
}

/// A text with its options and its numbers.
struct Reading<'a> {
    text: &'a str,
    mentions: &'a [&'a OptionMention],
    numbers: &'a [Numeral],
    place: Range<usize>,
}

impl Reading<'_> {
    /// The points of each mention.
    fn each_points(&self) -> Vec<Option<Candidate>> {
        let before: Vec<Option<Before>> =
            (0..self.mentions.len()).map(|at| self.before(at)).collect();
        let taken = before.iter().flatten().filter(|it| it.kind != BeforeKind::Bare);
        let taken: BTreeSet<usize> = taken.map(|it| it.number).collect();
        let after = |at: usize| self.after(at, &taken);
        let are_all_before =
            before.iter().all(|it| it.is_some_and(|it| it.kind != BeforeKind::Item));
        let last = self.mentions.len().saturating_sub(1);
        let is_backward = are_all_before && after(last).is_none_or(|last| !last.is_beside);
        let of = |(at, before): (usize, &Option<Before>)| match before {
            Some(Before { number, kind }) if *kind == BeforeKind::Directed || is_backward => {
                Some(Candidate { number: *number, is_beside: true })
            }
            _ if is_backward => None,
            _ => after(at),
        };
        before.iter().enumerate().map(of).collect()
    }

    /// The number directly before a mention.
    fn before(&self, at: usize) -> Option<Before> {
        let mention = self.mentions[at];
        let start =
            at.checked_sub(1).map_or(self.place.start, |before| self.mentions[before].at.end);
        let number =
            self.numbers.partition_point(|it| it.at.end <= mention.at.start).checked_sub(1)?;
        let numeral = self.numbers.get(number).filter(|it| it.at.start >= start)?;
        let between = self.text.get(numeral.at.end..mention.at.start)?.to_lowercase();
        let is_end = |c: char| matches!(c, ':' | '=' | '-' | '–' | '—');
        let words =
            || between.split([' ', '\n', '*', '_', '(', '"', '“']).filter(|it| !it.is_empty());
        let is_unit = |word: &str| UNITS.contains(&word.trim_end_matches(is_end));
        let is_known = |word: &str| {
            TO.contains(&word)
                || BEFORE.contains(&word)
                || word.chars().all(is_end)
                || is_unit(word)
        };
        let has_unit = words().any(is_unit);
        let kind = if words().any(|word| TO.contains(&word)) && words().all(is_known) {
            BeforeKind::Directed
        } else if between.starts_with(['.', ')']) && words().skip(1).all(is_known) && !has_unit {
            if self.is_item(at, number, start) { BeforeKind::Item } else { return None }
        } else if words().all(is_known) {
            BeforeKind::Bare
        } else {
            return None;
        };
        Some(Before { number, kind })
    }

    /// True if a number before an option is that of a list: `2. B`.
    fn is_item(&self, at: usize, number: usize, start: usize) -> bool {
        let begin = self.numbers[number].at.start;
        let before = self.text.get(start..begin).unwrap_or("").trim_end();
        at == 0 || !before.is_empty() && !before.ends_with([':', '=', '(', '-', '–', '—', ','])
    }

    /// The number after a mention that belongs to no other mention.
    fn after(&self, at: usize, taken: &BTreeSet<usize>) -> Option<Candidate> {
        let start = self.mentions[at].at.end;
        let next = self.mentions.get(at + 1);
        let end = next.map_or(self.place.end, |next| next.at.start);
        let segment = self.text.get(start..end)?;
        let sentence = start + sentence_end(segment);
        let first = self.numbers.partition_point(|it| it.at.start < start);
        let until = self.numbers.partition_point(|it| it.at.start < sentence.min(end));
        let mut free = (first..until).filter(|number| !taken.contains(number));
        let numeral = |number: usize| &self.numbers[number].at;
        let first = free.clone().next()?;
        let is_beside = !self
            .text
            .get(start..numeral(first).start)?
            .contains(|c: char| is_word(c) || matches!(c, '.' | ';' | '!' | '?'));
        if is_beside {
            return Some(Candidate { number: first, is_beside });
        }
        let has_unit = |number: &usize| {
            let rest = self.text.get(numeral(*number).end..end).unwrap_or("");
            UNITS.contains(&first_word(rest.trim_start()).to_lowercase().as_str())
        };
        let with_unit = free.clone().find(has_unit);
        let only = free.next().filter(|_| free.next().is_none());
        let number = with_unit.or(only)?;
        Some(Candidate { number, is_beside: false })
    }
}

/// Where the sentence or the paragraph that a text begins with ends.
fn sentence_end(text: &str) -> usize {
    let ends: [&str; 5] = [". ", "! ", "? ", ".\n", "\n\n"];
    ends.iter().filter_map(|end| text.find(end)).min().unwrap_or(text.len())
}

/// A number before an option.
#[derive(Debug, Clone, Copy)]
struct Before {
    number: usize,
    kind: BeforeKind,
}

/// The meaning of a number before an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BeforeKind {
    /// Its points, as in `3 points to B`.
    Directed,
    /// Its number in a list, as in `2. B`.
    Item,
    /// Either its points or those of the option before it: `3 points - B`.
    Bare,
}
