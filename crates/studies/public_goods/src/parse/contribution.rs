//! `contribution@2`: the coins the player decided on, read as a person reads them.
//!
//! - **The last complete tag outside the reasoning** decides: a player who writes two corrects the
//!   first, and a complete tag beats a truncated one. Text after a further turn that the model invents
//!   is ignored.
//! - The tag must contain **one number**. Surrounding words, Markdown and a unit do not matter; it may
//!   be a word or part of a sentence: see `sentence` for the rule. `1,000` is one number, with a
//!   warning: a comma between complete groups of three digits is not a separator.
//! - **An unclosed tag** has its own method: the answer was cut off, perhaps within the number.
//! - **Sentences in other languages** (`Von meinen 20 Münzen gebe ich 12`) are read like English ones:
//!   see `lexicon` for the words. **Invisible characters** are ignored, also in the name of a tag, and
//!   digits of other scripts are digits.
//! - **The first number** of the text outside the reasoning counts if nothing else does: the
//!   document's rule, which also holds for two alternatives (`10 or 15`), in a tag or not.
//! - **The exception**: an amount given by others (`The others gave 4 and 6.`) is nobody's own
//!   amount. The document takes the first of these numbers.
//! - **The reasoning is not searched.** Only a complete tag inside it is used, and the method then says
//!   so. The document takes the first number in it where an answer was cut off before the amount.
//! - A tag without a number (`<CONTRIBUTE>see above</CONTRIBUTE>`, or cut off right after it) does not
//!   hide the amount beside it.
//! - **Out of range** values are clamped, as in version 1, with a warning. A fraction is dropped: a
//!   player moves whole coins, and not more than stated. With `all_or_nothing`, the nearer of the
//!   two amounts is used, with a warning.
//! - If nothing is found: half the endowment, the document's default, with a warning. A caller that
//!   prefers to ask again can recognise the method `default`.

use super::ContributionParams;
use super::clean::visible;
use super::number::{Number, numbers, only_number};
use super::own_words::own_words;
use super::sentence::{How, amount, word};
use super::turn::{AnswerTurn, last_filled};
use retold::escaping::printable;
use retold::parse::FoundValue;

const TAG: &str = "CONTRIBUTE";

/// How many digits of a huge number a warning shows.
const SHOWN: usize = 24;

/// The possible methods of a decision.
pub(super) const METHODS: &[&str] = &[
    "contribute_tag",
    "unclosed_contribute_tag",
    "whole_text_integer",
    "stated_amount",
    "only_number",
    "contribute_tag_in_reasoning",
    "first_number_in_tag",
    "first_number",
    "default",
];

/// The decision.
pub(super) fn decide(text: &str, params: &ContributionParams) -> (&'static str, FoundValue<i64>) {
    let seen = visible(text);
    let turn = AnswerTurn::new(&seen, TAG);
    let said = SaidByPlayer::new(&turn);
    let Some((method, number)) = said.amount(&turn, params.endowment()) else {
        let half = params.endowment() / 2;
        let mut found = coins(plain_number(0), &turn, params);
        found.value = half;
        found.warnings = vec!["no contribution found: half the endowment".to_owned()];
        return ("default", found);
    };
    let mut found = coins(number, &turn, params);
    match method {
        "unclosed_contribute_tag" => found
            .warnings
            .push("the contribute tag is not closed: the number may have been cut".to_owned()),
        "first_number" | "first_number_in_tag" => found
            .warnings
            .push("no amount is stated: the first number counts, as in the document".to_owned()),
        _ if turn.blocks.len() > 1 => {
            found.warnings.push("several contribute tags: the last one counts".to_owned());
        }
        _ => {}
    }
    (method, found)
}

fn plain_number(value: i64) -> Number<'static> {
    Number { value, cut: false, huge: None, grouped: None }
}

/// The player's own words.
struct SaidByPlayer {
    /// In the last tag that has any.
    block: Option<String>,
    /// Outside the reasoning, with the tags.
    pieces: Vec<String>,
}

impl SaidByPlayer {
    fn new(turn: &AnswerTurn<'_>) -> Self {
        SaidByPlayer {
            block: last_filled(&turn.blocks).map(own_words),
            pieces: turn.pieces().map(own_words).collect(),
        }
    }

    /// The amount, and the method by which it was found.
    fn amount<'t>(
        &'t self,
        turn: &AnswerTurn<'t>,
        endowment: i64,
    ) -> Option<(&'static str, Number<'t>)> {
        if let Some(block) = &self.block {
            let stated = only_number(block)
                .or_else(|| Some(amount(block, endowment)?.0))
                .or_else(|| word(block.trim_matches(|c: char| !c.is_alphanumeric())));
            let first = || Some(("first_number_in_tag", numbers(block).next()?));
            let found = stated.map(|number| ("contribute_tag", number)).or_else(first);
            if found.is_some() {
                return found;
            }
        } else if let Some(number) = turn.unclosed.and_then(only_number) {
            return Some(("unclosed_contribute_tag", number));
        } else if let Some(number) = turn.body().and_then(whole_number) {
            return Some(("whole_text_integer", number));
        }
        let mut said = self.pieces.iter().filter_map(|piece| amount(piece, endowment));
        if let Some((number, how)) = said.next_back() {
            let method = if how == How::Stated { "stated_amount" } else { "only_number" };
            return Some((method, number));
        }
        let thought = turn.blocks_in_reasoning.last().and_then(|block| only_number(block));
        let first = || self.pieces.iter().find_map(|piece| numbers(piece).next());
        thought
            .map(|number| ("contribute_tag_in_reasoning", number))
            .or_else(|| Some(("first_number", first()?)))
    }
}

