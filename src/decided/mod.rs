//! The decisions of a run, each with the question that it belongs to and whether it is in force.
//!
//! A decision names its answer only, and the answer its question; who was asked, and under which labels, is
//! in the question. [`DecisionJoin`] finds it while the events of the run go by.
//!
//! Which decisions are in force follows from the runs of accepted decisions about the same answers
//! ([`accepted_about`]):
//!
//! - an accepted decision replaces the decisions with the same name about the same choice ([`subject`](DecisionMade::subject)) of
//!   the same answer, in the recorded run and in earlier runs of accepted decisions; those with other names stand beside it;
//! - of several decisions that a program reports with one name about one choice of an answer, the last is in force.

mod about_call;
mod answers;
mod deciders;
mod replaced;
mod reported_again;
mod seqs;
mod since;
#[cfg(test)]
pub(crate) mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::event::{AnswerReused, DecisionMade, Event, Labels, StoredEvent};
use crate::exchange::{AcceptedChain, accepted_about};
use crate::id::{CallPath, PromptHash, RunId, Sample, Seq, Time};
use crate::log::{EventFault, LogError, Reader, RunEvents, event_at};
use crate::lookup::Recent;

use replaced::ReplacedDecisions;

pub use about_call::CallDecisions;
pub use answers::{AnswerDecision, DecidedAnswers};
pub use deciders::{DecidedRuns, DeciderDifference, RunDeciders, decider_differences};
pub use since::{DecisionAbout, DecisionsSince};

/// A question to a model, as decisions refer to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecidedQuestion {
    /// Its seq.
    pub seq: Seq,
    /// Where in the experiment.
    pub call: CallPath,
    /// The n-th answer asked for.
    pub sample: Sample,
    /// The prompt of the call.
    pub prompt: PromptHash,
    /// The labels of the call.
    pub labels: Labels,
    /// Whether the prompt was made from something earlier in the run, as far as the run says so.
    pub is_dependent: bool,
}

/// A decision and the question that it belongs to.
#[derive(Debug, Clone, PartialEq)]
pub struct JoinedDecision {
    /// Its seq.
    pub seq: Seq,
    /// When it was made.
    pub time: Time,
    /// The question.
    pub question: Arc<DecidedQuestion>,
    /// The decision; it names the answer.
    pub made: DecisionMade,
    /// Whether no accepted decision has replaced it.
    pub in_force: bool,
    /// The answer that it is about: for a run of accepted decisions, the one in the run that they are about in the end, or
    /// `None` if that is not known.
    pub accepted_as: Option<Seq>,
}

/// An answer on the way to its decisions.
#[derive(Debug, Clone, Copy)]
struct JoinedAnswer {
    question: Seq,
    /// The same answer in the run that decisions are accepted about: for a run of accepted decisions, another one.
    accepted_as: Option<Seq>,
}

/// Joins the decisions of a run with their questions, in memory that hardly grows with the run: one bit for each answer
/// about which a decision was accepted. Decisions mostly follow soon after their questions: questions that are not
/// remembered are read again.
///
/// ```
/// # use retold::decided::DecisionJoin;
/// # use retold::id::RunId;
/// # use retold::log::{LogError, Reader, RunEvents};
/// # fn votes(reader: &mut dyn Reader, run: RunId) -> Result<u64, LogError> {
/// let mut join = DecisionJoin::new(reader, run)?;
/// let (mut events, mut votes) = (RunEvents::new(run), 0);
/// while let Some(event) = events.next(reader)? {
///     if let Some(decision) = join.decision(reader, &event)? {
///         let is_vote = decision.made.by.decides() == "vote";
///         votes += u64::from(is_vote && decision.in_force);
///     }
/// }
/// # Ok(votes)
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct DecisionJoin {
    run: RunId,
    questions: Recent<Seq, Arc<DecidedQuestion>>,
    answers: Recent<Seq, JoinedAnswer>,
    /// For a run of accepted decisions: the way to the run whose answers they are about.
    chain: Option<AcceptedChain>,
    /// The answers with decisions of a run of accepted decisions, by those that they were taken from in the end.
    own: BTreeMap<Seq, Seq>,
    /// By the answers of that run; from the first decision on.
    replaced: Option<ReplacedDecisions>,
}

