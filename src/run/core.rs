//! What all parts of one run share: the record, the log, the outcomes.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use serde::{Deserialize, Serialize};

use super::because::{DecisionRef, places};
use super::budget::Budget;
use super::clock;
use super::details::{AnswerDetails, Shortcomings};
use super::divergence::Divergence;
use super::dry_run::{OtherDecision, Rehearsing};
use super::first_answers::FirstAnswers;
use super::follow::Update;
use super::held::Held;
use super::history::{History, RecordedCall, RecordedEnd, Text};
use super::mode::{AnswerSource, Mode};
use super::network::Network;
use super::outcomes::{NewDecision, Outcomes};
use super::parent::ParentAnswers;
use super::phases::Phases;
use super::progress::Progress;
use super::question::{Answer, CallFailed, Question, QuestionCore, Reuse};
use super::setup::Setup;
use super::shared::AnswerCells;
use super::signal::Brake;
use super::states::States;
use super::stop::Stop;
use super::together::Together;
use crate::content::Content;
use crate::event::{Because, Event, NewEvent};
use crate::id::{Seq, Time};
use crate::log::{Durable, EventFault, LogError, RunWriter};
use crate::lookup::LookupMap;
use crate::model::{Failure, FailureKind, RequestForm, Unreadable};
use crate::parse::{ParsedAnswer, Parser, WholeAnswer, intern};
use crate::prompt::{Request, canonical};

/// What all parts of a run share.
pub(super) struct Core {
    pub(super) setup: Setup,
    /// The version of the canonical form of its questions: that of the record which it continues or
    /// repeats.
    pub(super) version: u32,
    /// How its requests are written.
    pub(super) form: RequestForm,
    pub(super) first_answers: FirstAnswers,
    pub(super) together: Together,
    pub(super) network: Network,
    pub(super) budget: Budget,
    pub(super) brake: Brake,
    pub(super) writer: RefCell<Option<RunWriter>>,
    pub(super) history: RefCell<Option<History>>,
    /// The answers of the parents, if this run is a fork or merged from shards.
    pub(super) parent: RefCell<Option<ParentAnswers>>,
    pub(super) outcomes: Outcomes,
    pub(super) states: States,
    pub(super) progress: Cell<Progress>,
    /// Fingerprints of the addresses asked so far: an address has one answer.
    pub(super) asked: RefCell<LookupMap<[u8; 16], ()>>,
    pub(super) phases: Phases,
    pub(super) shared: AnswerCells,
    /// The questions that are held for a batch.
    pub(super) held: RefCell<Held>,
    pub(super) rehearsing: RefCell<Rehearsing>,
}

/// An answer before it is parsed.
#[derive(Debug, Clone)]
pub(super) struct UnparsedAnswer {
    /// The question.
    pub(super) request: Seq,
    pub(super) seq: Seq,
    pub(super) content: Content,
    pub(super) beside: AnswerDetails,
}

impl UnparsedAnswer {
    /// The answer as a parser sees it.
    pub(super) fn whole(&self) -> WholeAnswer<'_> {
        self.beside.whole(&self.content)
    }
}

/// How a question ended: answered, or failed after all retries.
pub(super) type Exchanged = Result<UnparsedAnswer, CallFailed>;

impl Core {
    /// A question as this run asks it: in its form, and in the version of the canonical form that its record has.
    pub(super) fn as_recorded<P>(&self, mut question: Question<P>) -> Result<Question<P>, Stop> {
        if question.asked.request.version() != self.version {
            question.asked.request = question.asked.request.in_version(self.version)?;
        }
        if !self.form.is_plain()
            && let Some(written) = self.form.apply(&question.asked.request)?
        {
            question.asked.request = written;
        }
        Ok(question)
    }

    pub(super) fn update(&self, change: impl FnOnce(&mut Progress)) {
        let mut progress = self.progress.get();
        change(&mut progress);
        self.progress.set(progress);
        (self.setup.on_progress)(progress);
    }

    /// The recorded end of a question, or `None` if the model must be asked. Never waits.
    pub(super) fn look_up(&self, asked: &QuestionCore) -> Result<Option<Exchanged>, Stop> {
        if self.brake.is_pulled() {
            return Err(Stop::Interrupted);
        }
        self.first_time(asked)?;
        let found = match self.history.borrow_mut().as_mut() {
            Some(history) => history.take(asked)?,
            None => None,
        };
        let found = match self.setup.mode {
            Mode::Rehearse => self.rehearse(asked, found)?,
            Mode::Record | Mode::Replay | Mode::Resume => found,
        };
        if let Some(found) = &found {
            self.compare_sources(asked, found)?;
            self.used_before(asked)?;
        }
        match self.setup.mode.source(asked, found, self.setup.model.is_some())? {
            AnswerSource::Model => Ok(None),
            AnswerSource::Nobody => {
                let failure = Failure::new(FailureKind::NoAnswer, "it was never recorded");
                let exchanged = Err(call_failed(asked, failure));
                self.count(asked, &exchanged);
                Ok(Some(exchanged))
            }
            AnswerSource::Log(RecordedEnd { request, seq, result }) => {
                let exchanged = match result {
                    Ok(Text { content, beside }) => {
                        Ok(UnparsedAnswer { request, seq, content, beside })
                    }
                    Err(failure) => Err(call_failed(asked, failure)),
                };
                self.count(asked, &exchanged);
                Ok(Some(exchanged))
            }
        }
    }

