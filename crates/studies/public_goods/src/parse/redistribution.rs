//! `redistribution@2`: the units the player assigned to each of the others.
//!
//! - **The last complete tag outside the reasoning** decides, as for contributions.
//! - It must contain **exactly one number per target**, as a JSON array (repaired if necessary) or
//!   as a plain list. With more or fewer numbers, it is unclear which is meant for whom: the array
//!   is rejected, so that nobody is punished or rewarded by mistake. An array with an element that
//!   is not a number (`null`) is also rejected, and the warning names the element.
//! - **A truncated array** is different: its numbers belong to the first targets. They are kept,
//!   the other targets get nothing, and the method is `unclosed_redistribute_tag`.
//! - **Negative** units become zero, with a warning, as in version 1. Fractions are dropped.
//! - Without a tag, the text outside the reasoning counts if it is such a list, or contains one as
//!   an array. Other numbers (`2 units to player 1`) are not used: version 1 reads player numbers
//!   as units. **The reasoning is not searched.**
//! - If nothing is found: no units for anyone, the document's default.
//!
//! Whether a player can pay for the units is decided by the game, not by the parser.

use std::borrow::Cow;

use serde_json::Value;

use super::RedistributionParams;
use super::clean::visible;
use super::number::numbers;
use super::turn::AnswerTurn;
use retold::escaping::printable;
use retold::parse::json_repair::RepairEdition;
use retold::parse::{FoundValue, Strategy};

/// The strategies, which parse JSON with one edition of its repair. Those of version 3 ignore
/// invisible characters.
macro_rules! strategies {
    ($edition:expr, $seen:expr) => {
        &[
            Strategy {
                method: "redistribute_tag",
                find: |text, params| redistribute_tag(&$seen(text), params, $edition),
            },
            Strategy {
                method: "unclosed_redistribute_tag",
                find: |text, params| unclosed_tag(&$seen(text), params),
            },
            Strategy {
                method: "wrong_length",
                find: |text, params| wrong_length(&$seen(text), params, $edition),
            },
            Strategy {
                method: "unreadable_tag",
                find: |text, params| unreadable_tag(&$seen(text), params, $edition),
            },
            Strategy {
                method: "whole_text_array",
                find: |text, params| whole_text_array(&$seen(text), params, $edition),
            },
            Strategy {
                method: "array_in_text",
                find: |text, params| array_in_text(&$seen(text), params, $edition),
            },
            Strategy {
                method: "redistribute_tag_in_reasoning",
                find: |text, params| tag_in_reasoning(&$seen(text), params, $edition),
            },
        ]
    };
}

pub(super) const STRATEGIES: &[Strategy<RedistributionParams, Vec<i64>>] =
    strategies!(RepairEdition::First, Cow::Borrowed);

/// Version 3: like version 2, but also reads a list in slightly broken JSON (`[2; 0; 1]`,
/// `{2, 0, 1}`, `[2 0 1)`) or with invisible characters.
pub(super) const STRATEGIES_3: &[Strategy<RedistributionParams, Vec<i64>>] =
    strategies!(RepairEdition::Second, visible);

pub(super) const TAG: &str = "REDISTRIBUTE";

fn redistribute_tag(
    text: &str,
    params: &RedistributionParams,
    edition: RepairEdition,
) -> Option<FoundValue<Vec<i64>>> {
    let turn = AnswerTurn::new(text, TAG);
    let found = last_list(&turn.blocks, edition)?.fitting(&turn, params)?;
    Some(several(found, turn.blocks.len()))
}

fn unclosed_tag(text: &str, params: &RedistributionParams) -> Option<FoundValue<Vec<i64>>> {
    let turn = AnswerTurn::new(text, TAG);
    if !turn.blocks.is_empty() {
        return None;
    }
    let mut list = List::of_cut(turn.unclosed?)?;
    let count = list.units.len();
    if count > params.targets {
        return None;
    }
    list.units.resize(params.targets, 0);
    let mut found = list.fitting(&turn, params)?;
    found.warnings.push(format!(
        "the redistribute tag is not closed: {count} of {} numbers are there",
        params.targets
    ));
    Some(found)
}

/// A tag with too many or too few numbers.
fn wrong_length(
    text: &str,
    params: &RedistributionParams,
    edition: RepairEdition,
) -> Option<FoundValue<Vec<i64>>> {
    let turn = AnswerTurn::new(text, TAG);
    let list = match last_list(&turn.blocks, edition) {
        Some(list) => list,
        None if turn.blocks.is_empty() => List::of_cut(turn.unclosed?)?,
        None => return None,
    };
    let warning = format!("{} numbers for {} targets: rejected", list.units.len(), params.targets);
    Some(nothing(&turn, params, warning))
}

/// A tag without a list in it: an unreadable answer is not replaced by other text.
fn unreadable_tag(
    text: &str,
    params: &RedistributionParams,
    edition: RepairEdition,
) -> Option<FoundValue<Vec<i64>>> {
    let turn = AnswerTurn::new(text, TAG);
    if turn.blocks.is_empty() && turn.unclosed.is_none() {
        return None;
    }
    let block = turn.blocks.iter().rev().find(|block| !block.trim().is_empty());
    let warning = block.and_then(|block| List::misfit(block, edition));
    let warning =
        warning.unwrap_or_else(|| "the redistribute tag holds no list: rejected".to_owned());
    Some(nothing(&turn, params, warning))
}

fn whole_text_array(
    text: &str,
    params: &RedistributionParams,
    edition: RepairEdition,
) -> Option<FoundValue<Vec<i64>>> {
    let turn = AnswerTurn::new(text, TAG);
    let body = turn.body()?;
    let is_whole = !body.contains('[') || body.starts_with('[') && body.ends_with(']');
    List::new(body, edition).filter(|_| is_whole)?.fitting(&turn, params)
}

