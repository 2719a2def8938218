//! `contribution_json@1`, `actions_json@1`: answers of local models that were asked for JSON.
//!
//! Their prompts ask for `{"stage": "contribution", "reasoning": .., "contribution": 10}`, and for
//! `{"stage": "actions", "reasoning": .., "actions": {"DOG": 2}}`. Most answers are in a code
//! fence, and many continue with further rounds that the model invents, with their own JSON: the
//! first object that is an answer counts, repaired if necessary. Everything counts that a person can
//! read there: the amount under its other names (`tokens_contributed`), as text (`"10 coins"`), after
//! its key if no object can be read, or among invisible characters. If the amount is not legible, there
//! is **no value**.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::ContributionParams;
use super::clean::visible;
use super::number::{numbers, only_number};
use super::sentence::{amount, word};
use retold::escaping::printable;
use retold::parse::keys::lookup;
use retold::parse::{FoundValue, Strategy, StrategyParser, json_repair};
use retold::prompt::CanonicalError;

/// The settings of the parser of actions: there are none.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoParams {}

/// A parser of punishments or rewards; its value is the units by player's name.
pub type ActionsParser = StrategyParser<NoParams, BTreeMap<String, i64>>;

const CONTRIBUTION: &[Strategy<ContributionParams, Option<i64>>] = &[
    Strategy { method: "first_json_object", find: contribution },
    Strategy { method: "repaired_json_object", find: repaired_contribution },
    Strategy { method: "labelled_number", find: amount_by_key },
];

const ACTIONS: &[Strategy<NoParams, BTreeMap<String, i64>>] = &[
    Strategy { method: "first_json_object", find: actions },
    Strategy { method: "repaired_json_object", find: repaired_actions },
];

/// The keys for the amount, beginning with the one that is asked for.
const KEYS: [&str; 10] = [
    "contribution",
    "contribute",
    "contributed",
    "tokens_contributed",
    "coins_contributed",
    "amount_contributed",
    "contribution_amount",
    "tokens",
    "coins",
    "amount",
];

/// A parser of contributions in JSON; its value is the number of coins, or `None` if nothing is
/// legible.
pub type JsonContributionParser = StrategyParser<ContributionParams, Option<i64>>;

/// The parser of contributions in JSON.
///
/// # Errors
/// [`CanonicalError`] if its settings have no canonical form, which does not occur in practice.
pub fn json_contribution_parser(
    params: ContributionParams,
) -> Result<JsonContributionParser, CanonicalError> {
    let none = |text: &str, _: &ContributionParams| FoundValue {
        value: None,
        reasoning: objects(&visible(text)).find_map(|(object, _)| reasoning(&object)),
        warnings: vec!["no contribution is legible: no value".to_owned()],
    };
    StrategyParser::new("contribution_json", 1, params, CONTRIBUTION, ("not_legible", none), None)
}

/// The parser of punishments and rewards in JSON.
///
/// # Errors
/// [`CanonicalError`], which does not occur in practice: there are no settings.
pub fn actions_parser() -> Result<ActionsParser, CanonicalError> {
    let none = |_: &str, _: &NoParams| FoundValue {
        warnings: vec!["no actions found: no units for anyone".to_owned()],
        ..FoundValue::plain(BTreeMap::new())
    };
    StrategyParser::new("actions_json", 1, NoParams {}, ACTIONS, ("default", none), None)
}

/// The amount that the game allows.
fn allowed_amount(
    amount: i64,
    params: &ContributionParams,
    mut warnings: Vec<String>,
    reasoning: Option<String>,
) -> FoundValue<Option<i64>> {
    let value = params.contribution_type.nearest_allowed(amount, params.endowment());
    if value != amount {
        warnings.push(format!("{amount} is not an allowed amount: {value} counts"));
    }
    FoundValue { value: Some(value), reasoning, warnings }
}

/// The objects in a text that may be the answer, with their repairs. They are read one by one,
/// because much text may follow the answer.
fn objects(text: &str) -> impl Iterator<Item = (Map<String, Value>, Vec<String>)> {
    json_repair::each_value(text).take(MOST_OBJECTS).filter_map(|embedded| {
        let repairs = embedded.repairs.iter().map(|r| format!("JSON: {}", r.as_str())).collect();
        match embedded.value {
            Value::Object(object) => Some((object, repairs)),
            Value::Array(items) => match items.into_iter().next()? {
                Value::Object(object) => Some((object, repairs)),
                _ => None,
            },
            _ => None,
        }
    })
}

/// Later objects are invented by the model.
const MOST_OBJECTS: usize = 8;

fn contribution(text: &str, params: &ContributionParams) -> Option<FoundValue<Option<i64>>> {
    amount_in(text, params).filter(|(_, is_repaired)| !is_repaired).map(|(found, _)| found)
}

fn repaired_contribution(
    text: &str,
    params: &ContributionParams,
) -> Option<FoundValue<Option<i64>>> {
    amount_in(text, params).map(|(found, _)| found)
}

