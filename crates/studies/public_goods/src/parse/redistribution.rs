//! `redistribution@2`: the units the player assigned to each of the others.
//!
//! - **The last complete tag outside the reasoning** decides, as for contributions.
//! - It must contain **exactly one number per target**, as a JSON array (repaired if necessary: `[2; 0;
//!   1]`, `{2, 0, 1}`, `[2 0 1)`) or as a plain list. With more or fewer numbers, it is unclear which is
//!   meant for whom: the array is rejected, so that nobody is punished or rewarded by mistake. An array
//!   with an element that is not a number (`null`) is also rejected, and the warning names the element.
//! - **A truncated array** is different: its numbers belong to the first targets. They are kept,
//!   the other targets get nothing, and the method is `unclosed_redistribute_tag`.
//! - **Units by name**, in prose or JSON, in a tag or not: see `by_name`.
//! - **Negative** units become zero, with a warning, as in version 1. Fractions are dropped, and
//!   invisible characters ignored.
//! - Without a tag, the text outside the reasoning counts if it is such a list, or contains one as
//!   an array. **The reasoning is searched only for a complete tag**, and only if nothing outside it was
//!   found except bare numbers: `redistribute_tag_in_reasoning`.
//! - If nothing better is found, **all numbers** in the tag, or in the text outside the reasoning, count
//!   (the document's rule), provided there are exactly as many as targets. With more or fewer, nobody
//!   gets any units, while the document cuts or fills the list. Nobody gets any either if a player or
//!   round is numbered: in `player 4 gets 6`, the document takes the 4 for units.
//! - If nothing is found: no units for anyone, the document's default.
//!
//! Whether a player can pay for the units is decided by the game, not by the parser.

use super::RedistributionParams;
use super::clean::visible;
use super::turn::{AnswerTurn, last_filled};
use super::unit_list::UnitList;
use super::units_in_text::{all_numbers, all_numbers_in_tag, by_name, tag_by_name};
use retold::parse::{FoundValue, json_repair};

