//! Ballots in JSON: lists of options, and objects that give each a number.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::super::doubt::{Excerpt, ReadingDoubt};
use super::super::options::Options;
use super::ranking::in_order;
use super::{BallotKind, BallotValue};

/// An option of a list or an object, and the number beside it.
type Entry = (usize, Option<f64>);

/// The ballot of a JSON value that is not a text.
pub(super) fn read(
    value: &Value,
    kind: BallotKind,
    options: &Options,
) -> Option<Result<BallotValue, ReadingDoubt>> {
    let entries: Result<Vec<Entry>, ReadingDoubt> = match value {
        Value::Array(items) => items.iter().map(|item| of_item(item, options)).collect(),
        Value::Object(members) => {
            members.iter().map(|(key, value)| of_member(key, value, kind, options)).collect()
        }
        _ => return None,
    };
    Some(entries.and_then(|entries| ballot(entries, kind, options)))
}

fn ballot(
    entries: Vec<Entry>,
    kind: BallotKind,
    options: &Options,
) -> Result<BallotValue, ReadingDoubt> {
    let mut known = BTreeSet::new();
    if let Some((twice, _)) = entries.iter().find(|(option, _)| !known.insert(*option)) {
        return Err(ReadingDoubt::Twice(Excerpt::new(options.text(*twice))));
    }
    let unnumbered = || entries.iter().find(|(_, number)| number.is_none());
    Ok(match kind {
        BallotKind::Choices => {
            let chosen = entries.iter().filter(|(_, number)| *number != Some(0.0));
            BallotValue::Chosen(chosen.map(|(option, _)| *option).collect())
        }
        BallotKind::Ranking => BallotValue::Ranked(
            match entries.iter().map(|(option, rank)| Some((*option, (*rank)?))).collect() {
                Some(ranked) => in_order(ranked)?,
                None if entries.iter().all(|(_, rank)| rank.is_none()) => {
                    entries.into_iter().map(|(option, _)| option).collect()
                }
                None => return Err(unread(unnumbered().map_or(0, |(option, _)| *option), options)),
            },
        ),
        BallotKind::Points => {
            if let Some((option, _)) = unnumbered() {
                return Err(unread(*option, options));
            }
            let points = entries.into_iter().map(|(option, it)| (option, it.unwrap_or(0.0)));
            BallotValue::Pointed(points.collect::<BTreeMap<_, _>>())
        }
    })
}

/// An item of a list: an option, or an object with an option and perhaps a number.
fn of_item(item: &Value, options: &Options) -> Result<Entry, ReadingDoubt> {
    let unknown = || ReadingDoubt::Unknown(Excerpt::new(&item.to_string()));
    let Value::Object(members) = item else {
        return Ok((only_option(item, options).ok_or_else(unknown)?, None));
    };
    let mut found = members.values().filter_map(|value| only_option(value, options));
    let option = found.next().filter(|_| found.next().is_none()).ok_or_else(unknown)?;
    let others = members.values().filter(|value| only_option(value, options).is_none());
    let mut numbers = others.filter_map(number);
    match (numbers.next(), numbers.next()) {
        (number, None) => Ok((option, number)),
        _ => Err(unknown()),
    }
}

/// A member of an object: an option and its number, or in a ranking a rank and its option.
fn of_member(
    key: &str,
    value: &Value,
    kind: BallotKind,
    options: &Options,
) -> Result<Entry, ReadingDoubt> {
    let unknown = || ReadingDoubt::Unknown(Excerpt::new(&format!("{key}: {value}")));
    let number = match (kind, value) {
        (BallotKind::Choices, Value::Bool(is_chosen)) => Some(f64::from(u8::from(*is_chosen))),
        (BallotKind::Choices, value) => number(value).filter(|it| [0.0, 1.0].contains(it)),
        (BallotKind::Ranking | BallotKind::Points, value) => number(value),
    };
    match (option_in(key, options), number) {
        (Some(option), Some(number)) => Ok((option, Some(number))),
        (None, _) if kind == BallotKind::Ranking => {
            let (rank, option) = (key.trim().parse().ok(), only_option(value, options));
            rank.zip(option).map(|(rank, option)| (option, Some(rank))).ok_or_else(unknown)
        }
        _ => Err(unknown()),
    }
}

/// The option that a value is.
fn only_option(value: &Value, options: &Options) -> Option<usize> {
    match value {
        Value::String(text) => option_in(text, options),
        Value::Number(number) => option_in(&number.to_string(), options),
        _ => None,
    }
}

/// The only option that a text mentions.
fn option_in(text: &str, options: &Options) -> Option<usize> {
    let mentions = options.mentions(text, &[]);
    let first = mentions.first()?;
    let is_only = mentions.iter().all(|it| it.option == first.option && it.doubt.is_none());
    is_only.then_some(first.option)
}

/// Points or a rank: a number from 0.
fn number(value: &Value) -> Option<f64> {
    let number = match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    };
    number.filter(|it: &f64| it.is_finite() && *it >= 0.0)
}

fn unread(option: usize, options: &Options) -> ReadingDoubt {
    ReadingDoubt::NoNumber(Excerpt::new(options.text(option)))
}