fn array_in_text(
    text: &str,
    params: &RedistributionParams,
    edition: RepairEdition,
) -> Option<FoundValue<Vec<i64>>> {
    let turn = AnswerTurn::new(text, TAG);
    let arrays = turn.pieces().flat_map(|piece| edition.values(piece));
    let lists = arrays.filter_map(|array| List::of_value(&array.value));
    let list = lists.filter(|list| list.units.len() == params.targets).last()?;
    list.fitting(&turn, params)
}

fn tag_in_reasoning(
    text: &str,
    params: &RedistributionParams,
    edition: RepairEdition,
) -> Option<FoundValue<Vec<i64>>> {
    let turn = AnswerTurn::new(text, TAG);
    last_list(&turn.blocks_in_reasoning, edition)?.fitting(&turn, params)
}

/// The last resort.
pub(super) fn default(text: &str, params: &RedistributionParams) -> FoundValue<Vec<i64>> {
    let turn = AnswerTurn::new(text, TAG);
    nothing(&turn, params, "no redistribution found: no units for anyone".to_owned())
}

/// The same for version 3.
pub(super) fn default_3(text: &str, params: &RedistributionParams) -> FoundValue<Vec<i64>> {
    default(&visible(text), params)
}

fn last_list(blocks: &[&str], edition: RepairEdition) -> Option<List> {
    List::new(blocks.iter().rev().find(|block| !block.trim().is_empty())?, edition)
}

fn several(mut found: FoundValue<Vec<i64>>, count: usize) -> FoundValue<Vec<i64>> {
    if count > 1 {
        found.warnings.push("several redistribute tags: the last one counts".to_owned());
    }
    found
}

fn nothing(
    turn: &AnswerTurn<'_>,
    params: &RedistributionParams,
    warning: String,
) -> FoundValue<Vec<i64>> {
    let reasoning = turn.reasoning.map(str::to_owned);
    FoundValue { value: vec![0; params.targets], reasoning, warnings: vec![warning] }
}

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

/// A list of numbers, as written.
struct List {
    units: Vec<i64>,
    warnings: Vec<String>,
}

impl List {
    /// A JSON array, or numbers with only separators in between.
    fn new(text: &str, edition: RepairEdition) -> Option<List> {
        let text = text.trim();
        let is_legible = edition != RepairEdition::First;
        if text.contains('[') {
            let repaired = edition.repair(text);
            let list = repaired.value.as_ref().and_then(List::of_value);
            if let Some(mut list) = list {
                let repairs = repaired.repairs.iter();
                list.warnings.extend(repairs.map(|r| format!("JSON: {}", r.as_str())));
                return Some(list);
            }
            return if is_legible { List::from_brackets(text) } else { None };
        }
        if is_legible && text.starts_with('{') {
            return List::from_brackets(text);
        }
        let is_plain = |c: char| c.is_ascii_digit() || c.is_whitespace() || ",;-.+()".contains(c);
        (!text.is_empty() && text.chars().all(is_plain)).then(|| List::of_numbers(text))?
    }

    /// Numbers with only separators in between, in brackets of any kind.
    fn from_brackets(text: &str) -> Option<List> {
        let is_bracket = |c: char| matches!(c, '[' | ']' | '{' | '}' | '(' | ')' | '`');
        let inner = text.trim_matches(|c: char| is_bracket(c) || c.is_whitespace());
        let is_plain = |c: char| c.is_ascii_digit() || c.is_whitespace() || ",;-.|".contains(c);
        let mut list = inner.chars().all(is_plain).then(|| List::of_numbers(inner))??;
        list.warnings.push("the list was not written as JSON".to_owned());
        Some(list)
    }

    /// The beginning of a truncated array. Its last number may be truncated as well.
    fn of_cut(text: &str) -> Option<List> {
        let text = text.trim();
        let is_list = text.starts_with('[') || text.starts_with(|c: char| c.is_ascii_digit());
        let end = text.find(']').unwrap_or(text.len());
        is_list.then(|| List::of_numbers(text.get(..end)?))?
    }

    fn of_numbers(text: &str) -> Option<List> {
        let mut list = List { units: Vec::new(), warnings: Vec::new() };
        for number in numbers(text) {
            list.units.push(number.value);
            if number.cut {
                list.warnings.push("a fraction of a unit was cut off".to_owned());
            }
        }
        list.warnings.dedup();
        (!list.units.is_empty()).then_some(list)
    }

    /// A JSON array of numbers, or of numbers as text.
    fn of_value(value: &Value) -> Option<List> {
        let mut list = List { units: Vec::new(), warnings: Vec::new() };
        for item in value.as_array()? {
            if item.is_string() {
                list.warnings.push("a number stood in quotes".to_owned());
            }
            let (units, cut) = units(item)?;
            if cut {
                list.warnings.push("a fraction of a unit was cut off".to_owned());
            }
            list.units.push(units);
        }
        list.warnings.dedup();
        Some(list)
    }

    /// Which element of an array is not a number, if there is such an element.
    fn misfit(text: &str, edition: RepairEdition) -> Option<String> {
        let value = text.contains('[').then(|| edition.repair(text.trim()).value)??;
        let (number, item) =
            (1..).zip(value.as_array()?).find(|(_, item)| units(item).is_none())?;
        let item = printable(&item.to_string(), 40);
        Some(format!(
            "element {number} of the list is {item}, which is no number of units: rejected"
        ))
    }

    /// The decision, if the number of units is right.
    fn fitting(
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
