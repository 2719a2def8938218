//! Units by name, in prose or JSON: `DOG: 2, CAT: 0`, `{"DOG": 2}`, `2 units to DOG`, `punish DOG by 2`.
//!
//! - A clause has one name and one number, in one of these forms. What others gave is left out
//!   (see `own_words`), and so is every other number (`DOG has 12 coins`).
//! - With the names of the targets, the order does not matter, and a target that is not named gets
//!   nothing. One with two different numbers makes all of it unclear.
//! - Without the names, as many `NAME: NUMBER` as targets must be there: they are in the prompt's
//!   order, which was asked for.

use super::number::only_number;
use super::own_words::own_words;
use super::sentence::bare;

/// The first of the characters that stand for the names while a clause is read. They are for private
/// use: no text has them.
const FIRST_NAME: u32 = 0xe000;

/// The most names.
const MOST_NAMES: usize = 1000;

/// What may stand between a number and the name after it, besides one of [`TO`].
const UNITS: [&str; 16] = [
    "unit", "units", "coin", "coins", "point", "points", "token", "tokens", "of", "punishment",
    "reward", "rewards", "einheit", "einheiten", "punkte", "unités",
];

const TO: [&str; 13] =
    ["to", "for", "on", "against", "an", "für", "à", "pour", "para", "a", "voor", "till", "dla"];

/// What may stand between a name and the number after it.
const BY: [&str; 10] =
    ["=", "by", "with", "gets", "get", "receives", "um", "mit", "bekommt", "erhält"];

const ACTS: [&str; 15] = [
    "punish", "punishing", "reward", "rewarding", "give", "giving", "assign", "assigning",
    "deduct", "allocate", "grant", "bestrafe", "belohne", "gebe", "send",
];

/// The units for each of the targets, if the text says them by name.
pub(super) fn units_by_name(text: &str, names: &[String], targets: usize) -> Option<Vec<i64>> {
    let own = own_words(text);
    let plain: String = own
        .chars()
        .filter(|c| !matches!(u32::from(*c), 0xe000..=0xf8ff) && !"\"'`*“”’".contains(*c))
        .collect();
    if names.is_empty() { in_order(&plain, targets) } else { of_names(&plain, names) }
}

/// The clauses of a text, with spaces around what separates a name from its number.
fn clauses(text: &str) -> impl Iterator<Item = String> + '_ {
    let ends = |c: char| matches!(c, ',' | ';' | '\n' | '{' | '}' | '[' | ']' | '(' | ')' | '|');
    text.split(ends)
        .flat_map(|part| part.split(" and "))
        .flat_map(|part| part.split(". "))
        .map(|clause| clause.replace([':', '=', '→'], " = ").replace("->", " = "))
}

fn of_names(text: &str, names: &[String]) -> Option<Vec<i64>> {
    let mut text = text.to_owned();
    for (name, stand_in) in names.iter().take(MOST_NAMES).zip(FIRST_NAME..) {
        text = with_stand_in(&text, name, char::from_u32(stand_in)?);
    }
    let mut units: Vec<Option<i64>> = vec![None; names.len()];
    for clause in clauses(&text) {
        let Some((name, number)) = assignment(&clause) else { continue };
        let known = units.get_mut(name)?;
        if known.is_some_and(|known| known != number) {
            return None;
        }
        *known = Some(number);
    }
    let is_there = units.iter().any(Option::is_some);
    is_there.then(|| units.into_iter().map(Option::unwrap_or_default).collect())
}

/// A text with another text for each whole word that is a name.
fn with_stand_in(text: &str, name: &str, stand_in: char) -> String {
    let mut replaced = String::with_capacity(text.len());
    let mut before = None;
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let is_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
        let after = rest.get(name.len()..);
        let is_name = !name.is_empty()
            && !is_word(before)
            && rest.get(..name.len()).is_some_and(|head| head.eq_ignore_ascii_case(name))
            && after.is_some_and(|after| !is_word(after.chars().next()));
        match after.filter(|_| is_name) {
            Some(after) => {
                replaced.extend([' ', stand_in, ' ']);
                (before, rest) = (Some(' '), after);
            }
            None => {
                replaced.push(c);
                (before, rest) = (Some(c), rest.get(c.len_utf8()..).unwrap_or(""));
            }
        }
    }
    replaced
}

/// The name and the number of a clause, if it assigns one to the other.
fn assignment(clause: &str) -> Option<(usize, i64)> {
    let words: Vec<&str> = clause.split_whitespace().collect();
    let name_of = |word: &str| {
        let stand_in = u32::from(word.chars().next()?);
        usize::try_from(stand_in.checked_sub(FIRST_NAME)?).ok().filter(|at| *at < MOST_NAMES)
    };
    let mut names = words.iter().enumerate().filter_map(|(at, word)| Some((at, name_of(word)?)));
    let mut numbers = words.iter().enumerate().filter_map(|(at, word)| Some((at, units(word)?)));
    let ((name_at, name), (number_at, number)) = (names.next()?, numbers.next()?);
    if names.next().is_some() || numbers.next().is_some() {
        return None;
    }
    let is_in =
        |list: &[&str], word: &str| list.iter().any(|it| bare_or(word).eq_ignore_ascii_case(it));
    let fits = if number_at < name_at {
        let between = words.get(number_at + 1..name_at)?;
        between.iter().any(|word| is_in(&TO, word))
            && between.iter().all(|word| is_in(&TO, word) || is_in(&UNITS, word))
    } else {
        let between = words.get(name_at + 1..number_at)?;
        let acts =
            || words.get(..name_at).is_some_and(|it| it.iter().any(|word| is_in(&ACTS, word)));
        between.iter().all(|word| is_in(&BY, word)) && (!between.is_empty() || acts())
    };
    fits.then_some((name, number))
}

/// `=`, or a word without punctuation.
fn bare_or(word: &str) -> &str {
    if word == "=" { word } else { bare(word) }
}

/// The number that a word is.
fn units(word: &str) -> Option<i64> {
    let is_number = |c: char| c.is_ascii_digit() || ".-−+".contains(c);
    only_number(word).filter(|_| word.chars().all(is_number)).map(|number| number.value)
}

/// As many names with a number each as there are targets.
fn in_order(text: &str, targets: usize) -> Option<Vec<i64>> {
    let mut named: Vec<(String, i64)> = Vec::new();
    for clause in clauses(text) {
        let Some((name, number)) = clause.split_once(" = ") else { continue };
        let mut words = number.split_whitespace();
        let Some(number) = words.next().and_then(units) else { continue };
        if words.any(|word| !UNITS.iter().any(|unit| bare(word).eq_ignore_ascii_case(unit))) {
            continue;
        }
        let name = name.trim().trim_start_matches(['-', '•', ' ']).to_lowercase();
        let is_name = !name.is_empty() && name.split_whitespace().count() <= 2;
        if !is_name || named.len() > targets || named.iter().any(|(other, _)| *other == name) {
            return None;
        }
        named.push((name, number));
    }
    (targets > 0 && named.len() == targets)
        .then(|| named.into_iter().map(|(_, units)| units).collect())
}
