//! Decisions, facts and marks that a program reports: compared with a record in which order counts within a
//! lane only, because a program whose parts run in parallel has no other order.

use std::collections::{BTreeMap, VecDeque};

use super::divergence::{Divergence, mark_words};
use super::history::RecordedOutcome;
use super::outcomes::NewDecision;
use crate::event::{
    DecidedBy, DecisionDetails, DecisionMade, Event, FactOccurred, MarkRecorded, kind, lane_of,
};
use crate::id::{CallPath, RunId, Sample, Seq};
use crate::log::{EventFault, Index, LogError, Reader, RunEvents};
use crate::prompt::{CanonicalError, canonical};
use serde_json::Value;

/// A decision, a fact or a mark that a program reports.
#[derive(Debug, Clone, PartialEq)]
pub enum ReportedOutcome {
    /// A decision about an answer. All decisions about one answer are a lane.
    Decision {
        /// The call of the answer.
        call: CallPath,
        /// Its sample.
        sample: Sample,
        /// The event of the answer.
        response: Seq,
        /// What made the decision.
        by: DecidedBy,
        /// Value, reasoning and warnings.
        details: DecisionDetails,
    },
    /// A fact. All facts with the same text in their field `lane`, or without one, are a lane.
    Fact {
        /// The events that it rests on, ascending.
        causes: Vec<Seq>,
        /// What happened.
        fact: Value,
    },
    /// A digest of its state. All marks with one name are a lane.
    Mark(MarkRecorded),
}

impl ReportedOutcome {
    /// Its event.
    pub(super) fn event(&self) -> Event {
        match self.clone() {
            ReportedOutcome::Decision { response, by, details, .. } => {
                Event::DecisionMade(DecisionMade { response, by, details })
            }
            ReportedOutcome::Fact { causes, fact } => {
                Event::Occurred(FactOccurred { causes, fact })
            }
            ReportedOutcome::Mark(mark) => Event::MarkRecorded(mark),
        }
    }

    fn lane(&self) -> OutcomeLane {
        match self {
            ReportedOutcome::Decision { response, .. } => OutcomeLane::Answer(*response),
            ReportedOutcome::Fact { fact, .. } => OutcomeLane::Facts(lane_of(fact).to_owned()),
            ReportedOutcome::Mark(mark) => OutcomeLane::Marks(mark.name.clone()),
        }
    }

    /// Compares it with the record in its place.
    fn compare(
        &self,
        recorded: &RecordedOutcome,
    ) -> Result<Option<Box<Divergence>>, CanonicalError> {
        let compared = match self {
            ReportedOutcome::Decision { call, sample, response, by, details } => {
                let decision = NewDecision {
                    call: call.clone(),
                    sample: *sample,
                    response: *response,
                    by: canonical(by)?.into(),
                    body: details.canonical()?,
                };
                recorded.same_decision(&decision)
            }
            ReportedOutcome::Fact { causes, fact } => {
                recorded.same_fact(causes, &canonical(fact)?).map(drop)
            }
            ReportedOutcome::Mark(mark) => recorded.same_mark(mark),
        };
        Ok(compared.err())
    }

