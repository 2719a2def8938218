//! `redistribution@4`: like version 3, and:
//!
//! - **Units by name**, in prose or JSON, in a tag or not: see `by_name`.
//! - **All numbers** of the text outside the reasoning, the document's rule, if there are as many as
//!   targets. With more or fewer it is unclear which is meant for whom, so nobody gets any, while the
//!   document cuts or fills the list. Nor does anybody where players or rounds have numbers
//!   (`player 4 gets 6`), which the document takes for units.

use super::RedistributionParams;
use super::by_name::units_by_name;
use super::clean::visible;
use super::lexicon::LANGUAGES;
use super::number::numbers;
use super::redistribution::{STRATEGIES_3, TAG};
use super::sentence::bare;
use super::turn::AnswerTurn;
use retold::parse::{FoundValue, Strategy};

pub(super) const STRATEGIES_4: &[Strategy<RedistributionParams, Vec<i64>>] = &[
    earlier(0),
    Strategy { method: "redistribute_tag_by_name", find: tag_by_name },
    earlier(1),
    earlier(2),
    Strategy { method: "all_numbers_in_tag", find: all_numbers_in_tag },
    earlier(3),
    earlier(4),
    earlier(5),
    Strategy { method: "units_by_name", find: by_name },
    earlier(6),
    Strategy { method: "all_numbers", find: all_numbers },
];

/// A strategy of version 3.
const fn earlier(at: usize) -> Strategy<RedistributionParams, Vec<i64>> {
    Strategy { method: STRATEGIES_3[at].method, find: STRATEGIES_3[at].find }
}

fn last_block<'t>(turn: &AnswerTurn<'t>) -> Option<&'t str> {
    turn.blocks.iter().rev().find(|block| !block.trim().is_empty()).copied()
}

fn tag_by_name(text: &str, params: &RedistributionParams) -> Option<FoundValue<Vec<i64>>> {
    let seen = visible(text);
    let turn = AnswerTurn::new(&seen, TAG);
    let units = units_by_name(last_block(&turn)?, &params.names, params.targets)?;
    fitting(units, &turn, params, "the units were given by name")
}

fn by_name(text: &str, params: &RedistributionParams) -> Option<FoundValue<Vec<i64>>> {
    let seen = visible(text);
    let turn = AnswerTurn::new(&seen, TAG);
    let said: Vec<&str> = turn.pieces().collect();
    let units = units_by_name(&said.join("\n"), &params.names, params.targets)?;
    fitting(units, &turn, params, "the units were given by name")
}

fn all_numbers_in_tag(text: &str, params: &RedistributionParams) -> Option<FoundValue<Vec<i64>>> {
    let seen = visible(text);
    let turn = AnswerTurn::new(&seen, TAG);
    fitting(only_units([last_block(&turn)?])?, &turn, params, ALL)
}

fn all_numbers(text: &str, params: &RedistributionParams) -> Option<FoundValue<Vec<i64>>> {
    let seen = visible(text);
    let turn = AnswerTurn::new(&seen, TAG);
    fitting(only_units(turn.pieces())?, &turn, params, ALL)
}

/// All numbers of some texts, unless one of them numbers a player or a round.
fn only_units<'t>(texts: impl IntoIterator<Item = &'t str>) -> Option<Vec<i64>> {
    let mut units = Vec::new();
    for text in texts {
        let mut before = "";
        for word in text.split_whitespace() {
            let is_number = bare(word).starts_with(|c: char| c.is_ascii_digit());
            if is_number && LANGUAGES.numbered.has(before) {
                return None;
            }
            before = bare(word);
        }
        units.extend(numbers(text).map(|number| number.value));
    }
    Some(units)
}

const ALL: &str = "no list: all numbers count, as in the document";

/// The decision, if there is a number for each target.
fn fitting(
    units: Vec<i64>,
    turn: &AnswerTurn<'_>,
    params: &RedistributionParams,
    how: &str,
) -> Option<FoundValue<Vec<i64>>> {
    if units.len() != params.targets || units.is_empty() {
        return None;
    }
    let mut warnings = vec![how.to_owned()];
    if units.iter().any(|units| *units < 0) {
        warnings.push("negative units became zero".to_owned());
    }
    if turn.has_more {
        warnings.push("text after the turn was left out".to_owned());
    }
    let value = units.into_iter().map(|units| units.max(0)).collect();
    Some(FoundValue { value, reasoning: turn.reasoning.map(str::to_owned), warnings })
}

#[cfg(test)]
mod tests {
    use super::super::{RedistributionParams, redistribution_parser};
    use retold::parse::Parser;

    fn read(names: &[&str], text: &str) -> (Vec<i64>, &'static str) {
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        let parser = redistribution_parser(4, RedistributionParams { targets: 3, names }).unwrap();
        let found = parser.parse(text);
        (found.value, found.method)
    }

    /// Value and method of version 4 for three targets, whose names it knows.
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
            // The document's rules.
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
