//! The amount in a plain sentence: `I give 10 of my 20`.
//!
//! The rule, word by word:
//!
//! - A number is **not an amount** if it is a total (`of my 20`, `out of 20`, `from 20`, the second
//!   in `10/20`), an ordinal (`round 3`, `player 2`), a count of something else (`4 players`, `3
//!   rounds`, `50%`), or kept (`keep 5`).
//! - **The last number that is given** counts: after a verb of giving (`give`, `contribute`, `put
//!   in`, ..) or a label (`Contribution:`), within a few words and the same sentence. `gave` and
//!   `contributed` are about others or earlier rounds, unless there is an `I` or a colon with them.
//! - **Otherwise the only number** that is left counts, or the first, if the text begins with it.
//! - **Two alternatives** (`10 or 15`, `between 10 and 15`) are not an amount.
//! - Numbers up to twenty may be words, and so may `nothing`, `half` and `all` (`everything`) after
//!   a verb of giving.

use super::lexicon::{COUNTED, FIRST_PERSON, GAVE, GIVING, KEEPING, NUMBERED, OF, POSSESSIVE};
use super::number::{Number, only_number};

/// How the amount was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    /// It is given, or labelled.
    Stated,
    /// It is the only number, or the text begins with it.
    Alone,
}

/// The most words between a verb and its number.
const REACH: usize = 6;

const WORDS: [&str; 21] = [
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen",
    "nineteen", "twenty",
];

/// The subject of the part of the sentence before a word.
#[derive(Clone, Copy, PartialEq)]
enum About {
    Nothing,
    Giving,
    Keeping,
}

/// The amount in a text outside the reasoning.
pub(super) fn amount(text: &str, endowment: i64) -> Option<(Number<'_>, How)> {
    let mut stated = None;
    let mut free: Option<Number<'_>> = None;
    let mut several = false;
    let mut first = None;
    let (mut about, mut reach, mut says_i) = (About::Nothing, 0, false);
    let mut before = ["", ""];
    let mut is_open = false;
    let mut words = text.split_whitespace().peekable();
    let mut at = 0_usize;
    while let Some(written) = words.next() {
        let bare = bare(written);
        let next = words.peek().map_or("", |next| self::bare(next));
        let is_labelled = written.trim_end_matches(['*', '`', '_', '"']).ends_with([':', '=']);
        says_i |= matches!(bare, "I" | "I'll" | "I’ll" | "I've" | "I’ve") || FIRST_PERSON.has(bare);
        reach += 1;
        is_open |= bare.eq_ignore_ascii_case("between");
        let (gives, gave) = (GIVING.has(bare), GAVE.has(bare));
        if gives || gave && (says_i || is_labelled) {
            (about, reach) = (About::Giving, 0);
        } else if KEEPING.has(bare) || gave {
            (about, reach) = (About::Keeping, 0);
        } else if let Some(number) = number(bare, before, next, endowment, about) {
            let of_something = is_of(before) || NUMBERED.has(before[1]);
            let counts = COUNTED.has(next) && !next.eq_ignore_ascii_case("of");
            let is_word = !bare.starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '−');
            let is_share = written.contains('%');
            let is_near = reach <= REACH;
            let keeps = about == About::Keeping && is_near;
            if of_something || counts || is_share || keeps {
                about = if keeps { About::Nothing } else { about };
            } else if about == About::Giving && is_near {
                (stated, is_open) = (Some(number), next.eq_ignore_ascii_case("or"));
                about = About::Nothing;
            } else if !is_word {
                several |= free.is_some_and(|known| known != number);
                is_open |= free.is_none() && next.eq_ignore_ascii_case("or");
                free = free.or(Some(number));
                first = first.or((at == 0).then_some(number));
            }
        }
        if written.ends_with(['.', '!', '?', ';', '\n']) {
            (about, says_i) = (About::Nothing, false);
        }
        before = [before[1], bare];
        at += 1;
    }
    let alone = if several { first } else { free };
    let found = stated.map(|n| (n, How::Stated)).or(alone.map(|n| (n, How::Alone)));
    found.filter(|_| !is_open)
}

/// The number that a word stands for, up to twenty.
pub(super) fn word(bare: &str) -> Option<Number<'_>> {
    let value = WORDS.iter().position(|word| bare.eq_ignore_ascii_case(word))?;
    let value = i64::try_from(value).ok()?;
    Some(Number { value, cut: false, huge: None, grouped: None })
}

/// The number in a word.
fn number<'t>(
    bare: &'t str,
    before: [&str; 2],
    next: &str,
    endowment: i64,
    about: About,
) -> Option<Number<'t>> {
    // `10/20`: the total is after the slash.
    let written = bare.split_once('/').map_or(bare, |(amount, _)| amount);
    if let Some(number) = only_number(written) {
        return Some(number);
    }
    let is = |word: &str| bare.eq_ignore_ascii_case(word);
    let of_word = word(bare).map(|number| number.value);
    // `one of us`, `no one`, `this one`.
    let of_word =
        of_word.filter(|_| !(is("one") && (is_in(&["of"], next) || is_pronoun(before[1]))));
    let whole = about == About::Giving;
    let value = of_word.or_else(|| match () {
        () if whole && (is("nothing") || is("none")) => Some(0),
        () if whole && is("half") => Some(endowment / 2),
        () if whole && (is("all") || is("everything")) && !is_counted(next) => Some(endowment),
        () => None,
    })?;
    Some(Number { value, cut: false, huge: None, grouped: None })
}

/// `all 12 coins`, `all the others`.
fn is_counted(next: &str) -> bool {
    next.starts_with(|c: char| c.is_ascii_digit())
        || ["players", "others", "the", "other"].iter().any(|word| next.eq_ignore_ascii_case(word))
}

fn is_pronoun(word: &str) -> bool {
    is_in(&["no", "any", "some", "every", "each", "this", "that", "the", "number"], word)
}

/// Whether the words before a number mark it as a total: `of`, `of my`, `out of the`.
fn is_of(before: [&str; 2]) -> bool {
    OF.has(before[1]) || POSSESSIVE.has(before[1]) && OF.has(before[0])
}

fn is_in(list: &[&str], word: &str) -> bool {
    list.iter().any(|listed| word.eq_ignore_ascii_case(listed))
}

/// A word without surrounding punctuation.
pub(super) fn bare(word: &str) -> &str {
    let word = word.trim_start_matches(|c: char| !c.is_alphanumeric() && c != '-' && c != '−');
    word.trim_end_matches(|c: char| !c.is_alphanumeric())
}