impl DecisionJoin {
    /// For the decisions of a run. Runs of accepted decisions are looked for in the log that the reader reads, once the first
    /// decision is met.
    ///
    /// # Errors
    /// [`LogError`] if the beginning of a run cannot be read for another reason than damage.
    pub fn new(reader: &mut dyn Reader, run: RunId) -> Result<Self, LogError> {
        let chain = AcceptedChain::from(reader, run)?;
        let (questions, answers) = (Recent::default(), Recent::default());
        Ok(DecisionJoin { run, questions, answers, chain, own: BTreeMap::new(), replaced: None })
    }

    /// The runs of accepted decisions that may replace those of this run, in the order in which they were accepted.
    fn later(&self, reader: &mut dyn Reader) -> Result<Vec<RunId>, LogError> {
        let mut accepted =
            accepted_about(reader, self.chain.as_ref().map_or(self.run, |chain| chain.of))?;
        let later = accepted.iter().position(|accepted| *accepted == self.run);
        Ok(accepted.split_off(later.map_or(0, |at| at + 1)))
    }

    /// The decisions that were accepted about the answers of the run since, once all its events were passed.
    ///
    /// # Errors
    /// [`LogError`] if the log cannot be read.
    pub fn since(&mut self, reader: &mut dyn Reader) -> Result<DecisionsSince, LogError> {
        let later = self.later(reader)?;
        Ok(DecisionsSince::new(later, std::mem::take(&mut self.own)))
    }

    /// The decision of an event of the run, with its question; `None` if the event is something else. Reading less
    /// is needed if all events are passed, in their order.
    ///
    /// # Errors
    /// [`LogError`] if the event, its answer or its question cannot be read, or a run of accepted decisions that may replace
    /// those of this run is damaged: without it, nobody knows which are in force.
    pub fn decision(
        &mut self,
        reader: &mut dyn Reader,
        event: &StoredEvent,
    ) -> Result<Option<JoinedDecision>, LogError> {
        if event.is_question() {
            if let Some(question) = question_of(event)? {
                self.questions.insert(event.seq, Arc::new(question));
            }
            return Ok(None);
        }
        if let Some(answer) = self.answer_of(reader, event)? {
            self.answers.insert(event.seq, answer);
            return Ok(None);
        }
        if !event.is_decision() {
            return Ok(None);
        }
        let Event::DecisionMade(made) = event.event().map_err(LogError::from)? else {
            return Ok(None);
        };
        let answer = self.answer(reader, event.seq, made.response)?;
        let question = self.question(reader, event.seq, answer.question)?;
        let JoinedAnswer { accepted_as, .. } = answer;
        self.own.extend(accepted_as.filter(|_| self.chain.is_some()).map(|it| (it, made.response)));
        if self.replaced.is_none() {
            let later = self.later(reader)?;
            self.replaced = Some(ReplacedDecisions::read(reader, self.run, &later)?);
        }
        let (seq, time) = (event.seq, event.time);
        let replaced = self.replaced.as_ref();
        let in_force = !replaced.is_some_and(|replaced| replaced.has(seq, accepted_as, &made));
        Ok(Some(JoinedDecision { seq, time, question, made, in_force, accepted_as }))
    }

    fn answer(
        &mut self,
        reader: &mut dyn Reader,
        decision: Seq,
        seq: Seq,
    ) -> Result<JoinedAnswer, LogError> {
        if let Some(answer) = self.answers.get(&seq) {
            return Ok(*answer);
        }
        let found = event_at(reader, self.run, seq)?;
        let answer = found.map(|found| self.answer_of(reader, &found)).transpose()?.flatten();
        let missing = || LogError::corrupt(self.run, decision, EventFault::NoAnswer);
        let answer = answer.ok_or_else(missing)?;
        self.answers.insert(seq, answer);
        Ok(answer)
    }

