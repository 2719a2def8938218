//! The public goods game: what a player contributes, says, and deducts from or grants to others.
//!
//! The rules come from the source document "Structured Output Format for LLM Responses": the answer
//! is in a tag (`<CONTRIBUTE>`, `<MESSAGE>`, `<REDISTRIBUTE>`), the reasoning in another, and
//! fall-backs read answers without tags.
//!
//! - `contribution@1`, `chat@1`, `redistribution@1` (`v1`): the document's priority lists, with the
//!   original program's behaviour where the document is not specific.
//! - `contribution@2`, `chat@2`, `redistribution@2`: what the player decided, as a person reads it,
//!   without anything that the player only considered.
//! - `contribution_json@1`, `actions_json@1` (`json`): the JSON answers of local models.
//!
//! Of the 984 real answers at hand, version 2 decides 14 differently, in six classes:
//!
//! - 1, `first_number` -> `default`: cut after the opening tag: version 1 took the number of
//!   players for coins
//! - 5, `all_numbers` -> `unclosed_redistribute_tag`: the array was cut: version 1 punished with
//!   numbers of the reasoning, version 2 keeps the units that were written
//! - 1, `all_numbers` -> `unreadable_tag`: cut before the array's first number: no units are there
//! - 3, `all_numbers` -> `default`: cut within the reasoning: nothing was decided
//! - 3, `whole_text` -> `unclosed_message_tag`: only the closing tag is missing: version 1 sent the
//!   reasoning to the other players
//! - 1, `message_tag` -> `silent`: `nothing` is what the prompt offers for silence: version 1 says
//!   the word
//!
//! The tests count them on the bare answers, and `check` lists them on the imported runs.
//!
//! A contribution is the number in the tag. With [`ContributionFraming::OptOut`], that is what the player
//! WITHDRAWS: [`contribution_of`] converts it into what remains in the pot.

mod by_name;
mod chat;
mod clean;
mod contribution;
mod json;
mod lexicon;
mod number;
mod own_words;
mod redistribution;
mod sentence;
mod turn;
mod unit_list;
mod units_in_text;
mod v1;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use retold::parse::{FoundValue, LastResort, MakeError, ParserFamily, StrategyParser};

use self::json::NoParams;
pub use json::{ActionsParser, JsonContributionParser, actions_parser, json_contribution_parser};

/// The amounts that the game allows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ContributionType {
    /// Any whole number from nothing to the endowment.
    #[default]
    Variable,
    /// Nothing or the whole endowment.
    AllOrNothing,
}

impl ContributionType {
    /// The allowed amount for a stated one: within the range, and with
    /// [`ContributionType::AllOrNothing`] the nearer end of it, where half counts as all.
    #[must_use]
    pub fn nearest_allowed(self, amount: i64, endowment: i64) -> i64 {
        match self {
            ContributionType::Variable => amount.clamp(0, endowment.max(0)),
            // `amount < endowment / 2` without halves or overflow.
            ContributionType::AllOrNothing if amount < endowment.saturating_sub(amount) => 0,
            ContributionType::AllOrNothing => endowment,
        }
    }
}

/// The meaning of the number in the tag.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ContributionFraming {
    /// Coins put into the pot.
    #[default]
    OptIn,
    /// Coins taken out of the pot.
    OptOut,
}

/// What a player contributes who stated `amount`, depending on the framing.
#[must_use]
pub fn contribution_of(amount: i64, framing: ContributionFraming, endowment: i64) -> i64 {
    match framing {
        ContributionFraming::OptIn => amount,
        ContributionFraming::OptOut => endowment.saturating_sub(amount),
    }
}

/// The settings of a contribution parser.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ContributionParams {
    /// What a player has, which is the most that can be moved.
    #[serde(default = "twenty")]
    pub endowment: u32,
    /// The allowed amounts. Version 1 only uses the range; see [`ContributionType::nearest_allowed`].
    #[serde(default)]
    pub contribution_type: ContributionType,
}

/// The document's endowment.
fn twenty() -> u32 {
    20
}

impl Default for ContributionParams {
    fn default() -> Self {
        ContributionParams { endowment: twenty(), contribution_type: ContributionType::default() }
    }
}

impl ContributionParams {
    fn endowment(&self) -> i64 {
        self.endowment.into()
    }
}

/// The settings of a chat parser.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChatParams {
    /// A longer message is cut, and `...` is appended.
    #[serde(default = "two_thousand")]
    pub max_chars: usize,
}

fn two_thousand() -> usize {
    2_000
}

impl Default for ChatParams {
    fn default() -> Self {
        ChatParams { max_chars: two_thousand() }
    }
}

