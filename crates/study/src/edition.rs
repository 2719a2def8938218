//! Which rules of ours a run follows: those it began with, however many releases later it is executed again.

use serde::{Deserialize, Serialize};

/// The rules of a study that have changed since it was first released, in the run's settings as a number.
///
/// The second edition: facts carry what was kept beside the fold before (vectors, reasons); in a deliberation, facts
/// say when a phase begins, the seed of the config seeds clustering, a judge sees a sample of the others, and
/// `include_vote_distribution` has an effect.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(try_from = "u32", into = "u32")]
pub enum Edition {
    /// Of runs whose settings name none.
    #[default]
    First,
    /// Of new runs.
    Second,
}

/// A run of a later release.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("edition {0} is of a later release: this one knows 1 and 2")]
pub struct LaterEdition(u32);

impl Edition {
    /// That of new runs.
    pub const NEWEST: Edition = Edition::Second;

    /// Whether it is the first one, which settings do not name.
    pub fn is_first(&self) -> bool {
        *self == Edition::First
    }
}

impl From<Edition> for u32 {
    fn from(edition: Edition) -> u32 {
        match edition {
            Edition::First => 1,
            Edition::Second => 2,
        }
    }
}

impl TryFrom<u32> for Edition {
    type Error = LaterEdition;

    fn try_from(number: u32) -> Result<Self, LaterEdition> {
        match number {
            1 => Ok(Edition::First),
            2 => Ok(Edition::Second),
            later => Err(LaterEdition(later)),
        }
    }
}
