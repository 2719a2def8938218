//! Answers of a reader, by its store's index if there is one.

use std::collections::BTreeSet;

use super::backend::{Reader, RunHead};
use super::error::LogError;
use super::finding::Finding;
use super::index::{KeptPiece, Section};
use super::run_events::RunEvents;
use super::uncounted::UncountedEvents;
use crate::id::{PromptHash, RunId};
use crate::prompt::Request;

/// Asks the store's [`StoreIndex`](crate::log::StoreIndex). Without one, requests are read whole, hashes are gathered from events, and the rest is empty.
impl dyn Reader + '_ {
    /// The model that a stored request names; `None` if it names none, or is not stored.
    ///
    /// # Errors
    /// [`LogError::CorruptRequest`] if it does not have the hash it is stored under.
    pub fn model(&mut self, prompt: PromptHash) -> Result<Option<String>, LogError> {
        let request = self.request_part(prompt)?;
        Ok(request.as_ref().and_then(Request::model).map(str::to_owned))
    }

    /// See [`StoreIndex::request_part`](crate::log::StoreIndex::request_part).
    ///
    /// # Errors
    /// [`LogError::CorruptRequest`] if it does not have the hash it is stored under.
    pub fn request_part(&mut self, prompt: PromptHash) -> Result<Option<Request>, LogError> {
        match self.index() {
            Some(index) => index.request_part(prompt),
            None => self.request(prompt),
        }
    }

    /// See [`StoreIndex::prompts`](crate::log::StoreIndex::prompts).
    ///
    /// # Errors
    /// [`LogError`] if they cannot be read.
    pub fn prompts(&mut self, prefix: &str, limit: usize) -> Result<Vec<PromptHash>, LogError> {
        if let Some(index) = self.index() {
            return index.prompts(prefix, limit);
        }
        let mut found = BTreeSet::new();
        for RunHead { run, .. } in self.runs()? {
            let mut events = RunEvents::new(run);
            while let Some(event) = events.next(self)? {
                found.extend(event.prompt.filter(|it| it.to_string().starts_with(prefix)));
            }
        }
        Ok(found.into_iter().take(limit).collect())
    }

    /// See [`StoreIndex::pieces`](crate::log::StoreIndex::pieces).
    ///
    /// # Errors
    /// [`LogError`] if they cannot be read.
    pub fn pieces(&mut self, run: RunId) -> Result<Vec<KeptPiece>, LogError> {
        self.index().map_or(Ok(Vec::new()), |index| index.pieces(run))
    }

    /// See [`StoreIndex::piece`](crate::log::StoreIndex::piece).
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

    /// See [`StoreIndex::check`](crate::log::StoreIndex::check).
    ///
    /// # Errors
    /// [`LogError`] if the check itself failed.
    pub fn check(&mut self, run: Option<RunId>) -> Result<Vec<Finding>, LogError> {
        self.index().map_or(Ok(Vec::new()), |index| index.check(run))
    }

    /// See [`StoreIndex::uncounted_events`](crate::log::StoreIndex::uncounted_events).
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
