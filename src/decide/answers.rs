//! The answers of a recorded run, each with the decision about it, if there is one.

use std::collections::{BTreeMap, BTreeSet};

use crate::content::Content;
use crate::event::{AnswerReused, DecisionMade, Event, ResponseReceived, kind};
use crate::id::{CallPath, PromptHash, RunId, Sample, Seq};
use crate::log::{EventFault, Index, LogError, Reader, RunEvents};
use crate::lookup::LookupMap;
use crate::parse::WholeAnswer;
use crate::run::AnswerDetails;

/// A recorded answer.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedAnswer {
    /// Its seq in the run.
    pub seq: Seq,
    /// The call it answers.
    pub call: CallPath,
    /// Which answer to that call it is.
    pub sample: Sample,
    /// What was asked.
    pub prompt: PromptHash,
    /// The answer.
    pub content: Content,
    /// Everything besides its text.
    pub beside: AnswerDetails,
    /// The decision about it, with its seq.
    pub decision: Option<(Seq, DecisionMade)>,
}

impl RecordedAnswer {
    /// The answer as parsers see it.
    pub fn whole(&self) -> WholeAnswer<'_> {
        self.beside.whole(&self.content)
    }

    /// Why it has no text, if the answer could not be read.
    pub fn unreadable(&self) -> Option<&str> {
        self.beside.unreadable()
    }
}

/// Reads the answers of a run. Those with a decision come in the order of the decisions; those
/// without one come in the order of the log if the run has no decisions at all, and otherwise at
/// the end. An answer comes once, with its first decision, however many a program has reported about it.
///
/// # Errors
/// [`LogError`] if the log cannot be read or is damaged, or any error of `each`.
pub fn each_answer<E: From<LogError>>(
    reader: &mut dyn Reader,
    run: RunId,
    mut each: impl FnMut(&mut dyn Reader, RecordedAnswer) -> Result<(), E>,
) -> Result<(), E> {
    let index = Index::open(reader, run)?;
    let decided = index.census(reader)?.events.contains_key(kind::DECISION_MADE);
    let mut questions: LookupMap<Seq, (CallPath, Sample, PromptHash)> = LookupMap::default();
    let mut waiting: BTreeMap<Seq, RecordedAnswer> = BTreeMap::new();
    let mut reported: BTreeSet<Seq> = BTreeSet::new();
    let mut events = RunEvents::new(run);
    while let Some(stored) = events.next(reader)? {
        let seq = stored.seq;
        let corrupt = |fault: EventFault| LogError::corrupt(run, seq, fault);
        let (request, content, beside) = match stored.event().map_err(LogError::from)? {
            Event::RequestSent(sent) => {
                questions.insert(seq, (sent.call, sent.sample, sent.prompt));
                continue;
            }
            Event::ResponseReceived(ResponseReceived { request, content, details }) => {
                let beside = AnswerDetails::new(&content, details);
                (request, content, beside)
            }
            Event::AnswerReused(reused) => {
                let AnswerReused { request, content, unreadable, details, .. } = reused;
                let beside = AnswerDetails::reused(&content, details, unreadable);
                (request, content, beside)
            }
            Event::DecisionMade(made) => {
                let Some(answer) = waiting.remove(&made.response) else {
                    // Programs may report several decisions about one answer.
                    if made.by.is_reported() && reported.contains(&made.response) {
                        continue;
                    }
                    return Err(corrupt(EventFault::NoAnswer).into());
                };
                if made.by.is_reported() {
                    reported.insert(made.response);
                }
                each(reader, RecordedAnswer { decision: Some((seq, made)), ..answer })?;
                continue;
            }
            _ => continue,
        };
        let missing = || corrupt(EventFault::NoQuestion);
        let (call, sample, prompt) = questions.remove(&request).ok_or_else(missing)?;
        let decision = None;
        let answer = RecordedAnswer { seq, call, sample, prompt, content, beside, decision };
        if decided { drop(waiting.insert(seq, answer)) } else { each(reader, answer)? }
    }
    waiting.into_values().try_for_each(|answer| each(reader, answer))
}
