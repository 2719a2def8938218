//! Forks: a run that shares the beginning of another without copying it.
//!
//! A fork is a run of its own, with a log of its own. If its parent has an answer at the same
//! address (prompt, call, sample), that answer is used, and the log records that: the event
//! `AnswerReused` names run and seq, and the text is stored once. Everything else is asked again. A
//! fork therefore replays, exports and verifies on its own, with or without its parent.

use super::history::{History, RecordedEnd};
use super::question::QuestionCore;
use crate::event::RunStarted;
use crate::id::{RunId, Seq};
use crate::log::{Log, LogError};

/// The answers of a fork's parent.
pub(super) struct ParentAnswers {
    pub(super) run: RunId,
    retry_failed: bool,
    history: History,
}

impl ParentAnswers {
    /// Starts reading the parent of a run, if it is a fork.
    pub(super) fn new(log: &Log, started: &RunStarted) -> Result<Option<Self>, LogError> {
        let Some(parent) = started.forked_from else { return Ok(None) };
        let runs = log.reader()?.runs()?;
        let head = runs.iter().find(|r| r.run == parent.run).map(|r| r.head.seq);
        let path = || log.backend().name();
        let last = head.ok_or_else(|| LogError::NoSuchRun { run: parent.run, path: path() })?;
        let last = parent.before.map_or(last, |before| last.min(Seq(before.0.saturating_sub(1))));
        let history = History::read(log.reader()?, parent.run, last)?.only_answers();
        Ok(Some(ParentAnswers { run: parent.run, retry_failed: parent.retry_failed, history }))
    }

    /// Takes what the parent has at an address. A different prompt there is not a divergence: it is
    /// where the fork leaves its parent.
    pub(super) fn take(&mut self, asked: &QuestionCore) -> Result<Option<RecordedEnd>, LogError> {
        let found = self.history.take(asked)?.filter(|found| found.prompt == asked.prompt());
        let again = |recorded: &RecordedEnd| recorded.result.is_err() && self.retry_failed;
        Ok(found.map(|found| found.recorded).filter(|recorded| !again(recorded)))
    }
}
