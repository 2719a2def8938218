//! The answers of a recorded run, each with the decision about it, if there is one.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;

use super::{ChoiceNumber, UndecidedAnswer};
use crate::content::Content;
use crate::event::{AnswerReused, DecisionMade, Event, Labels, ResponseReceived, kind};
use crate::id::{CallPath, PromptHash, RunId, Sample, Seq};
use crate::log::{EventFault, Index, LogError, Reader, RunEvents};
use crate::lookup::LookupMap;
use crate::model::{OtherChoice, other_choices};
use crate::parse::WholeAnswer;
use crate::run::{AnswerDetails, whole_choice};

/// A recorded answer, or one choice of it if it has several.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedAnswer {
    /// Its seq in the run.
    pub seq: Seq,
    /// The call it answers.
    pub call: CallPath,
    /// Which answer to that call it is.
    pub sample: Sample,
    /// The prompt of the call.
    pub prompt: PromptHash,
    /// The labels of the call.
    pub labels: Labels,
    /// The answer: the text of its first choice.
    pub content: Content,
    /// Everything besides its text.
    pub beside: AnswerDetails,
    /// Which of its choices is meant.
    pub choice: ChoiceNumber,
    /// That choice, if it is not the first.
    other: Option<Arc<OtherChoice>>,
    /// The decision about it, with its seq.
    pub decision: Option<(Seq, DecisionMade)>,
}

impl RecordedAnswer {
    /// The choice as parsers see it.
    pub fn whole(&self) -> WholeAnswer<'_> {
        self.other.as_deref().map_or_else(|| self.beside.whole(&self.content), whole_choice)
    }

    /// The choice with the settings of a parser.
    pub(crate) fn as_undecided<'a>(&'a self, params: &'a Value) -> UndecidedAnswer<'a> {
        let (call, sample, choice) = (Some(&self.call), Some(self.sample), self.choice);
        UndecidedAnswer { call, sample, choice, answer: self.whole(), params }
    }

    /// Why it has no text, if it could not be read.
    pub fn unreadable(&self) -> Option<&str> {
        match &self.other {
            Some(other) => other.unreadable.as_deref(),
            None => self.beside.unreadable(),
        }
    }

    /// Each of its choices, in order.
    fn each_choice(self) -> Vec<RecordedAnswer> {
        let others = other_choices(&self.beside.details().extra);
        if others.is_empty() {
            return vec![self];
        }
        let of = u32::try_from(others.len()).unwrap_or(u32::MAX).saturating_add(1);
        let others = others.into_iter().map(|other| Some(Arc::new(other)));
        let all = std::iter::once(None).chain(others).zip(0..);
        let choice = |(other, at)| {
            let choice = ChoiceNumber { at, of };
            RecordedAnswer { other, choice, ..self.clone() }
        };
        all.map(choice).collect()
    }
}

/// Reads the answers of a run, each choice of an answer by itself. Those with a decision come in the order of the decisions; those
/// without one come in the order of the log if the run has no decisions at all, and otherwise at
/// the end. A choice comes once, with its first decision, however many there are about it.
///
/// # Errors
/// [`LogError`] if the log cannot be read or is damaged, or any error of `each`.
pub fn each_answer<E: From<LogError>>(
    reader: &mut dyn Reader,
    run: RunId,
    each: impl FnMut(&mut dyn Reader, RecordedAnswer) -> Result<(), E>,
) -> Result<(), E> {
    each_answer_decided(reader, run, None, each)
}

/// The same, but a choice comes with the decision that has a name, if there is one about it.
///
/// # Errors
/// As for [`each_answer`].
pub(crate) fn each_answer_decided<E: From<LogError>>(
    reader: &mut dyn Reader,
    run: RunId,
    name: Option<&str>,
    mut each: impl FnMut(&mut dyn Reader, RecordedAnswer) -> Result<(), E>,
) -> Result<(), E> {
    let index = Index::open(reader, run)?;
    let decided = index.census(reader)?.events.contains_key(kind::DECISION_MADE);
    let mut questions: LookupMap<Seq, (CallPath, Sample, PromptHash, Labels)> =
        LookupMap::default();
    let named = match name {
        Some(name) if decided => decided_as(reader, run, name)?,
        _ => BTreeSet::new(),
    };
    let mut waiting: BTreeMap<(Seq, u32), RecordedAnswer> = BTreeMap::new();
    let mut passed: BTreeSet<(Seq, u32)> = BTreeSet::new();
    let mut events = RunEvents::new(run);
    while let Some(stored) = events.next(reader)? {
        let seq = stored.seq;
        let corrupt = |fault: EventFault| LogError::corrupt(run, seq, fault);
        let (request, content, beside) = match stored.event().map_err(LogError::from)? {
            Event::RequestSent(sent) => {
                questions.insert(seq, (sent.call, sent.sample, sent.prompt, sent.labels));
                continue;
            }
            Event::ResponseReceived(ResponseReceived { request, content, details }) => {
                let beside = AnswerDetails::new(&content, details);
                (request, content, beside)
            }
            Event::AnswerReused(reused) => {
                let AnswerReused { request, content, unreadable, details, .. } = reused;
                let beside = AnswerDetails::of_reuse(&content, details, unreadable);
                (request, content, beside)
            }
            Event::DecisionMade(made) => {
                let choice = made.details.choice.unwrap_or(0);
                let is_other = name.is_some_and(|name| name != made.by.decides());
                if is_other && named.contains(&(made.response, choice)) {
                    continue;
                }
                let Some(answer) = waiting.remove(&(made.response, choice)) else {
                    // A program may also report decisions about choices that the answer does not have.
                    let is_of_no_choice = choice > 0 && made.by.is_reported();
                    if is_of_no_choice || passed.contains(&(made.response, choice)) {
                        continue;
                    }
                    return Err(corrupt(EventFault::NoAnswer).into());
                };
                passed.insert((made.response, choice));
                each(reader, RecordedAnswer { decision: Some((seq, made)), ..answer })?;
                continue;
            }
            _ => continue,
        };
        let missing = || corrupt(EventFault::NoQuestion);
        let (call, sample, prompt, labels) = questions.remove(&request).ok_or_else(missing)?;
        let (choice, other, decision) = (ChoiceNumber::ONLY, None, None);
        let answer = RecordedAnswer {
            seq,
            call,
            sample,
            prompt,
            labels,
            content,
            beside,
            choice,
            other,
            decision,
        };
        for answer in answer.each_choice() {
            match decided {
                true => drop(waiting.insert((seq, answer.choice.at), answer)),
                false => each(reader, answer)?,
            }
        }
    }
    waiting.into_values().try_for_each(|answer| each(reader, answer))
}

/// The choices of answers about which there is a decision with a name.
fn decided_as(
    reader: &mut dyn Reader,
    run: RunId,
    name: &str,
) -> Result<BTreeSet<(Seq, u32)>, LogError> {
    let (mut events, mut found) = (RunEvents::new(run), BTreeSet::new());
    while let Some(stored) = events.next(reader)? {
        if !stored.is_decision() {
            continue;
        }
        if let Event::DecisionMade(made) = stored.event().map_err(LogError::from)?
            && made.by.decides() == name
        {
            found.insert((made.response, made.details.choice.unwrap_or(0)));
        }
    }
    Ok(found)
}
