//! The index of a store: what it answers without reading the events of a run, and its own check.

use std::collections::BTreeSet;

use super::backend::Reader;
use super::error::LogError;
use super::finding::Finding;
use super::index::{KeptPiece, Section};
use super::uncounted::UncountedEvents;
use crate::id::{PromptHash, RunId, Seq};
use crate::prompt::Request;

/// How many events are read at once.
const BATCH: usize = 2048;

/// A store that keeps more than events: tables by which they are found, for example. A store needs none of it.
pub trait StoreIndex {
    /// A stored request that is intact, at least with its model: the store need not assemble its messages to know that.
    ///
    /// # Errors
    /// [`LogError::CorruptRequest`] if it does not have the hash it is stored under.
    fn request_part(&mut self, prompt: PromptHash) -> Result<Option<Request>, LogError>;

    /// The hashes of up to `limit` stored requests that begin with the given hex digits.
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

    /// The contents of a section of one of these pieces.
    ///
    /// # Errors
    /// [`LogError`] if it cannot be read.
    fn piece(
        &mut self,
        run: RunId,
        piece: u64,
        section: Section,
    ) -> Result<Option<Vec<u8>>, LogError>;

    /// Findings about what no chain covers: of a run, an event that is there but cannot be looked up; without a run, stray
    /// or damaged contents, requests and tables.
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

/// The answers of a store's [`StoreIndex`], and without one those of its events.
impl dyn Reader + '_ {
    /// The model that a stored request names; `None` if it names none, or is not stored.
    ///
    /// # Errors
    /// [`LogError::CorruptRequest`] if it does not have the hash it is stored under.
    pub fn model(&mut self, prompt: PromptHash) -> Result<Option<String>, LogError> {
        let request = self.request_part(prompt)?;
        Ok(request.as_ref().and_then(Request::model).map(str::to_owned))
    }

    /// See [`StoreIndex::request_part`].
    ///
    /// # Errors
    /// [`LogError::CorruptRequest`] if it does not have the hash it is stored under.
    pub fn request_part(&mut self, prompt: PromptHash) -> Result<Option<Request>, LogError> {
        match self.index() {
            Some(index) => index.request_part(prompt),
            None => self.request(prompt),
        }
    }

    /// See [`StoreIndex::prompts`].
    ///
    /// # Errors
    /// [`LogError`] if they cannot be read.
    pub fn prompts(&mut self, prefix: &str, limit: usize) -> Result<Vec<PromptHash>, LogError> {
        if let Some(index) = self.index() {
            return index.prompts(prefix, limit);
        }
        let mut found = BTreeSet::new();
        for run in self.runs()? {
            let mut after = Seq(0);
            loop {
                let events = self.events(run.run, after, BATCH)?;
                let Some(last) = events.last() else { break };
                after = last.seq;
                let prompts = events.iter().filter_map(|event| event.prompt);
                found.extend(prompts.filter(|prompt| prompt.to_string().starts_with(prefix)));
            }
        }
        Ok(found.into_iter().take(limit).collect())
    }

    /// See [`StoreIndex::pieces`].
    ///
    /// # Errors
    /// [`LogError`] if they cannot be read.
    pub fn pieces(&mut self, run: RunId) -> Result<Vec<KeptPiece>, LogError> {
        self.index().map_or(Ok(Vec::new()), |index| index.pieces(run))
    }

    /// See [`StoreIndex::piece`].
    ///
    /// # Errors
    /// [`LogError`] if it cannot be read.
    pub fn piece(
        &mut self,
        run: RunId,
        piece: u64,
        section: Section,
    ) -> Result<Option<Vec<u8>>, LogError> {
        self.index().map_or(Ok(None), |index| index.piece(run, piece, section))
    }

    /// See [`StoreIndex::check`].
    ///
    /// # Errors
    /// [`LogError`] if the check itself failed.
    pub fn check(&mut self, run: Option<RunId>) -> Result<Vec<Finding>, LogError> {
        self.index().map_or(Ok(Vec::new()), |index| index.check(run))
    }

    /// See [`StoreIndex::uncounted_events`].
    ///
    /// # Errors
    /// [`LogError`] if the store cannot be read.
    pub fn uncounted_events(
        &mut self,
        run: Option<RunId>,
    ) -> Result<Vec<UncountedEvents>, LogError> {
        self.index().map_or(Ok(Vec::new()), |index| index.uncounted_events(run))
    }
}
