//! Reads the parts of a run that are compared.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::pairs::FactRecord;
use super::{ByAddress, DecisionPlace};
use crate::content::Content;
use crate::decided::{DecisionAbout, DecisionJoin, RunDeciders};
use crate::event::{
    DecisionMade, Event, EventError, RunFinished, RunStarted, StoredEvent, details_digest,
    named_lane,
};
use crate::exact::exact_value;
use crate::id::{CallPath, PromptHash, RunId, Sample, Seq};
use crate::log::{LogError, Reader, RunEvents};
use crate::lookup::LookupMap;
use crate::prompt::{canonical, hash_of};
use crate::run::latest_start;

/// A question, how it ended, and the decisions about it.
pub(super) struct ComparedQuestion {
    pub(super) call: CallPath,
    pub(super) sample: Sample,
    pub(super) request: Seq,
    pub(super) prompt: PromptHash,
    /// Its lane, if it has labels that name one.
    lane: Option<Arc<str>>,
    pub(super) end: QuestionEnd,
    /// The decisions about it: mostly one.
    pub(super) decisions: Vec<ComparedDecision>,
}

impl ComparedQuestion {
    /// The lane of a call: its name in this run, or else in the other one, whose log may be older.
    pub(super) fn lane<'a>(&'a self, twin: Option<&'a ComparedQuestion>) -> &'a str {
        let named = self.lane.as_deref().or_else(|| twin.and_then(|twin| twin.lane.as_deref()));
        named.unwrap_or(self.call.as_str())
    }
}

/// How a question ended.
pub(super) enum QuestionEnd {
    /// Not at all.
    Open,
    /// With an answer: the hash of the answer, and the hash of its parts besides the text, which older forks did not keep.
    Answered { seq: Seq, answer: [u8; 32], beside: Option<[u8; 32]> },
    /// With its last failure.
    Failed { seq: Seq, error: [u8; 32] },
}

impl QuestionEnd {
    /// Whether two questions ended alike.
    pub(super) fn is_like(&self, other: &QuestionEnd) -> bool {
        match (self, other) {
            (QuestionEnd::Open, QuestionEnd::Open) => true,
            (
                QuestionEnd::Answered { answer, beside, .. },
                QuestionEnd::Answered { answer: other, beside: beside_other, .. },
            ) => {
                answer == other && beside.zip(*beside_other).is_none_or(|(one, other)| one == other)
            }
            (QuestionEnd::Failed { error, .. }, QuestionEnd::Failed { error: other, .. }) => {
                error == other
            }
            _ => false,
        }
    }
}

/// A decision about an answer.
#[derive(Clone, Copy)]
pub(super) struct ComparedDecision {
    pub(super) place: DecisionPlace,
    /// The hash of its name and its choice.
    about: [u8; 32],
    value: [u8; 32],
    method: [u8; 32],
}

impl ComparedDecision {
    fn new(place: DecisionPlace, made: &DecisionMade) -> Self {
        let value = &made.details.value;
        let exact = exact_value(value);
        let value = exact.as_ref().map_or(value, |(value, _)| value);
        let value = canonical(value).unwrap_or_default();
        let (name, choice) = made.subject();
        ComparedDecision {
            place,
            about: hash_of(&[&choice.to_le_bytes(), name.as_bytes()].concat()),
            value: hash_of(value.as_bytes()),
            method: hash_of(made.by.method.as_bytes()),
        }
    }

    /// The decision with its name among those about the same choice of another answer.
    pub(super) fn twin<'a>(&self, among: &'a [ComparedDecision]) -> Option<&'a ComparedDecision> {
        among.iter().find(|other| other.about == self.about)
    }

    /// Whether two decisions have the same value.
    pub(super) fn has_value_of(&self, other: &ComparedDecision) -> bool {
        self.value == other.value
    }

    /// Whether two decisions have the same value and the same method.
    pub(super) fn is_like(&self, other: &ComparedDecision) -> bool {
        self.has_value_of(other) && self.method == other.method
    }
}

/// A run, as far as it is compared.
pub(super) struct ComparedRun {
    pub(super) started: RunStarted,
    pub(super) finished: Option<RunFinished>,
    /// In the order in which they were asked.
    pub(super) asked: Vec<ComparedQuestion>,
    by_address: ByAddress,
    /// The makers of the decisions.
    pub(super) deciders: RunDeciders,
    pub(super) facts: Vec<FactRecord>,
}

impl ComparedRun {
    /// Reads a run.
    pub(super) fn read(reader: &mut dyn Reader, run: RunId) -> Result<Self, LogError> {
        let mut gathering = ComparedRunBuilder {
            id: run,
            run: ComparedRun {
                started: latest_start(reader, run)?,
                finished: None,
                asked: Vec::new(),
                by_address: LookupMap::default(),
                deciders: RunDeciders::new(run),
                facts: Vec::new(),
            },
            questions: LookupMap::default(),
            answers: LookupMap::default(),
            decisions: LookupMap::default(),
            lanes: BTreeSet::new(),
        };
        let (mut join, mut events) = (DecisionJoin::new(reader, run)?, RunEvents::new(run));
        while let Some(stored) = events.next(reader)? {
            match join.decision(reader, &stored)? {
                Some(joined) => {
                    let answer = joined.made.response;
                    gathering.add_decision(&DecisionAbout { run, answer, joined });
                }
                None => gathering.add(&stored)?,
            }
        }
        let mut since = join.since(reader)?;
        while let Some(about) = since.next(reader)? {
            gathering.add_decision(&about);
        }
        Ok(gathering.run)
    }

