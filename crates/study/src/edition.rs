//! The edition of our rules that a run follows: the one it was started with, however many releases
//! later it is run again.

use serde::{Deserialize, Serialize};

/// The rules of a study that have changed since it was first released, as a number in the run's
/// settings.
///
/// The second edition: facts carry what was previously kept outside the fold (vectors, reasons); in
/// a deliberation, facts record when a phase begins, the config's seed seeds clustering, a judge
/// sees a sample of the others, and `include_vote_distribution` has an effect.
///
/// The third edition: in a deliberation, a participant fails with the reason if there is nothing to
/// show in a phase, because the calls that it comes from have failed; nobody reads an empty summary,
/// and no dialogue is without a question.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(try_from = "u32", into = "u32")]
pub enum Edition {
    /// For runs whose settings do not name an edition.
    #[default]
    First,
    /// For runs whose settings name it.
    Second,
    /// For new runs.
    Third,
}

/// A run from a later release.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("edition {0} is from a later release: this one supports 1 to 3")]
pub struct LaterEdition(u32);

impl Edition {
    /// The edition of new runs.
    pub const NEWEST: Edition = Edition::Third;

    /// Whether it is the first one, which settings leave out.
    pub fn is_first(&self) -> bool {
        *self == Edition::First
    }
}

impl From<Edition> for u32 {
    fn from(edition: Edition) -> u32 {
        match edition {
            Edition::First => 1,
            Edition::Second => 2,
            Edition::Third => 3,
        }
    }
}

impl TryFrom<u32> for Edition {
    type Error = LaterEdition;

    fn try_from(number: u32) -> Result<Self, LaterEdition> {
        match number {
            1 => Ok(Edition::First),
            2 => Ok(Edition::Second),
            3 => Ok(Edition::Third),
            later => Err(LaterEdition(later)),
        }
    }
}