    /// The answer of an event, if it is one.
    fn answer_of(
        &self,
        reader: &mut dyn Reader,
        event: &StoredEvent,
    ) -> Result<Option<JoinedAnswer>, LogError> {
        let Some(question) = event.cause.filter(|_| event.is_answer()) else { return Ok(None) };
        let Some(chain) = &self.chain else {
            return Ok(Some(JoinedAnswer { question, accepted_as: Some(event.seq) }));
        };
        match event.event().map_err(LogError::from)? {
            Event::AnswerReused(AnswerReused { from_seq, .. }) => {
                let accepted_as = chain.answer(reader, from_seq)?;
                Ok(Some(JoinedAnswer { question, accepted_as }))
            }
            _ => Ok(None),
        }
    }

    /// The question with a seq, which `event` names.
    ///
    /// # Errors
    /// [`LogError`] if the question cannot be read, or is none.
    pub fn question(
        &mut self,
        reader: &mut dyn Reader,
        event: Seq,
        seq: Seq,
    ) -> Result<Arc<DecidedQuestion>, LogError> {
        if let Some(question) = self.questions.get(&seq) {
            return Ok(question.clone());
        }
        let found = event_at(reader, self.run, seq)?;
        let question = found.map(|found| question_of(&found)).transpose()?.flatten();
        let missing = || LogError::corrupt(self.run, event, EventFault::NoQuestion);
        let question = Arc::new(question.ok_or_else(missing)?);
        self.questions.insert(seq, question.clone());
        Ok(question)
    }
}

/// Passes on the decisions of a run, then those that were accepted about its answers since. Those in force are the same
/// for whoever asks: tables, figures, pages and exports are made of them.
///
/// # Errors
/// [`LogError`] if the log cannot be read, or the run is damaged, or one of accepted decisions about its answers.
pub fn decisions_about(
    reader: &mut dyn Reader,
    run: RunId,
    mut each: impl FnMut(DecisionAbout),
) -> Result<(), LogError> {
    let (mut join, mut events) = (DecisionJoin::new(reader, run)?, RunEvents::new(run));
    while let Some(event) = events.next(reader)? {
        if let Some(joined) = join.decision(reader, &event)? {
            each(DecisionAbout { run, answer: joined.made.response, joined });
        }
    }
    let mut since = join.since(reader)?;
    while let Some(about) = since.next(reader)? {
        each(about);
    }
    Ok(())
}

/// Passes on the decisions of one run.
///
/// # Errors
/// [`LogError`] if the log cannot be read, or the run is damaged.
pub fn decisions_of(
    reader: &mut dyn Reader,
    run: RunId,
    mut each: impl FnMut(JoinedDecision),
) -> Result<(), LogError> {
    let (mut join, mut events) = (DecisionJoin::new(reader, run)?, RunEvents::new(run));
    while let Some(event) = events.next(reader)? {
        if let Some(joined) = join.decision(reader, &event)? {
            each(joined);
        }
    }
    Ok(())
}

/// The decisions of a run that are no longer in force.
///
/// # Errors
/// [`LogError`] if the log cannot be read, or the run is damaged, or one of accepted decisions about its answers.
pub fn replaced_decisions(reader: &mut dyn Reader, run: RunId) -> Result<BTreeSet<Seq>, LogError> {
    let mut replaced = BTreeSet::new();
    decisions_of(reader, run, |joined| {
        replaced.extend((!joined.in_force).then_some(joined.seq));
    })?;
    Ok(replaced)
}

/// The question of an event, if it is one.
fn question_of(event: &StoredEvent) -> Result<Option<DecidedQuestion>, LogError> {
    let Some((call, sample, prompt)) = event.address_and_prompt() else { return Ok(None) };
    let (seq, call) = (event.seq, call.clone());
    let labels = event.labels().map_err(LogError::from)?;
    let is_dependent = !event.because().map_err(LogError::from)?.is_empty();
    Ok(Some(DecidedQuestion { seq, call, sample, prompt, labels, is_dependent }))
}