/// A way to read units from an answer.
type Reading = fn(&AnswerTurn<'_>, &RedistributionParams) -> Option<FoundValue<Vec<i64>>>;

/// The readings, tried in order; the first that applies decides. Each has the method that it gives to the decision.
const READINGS: [(&str, Reading); 11] = [
    ("redistribute_tag", redistribute_tag),
    ("redistribute_tag_by_name", tag_by_name),
    ("unclosed_redistribute_tag", unclosed_tag),
    ("wrong_length", wrong_length),
    ("all_numbers_in_tag", all_numbers_in_tag),
    ("unreadable_tag", unreadable_tag),
    ("whole_text_array", whole_text_array),
    ("array_in_text", array_in_text),
    ("units_by_name", by_name),
    ("redistribute_tag_in_reasoning", tag_in_reasoning),
    ("all_numbers", all_numbers),
];

/// The possible methods of a decision.
pub(super) const METHODS: &[&str] = &{
    let mut methods = ["default"; READINGS.len() + 1];
    let mut at = 0;
    while at < READINGS.len() {
        methods[at] = READINGS[at].0;
        at += 1;
    }
    methods
};

const TAG: &str = "REDISTRIBUTE";

/// The decision about an answer: its method, and the units.
pub(super) fn decide(
    text: &str,
    params: &RedistributionParams,
) -> (&'static str, FoundValue<Vec<i64>>) {
    let seen = visible(text);
    let turn = AnswerTurn::new(&seen, TAG);
    let found = READINGS.iter().find_map(|(method, read)| Some((*method, read(&turn, params)?)));
    found.unwrap_or_else(|| {
        let warning = "no redistribution found: no units for anyone".to_owned();
        ("default", no_units(&turn, params, warning))
    })
}

fn redistribute_tag(
    turn: &AnswerTurn<'_>,
    params: &RedistributionParams,
) -> Option<FoundValue<Vec<i64>>> {
    let mut found = last_list(&turn.blocks)?.fitting(turn, params)?;
    if turn.blocks.len() > 1 {
        found.warnings.push("several redistribute tags: the last one counts".to_owned());
    }
    Some(found)
}

fn unclosed_tag(
    turn: &AnswerTurn<'_>,
    params: &RedistributionParams,
) -> Option<FoundValue<Vec<i64>>> {
    if !turn.blocks.is_empty() {
        return None;
    }
    let mut list = UnitList::of_truncated(turn.unclosed?)?;
    let count = list.units.len();
    if count > params.targets {
        return None;
    }
    list.units.resize(params.targets, 0);
    let mut found = list.fitting(turn, params)?;
    found.warnings.push(format!(
        "the redistribute tag is not closed: {count} of {} numbers are there",
        params.targets
    ));
    Some(found)
}

/// A closed tag with too many or too few numbers, or an unclosed one with too many.
fn wrong_length(
    turn: &AnswerTurn<'_>,
    params: &RedistributionParams,
) -> Option<FoundValue<Vec<i64>>> {
    let list = match last_list(&turn.blocks) {
        Some(list) => list,
        None if turn.blocks.is_empty() => UnitList::of_truncated(turn.unclosed?)?,
        None => return None,
    };
    let warning = format!("{} numbers for {} targets: rejected", list.units.len(), params.targets);
    Some(no_units(turn, params, warning))
}

/// A tag without a list. Text outside the tag is not read in its place.
fn unreadable_tag(
    turn: &AnswerTurn<'_>,
    params: &RedistributionParams,
) -> Option<FoundValue<Vec<i64>>> {
    if turn.blocks.is_empty() && turn.unclosed.is_none() {
        return None;
    }
    let warning = last_filled(&turn.blocks)
        .and_then(UnitList::misfit_warning)
        .unwrap_or_else(|| "the redistribute tag holds no list: rejected".to_owned());
    Some(no_units(turn, params, warning))
}

fn whole_text_array(
    turn: &AnswerTurn<'_>,
    params: &RedistributionParams,
) -> Option<FoundValue<Vec<i64>>> {
    let body = turn.body()?;
    let is_whole = !body.contains('[') || body.starts_with('[') && body.ends_with(']');
    UnitList::new(body).filter(|_| is_whole)?.fitting(turn, params)
}

fn array_in_text(
    turn: &AnswerTurn<'_>,
    params: &RedistributionParams,
) -> Option<FoundValue<Vec<i64>>> {
    let arrays = turn.pieces().flat_map(json_repair::values);
    let lists = arrays.filter_map(|array| UnitList::of_value(&array.value));
    let list = lists.filter(|list| list.units.len() == params.targets).last()?;
    list.fitting(turn, params)
}

fn tag_in_reasoning(
    turn: &AnswerTurn<'_>,
    params: &RedistributionParams,
) -> Option<FoundValue<Vec<i64>>> {
    last_list(&turn.blocks_in_reasoning)?.fitting(turn, params)
}

fn last_list(blocks: &[&str]) -> Option<UnitList> {
    UnitList::new(last_filled(blocks)?)
}

fn no_units(
    turn: &AnswerTurn<'_>,
    params: &RedistributionParams,
    warning: String,
) -> FoundValue<Vec<i64>> {
    let reasoning = turn.reasoning.map(str::to_owned);
    FoundValue { value: vec![0; params.targets], reasoning, warnings: vec![warning] }
}

#[cfg(test)]
mod tests {
    use super::super::{RedistributionParams, redistribution_parser};
    use retold::parse::Parser;

    fn read(names: &[&str], text: &str) -> (Vec<i64>, &'static str) {
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        let parser = redistribution_parser(2, RedistributionParams { targets: 3, names }).unwrap();
        let found = parser.parse(text);
        (found.value, found.method)
    }

    /// Value and method for three targets, whose names it knows.
    #[test]
    fn units_belong_to_the_names_beside_them() {
        let names = ["DOG", "CAT", "BIRD"];
        for (text, units, method) in [
            ("DOG: 2, CAT: 0, BIRD: 1", [2, 0, 1], "units_by_name"),
            ("BIRD: 1, DOG: 2 units, cat: 0", [2, 0, 1], "units_by_name"),
            ("{\"DOG\": 2, \"CAT\": 0, \"BIRD\": 1}", [2, 0, 1], "units_by_name"),
            ("{\"bird\": 1, \"dog\": 2}", [2, 0, 1], "units_by_name"),
            ("- **DOG**: 2\n- **CAT**: 0\n- **BIRD**: 1", [2, 0, 1], "units_by_name"),
            ("I give 2 units to DOG and 1 to BIRD.", [2, 0, 1], "units_by_name"),
            ("I punish DOG by 2.", [2, 0, 0], "units_by_name"),
            ("I reward DOG with 2, CAT gave 20.", [2, 0, 0], "units_by_name"),
            ("<REDISTRIBUTE>DOG: 2, BIRD: 1</REDISTRIBUTE>", [2, 0, 1], "redistribute_tag_by_name"),
            ("<REDISTRIBUTE>{\"CAT\": 1}</REDISTRIBUTE>", [0, 1, 0], "redistribute_tag_by_name"),
            // Unclear, or about something else.
            ("DOG: 2, DOG: 3", [0, 0, 0], "default"),
            ("DOG has 12 coins. I punish nobody.", [0, 0, 0], "default"),
            ("DOG contributed 12, CAT gave 0.", [0, 0, 0], "default"),
            // A list, or the document's rule.
            ("<REDISTRIBUTE>[2, 0, 1]</REDISTRIBUTE>", [2, 0, 1], "redistribute_tag"),
            ("{\"redistribution\": [2, 0, 1]}", [2, 0, 1], "all_numbers"),
            ("I choose 2 then 0 then 1", [2, 0, 1], "all_numbers"),
            ("<REDISTRIBUTE>2 then 0 then 1</REDISTRIBUTE>", [2, 0, 1], "all_numbers_in_tag"),
            ("I choose 2 and 0", [0, 0, 0], "default"),
            ("Player 2 gets 1, the others 0", [0, 0, 0], "default"),
            ("<REDISTRIBUTE>[2, 0]</REDISTRIBUTE>", [0, 0, 0], "wrong_length"),
            ("<REASONING>DOG: 2, CAT: 0, BIRD: 1", [0, 0, 0], "default"),
        ] {
            assert_eq!(read(&names, text), (units.to_vec(), method), "{text}");
        }
    }

    /// Without the names, every target has to have its number.
    #[test]
    fn units_by_unknown_names_are_in_the_order_of_the_prompt() {
        for (text, units, method) in [
            ("DOG: 2, CAT: 0, BIRD: 1", [2, 0, 1], "units_by_name"),
            ("{\"DOG\": 2, \"CAT\": 0, \"BIRD\": 1}", [2, 0, 1], "units_by_name"),
            ("Player 1: 2\nPlayer 2: 0\nPlayer 3: 1", [2, 0, 1], "units_by_name"),
            ("DOG: 2, CAT: 0", [0, 0, 0], "default"),
            ("DOG: 2, CAT: 0, BIRD: 1, COW: 3", [0, 0, 0], "default"),
        ] {
            assert_eq!(read(&[], text), (units.to_vec(), method), "{text}");
        }
    }
}
