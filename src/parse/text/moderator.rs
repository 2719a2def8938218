//! `moderator@1`: a turn of a moderator who ends the dialogue with the single word `SATISFIED`.
//!
//! Only a turn that is exactly this word, apart from white space, ends the dialogue. Real
//! moderators sometimes end a longer turn with the word, and such a turn is still answered.

use serde::{Deserialize, Serialize};

use super::free_text::FreeTextParams;
use crate::parse::strategies::{FoundValue, Strategy, StrategyParser};
use crate::parse::thinking;
use crate::prompt::CanonicalError;

/// A moderator's action in a turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModeratorTurn {
    /// Ends the dialogue.
    Satisfied,
    /// Says something that should be answered.
    Says(String),
    /// Says nothing, which is not a turn.
    Nothing,
}

/// The moderator parser.
pub type ModeratorParser = StrategyParser<FreeTextParams, ModeratorTurn>;

/// The word, in the spelling that the prompt asks for.
const WORD: &str = "SATISFIED";

const STRATEGIES: &[Strategy<FreeTextParams, ModeratorTurn>] = &[
    Strategy { method: "exactly_satisfied", find: satisfaction },
    Strategy { method: "trimmed_text", find: says },
];

/// `moderator@1`.
///
/// # Errors
/// [`CanonicalError`], which does not occur in practice: there are no settings.
pub fn parser() -> Result<ModeratorParser, CanonicalError> {
    StrategyParser::new("moderator", 1, FreeTextParams {}, STRATEGIES, ("empty", nothing), None)
}

fn satisfaction(text: &str, _: &FreeTextParams) -> Option<FoundValue<ModeratorTurn>> {
    let (reasoning, answer) = thinking::split(text);
    let reasoning = reasoning.map(str::to_owned);
    (answer == WORD)
        .then(|| FoundValue { reasoning, ..FoundValue::plain(ModeratorTurn::Satisfied) })
}

fn says(text: &str, _: &FreeTextParams) -> Option<FoundValue<ModeratorTurn>> {
    let (reasoning, answer) = thinking::split(text);
    if answer.is_empty() {
        return None;
    }
    let near = answer.trim_end_matches(|c: char| !c.is_alphanumeric());
    let near = near.get(near.len().saturating_sub(WORD.len())..);
    let warnings = if near.is_some_and(|end| end.eq_ignore_ascii_case(WORD)) {
        vec!["ends with SATISFIED without being exactly that: the dialogue goes on".into()]
    } else {
        Vec::new()
    };
    let reasoning = reasoning.map(str::to_owned);
    Some(FoundValue { value: ModeratorTurn::Says(answer.to_owned()), reasoning, warnings })
}

fn nothing(_: &str, _: &FreeTextParams) -> FoundValue<ModeratorTurn> {
    FoundValue {
        warnings: vec!["the answer is empty".to_owned()],
        ..FoundValue::plain(ModeratorTurn::Nothing)
    }
}