/// The amount in the first object that has one, and whether it was repaired.
fn amount_in(text: &str, params: &ContributionParams) -> Option<(FoundValue<Option<i64>>, bool)> {
    let seen = visible(text);
    let endowment = params.endowment();
    let (object, mut warnings) = objects(&seen).find(|(object, _)| answers(object))?;
    let (amount, key) = KEYS.iter().find_map(|key| {
        let (value, written) = lookup(&object, key)?;
        Some((legible(value, endowment)?, written.unwrap_or(key).to_owned()))
    })?;
    let is_repaired = !warnings.is_empty();
    if key != KEYS[0] {
        warnings.push(format!("the amount stands under {:?}", printable(&key, 40)));
    }
    Some((allowed_amount(amount, params, warnings, reasoning(&object)), is_repaired))
}

/// Whether an object is an answer, legible or not: later objects are rounds that the model invents.
fn answers(object: &Map<String, Value>) -> bool {
    let keys = || KEYS.iter().chain(&["stage", "actions"]);
    // Nearly all answers have one of these exact keys, which are found quickly.
    keys().any(|key| object.contains_key(*key)) || keys().any(|key| lookup(object, key).is_some())
}

/// The amount in a value: a number, or a text that a person would read as one.
fn legible(value: &Value, endowment: i64) -> Option<i64> {
    whole(value).or_else(|| {
        let text = value.as_str()?.trim();
        let number = only_number(text).or_else(|| Some(amount(text, endowment)?.0));
        number.or_else(|| word(text)).map(|number| number.value)
    })
}

/// The number directly after the key, if no object can be read: `contribution: 10`.
fn amount_by_key(text: &str, params: &ContributionParams) -> Option<FoundValue<Option<i64>>> {
    let seen = visible(text);
    // All of these keys contain it, and few texts without an object do.
    if !mentions(&seen, "contribut") || objects(&seen).any(|(object, _)| answers(&object)) {
        return None;
    }
    let number = KEYS.iter().take(NAMED).find_map(|key| {
        let (_, rest) = split_at_key(&seen, key)?;
        let rest = rest.trim_start_matches(|c: char| "\"'’”`*\\ ".contains(c));
        let rest = rest
            .strip_prefix([':', '='])?
            .trim_start_matches(|c: char| c.is_whitespace() || "\"'“`*\\".contains(c));
        let digits = rest.bytes().take_while(|b| b.is_ascii_digit() || *b == b'-').count();
        only_number(rest.get(..digits)?)
    })?;
    let warnings = vec!["no JSON object holds the amount: it stands behind its key".to_owned()];
    Some(allowed_amount(number.value, params, warnings, None))
}

/// Whether an ASCII text is contained in a text, ignoring case.
fn mentions(text: &str, piece: &str) -> bool {
    text.as_bytes().windows(piece.len()).any(|there| there.eq_ignore_ascii_case(piece.as_bytes()))
}

/// How many of the keys denote an amount by themselves.
const NAMED: usize = 7;

/// A text before and after the first word that is a key.
fn split_at_key<'t>(text: &'t str, key: &str) -> Option<(&'t str, &'t str)> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let first = key.chars().next()?;
    let starts = text.match_indices([first, first.to_ascii_uppercase()]);
    starts.map(|(at, _)| text.split_at(at)).find_map(|(before, rest)| {
        let behind = rest.get(key.len()..)?;
        let is_key = rest.get(..key.len())?.eq_ignore_ascii_case(key);
        let is_whole = !before.ends_with(is_word) && !behind.starts_with(is_word);
        (is_key && is_whole).then_some((before, behind))
    })
}

fn actions(text: &str, _: &NoParams) -> Option<FoundValue<BTreeMap<String, i64>>> {
    units_in(text).filter(|(_, is_repaired)| !is_repaired).map(|(found, _)| found)
}

fn repaired_actions(text: &str, _: &NoParams) -> Option<FoundValue<BTreeMap<String, i64>>> {
    units_in(text).map(|(found, _)| found)
}

/// The units in the first object that has any, and whether that was repaired.
fn units_in(text: &str) -> Option<(FoundValue<BTreeMap<String, i64>>, bool)> {
    let seen = visible(text);
    let (mut object, repairs) = objects(&seen).find(|(object, _)| answers(object))?;
    let is_repaired = !repairs.is_empty();
    if !object.contains_key("actions") {
        let actions = lookup(&object, "actions").map(|(value, _)| value.clone())?;
        object.insert("actions".to_owned(), actions);
    }
    Some((units(&object, repairs)?, is_repaired))
}

fn units(
    object: &Map<String, Value>,
    mut warnings: Vec<String>,
) -> Option<FoundValue<BTreeMap<String, i64>>> {
    let mut value = BTreeMap::new();
    for (name, units) in object.get("actions")?.as_object()? {
        match whole(units) {
            // No units, or less than one: nobody is punished, and the logs leave it out.
            Some(0) => {}
            Some(units) if units > 0 => {
                value.insert(name.clone(), units);
            }
            _ => warnings.push(format!("the units for {name:?} are no number: left out")),
        }
    }
    Some(FoundValue { value, reasoning: reasoning(object), warnings })
}

/// A whole number, possibly in quotes.
fn whole(value: &Value) -> Option<i64> {
    let text = match value {
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.trim().to_owned(),
        _ => return None,
    };
    let is_number = text.bytes().all(|b| b.is_ascii_digit() || b == b'-' || b == b'.');
    numbers(&text).next().filter(|_| is_number).map(|number| number.value)
}

fn reasoning(object: &Map<String, Value>) -> Option<String> {
    object.get("reasoning")?.as_str().map(str::to_owned)
}