/// The number that a text is, in whatever marks.
fn whole_number(text: &str) -> Option<Number<'_>> {
    let body = text.trim_matches(|c: char| c.is_whitespace() || "*`\"'.".contains(c));
    let is_number = body.len() < 24 && body.bytes().all(|b| b.is_ascii_digit() || b == b'-');
    only_number(body).filter(|_| is_number)
}

/// The amount that the game uses, with the repairs.
fn coins(
    number: Number<'_>,
    turn: &AnswerTurn<'_>,
    params: &ContributionParams,
) -> FoundValue<i64> {
    let mut warnings = Vec::new();
    if number.cut {
        warnings.push("a fraction of a coin was cut off".to_owned());
    }
    if let Some(written) = number.grouped {
        warnings.push(format!(
            "{} was read with separators between its thousands",
            printable(written, SHOWN)
        ));
    }
    let endowment = params.endowment();
    let in_range = number.value.clamp(0, endowment);
    if in_range != number.value {
        let written = match number.huge {
            Some(digits) => {
                let sign = if number.value < 0 { "-" } else { "" };
                format!("{sign}{}", printable(digits, SHOWN))
            }
            None => number.value.to_string(),
        };
        warnings.push(format!("{written} is not from 0 to {endowment}: clamped"));
    }
    let value = params.contribution_type.nearest_allowed(in_range, endowment);
    if value != in_range {
        warnings.push(format!("{in_range} is neither nothing nor all: the nearer one counts"));
    }
    if turn.has_more {
        warnings.push("text after the turn was left out".to_owned());
    }
    FoundValue { value, reasoning: turn.reasoning.map(str::to_owned), warnings }
}

#[cfg(test)]
mod tests {
    use super::super::{ContributionParams, contribution_parser};
    use retold::parse::Parser;

    /// Value and method in a game of 20 coins.
    #[test]
    fn each_text_has_the_amount_that_a_person_reads_in_it() {
        let parser = contribution_parser(2, ContributionParams::default()).unwrap();
        for (text, coins, method) in [
            // Other languages.
            ("Ich gebe 12 von 20 Münzen.", 12, "stated_amount"),
            ("Von meinen 20 Münzen gebe ich 12.", 12, "stated_amount"),
            ("Ich behalte 8 und gebe 12.", 12, "stated_amount"),
            ("Sur mes 20 pièces, j'en donne 12.", 12, "stated_amount"),
            ("Je contribue 12 pièces sur 20.", 12, "stated_amount"),
            ("Pongo 12 de mis 20 monedas.", 12, "stated_amount"),
            ("Delle mie 20 monete ne metto 12.", 12, "stated_amount"),
            ("Contribuo com 12 das minhas 20 moedas.", 12, "stated_amount"),
            ("Ik geef 12 van mijn 20 munten.", 12, "stated_amount"),
            ("Daję 12 z 20 monet.", 12, "stated_amount"),
            ("Jag ger 12 av 20 mynt.", 12, "stated_amount"),
            ("\u{6211}\u{8d21}\u{732e}12\u{4e2a}", 12, "only_number"),
            // The first number, and what others gave.
            ("I am torn: 5, maybe 12", 5, "first_number"),
            ("10 or 15", 10, "first_number"),
            ("<CONTRIBUTE>10 or 15</CONTRIBUTE>", 10, "first_number_in_tag"),
            ("The others gave 4 and 6.", 10, "default"),
            ("The others gave 4 and 6. I match the average: 5.", 5, "only_number"),
            ("Die anderen gaben 4 und 6, ich gebe 5.", 5, "stated_amount"),
            ("DOG contributed 4 and CAT contributed 6.", 10, "default"),
            ("Contributed 7 coins.", 7, "first_number"),
            // Tags without a number.
            ("I give 7. <CONTRIBUTE>see above</CONTRIBUTE>", 7, "stated_amount"),
            ("I give 7.\n<CONTRIBUTE>", 7, "stated_amount"),
            ("<REASONING>We are 4 players.</REASONING>\n<CONTRIBUTE>", 10, "default"),
            ("<REASONING>There are 4 of us, so", 10, "default"),
            // As before.
            ("<CONTRIBUTE> 12 </CONTRIBUTE>", 12, "contribute_tag"),
            ("<CONTRIBUTE>12</CONT", 12, "unclosed_contribute_tag"),
            ("12", 12, "whole_text_integer"),
            ("I keep 8 of my 20 and give 12.", 12, "stated_amount"),
            ("Nothing to say", 10, "default"),
        ] {
            let found = parser.parse(text);
            assert_eq!((found.value, found.method), (coins, method), "{text}");
        }
    }
}
