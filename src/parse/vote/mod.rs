//! A vote for one of several options, as the source document asks for it ("Respond with ONLY the
//! exact text of your chosen option").
//!
//! `vote@1` tries, from the most to the least explicit:
//!
//! - `exact_text`: the answer is exactly an option;
//! - `normalised_text`: it is an option apart from quotes, punctuation, Markdown, spaces and case;
//! - `numbered_choice`: `2.`, `Option 2`, `2. Park improvements`, as the options were numbered;
//! - `single_mention`: it names exactly one option, by its text or as `option 2`, without rejecting
//!   it;
//! - `ambiguous`: it names several options, or a number and the text of another option. This is not
//!   a vote; a warning names both;
//! - `failed`: it names no option. This is not a vote.
//!
//! If the original program found no option, it used the first one or the previous vote. That would
//! put votes into the statistics that nobody cast.

mod mentions;
mod words;

use serde::{Deserialize, Serialize};

use self::mentions::mentions;
use self::words::{number, words};
use super::registry::ParserFamily;
use super::strategies::{FoundValue, Strategy, StrategyParser};
use super::thinking;
use crate::prompt::CanonicalError;

pub use self::words::words as comparable;

/// The parser's settings: the options, in the order in which they were numbered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VoteParams {
    /// The options, word for word.
    pub options: Vec<String>,
}

/// The vote parser; its value is the option, word for word, or `None`.
pub type VoteParser = StrategyParser<VoteParams, Option<String>>;

const STRATEGIES: &[Strategy<VoteParams, Option<String>>] = &[
    Strategy { method: "exact_text", find: exact },
    Strategy { method: "normalised_text", find: by_words },
    Strategy { method: "numbered_choice", find: by_number },
    Strategy { method: "single_mention", find: single },
    Strategy { method: "ambiguous", find: ambiguous },
];

/// `vote`, in all its versions.
pub static VOTE: ParserFamily = ParserFamily {
    name: "vote",
    versions: &[1],
    make: |spec| Ok(Box::new(parser(VoteParams::deserialize(&spec.params)?)?)),
};

/// `vote@1` for some options.
///
/// # Errors
/// [`CanonicalError`], which does not occur in practice: the settings are a list of texts.
pub fn parser(params: VoteParams) -> Result<VoteParser, CanonicalError> {
    StrategyParser::new("vote", 1, params, STRATEGIES, ("failed", failure), None)
}

fn choice(text: &str, option: &str) -> FoundValue<Option<String>> {
    let reasoning = thinking::split(text).0.map(str::to_owned);
    FoundValue { reasoning, ..FoundValue::plain(Some(option.to_owned())) }
}

fn exact(text: &str, params: &VoteParams) -> Option<FoundValue<Option<String>>> {
    let (_, answer) = thinking::split(text);
    let option = params.options.iter().find(|option| option.trim() == answer)?;
    Some(choice(text, option))
}

fn by_words(text: &str, params: &VoteParams) -> Option<FoundValue<Option<String>>> {
    let answer = words(thinking::split(text).1);
    let mut same = params.options.iter().filter(|o| !answer.is_empty() && words(o) == answer);
    match (same.next(), same.next()) {
        (Some(option), None) => Some(choice(text, option)),
        _ => None,
    }
}

fn by_number(text: &str, params: &VoteParams) -> Option<FoundValue<Option<String>>> {
    let answer = words(thinking::split(text).1);
    let (number, rest) = number(&answer)?;
    let option = params.options.get(number.checked_sub(1)?)?;
    (rest.is_empty() || words(option) == rest).then(|| choice(text, option))
}

fn single(text: &str, params: &VoteParams) -> Option<FoundValue<Option<String>>> {
    let found_options = mentions(thinking::split(text).1, &params.options);
    match found_options.as_slice() {
        [mention] if !mention.denied => Some(choice(text, params.options.get(mention.option)?)),
        _ => None,
    }
}

fn ambiguous(text: &str, params: &VoteParams) -> Option<FoundValue<Option<String>>> {
    let named = mentions(thinking::split(text).1, &params.options);
    if named.len() < 2 {
        return None;
    }
    let names = named.iter().filter_map(|m| params.options.get(m.option));
    let names: Vec<String> = names.map(|option| format!("{option:?}")).collect();
    let warnings = vec![format!("ambiguous: it names {}", names.join(" and "))];
    Some(FoundValue { warnings, ..none(text) })
}

fn failure(text: &str, params: &VoteParams) -> FoundValue<Option<String>> {
    let answer = thinking::split(text).1;
    let warning = match mentions(answer, &params.options).as_slice() {
        [mention] => format!(
            "it names {:?} and seems to say that it is not its choice",
            params.options.get(mention.option).map_or("", String::as_str)
        ),
        _ if answer.is_empty() => "the answer is empty".to_owned(),
        _ => "it names none of the options".to_owned(),
    };
    FoundValue { warnings: vec![warning], ..none(text) }
}

fn none(text: &str) -> FoundValue<Option<String>> {
    let reasoning = thinking::split(text).0.map(str::to_owned);
    FoundValue { reasoning, ..FoundValue::plain(None) }
}
