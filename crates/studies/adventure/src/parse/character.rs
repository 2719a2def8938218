//! `character@1`: a character as JSON.
//!
//! Every repair is a warning: an attribute outside 0 to 20 is clamped, a fraction is rounded, a
//! number in quotes is read, and `gun_accuracy` and attributes next to the name are recognised. The
//! model's reasoning (`<think>`) is kept as such and not parsed. A missing attribute becomes
//! [`DEFAULT`], the middle of the range; `baseStrength` defaults to `strength`. A missing name
//! becomes `Stranger`.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{AdventureParams, split_reasoning};
use retold::parse::keys::lookup;
use retold::parse::{FoundValue, LastResort, Strategy, json_repair};

/// The value of a missing attribute.
const DEFAULT: u8 = 10;
/// The highest attribute.
const MOST: f64 = 20.0;
/// The name of a character without one.
const NAMELESS: &str = "Stranger";

/// A character.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Character {
    /// Who it is.
    pub name: String,
    /// The character's abilities.
    pub attributes: Attributes,
}

/// The attributes, each from 0 to 20.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Attributes {
    /// Movement and reaction.
    pub speed: u8,
    /// With firearms.
    pub gun_accuracy: u8,
    /// With thrown weapons.
    pub throwing_accuracy: u8,
    /// Current strength.
    pub strength: u8,
    /// Strength without modifiers.
    pub base_strength: u8,
    /// Under pressure.
    pub bravery: u8,
    /// Overall.
    pub experience: u8,
}

pub(super) const STRATEGIES: &[Strategy<AdventureParams, Character>] = &[
    Strategy { method: "json_object", find: |text, _| character(text, false) },
    Strategy { method: "repaired_json_object", find: |text, _| character(text, true) },
];

pub(super) const LAST: LastResort<AdventureParams, Character> = ("default", default);

/// The first object with a name or an attribute.
fn character(text: &str, malformed: bool) -> Option<FoundValue<Character>> {
    let (reasoning, answer) = split_reasoning(text);
    let embedded = json_repair::values(answer).into_iter().find(|e| sheet(&e.value).is_some())?;
    if embedded.repairs.is_empty() == malformed {
        return None;
    }
    let repairs = embedded.repairs.iter().map(|r| format!("JSON: {}", r.as_str())).collect();
    Some(read(reasoning, sheet(&embedded.value)?, repairs))
}

/// The object that describes a character: this one, or the only value in it (`{"npc": {..}}`).
fn sheet(value: &Value) -> Option<&Map<String, Value>> {
    let object = match value {
        Value::Array(items) => items.first()?.as_object()?,
        value => value.as_object()?,
    };
    let named = object.get("character").and_then(Value::as_object);
    let only = object.values().next().filter(|_| object.len() == 1).and_then(Value::as_object);
    [named, Some(object), only].into_iter().flatten().find(|object| is_sheet(object))
}

fn is_sheet(object: &Map<String, Value>) -> bool {
    object.contains_key("name")
        || object.contains_key("attributes")
        || KEYS.iter().any(|key| lookup(object, key).is_some())
}

const KEYS: [&str; 7] = [
    "speed", "gunAccuracy", "throwingAccuracy", "strength", "baseStrength", "bravery", "experience",
];

/// The last resort: an average stranger.
fn default(text: &str, _: &AdventureParams) -> FoundValue<Character> {
    let (reasoning, _) = split_reasoning(text);
    read(reasoning, &Map::new(), vec!["no character found: all of it is made up".to_owned()])
}

fn read(
    reasoning: Option<&str>,
    sheet: &Map<String, Value>,
    warnings: Vec<String>,
) -> FoundValue<Character> {
    let mut reader = SheetReader { sheet, warnings };
    let name = reader.name();
    let speed = reader.attribute("speed", DEFAULT);
    let gun_accuracy = reader.attribute("gunAccuracy", DEFAULT);
    let throwing_accuracy = reader.attribute("throwingAccuracy", DEFAULT);
    let strength = reader.attribute("strength", DEFAULT);
    let base_strength = reader.attribute("baseStrength", strength);
    let bravery = reader.attribute("bravery", DEFAULT);
    let experience = reader.attribute("experience", DEFAULT);
    let attributes = Attributes {
        speed,
        gun_accuracy,
        throwing_accuracy,
        strength,
        base_strength,
        bravery,
        experience,
    };
    FoundValue {
        value: Character { name, attributes },
        reasoning: reasoning.map(str::to_owned),
        warnings: reader.warnings,
    }
}

struct SheetReader<'m> {
    sheet: &'m Map<String, Value>,
    warnings: Vec<String>,
}

impl SheetReader<'_> {
    fn name(&mut self) -> String {
        let name = self.sheet.get("name").and_then(Value::as_str).map(str::trim);
        match name {
            Some(name) if !name.is_empty() => name.to_owned(),
            _ => {
                self.warnings.push(format!("the name is missing: {NAMELESS}"));
                NAMELESS.to_owned()
            }
        }
    }

    fn attribute(&mut self, key: &str, missing: u8) -> u8 {
        let inner = self.sheet.get("attributes").and_then(Value::as_object);
        let found = inner.and_then(|inner| lookup(inner, key));
        let found = found.map(|(value, written)| (value, written.is_some()));
        let outer = || lookup(self.sheet, key).map(|(value, _)| (value, true));
        let Some((value, odd)) = found.or_else(outer) else {
            self.warnings.push(format!("{key} is missing: {missing}"));
            return missing;
        };
        let number = match value {
            Value::Number(number) => number.as_f64(),
            Value::String(text) => text.trim().parse::<f64>().ok().filter(|n| n.is_finite()),
            _ => None,
        };
        let Some(number) = number else {
            self.warnings.push(format!("{key} is not a number: {missing}"));
            return missing;
        };
        if odd {
            self.warnings.push(format!("{key} stood in another place or spelling"));
        }
        if value.is_string() {
            self.warnings.push(format!("{key} was written as text"));
        }
        let fitting = number.clamp(0.0, MOST).round();
        if !(0.0..=MOST).contains(&number) {
            self.warnings.push(format!("{key} is {number}, not from 0 to 20: {fitting}"));
        } else if fitting != number {
            self.warnings.push(format!("{key} is {number}, not a whole number: {fitting}"));
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 20")]
        let attribute = fitting as u8;
        attribute
    }
}