    /// Takes an answer that an earlier execution of a merge used from its shards, so that those that are left are those that
    /// were not used.
    fn used_before(&self, asked: &QuestionCore) -> Result<(), LogError> {
        match self.parent.borrow_mut().as_mut() {
            Some(parents) if self.setup.model.is_none() => parents.take(asked).map(drop),
            _ => Ok(()),
        }
    }

    /// Counts a question of a rehearsal; what answers it.
    fn rehearse(
        &self,
        asked: &QuestionCore,
        found: Option<RecordedCall>,
    ) -> Result<Option<RecordedCall>, Stop> {
        let mut rehearsing = self.rehearsing.borrow_mut();
        if self.setup.model.is_some() {
            return Ok(rehearsing.ask_model(asked, found, &self.setup.rehearsal));
        }
        let because = places(&asked.because)?;
        let is_answered = found.as_ref().is_some_and(|found| found.recorded.result.is_ok());
        let stand_in = match self.history.borrow_mut().as_mut() {
            Some(history) if !is_answered => history.stand_in(&asked.call)?,
            _ => None,
        };
        Ok(rehearsing.ask(asked, &because, found, stand_in, &self.setup.rehearsal))
    }

    /// The decision that a rehearsal makes in the place of the experiment's parser.
    fn other_decision<P: Parser>(&self, question: &Question<P>) -> Option<ParsedAnswer<P::Value>> {
        if self.setup.rehearsal.decisions.is_empty() {
            return None;
        }
        let QuestionCore { call, sample, .. } = &question.asked;
        let other = self.setup.rehearsal.decisions.get(&(call.clone(), *sample))?;
        let OtherDecision { method, value, reasoning, warnings } = other.clone();
        match P::Value::deserialize(value) {
            Ok(value) => Some(ParsedAnswer { method: intern(&method), value, reasoning, warnings }),
            Err(_) => {
                self.rehearsing.borrow_mut().misfit();
                None
            }
        }
    }

    /// Compares the declared sources of a prompt with the recorded ones. A rehearsal compares only
    /// prompts, and a different prompt is reported as such.
    fn compare_sources(&self, asked: &QuestionCore, found: &RecordedCall) -> Result<(), Stop> {
        if self.setup.mode == Mode::Rehearse || found.prompt != asked.prompt() {
            return Ok(());
        }
        let now = places(&asked.because)?;
        if now.is_all_of(&found.because) {
            return Ok(());
        }
        let (run, seq) = (self.setup.run, found.recorded.request);
        let recorded = Because::of_body(&found.because, seq);
        let recorded = recorded.map_err(|e| LogError::corrupt(run, seq, EventFault::defect(e)))?;
        // The bodies differ, but not what we know of them, if a later release has added a field.
        if recorded == now { Ok(()) } else { Err(Divergence::sources(asked, recorded, now).into()) }
    }

    fn first_time(&self, asked: &QuestionCore) -> Result<(), Stop> {
        let mut hasher = blake3::Hasher::new();
        hasher.update(asked.call.as_str().as_bytes()).update(&asked.sample.to_le_bytes());
        let mut key = [0; 16];
        key.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
        match self.asked.borrow_mut().insert(key, ()) {
            None => Ok(()),
            Some(()) => {
                let QuestionCore { call, sample, .. } = asked.clone();
                Err(Stop::AskedTwice { call, sample })
            }
        }
    }

    pub(super) fn count(&self, asked: &QuestionCore, exchanged: &Exchanged) {
        if exchanged.is_ok() && self.setup.model.is_some() {
            self.first_answers.add(&asked.request);
        }
        if let (Reuse::Shared, Ok(answered)) = (asked.reuse, exchanged) {
            self.shared.put(asked.prompt(), answered);
        }
        self.update(|p| match exchanged {
            Ok(answered) => {
                p.exchanges += 1;
                // The other counts concern recorded programs, whose questions a run of ours does not ask.
                let Shortcomings { blank, refused, cut_off, unreadable, .. } =
                    answered.beside.shortcomings(&answered.content);
                p.blank += blank;
                p.refused += refused;
                p.cut_off += cut_off;
                p.unreadable += unreadable;
            }
            Err(CallFailed { failure, .. }) => {
                p.failed += 1;
                p.timed_out += u64::from(failure.kind == FailureKind::Timeout);
            }
        });
    }

    pub(super) fn submit(&self, event: &Event, request: Option<Request>) -> Result<Seq, Stop> {
        let event = NewEvent::from_event(event, clock::now(), request)?;
        match self.writer.borrow_mut().as_mut() {
            Some(writer) => Ok(writer.submit(event)?),
            None => Err(Stop::EndOfRecord),
        }
    }

