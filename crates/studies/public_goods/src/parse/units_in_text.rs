//! Units in words: beside the names of the players, or as many numbers as there are targets.

use super::RedistributionParams;
use super::by_name::units_by_name;
use super::lexicon::NUMBERED;
use super::number::numbers;
use super::sentence::bare;
use super::turn::{AnswerTurn, last_filled};
use super::unit_list::UnitList;
use retold::parse::FoundValue;

pub(super) fn tag_by_name(
    turn: &AnswerTurn<'_>,
    params: &RedistributionParams,
) -> Option<FoundValue<Vec<i64>>> {
    let units = units_by_name(last_filled(&turn.blocks)?, &params.names, params.targets)?;
    fitting(units, turn, params, BY_NAME)
}

pub(super) fn by_name(
    turn: &AnswerTurn<'_>,
    params: &RedistributionParams,
) -> Option<FoundValue<Vec<i64>>> {
    let said: Vec<&str> = turn.pieces().collect();
    let units = units_by_name(&said.join("\n"), &params.names, params.targets)?;
    fitting(units, turn, params, BY_NAME)
}

pub(super) fn all_numbers_in_tag(
    turn: &AnswerTurn<'_>,
    params: &RedistributionParams,
) -> Option<FoundValue<Vec<i64>>> {
    fitting(only_units([last_filled(&turn.blocks)?])?, turn, params, ALL)
}

pub(super) fn all_numbers(
    turn: &AnswerTurn<'_>,
    params: &RedistributionParams,
) -> Option<FoundValue<Vec<i64>>> {
    fitting(only_units(turn.pieces())?, turn, params, ALL)
}

/// All numbers of some texts, unless one of them numbers a player or a round.
fn only_units<'t>(texts: impl IntoIterator<Item = &'t str>) -> Option<Vec<i64>> {
    let mut units = Vec::new();
    for text in texts {
        let mut before = "";
        for word in text.split_whitespace() {
            let is_number = bare(word).starts_with(|c: char| c.is_ascii_digit());
            if is_number && NUMBERED.has(before) {
                return None;
            }
            before = bare(word);
        }
        units.extend(numbers(text).map(|number| number.value));
    }
    Some(units)
}

const BY_NAME: &str = "the units were given by name";
const ALL: &str = "no list: all numbers count, as in the document";

/// The decision, if there is a number for each target.
fn fitting(
    units: Vec<i64>,
    turn: &AnswerTurn<'_>,
    params: &RedistributionParams,
    how: &str,
) -> Option<FoundValue<Vec<i64>>> {
    let is_any = !units.is_empty();
    UnitList { units, warnings: vec![how.to_owned()] }.fitting(turn, params).filter(|_| is_any)
}