/// The settings of a redistribution parser.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RedistributionParams {
    /// The number of other players, and therefore of requested numbers.
    pub targets: usize,
    /// Their names, in the order of the prompt, for version 2; without them, units by name are in that
    /// order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
}

/// A contribution parser; its value is the number of coins stated, within the range.
pub type ContributionParser = StrategyParser<ContributionParams, i64>;
/// A chat parser; its value is the message, empty for silence.
pub type ChatParser = StrategyParser<ChatParams, String>;
/// A redistribution parser; its value is the units for each other player, in the prompt's order.
pub type RedistributionParser = StrategyParser<RedistributionParams, Vec<i64>>;

/// The contribution parser of a version.
///
/// # Errors
/// [`MakeError::NoVersion`] if the version does not exist; likewise for the others below.
pub fn contribution_parser(
    version: u32,
    params: ContributionParams,
) -> Result<ContributionParser, MakeError> {
    let name = CONTRIBUTION.name;
    let half: fn(&str, &ContributionParams) -> FoundValue<i64> =
        |_, params| FoundValue::plain(params.endowment() / 2);
    match version {
        1 => {
            let (strategies, last) = (v1::CONTRIBUTION, ("default", half));
            Ok(StrategyParser::new(name, version, params, strategies, last, None)?)
        }
        2 => {
            let (methods, decide) = (contribution::METHODS, contribution::decide);
            Ok(StrategyParser::whole(name, version, params, methods, decide, None)?)
        }
        _ => Err(MakeError::NoVersion(version)),
    }
}

/// The chat parser of a version.
///
/// # Errors
/// [`MakeError::NoVersion`].
pub fn chat_parser(version: u32, params: ChatParams) -> Result<ChatParser, MakeError> {
    let (strategies, last): (_, LastResort<ChatParams, String>) = match version {
        1 => (v1::CHAT, ("whole_text", v1::whole_text)),
        2 => (chat::STRATEGIES, ("no_message", chat::no_message)),
        _ => return Err(MakeError::NoVersion(version)),
    };
    Ok(StrategyParser::new("chat", version, params, strategies, last, None)?)
}

/// The redistribution parser of a version.
///
/// # Errors
/// [`MakeError::NoVersion`].
pub fn redistribution_parser(
    version: u32,
    params: RedistributionParams,
) -> Result<RedistributionParser, MakeError> {
    let name = REDISTRIBUTION.name;
    let zeros: fn(&str, &RedistributionParams) -> FoundValue<Vec<i64>> =
        |_, params| FoundValue::plain(vec![0; params.targets]);
    match version {
        1 => {
            let (strategies, last) = (v1::REDISTRIBUTION, ("default", zeros));
            Ok(StrategyParser::new(name, version, params, strategies, last, None)?)
        }
        2 if !params.names.is_empty() && params.names.len() != params.targets => {
            let reason = format!("{} names for {} targets", params.names.len(), params.targets);
            Err(MakeError::Value { key: "names", reason })
        }
        2 => {
            let (methods, decide) = (redistribution::METHODS, redistribution::decide);
            Ok(StrategyParser::whole(name, version, params, methods, decide, None)?)
        }
        _ => Err(MakeError::NoVersion(version)),
    }
}

/// `contribution`, in all its versions.
pub static CONTRIBUTION: ParserFamily = ParserFamily {
    name: "contribution",
    versions: &[1, 2],
    make: |spec| Ok(Box::new(contribution_parser(spec.version, spec.settings()?)?)),
};

/// `contribution_json`, in all its versions.
pub static CONTRIBUTION_JSON: ParserFamily = ParserFamily {
    name: "contribution_json",
    versions: &[1],
    make: |spec| Ok(Box::new(json_contribution_parser(spec.settings()?)?)),
};

/// `chat`, in all its versions.
pub static CHAT: ParserFamily = ParserFamily {
    name: "chat",
    versions: &[1, 2],
    make: |spec| Ok(Box::new(chat_parser(spec.version, spec.settings()?)?)),
};

/// `redistribution`, in all its versions.
pub static REDISTRIBUTION: ParserFamily = ParserFamily {
    name: "redistribution",
    versions: &[1, 2],
    make: |spec| Ok(Box::new(redistribution_parser(spec.version, spec.settings()?)?)),
};

/// `actions_json`, in all its versions.
pub static ACTIONS_JSON: ParserFamily = ParserFamily {
    name: "actions_json",
    versions: &[1],
    make: |spec| {
        let NoParams {} = spec.settings()?;
        Ok(Box::new(actions_parser()?))
    },
};
