//! `contribution@4`: like version 3, but where no amount is stated, it follows the document's rule.
//!
//! - **The first number** of the text outside the reasoning counts if nothing else does: the
//!   document's rule, which also holds for two alternatives (`10 or 15`), in a tag or not.
//! - **The exception**: an amount given by others (`The others gave 4 and 6.`) is nobody's own
//!   amount. The document takes the first of these numbers.
//! - **The reasoning is not searched**, as in version 2. The document takes the first number in it
//!   where an answer was cut off before the amount.
//! - **Sentences in other languages** (`Von meinen 20 Münzen gebe ich 12`) are read like English ones:
//!   see `lexicon` for the words.
//! - A tag without a number (`<CONTRIBUTE>see above</CONTRIBUTE>`, or cut off right after it) does not
//!   hide the amount beside it.

use super::ContributionParams;
use super::clean::visible;
use super::contribution_v2::{TAG, coins};
use super::lexicon::LANGUAGES;
use super::number::{Number, numbers, only_number};
use super::own_words::own_words;
use super::sentence::{How, amount_by, word};
use super::turn::AnswerTurn;
use retold::parse::FoundValue;

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
        let block = turn.blocks.iter().rev().find(|block| !block.trim().is_empty());
        SaidByPlayer {
            block: block.map(|block| own_words(block)),
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
                .or_else(|| Some(amount_by(&LANGUAGES, block, endowment)?.0))
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
        let mut said =
            self.pieces.iter().filter_map(|piece| amount_by(&LANGUAGES, piece, endowment));
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

#[cfg(test)]
mod tests {
    use super::super::{ContributionParams, contribution_parser};
    use retold::parse::Parser;

    /// Value and method of version 4, in a game of 20 coins.
    #[test]
    fn each_text_has_the_amount_that_a_person_reads_in_it() {
        let parser = contribution_parser(4, ContributionParams::default()).unwrap();
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
