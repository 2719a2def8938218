//! `contribution@3`: like version 2, but also reads everything else that a person can read.
//!
//! - **Invisible characters** are ignored: `1<zero-width space>0` is 10, also in a tag whose name
//!   contains such characters. Digits of other scripts are digits, as in version 1.
//! - **A number may be a word** or part of a sentence, with or without a tag: see `sentence` for
//!   the rule, which keeps version 1's good cases (the first number, where that is the amount) but
//!   not the others.
//! - **A complete tag beats a truncated one**, and a later complete one an earlier one, as in
//!   version 2. If a complete tag cannot be read, nothing else is searched.

use super::ContributionParams;
use super::clean::visible;
use super::contribution_v2::{TAG, coins};
use super::number::{Number, only_number};
use super::sentence::{How, amount};
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
    "default",
];

/// The decision.
pub(super) fn decide(text: &str, params: &ContributionParams) -> (&'static str, FoundValue<i64>) {
    let seen = visible(text);
    let turn = AnswerTurn::new(&seen, TAG);
    let (method, number) = read_number(&turn, params.endowment());
    let mut found = coins(number, &turn, params);
    match method {
        "default" => {
            let half = params.endowment() / 2;
            found = FoundValue { value: half, warnings: Vec::new(), ..found };
            found.warnings.push("no contribution found: half the endowment".to_owned());
        }
        "unclosed_contribute_tag" => found
            .warnings
            .push("the contribute tag is not closed: the number may have been cut".to_owned()),
        _ if turn.blocks.len() > 1 => {
            found.warnings.push("several contribute tags: the last one counts".to_owned());
        }
        _ => {}
    }
    (method, found)
}

fn read_number<'t>(turn: &AnswerTurn<'t>, endowment: i64) -> (&'static str, Number<'t>) {
    let read = |text: &'t str| {
        only_number(text).or_else(|| Some(amount(text, endowment)?.0)).or_else(|| word(text))
    };
    let nothing = ("default", Number { value: 0, cut: false, huge: None, grouped: None });
    let block = turn.blocks.iter().rev().find(|block| !block.trim().is_empty());
    if let Some(block) = block {
        return read(block).map_or(nothing, |number| ("contribute_tag", number));
    }
    if let Some(unclosed) = turn.unclosed {
        let number = only_number(unclosed);
        return number.map_or(nothing, |number| ("unclosed_contribute_tag", number));
    }
    let whole = turn.body().and_then(|body| {
        let body = body.trim_matches(|c: char| c.is_whitespace() || "*`\"'.".contains(c));
        let is_number = body.len() < 24 && body.bytes().all(|b| b.is_ascii_digit() || b == b'-');
        only_number(body).filter(|_| is_number)
    });
    if let Some(number) = whole {
        return ("whole_text_integer", number);
    }
    let said = turn.pieces().filter_map(|piece| amount(piece, endowment)).last();
    if let Some((number, how)) = said {
        return (if how == How::Stated { "stated_amount" } else { "only_number" }, number);
    }
    let thought = turn.blocks_in_reasoning.last().and_then(|block| only_number(block));
    thought.map_or(nothing, |number| ("contribute_tag_in_reasoning", number))
}

/// The number in a text of one word.
fn word(text: &str) -> Option<Number<'_>> {
    let text = text.trim_matches(|c: char| !c.is_alphanumeric());
    super::sentence::word(text)
}
