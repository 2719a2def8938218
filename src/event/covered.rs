//! Whether there is anything that the outcome digest of a run covers.

use super::exchanged::ExchangesHasher;
use super::finished::RunFinished;
use super::outcome::OutcomeHasher;
use crate::id::OutcomeDigest;

impl RunFinished {
    /// The outcome digest; `None` if there was nothing that it covers.
    pub fn digest(&self) -> Option<OutcomeDigest> {
        let of_nothing = [OutcomeHasher::default().digest(), ExchangesHasher::default().digest()];
        Some(self.outcome_digest).filter(|digest| !of_nothing.contains(digest))
    }
}
