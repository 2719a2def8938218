//! `contribution_json@1`, `actions_json@1`: the answers of local models, which were asked for JSON.
//!
//! Their prompts ask for `{"stage": "contribution", "reasoning": .., "contribution": 10}`, and for
//! `{"stage": "actions", "reasoning": .., "actions": {"DOG": 2}}`. Most answers stand in a code
//! fence, and many go on with further rounds that the model invents, with JSON of their own: the
//! FIRST object counts. It is read strictly, and with repairs only if that fails.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::ContributionParams;
use super::number::numbers;
use crate::parse::chain::{ChainParser, Found, Strategy};
use crate::parse::json_repair;
use crate::prompt::CanonicalError;

/// What the parser of actions is told: nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoParams {}

/// A parser of punishments or rewards; its value is the units by player's name.
pub type ActionsParser = ChainParser<NoParams, BTreeMap<String, i64>>;

const CONTRIBUTION: &[Strategy<ContributionParams, i64>] = &[
    Strategy { method: "first_json_object", find: contribution },
    Strategy { method: "repaired_json_object", find: repaired_contribution },
];

const ACTIONS: &[Strategy<NoParams, BTreeMap<String, i64>>] = &[
    Strategy { method: "first_json_object", find: actions },
    Strategy { method: "repaired_json_object", find: repaired_actions },
];

/// The parser of contributions in JSON.
///
/// # Errors
/// [`CanonicalError`] never in practice.
pub fn json_contribution_parser(
    params: ContributionParams,
) -> Result<ChainParser<ContributionParams, i64>, CanonicalError> {
    let half = |_: &str, params: &ContributionParams| Found {
        warnings: vec!["no contribution found: half the endowment".to_owned()],
        ..Found::plain(params.endowment() / 2)
    };
    ChainParser::new("contribution_json", 1, params, CONTRIBUTION, ("default", half), None)
}

/// The parser of punishments and rewards in JSON.
///
/// # Errors
/// [`CanonicalError`] never in practice.
pub fn actions_parser() -> Result<ActionsParser, CanonicalError> {
    let none = |_: &str, _: &NoParams| Found {
        warnings: vec!["no actions found: no units for anyone".to_owned()],
        ..Found::plain(BTreeMap::new())
    };
    ChainParser::new("actions_json", 1, NoParams {}, ACTIONS, ("default", none), None)
}

/// The first object that is JSON as it stands.
fn strict(text: &str) -> Option<Map<String, Value>> {
    let rest = text.get(text.find('{')?..)?;
    match serde_json::Deserializer::from_str(rest).into_iter::<Value>().next()?.ok()? {
        Value::Object(object) => Some(object),
        _ => None,
    }
}

/// The first object, read with repairs, and what they were.
fn repaired(text: &str) -> Option<(Map<String, Value>, Vec<String>)> {
    let rest = text.get(text.find('{')?..)?;
    let first = json_repair::first(rest)?;
    let Value::Object(object) = first.value else {
        return None;
    };
    Some((object, first.repairs.iter().map(|r| format!("JSON: {}", r.as_str())).collect()))
}

fn contribution(text: &str, params: &ContributionParams) -> Option<Found<i64>> {
    coins(&strict(text)?, params, Vec::new())
}

fn repaired_contribution(text: &str, params: &ContributionParams) -> Option<Found<i64>> {
    let (object, warnings) = repaired(text)?;
    coins(&object, params, warnings)
}

fn coins(
    object: &Map<String, Value>,
    params: &ContributionParams,
    mut warnings: Vec<String>,
) -> Option<Found<i64>> {
    let amount = whole(object.get("contribution")?)?;
    let value = params.contribution_type.allowed(amount, params.endowment());
    if value != amount {
        warnings.push(format!("{amount} is not an allowed amount: {value} counts"));
    }
    Some(Found { value, reasoning: reasoning(object), warnings })
}

fn actions(text: &str, _: &NoParams) -> Option<Found<BTreeMap<String, i64>>> {
    units(&strict(text)?, Vec::new())
}

fn repaired_actions(text: &str, _: &NoParams) -> Option<Found<BTreeMap<String, i64>>> {
    let (object, warnings) = repaired(text)?;
    units(&object, warnings)
}

fn units(
    object: &Map<String, Value>,
    mut warnings: Vec<String>,
) -> Option<Found<BTreeMap<String, i64>>> {
    let mut value = BTreeMap::new();
    for (name, units) in object.get("actions")?.as_object()? {
        match whole(units) {
            // No units, or less than one: no one is punished, and the logs leave it out.
            Some(0) => {}
            Some(units) if units > 0 => {
                value.insert(name.clone(), units);
            }
            _ => warnings.push(format!("the units for {name:?} are no number: left out")),
        }
    }
    Some(Found { value, reasoning: reasoning(object), warnings })
}

/// A whole number, also in quotes.
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
