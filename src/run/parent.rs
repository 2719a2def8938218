//! Runs that have the answers of others: a fork shares the beginning of its parent without copying it, and a merged run
//! has the answers of its shards.
//!
//! Each is a run of its own, with events of its own. If one of its parents has an answer at the same address (prompt,
//! call, sample), that answer is used, and the log records that: the event `AnswerReused` names run and seq, and the text
//! is stored once. A fork asks everything else again; a merged run asks nothing that its shards would have asked, see
//! [`Stop::NotInShards`]. Either replays, exports and verifies on its own, with or without its parents.
//!
//! [`Stop::NotInShards`]: super::stop::Stop::NotInShards

use super::history::{History, RecordedEnd};
use super::question::QuestionCore;
use crate::event::{ForkedFrom, RunStarted};
use crate::id::{RunId, Seq};
use crate::log::{EventFault, Log, LogError};

/// The most shards of a run: a merge reads all of them at the same time, each with two threads and files of its own.
pub const MOST_SHARDS: usize = 256;

/// The answers of the runs that a run has its answers from.
pub(super) struct ParentAnswers {
    /// The first of them.
    pub(super) first: RunId,
    /// Whether they are shards that this run is merged from.
    pub(super) are_shards: bool,
    parents: Vec<(RunId, History)>,
    retry_failed: bool,
    /// A question whose answer was taken back.
    without: Option<Seq>,
}

impl ParentAnswers {
    /// Starts reading the parents of a run, if it has any.
    pub(super) fn new(
        log: &Log,
        run: RunId,
        started: &RunStarted,
    ) -> Result<Option<Self>, LogError> {
        if started.merged_from.len() > MOST_SHARDS {
            let fault = format!("it is merged from more than {MOST_SHARDS} runs");
            return Err(LogError::corrupt(run, Seq(1), EventFault::defect(fault)));
        }
        let (runs, before, retry_failed, without) = match &started.forked_from {
            Some(ForkedFrom { before, retry_failed, run, without }) => {
                (std::slice::from_ref(run), *before, *retry_failed, *without)
            }
            None => (&*started.merged_from, None, false, None),
        };
        let Some(first) = runs.first().copied() else { return Ok(None) };
        let heads = log.reader()?.runs()?;
        let mut parents = Vec::new();
        for &run in runs {
            let head = heads.iter().find(|r| r.run == run).map(|r| r.head.seq);
            let last =
                head.ok_or_else(|| LogError::NoSuchRun { run, path: log.backend().name() })?;
            let last = before.map_or(last, |before| last.min(Seq(before.0.saturating_sub(1))));
            parents.push((run, History::read(log.reader()?, run, last)?.only_answers()));
        }
        let are_shards = started.forked_from.is_none();
        Ok(Some(ParentAnswers { first, are_shards, parents, retry_failed, without }))
    }

    /// Takes the record that a parent has at an address: no answer is taken twice. A different prompt there is not a
    /// divergence: it is where a fork leaves its parent.
    pub(super) fn take(
        &mut self,
        asked: &QuestionCore,
    ) -> Result<Option<(RunId, RecordedEnd)>, LogError> {
        loop {
            for (run, history) in &mut self.parents {
                let Some(found) = history.take_read(asked) else { continue };
                let is_failed = found.recorded.result.is_err();
                let is_taken_back = self.without == Some(found.recorded.request);
                let again = (is_failed && self.retry_failed) || is_taken_back;
                let fits = found.prompt == asked.prompt() && !again;
                return Ok(fits.then_some((*run, found.recorded)));
            }
            // Shards are read at the same pace, because a merge asks them in turn: little of each has to be kept.
            let mut is_more = false;
            for (_, history) in &mut self.parents {
                is_more |= history.pull()?;
            }
            if !is_more {
                return Ok(None);
            }
        }
    }

    /// How many recorded ends of questions have not been taken. Reads to the end.
    pub(super) fn count_rest(&mut self) -> Result<u64, LogError> {
        self.parents.iter_mut().map(|(_, history)| history.count_rest()).sum()
    }
}