    pub(super) fn submit_durable(&self, event: &Event) -> Result<(Seq, Durable), Stop> {
        self.submit_durable_at(event, clock::now())
    }

    /// Submits an event that happens at a given time.
    pub(super) fn submit_durable_at(
        &self,
        event: &Event,
        time: Time,
    ) -> Result<(Seq, Durable), Stop> {
        let event = NewEvent::from_event(event, time, None)?;
        match self.writer.borrow_mut().as_mut() {
            Some(writer) => Ok(writer.submit_durable(event)?),
            None => Err(Stop::EndOfRecord),
        }
    }

    /// Makes a decision from an answer, which may already have been parsed. The decision is not
    /// logged yet.
    pub(super) fn parse<P: Parser>(
        &self,
        question: &Question<P>,
        answered: UnparsedAnswer,
        ahead: Option<ParsedAnswer<P::Value>>,
    ) -> Result<(Answer<P::Value>, NewDecision), Stop> {
        let other = self.other_decision(question);
        let is_other = other.is_some();
        let mut parsed =
            other.or(ahead).unwrap_or_else(|| question.parser.parse_whole(answered.whole()));
        let UnparsedAnswer { request, seq: response, content, beside } = answered;
        if let Some(reason) = beside.unreadable().filter(|_| !is_other) {
            parsed.warnings.insert(0, Unreadable::warning(reason));
        }
        let accepted = question.parser.accepts(&parsed);
        let ParsedAnswer { method: _, value, reasoning, warnings } = &parsed;
        let body = canonical(&DecisionBody { reasoning, value, warnings })?;
        let QuestionCore { call, sample, .. } = &question.asked;
        let decision = NewDecision {
            call: call.clone(),
            sample: *sample,
            response,
            by: question.parser.decided_by(parsed.method),
            body,
        };
        let answer = Answer {
            value: parsed.value,
            method: parsed.method,
            reasoning: parsed.reasoning,
            warnings: parsed.warnings,
            accepted,
            content,
            details: beside.details(),
            response,
            decision: DecisionRef::on(request, response),
        };
        Ok((answer, decision))
    }

    /// Logs a decision.
    pub(super) fn decide(&self, decision: NewDecision, known_as: &DecisionRef) -> Result<(), Stop> {
        let seq = match self.setup.mode {
            Mode::Rehearse => self.rehearsing.borrow_mut().note_decision(decision.response),
            Mode::Record | Mode::Replay | Mode::Resume => {
                self.outcomes.decide(self.setup.mode, &self.history, &self.writer, decision)?
            }
        };
        known_as.set(seq);
        self.update(|p| p.decisions += 1);
        Ok(())
    }

    /// Reports an event to the run's follower.
    pub(super) fn tell(&self, told: Update<'_>) {
        (self.setup.follow)(told);
    }

    /// Reports a mark, unless the record goes further.
    pub(super) fn tell_mark(&self, name: &str) -> Result<(), Stop> {
        let is_new = match (self.setup.mode, self.history.borrow_mut().as_mut()) {
            (Mode::Replay | Mode::Rehearse, _) => false,
            (Mode::Record | Mode::Resume, None) => true,
            (Mode::Record | Mode::Resume, Some(history)) => !history.has_outcomes()?,
        };
        if is_new {
            self.tell(Update::Marked { time: clock::now(), name, progress: self.progress.get() });
            self.look()?;
        }
        Ok(())
    }

    /// Lets somebody look at what has come out so far, if that was asked for. It is recorded before it is shown.
    fn look(&self) -> Result<(), Stop> {
        let flush = || {
            if let Some(writer) = self.writer.borrow().as_ref() {
                writer.flush();
            }
        };
        flush();
        if let Some(looked) = (self.setup.look)() {
            self.submit(&Event::LookedAt(looked), None)?;
            flush();
            self.tell(Update::Looked);
        }
        Ok(())
    }

    /// Logs a fact.
    pub(super) fn occur(&self, causes: &[DecisionRef], fact: &str) -> Result<Seq, Stop> {
        let mut causes: Vec<Seq> = causes.iter().map(DecisionRef::seq).collect();
        causes.sort_unstable();
        causes.dedup();
        let (seq, time) = match self.setup.mode {
            Mode::Rehearse => (self.rehearsing.borrow_mut().note_fact(&causes, fact), clock::now()),
            Mode::Record | Mode::Replay | Mode::Resume => {
                self.outcomes.occur(self.setup.mode, &self.history, &self.writer, &causes, fact)?
            }
        };
        self.tell(Update::Fact { time, fact });
        Ok(seq)
    }
}

pub(super) fn call_failed(asked: &QuestionCore, failure: Failure) -> CallFailed {
    CallFailed { call: asked.call.clone(), sample: asked.sample, failure }
}

/// Shared by everything on the thread of a run.
pub(super) type SharedCore = Rc<Core>;

/// The body of a decision, as `DecisionDetails` writes it, without an intermediate JSON value.
#[derive(Serialize)]
struct DecisionBody<'a, V> {
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: &'a Option<String>,
    value: &'a V,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    warnings: &'a [String],
}
