//! The optional index of a store: queries that need not read a run's events, and a check of the store's own tables.

use super::error::LogError;
use super::finding::Finding;
use super::index::{KeptPiece, Section};
use super::uncounted::UncountedEvents;
use crate::id::{PromptHash, RunId};
use crate::prompt::Request;

/// Tables and the like that a store keeps besides events, by which they are found. A store need not have an index.
pub trait StoreIndex {
    /// A stored request, checked against its hash. It has its model, but may lack messages that it shares with earlier requests.
    ///
    /// # Errors
    /// [`LogError::CorruptRequest`] if it does not have the hash it is stored under.
    fn request_part(&mut self, prompt: PromptHash) -> Result<Option<Request>, LogError>;

    /// Up to `limit` hashes of stored requests that begin with `prefix`, in lower-case hex.
    ///
    /// # Errors
    /// [`LogError`] if they cannot be read.
    fn prompts(&mut self, prefix: &str, limit: usize) -> Result<Vec<PromptHash>, LogError>;

    /// The pieces of a run's [`Index`](super::Index) that the log keeps, in order. One that is not whole goes up to the
    /// end of the run.
    ///
    /// # Errors
    /// [`LogError`] if they cannot be read.
    fn pieces(&mut self, run: RunId) -> Result<Vec<KeptPiece>, LogError>;

    /// The bytes of a section of one of these pieces; `None` if they are not stored.
    ///
    /// # Errors
    /// [`LogError`] if it cannot be read.
    fn piece(
        &mut self,
        run: RunId,
        piece: u64,
        section: Section,
    ) -> Result<Option<Vec<u8>>, LogError>;

    /// Findings about data that no chain covers. With a run: stored events that cannot be looked up. Without one: stray or
    /// damaged contents, requests and tables.
    ///
    /// # Errors
    /// [`LogError`] if the check itself failed.
    fn check(&mut self, run: Option<RunId>) -> Result<Vec<Finding>, LogError>;

    /// Events at the end of one run or of all runs that are stored but not yet in the ledger, if the store writes to the
    /// ledger after them. Those that a living process of this machine has stored are not among them.
    ///
    /// # Errors
    /// [`LogError`] if the store cannot be read.
    fn uncounted_events(&mut self, run: Option<RunId>) -> Result<Vec<UncountedEvents>, LogError>;
}