    fn text(&self) -> Result<String, CanonicalError> {
        Ok(match self {
            ReportedOutcome::Decision { call, details, .. } => {
                format!("decision of call {call}\n{}", details.canonical()?)
            }
            ReportedOutcome::Fact { fact, .. } => format!("fact\n{}", canonical(fact)?),
            ReportedOutcome::Mark(mark) => mark_words(mark),
        })
    }
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum OutcomeLane {
    /// The decisions about an answer.
    Answer(Seq),
    /// Facts with this lane.
    Facts(String),
    /// Marks with this name.
    Marks(String),
}

/// The record in the place of an outcome.
#[derive(Debug)]
pub enum OutcomeComparison {
    /// The same, at this seq.
    Same(Seq),
    /// Nothing: the lane has no more.
    New,
    /// Something else.
    Different(Box<Divergence>),
    /// Its lane differed before, here or at this seq: what comes after that is not compared.
    After(Option<Seq>),
}

/// Why an outcome cannot be compared.
#[derive(Debug, thiserror::Error)]
pub enum CompareError {
    /// The log cannot be read.
    #[error(transparent)]
    Log(#[from] LogError),
    /// It has no canonical form.
    #[error(transparent)]
    Canonical(#[from] CanonicalError),
}

/// The recorded decisions, facts and marks of a run that were not reported again yet.
#[derive(Debug)]
pub struct OutcomeLanes {
    run: RunId,
    lanes: BTreeMap<OutcomeLane, RecordedLane>,
    /// Whether there may be no others.
    is_closed: bool,
}

/// The rest of a lane.
#[derive(Debug)]
enum RecordedLane {
    As(VecDeque<Seq>),
    DifferedAt(Option<Seq>),
}

impl OutcomeLanes {
    /// Where a run has its decisions, facts and marks. `is_closed` says that there are no others, because
    /// the run is finished: one more is a difference.
    ///
    /// # Errors
    /// [`LogError`] if it cannot be read, or is damaged.
    pub fn read(reader: &mut dyn Reader, run: RunId, is_closed: bool) -> Result<Self, LogError> {
        let mut all = OutcomeLanes { run, lanes: BTreeMap::new(), is_closed };
        if !reader.runs()?.iter().any(|head| head.run == run) {
            return Ok(all);
        }
        let census = Index::open(reader, run)?.census(reader)?.events;
        let of = |kind: &str| census.get(kind).copied().unwrap_or(0);
        let mut left = of(kind::DECISION_MADE) + of(kind::OCCURRED) + of(kind::MARK_RECORDED);
        let mut events = RunEvents::new(run);
        while left > 0 {
            let Some(stored) = events.next(reader)? else { break };
            let seq = stored.seq;
            let lane = match stored.event()? {
                // Those of an import are nobody's to report again.
                Event::DecisionMade(made) if made.by.is_imported() => {
                    left = left.saturating_sub(1);
                    continue;
                }
                Event::DecisionMade(made) => OutcomeLane::Answer(made.response),
                Event::Occurred(occurred) => OutcomeLane::Facts(lane_of(&occurred.fact).to_owned()),
                Event::MarkRecorded(mark) => OutcomeLane::Marks(mark.name),
                _ => continue,
            };
            left = left.saturating_sub(1);
            let lane = all.lanes.entry(lane).or_insert_with(|| RecordedLane::As(VecDeque::new()));
            if let RecordedLane::As(seqs) = lane {
                seqs.push_back(seq);
            }
        }
        Ok(all)
    }

    /// Compares an outcome with the next one that is recorded in its lane.
    ///
    /// # Errors
    /// [`CompareError`].
    pub fn compare(
        &mut self,
        reader: &mut dyn Reader,
        outcome: &ReportedOutcome,
    ) -> Result<OutcomeComparison, CompareError> {
        let key = outcome.lane();
        let lane = self.lanes.get_mut(&key);
        let seq = match lane {
            Some(RecordedLane::DifferedAt(seq)) => return Ok(OutcomeComparison::After(*seq)),
            Some(RecordedLane::As(seqs)) => seqs.pop_front(),
            None => None,
        };
        let different = match seq {
            Some(seq) => {
                let stored = reader.events(self.run, Seq(seq.0.saturating_sub(1)), 1)?.pop();
                let missing =
                    || LogError::corrupt(self.run, seq, EventFault::Missing { events: 1 });
                let stored = stored.filter(|stored| stored.seq == seq).ok_or_else(missing)?;
                let recorded = RecordedOutcome::new(stored).map_err(LogError::from)?;
                match outcome.compare(&recorded)? {
                    None => return Ok(OutcomeComparison::Same(seq)),
                    Some(divergence) => divergence,
                }
            }
            None if self.is_closed => Divergence::extra(outcome.text()?).into(),
            None => return Ok(OutcomeComparison::New),
        };
        self.lanes.insert(key, RecordedLane::DifferedAt(seq));
        Ok(OutcomeComparison::Different(different))
    }

    /// The first recorded decision, fact or mark that was not reported again, in lanes that did not differ
    /// before, and how many there are.
    ///
    /// # Errors
    /// [`LogError`] if it cannot be read.
    pub fn rest(&self, reader: &mut dyn Reader) -> Result<Option<(Divergence, usize)>, LogError> {
        let left = self.lanes.values().filter_map(|lane| match lane {
            RecordedLane::As(seqs) => Some((seqs.front().copied()?, seqs.len())),
            RecordedLane::DifferedAt(_) => None,
        });
        let first_and_all =
            |(first, all): (Seq, usize), (seq, n): (Seq, usize)| (first.min(seq), all + n);
        let Some((seq, all)) = left.reduce(first_and_all) else { return Ok(None) };
        let stored = reader.events(self.run, Seq(seq.0.saturating_sub(1)), 1)?.pop();
        let Some(stored) = stored else { return Ok(None) };
        let recorded = RecordedOutcome::new(stored).map_err(LogError::from)?;
        Ok(Some((Divergence::leftover(&recorded), all)))
    }
}
