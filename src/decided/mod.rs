//! The decisions of a run, each with the question that it belongs to and whether it is in force.
//!
//! A decision names its answer only, and the answer its question; who was asked, and under which labels, is
//! in the question. [`DecisionJoin`] finds it while the events of the run go by.
//!
//! Which decisions are in force follows from the runs of accepted decisions about the same answers
//! ([`accepted_about`]):
//!
//! - an accepted decision replaces what a parser decided about the same answer before, in the recorded
//!   run or in an earlier run of accepted decisions;
//! - a program may report several decisions about one answer; the one with the same name is replaced.

mod seqs;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::event::{AnswerReused, DecisionMade, Event, Labels, StoredEvent};
use crate::exchange::{accepted_about, read_decides_about};
use crate::id::{CallPath, PromptHash, RunId, Sample, Seq, Time};
use crate::log::{EventFault, LogError, Reader, RunEvents, event_at};
use crate::lookup::Recent;

use seqs::SeqSet;

/// What was asked of a model, as decisions refer to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecidedQuestion {
    /// Its seq.
    pub seq: Seq,
    /// Where in the experiment.
    pub call: CallPath,
    /// The n-th answer asked for.
    pub sample: Sample,
    /// What was asked.
    pub prompt: PromptHash,
    /// What the call belongs to.
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
}

/// An answer on the way to its decisions.
#[derive(Debug, Clone, Copy)]
struct JoinedAnswer {
    question: Seq,
    /// In a run of accepted decisions: the answer in the run that they are about.
    from: Option<Seq>,
}

/// Joins the decisions of a run with their questions, in memory that hardly grows with the run: one bit for each
/// answer about which a decision was accepted. Decisions mostly follow soon after their questions: what is not
/// remembered is read again.
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
    /// By answers of this run.
    replaced: ReplacedDecisions,
    /// For a run of accepted decisions: by answers of the run that they are about.
    replaced_since: ReplacedDecisions,
}

impl DecisionJoin {
    /// For the decisions of a run. Runs of accepted decisions are looked for in the log that the reader reads.
    ///
    /// # Errors
    /// [`LogError`] if the runs of the log cannot be listed, or the beginning of this run cannot be read.
    pub fn new(reader: &mut dyn Reader, run: RunId) -> Result<Self, LogError> {
        let accepted = accepted_about(reader, run)?;
        let replaced = ReplacedDecisions::by(reader, &accepted);
        let mut replaced_since = ReplacedDecisions::default();
        if let Some(of) = read_decides_about(reader, run)? {
            let siblings = accepted_about(reader, of)?;
            let later = siblings.iter().position(|sibling| *sibling == run);
            let later = later.map_or(&[][..], |at| &siblings[at + 1..]);
            replaced_since = ReplacedDecisions::by(reader, later);
        }
        let (questions, answers) = (Recent::default(), Recent::default());
        Ok(DecisionJoin { run, questions, answers, replaced, replaced_since })
    }

    /// The decision of an event of the run, with its question; `None` if the event is something else. Reading less
    /// is needed if all events are passed, in their order.
    ///
    /// # Errors
    /// [`LogError`] if the event, its answer or its question cannot be read.
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
        if let Some(answer) = answer_of(event)? {
            self.answers.insert(event.seq, answer);
            return Ok(None);
        }
        if event.decided_by().is_none() {
            return Ok(None);
        }
        let Event::DecisionMade(made) = event.event().map_err(LogError::from)? else {
            return Ok(None);
        };
        let answer = self.answer(reader, event.seq, made.response)?;
        let question = self.question(reader, event.seq, answer.question)?;
        let since = answer.from.is_some_and(|from| self.replaced_since.has(from, &made));
        let in_force = !since && !self.replaced.has(made.response, &made);
        Ok(Some(JoinedDecision { seq: event.seq, time: event.time, question, made, in_force }))
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
        let answer = found.map(|found| answer_of(&found)).transpose()?.flatten();
        let missing = || LogError::corrupt(self.run, decision, EventFault::NoAnswer);
        let answer = answer.ok_or_else(missing)?;
        self.answers.insert(seq, answer);
        Ok(answer)
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

/// The question of an event, if it is one.
fn question_of(event: &StoredEvent) -> Result<Option<DecidedQuestion>, LogError> {
    let Some((call, sample, prompt)) = event.asked() else { return Ok(None) };
    let (seq, call) = (event.seq, call.clone());
    let labels = event.labels().map_err(LogError::from)?;
    let is_dependent = !event.because().map_err(LogError::from)?.is_empty();
    Ok(Some(DecidedQuestion { seq, call, sample, prompt, labels, is_dependent }))
}

/// The answer of an event, if it is one.
fn answer_of(event: &StoredEvent) -> Result<Option<JoinedAnswer>, LogError> {
    let Some(question) = event.cause.filter(|_| event.is_answer()) else { return Ok(None) };
    if event.is_received() {
        return Ok(Some(JoinedAnswer { question, from: None }));
    }
    match event.event().map_err(LogError::from)? {
        Event::AnswerReused(AnswerReused { from_seq, .. }) => {
            Ok(Some(JoinedAnswer { question, from: Some(from_seq) }))
        }
        _ => Ok(None),
    }
}

/// The answers of a run about which decisions were accepted, by the choice that they are about and by the name of the
/// decision that was accepted last.
#[derive(Debug, Clone, Default)]
struct ReplacedDecisions {
    all: BTreeMap<u32, SeqSet>,
    by_name: BTreeMap<(String, u32), SeqSet>,
}

impl ReplacedDecisions {
    /// Those that runs of accepted decisions about one run replace, in the order in which they were accepted.
    fn by(reader: &mut dyn Reader, accepted: &[RunId]) -> Self {
        let mut replaced = ReplacedDecisions::default();
        for run in accepted.iter().rev() {
            let (mut events, mut answer) = (RunEvents::new(*run), None);
            let mut replaces = ReplacedDecisions::default();
            // A damaged run is reported by commands that are about it.
            while let Ok(Some(event)) = events.next(reader) {
                match event.event() {
                    Ok(Event::AnswerReused(reused)) => answer = Some(reused.from_seq),
                    Ok(Event::DecisionMade(made)) => {
                        let Some(answer) = answer else { continue };
                        let choice = made.details.choice.unwrap_or(0);
                        if !replaced.all.get(&choice).is_some_and(|all| all.contains(answer)) {
                            replaces.add(answer, choice, made.by.decides());
                        }
                    }
                    _ => {}
                }
            }
            replaced.merge(replaces);
        }
        replaced
    }

    fn add(&mut self, answer: Seq, choice: u32, name: &str) {
        self.all.entry(choice).or_default().insert(answer);
        self.by_name.entry((name.to_owned(), choice)).or_default().insert(answer);
    }

    fn merge(&mut self, more: ReplacedDecisions) {
        for (choice, seqs) in more.all {
            self.all.entry(choice).or_default().merge(seqs);
        }
        for (name, seqs) in more.by_name {
            self.by_name.entry(name).or_default().merge(seqs);
        }
    }

    /// Whether a decision about this answer is replaced.
    fn has(&self, answer: Seq, made: &DecisionMade) -> bool {
        let choice = made.details.choice.unwrap_or(0);
        let replaced = match made.by.is_reported() {
            true => self.by_name.get(&(made.by.decides().to_owned(), choice)),
            false => self.all.get(&choice),
        };
        replaced.is_some_and(|answers| answers.contains(answer))
    }
}
