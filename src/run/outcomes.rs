//! Decisions and facts in program order: compared with the record as far as it goes, logged after
//! that.

use std::cell::RefCell;
use std::sync::Arc;

use super::clock;
use super::divergence::{Divergence, mark_words};
use super::history::{History, RecordedOutcome};
use super::mode::Mode;
use super::stop::Stop;
use crate::event::{MarkRecorded, NewEvent, OutcomeHasher};
use crate::id::{CallPath, OutcomeDigest, Sample, Seq, Time};
use crate::log::RunWriter;

/// A decision to be logged.
#[derive(Debug)]
pub(super) struct NewDecision {
    pub(super) call: CallPath,
    pub(super) sample: Sample,
    pub(super) response: Seq,
    /// Canonical JSON of the method and parser.
    pub(super) by: Arc<str>,
    pub(super) body: String,
}

/// The outcomes so far.
#[derive(Debug, Default)]
pub(super) struct Outcomes {
    hasher: RefCell<OutcomeHasher>,
}

impl Outcomes {
    pub(super) fn digest(&self) -> OutcomeDigest {
        self.hasher.borrow().digest()
    }

    /// Logs a decision, or finds it in the record.
    pub(super) fn decide(
        &self,
        mode: Mode,
        history: &RefCell<Option<History>>,
        writer: &RefCell<Option<RunWriter>>,
        decision: NewDecision,
    ) -> Result<Seq, Stop> {
        let seq = match next_recorded(history)? {
            Some(recorded) => recorded.same_decision(&decision).map(|()| recorded.seq())?,
            None => {
                let NewDecision { call, response, by, body, .. } = &decision;
                let event =
                    || NewEvent::decision(clock::now(), *response, by.clone(), body.clone());
                self.add(mode, writer, event, || format!("decision of call {call}\n{body}"))?
            }
        };
        let NewDecision { call, sample, by, body, .. } = &decision;
        self.hasher.borrow_mut().decision(seq, call, *sample, by, body);
        Ok(seq)
    }

    /// Logs a fact, or finds it in the record: its place and its time.
    pub(super) fn occur(
        &self,
        mode: Mode,
        history: &RefCell<Option<History>>,
        writer: &RefCell<Option<RunWriter>>,
        causes: &[Seq],
        fact: &str,
    ) -> Result<(Seq, Time), Stop> {
        let (seq, time) = match next_recorded(history)? {
            Some(recorded) => (recorded.seq(), recorded.same_fact(causes, fact)?),
            None => {
                let now = clock::now();
                let event = || NewEvent::occurrence(now, causes, fact);
                (self.add(mode, writer, event, || format!("fact\n{fact}"))?, now)
            }
        };
        self.hasher.borrow_mut().occurrence(seq, causes, fact);
        Ok((seq, time))
    }

    fn add(
        &self,
        mode: Mode,
        writer: &RefCell<Option<RunWriter>>,
        event: impl FnOnce() -> NewEvent,
        describe: impl FnOnce() -> String,
    ) -> Result<Seq, Stop> {
        match writer.borrow_mut().as_mut() {
            Some(writer) if mode.writes() => Ok(writer.submit(event())?),
            _ => Err(Divergence::extra(describe()).into()),
        }
    }
}

impl RecordedOutcome {
    /// Compares a decision with this one.
    pub(super) fn same_decision(&self, now: &NewDecision) -> Result<(), Box<Divergence>> {
        let NewDecision { call, sample, response, by, body } = now;
        match self {
            RecordedOutcome::Decision { response: r, by: y, body: b, .. }
                if r == response && y == by && b == body =>
            {
                Ok(())
            }
            _ => {
                let now = format!("decision on seq {response} by {by}\n{body}");
                Err(Divergence::outcome(self, Some((call.clone(), *sample)), now).into())
            }
        }
    }

    /// Compares a fact with this one; when it was recorded.
    pub(super) fn same_fact(&self, causes: &[Seq], fact: &str) -> Result<Time, Box<Divergence>> {
        match self {
            RecordedOutcome::Occurrence { seq, time, causes: c, fact: f } if f == fact => {
                if c == causes {
                    Ok(*time)
                } else {
                    Err(Divergence::causes(*seq, fact, c, causes).into())
                }
            }
            _ => Err(Divergence::outcome(self, None, format!("fact\n{fact}")).into()),
        }
    }

    /// Compares a mark with this one.
    pub(super) fn same_mark(&self, mark: &MarkRecorded) -> Result<(), Box<Divergence>> {
        match self {
            RecordedOutcome::Mark { mark: recorded, .. } if recorded == mark => Ok(()),
            _ => Err(Divergence::outcome(self, None, mark_words(mark)).into()),
        }
    }
}

fn next_recorded(history: &RefCell<Option<History>>) -> Result<Option<RecordedOutcome>, Stop> {
    match history.borrow_mut().as_mut() {
        Some(history) => Ok(history.next_outcome()?),
        None => Ok(None),
    }
}
