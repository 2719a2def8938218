//! Units as a list of numbers: a JSON array, repaired if necessary, or numbers with only separators in
//! between.

use serde_json::Value;

use super::RedistributionParams;
use super::number::numbers;
use super::turn::AnswerTurn;
use retold::escaping::printable;
use retold::parse::{FoundValue, json_repair};

const FRACTION: &str = "a fraction of a unit was cut off";

/// The units in an element of an array, and whether a fraction was dropped.
fn units(item: &Value) -> Option<(i64, bool)> {
    let text = match item {
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.trim().to_owned(),
        _ => return None,
    };
    let is_number = text.bytes().all(|b| b.is_ascii_digit() || b == b'-' || b == b'.');
    let number = numbers(&text).next().filter(|_| is_number)?;
    Some((number.value, number.cut))
}

/// Units read from a list, with warnings about how it was written.
pub(super) struct UnitList {
    pub(super) units: Vec<i64>,
    pub(super) warnings: Vec<String>,
}

impl UnitList {
    /// Reads a JSON array, numbers in brackets, or numbers with only separators in between.
    pub(super) fn new(text: &str) -> Option<UnitList> {
        let text = text.trim();
        if text.contains('[') {
            let repaired = json_repair::repair(text);
            let list = repaired.value.as_ref().and_then(UnitList::of_value);
            if let Some(mut list) = list {
                let repairs = repaired.repairs.iter();
                list.warnings.extend(repairs.map(|r| format!("JSON: {}", r.as_str())));
                return Some(list);
            }
            return UnitList::from_brackets(text);
        }
        if text.starts_with('{') {
            return UnitList::from_brackets(text);
        }
        let is_plain = |c: char| c.is_ascii_digit() || c.is_whitespace() || ",;-.+()".contains(c);
        (!text.is_empty() && text.chars().all(is_plain)).then(|| UnitList::of_numbers(text))?
    }

    /// Numbers with only separators in between, inside brackets or backticks.
    fn from_brackets(text: &str) -> Option<UnitList> {
        let is_bracket = |c: char| matches!(c, '[' | ']' | '{' | '}' | '(' | ')' | '`');
        let inner = text.trim_matches(|c: char| is_bracket(c) || c.is_whitespace());
        let is_plain = |c: char| c.is_ascii_digit() || c.is_whitespace() || ",;-.|".contains(c);
        let mut list = inner.chars().all(is_plain).then(|| UnitList::of_numbers(inner))??;
        list.warnings.push("the list was not written as JSON".to_owned());
        Some(list)
    }

    /// The numbers in a tag that is not closed, up to a `]` if there is one. The last one may be truncated, and is kept as
    /// it is.
    pub(super) fn of_truncated(text: &str) -> Option<UnitList> {
        let text = text.trim();
        let is_list = text.starts_with('[') || text.starts_with(|c: char| c.is_ascii_digit());
        let end = text.find(']').unwrap_or(text.len());
        is_list.then(|| UnitList::of_numbers(text.get(..end)?))?
    }

    fn of_numbers(text: &str) -> Option<UnitList> {
        let mut list = UnitList { units: Vec::new(), warnings: Vec::new() };
        for number in numbers(text) {
            list.units.push(number.value);
            if number.cut {
                list.warn(FRACTION);
            }
        }
        (!list.units.is_empty()).then_some(list)
    }

    /// Adds a warning that is not there yet.
    fn warn(&mut self, warning: &str) {
        if !self.warnings.iter().any(|known| known == warning) {
            self.warnings.push(warning.to_owned());
        }
    }

    /// A JSON array of numbers, or of numbers as text.
    pub(super) fn of_value(value: &Value) -> Option<UnitList> {
        let mut list = UnitList { units: Vec::new(), warnings: Vec::new() };
        for item in value.as_array()? {
            if item.is_string() {
                list.warn("a number was written in quotes");
            }
            let (units, cut) = units(item)?;
            if cut {
                list.warn(FRACTION);
            }
            list.units.push(units);
        }
        Some(list)
    }

    /// A warning about the first element of an array that is not a number; `None` if there is no such element.
    pub(super) fn misfit_warning(text: &str) -> Option<String> {
        let value = text.contains('[').then(|| json_repair::repair(text.trim()).value)??;
        let (number, item) =
            (1..).zip(value.as_array()?).find(|(_, item)| units(item).is_none())?;
        let item = printable(&item.to_string(), 40);
        Some(format!(
            "element {number} of the list is {item}, which is not a number of units: rejected"
        ))
    }

    /// The decision, if there is exactly one number per target.
    pub(super) fn fitting(
        mut self,
        turn: &AnswerTurn<'_>,
        params: &RedistributionParams,
    ) -> Option<FoundValue<Vec<i64>>> {
        if self.units.len() != params.targets {
            return None;
        }
        if self.units.iter().any(|units| *units < 0) {
            self.warnings.push("negative units became zero".to_owned());
        }
        if turn.has_more {
            self.warnings.push("text after the turn was left out".to_owned());
        }
        let value = self.units.into_iter().map(|units| units.max(0)).collect();
        let reasoning = turn.reasoning.map(str::to_owned);
        Some(FoundValue { value, reasoning, warnings: self.warnings })
    }
}
