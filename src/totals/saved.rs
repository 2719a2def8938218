//! What reuse and the provider's cache saved, at the prices of a run's models.

use serde::Serialize;

use super::part::{Part, TokenUse};

/// Answers that were not requested, or cost less.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Savings {
    /// Answers of the run that other calls with the same prompt used again.
    pub within_run: SavedPart,
    /// Answers of the run that it is a fork of.
    pub from_parent: SavedPart,
    /// Answers of any other run.
    pub from_other_runs: SavedPart,
    /// Answers that were already there when the run was continued, once for each time.
    pub resumed: SavedPart,
    /// Answers with tokens in the provider's cache, and what these tokens would have cost more.
    pub provider_cached: SavedPart,
}

/// Answers that were not asked for.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Default)]
pub struct SavedPart {
    /// How many.
    pub answers: u64,
    /// The tokens of their requests, as far as they were counted; `None` if they were counted in none
    /// of them.
    pub prompt_tokens: Option<u64>,
    /// Their own tokens, as far as they were counted; `None` if they were counted in none of them.
    pub completion_tokens: Option<u64>,
    /// Those of them whose tokens were not counted.
    pub uncounted: u64,
    /// US dollars at list prices; `None` if a model has no price, or tokens were not counted.
    pub dollars: Option<f64>,
}

impl Savings {
    pub(super) fn new(part: &Part) -> Self {
        let (answers, priced, dollars) = part.cached;
        Savings {
            within_run: SavedPart::new(part.within),
            from_parent: SavedPart::new(part.from_parent),
            from_other_runs: SavedPart::new(part.from_others),
            resumed: SavedPart::new(part.resumed),
            provider_cached: SavedPart {
                answers,
                prompt_tokens: Some(part.received.cached.total().unwrap_or(0)),
                completion_tokens: Some(0),
                uncounted: 0,
                dollars: (priced == answers).then(|| dollars.get()),
            },
        }
    }
}

impl SavedPart {
    /// Without answers, nothing was saved.
    pub(super) fn new(used: TokenUse) -> Self {
        let nothing = |known: Option<u64>| if used.answers == 0 { Some(0) } else { known };
        SavedPart {
            answers: used.answers,
            prompt_tokens: nothing(used.prompt.total()),
            completion_tokens: nothing(used.completion.total()),
            uncounted: used.answers - used.counted,
            dollars: (used.paid == used.answers).then(|| used.dollars.get()),
        }
    }
}