    /// The question at an address.
    pub(super) fn find(&self, call: &CallPath, sample: Sample) -> Option<&ComparedQuestion> {
        let at = self.by_address.get(&(call.clone(), sample))?;
        self.asked.get(*at)
    }
}

struct ComparedRunBuilder {
    id: RunId,
    run: ComparedRun,
    /// Questions by seq: their index.
    questions: LookupMap<Seq, usize>,
    /// Answers by seq: the index of their question.
    answers: LookupMap<Seq, usize>,
    /// Decisions by seq: the index of their question.
    decisions: LookupMap<Seq, usize>,
    /// The names of lanes, each once.
    lanes: BTreeSet<Arc<str>>,
}

impl ComparedRunBuilder {
    fn add(&mut self, stored: &StoredEvent) -> Result<(), EventError> {
        let seq = stored.seq;
        let question = stored.cause.and_then(|cause| self.questions.get(&cause).copied());
        if let Some((call, sample, prompt)) = stored.address_and_prompt() {
            let (call, lane) = (call.clone(), self.lane(stored)?);
            let asked = ComparedQuestion {
                call,
                sample,
                request: seq,
                prompt,
                lane,
                end: QuestionEnd::Open,
                decisions: Vec::new(),
            };
            self.question(asked);
        } else if stored.is_answer() {
            let empty = Content::from("");
            let content = stored.content.as_ref().unwrap_or(&empty);
            let answer = hash_of(&content.bytes());
            let beside = match stored.event()? {
                Event::ResponseReceived(received) => {
                    Some(details_digest(content, &received.details))
                }
                Event::AnswerReused(reused) if !reused.details.is_none() => {
                    Some(details_digest(content, &reused.details))
                }
                _ => None,
            };
            self.end_question(question, seq, QuestionEnd::Answered { seq, answer, beside });
        } else if stored.is_occurrence() {
            let (causes, fact) = stored.occurrence()?;
            let cause = causes.first().and_then(|cause| self.decisions.get(cause));
            let cause = cause.and_then(|at| self.run.asked.get(*at));
            let cause = cause.map(|asked| (asked.call.clone(), asked.sample));
            self.run.facts.push(FactRecord { seq: Some(seq), cause, fact: Arc::from(fact) });
        } else if stored.is_failed_attempt() {
            let Event::AttemptFailed(failed) = stored.event()? else { return Ok(()) };
            if failed.details.gave_up {
                let error = hash_of(failed.details.error.as_bytes());
                self.end_question(question, seq, QuestionEnd::Failed { seq, error });
            }
        } else if let Event::RunFinished(finished) = stored.event()? {
            self.run.finished = Some(finished);
        }
        Ok(())
    }

    fn lane(&mut self, question: &StoredEvent) -> Result<Option<Arc<str>>, EventError> {
        let Some(name) = named_lane(&question.labels()?) else { return Ok(None) };
        let known = self.lanes.get(&*name).cloned();
        Ok(Some(known.unwrap_or_else(|| {
            let name: Arc<str> = name.into();
            self.lanes.insert(name.clone());
            name
        })))
    }

    /// A question that was asked again after a crash replaces the lost one.
    fn question(&mut self, asked: ComparedQuestion) {
        let (seq, address) = (asked.request, (asked.call.clone(), asked.sample));
        let at = match self.run.by_address.get(&address).copied() {
            Some(at) => {
                self.run.asked[at] = asked;
                at
            }
            None => {
                self.run.asked.push(asked);
                self.run.asked.len() - 1
            }
        };
        self.run.by_address.insert(address, at);
        self.questions.insert(seq, at);
    }

    fn end_question(&mut self, question: Option<usize>, seq: Seq, end: QuestionEnd) {
        let Some(at) = question else { return };
        self.run.asked[at].end = end;
        self.answers.insert(seq, at);
    }

    /// Notes a decision, if it is in force.
    fn add_decision(&mut self, about: &DecisionAbout) {
        let DecisionAbout { run, answer, joined } = about;
        let Some(at) = self.answers.get(answer).copied() else { return };
        let (seq, made) = (joined.seq, &joined.made);
        if *run == self.id {
            self.decisions.insert(seq, at);
        }
        if !joined.in_force {
            return;
        }
        self.run.deciders.add(&made.by);
        let decision = ComparedDecision::new(DecisionPlace { run: *run, seq }, made);
        self.run.asked[at].decisions.push(decision);
    }
}
