//! `contribution@2`: the coins the player decided on.
//!
//! - **The last complete tag outside the reasoning** decides: a player who writes two corrects the
//!   first. Text after a further turn that the model invents is ignored.
//! - The tag must contain **one number**. Surrounding words, Markdown and a unit do not matter; two
//!   different numbers (`10 or 15`) are not a decision. `1,000` is one number, with a warning: a
//!   comma between complete groups of three digits is not a separator.
//! - **An unclosed tag** has its own method: the answer was cut off, perhaps within the number.
//! - Without a tag, the text outside the reasoning counts if it has exactly one number, or one
//!   after the word contribution. **The reasoning is not searched.** Only a complete tag inside it
//!   is used, and the method then says so.
//! - **Out of range** values are clamped, as in version 1, with a warning. A fraction is dropped: a
//!   player moves whole coins, and not more than stated. With `all_or_nothing`, the nearer of the
//!   two amounts is used, with a warning.
//! - If nothing is found: half the endowment, the document's default, with a warning. A caller that
//!   prefers to ask again can recognise the method `default`.

use super::ContributionParams;
use super::number::{Number, numbers, only_number};
use super::turn::AnswerTurn;
use retold::escaping::printable;
use retold::parse::{FoundValue, Strategy};

/// How many digits of a huge number a warning shows.
const SHOWN: usize = 24;

pub(super) const STRATEGIES: &[Strategy<ContributionParams, i64>] = &[
    Strategy { method: "contribute_tag", find: contribute_tag },
    Strategy { method: "unclosed_contribute_tag", find: unclosed_tag },
    Strategy { method: "whole_text_integer", find: whole_text_integer },
    Strategy { method: "labelled_number", find: labelled_number },
    Strategy { method: "only_number", find: only_number_in_text },
    Strategy { method: "contribute_tag_in_reasoning", find: tag_in_reasoning },
];

pub(super) const TAG: &str = "CONTRIBUTE";

fn contribute_tag(text: &str, params: &ContributionParams) -> Option<FoundValue<i64>> {
    let turn = AnswerTurn::new(text, TAG);
    let block = turn.blocks.iter().rev().find(|block| !block.trim().is_empty())?;
    let mut found = coins(only_number(block)?, &turn, params);
    if turn.blocks.len() > 1 {
        found.warnings.push("several contribute tags: the last one counts".to_owned());
    }
    Some(found)
}

fn unclosed_tag(text: &str, params: &ContributionParams) -> Option<FoundValue<i64>> {
    let turn = AnswerTurn::new(text, TAG);
    // A complete tag that could not be read is not overruled by an unclosed one.
    if !turn.blocks.is_empty() {
        return None;
    }
    let mut found = coins(only_number(turn.unclosed?)?, &turn, params);
    found
        .warnings
        .push("the contribute tag is not closed: the number may have been cut".to_owned());
    Some(found)
}

fn whole_text_integer(text: &str, params: &ContributionParams) -> Option<FoundValue<i64>> {
    let turn = AnswerTurn::new(text, TAG);
    let body = turn.body()?.trim_matches(|c: char| c.is_whitespace() || "*`\"'.".contains(c));
    let is_number = body.len() < 24 && body.bytes().all(|b| b.is_ascii_digit() || b == b'-');
    let number = numbers(body).next().filter(|_| is_number)?;
    Some(coins(number, &turn, params))
}

/// The last number directly after `contribute`, `contribution:` and the like, without a tag.
fn labelled_number(text: &str, params: &ContributionParams) -> Option<FoundValue<i64>> {
    let turn = turn_without_tag(text)?;
    let number = turn.pieces().filter_map(after_label).last()?;
    Some(coins(number, &turn, params))
}

fn only_number_in_text(text: &str, params: &ContributionParams) -> Option<FoundValue<i64>> {
    let turn = turn_without_tag(text)?;
    Some(coins(only_number(turn.body()?)?, &turn, params))
}

fn tag_in_reasoning(text: &str, params: &ContributionParams) -> Option<FoundValue<i64>> {
    let turn = turn_without_tag(text)?;
    let number = only_number(turn.blocks_in_reasoning.last()?)?;
    Some(coins(number, &turn, params))
}

/// The turn, if it has no tag outside the reasoning. An unreadable tag is an unreadable answer, and
/// the text around it does not replace it.
fn turn_without_tag(text: &str) -> Option<AnswerTurn<'_>> {
    let turn = AnswerTurn::new(text, TAG);
    (turn.blocks.is_empty() && turn.unclosed.is_none()).then_some(turn)
}

/// Words that name the amount when a number follows them.
const LABELS: [&str; 3] = ["contribut", "withdraw", "move"];

/// The number after the last such word, with no words in between except these.
fn after_label(text: &str) -> Option<Number<'_>> {
    let mut after = false;
    let mut last = None;
    for word in text.split(|c: char| c.is_whitespace() || matches!(c, ':' | '=' | '*' | '`')) {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '-');
        let is_label = LABELS.iter().any(|label| {
            bare.get(..label.len()).is_some_and(|head| head.eq_ignore_ascii_case(label))
        });
        if is_label {
            after = true;
        } else if after && let Some(number) = only_number(bare) {
            last = Some(number);
            after = false;
        } else if !matches!(bare, "" | "is" | "of" | "exactly" | "all" | "amount" | "will" | "be") {
            after = false;
        }
    }
    last
}

/// The amount that the game uses, with the repairs.
pub(super) fn coins(
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

/// The last resort.
pub(super) fn default(text: &str, params: &ContributionParams) -> FoundValue<i64> {
    let turn = AnswerTurn::new(text, TAG);
    let half = Number { value: params.endowment() / 2, cut: false, huge: None, grouped: None };
    let params =
        ContributionParams { contribution_type: super::ContributionType::Variable, ..*params };
    let mut found = coins(half, &turn, &params);
    found.warnings.push("no contribution found: half the endowment".to_owned());
    found
}
