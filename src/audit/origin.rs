//! The possible sources of a prompt, read from the log.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::link::Link;
use crate::event::{Event, RequestSent, StoredEvent};
use crate::id::{CallPath, ContentHash, RunId, Sample, Seq};
use crate::log::{Index, LogError, Reader, each_event_at};

/// Something that a prompt was made from.
#[derive(Debug, Clone, PartialEq)]
pub enum Origin {
    /// An answer and the decision about it.
    Decision {
        /// The call it answers.
        call: CallPath,
        /// Which sample.
        sample: Sample,
        /// The answer.
        answer: Link<()>,
        /// The hash of the answer's text or vector.
        content: ContentHash,
        /// The decision that a parser made about it.
        decision: Option<Link<()>>,
    },
    /// A fact.
    Fact {
        /// The fact.
        fact: Link<Value>,
        /// The decisions that caused it.
        causes: Vec<Seq>,
    },
    /// Everything that the prompt of an earlier question was made from.
    Question {
        /// Its call.
        call: CallPath,
        /// Its sample.
        sample: Sample,
        /// The question.
        question: Link<()>,
    },
    /// The draws of a program, whose seed its run began with.
    Draws {
        /// The start of the run.
        start: Link<()>,
    },
    /// Any other event: a declaration written by this program never names one.
    Other {
        /// The event, or `None` if nothing is there.
        event: Option<Link<String>>,
        /// Where it should be.
        seq: Seq,
    },
}

impl Origin {
    /// The seq that a declaration names: that of the answer, the fact or the question.
    pub fn seq(&self) -> Seq {
        match self {
            Origin::Decision { answer, .. } => answer.seq,
            Origin::Fact { fact, .. } => fact.seq,
            Origin::Question { question, .. } => question.seq,
            Origin::Draws { start } => start.seq,
            Origin::Other { seq, .. } => *seq,
        }
    }
}

/// A run whose events are looked up.
pub(super) struct Events<'a> {
    pub(super) reader: &'a mut dyn Reader,
    pub(super) index: &'a Index,
    pub(super) run: RunId,
}

impl Events<'_> {
    /// The events at the given seqs; missing ones are left out.
    pub(super) fn at(
        &mut self,
        places: &BTreeSet<Seq>,
    ) -> Result<BTreeMap<Seq, (StoredEvent, Event)>, LogError> {
        let mut found = BTreeMap::new();
        let places: Vec<Seq> = places.iter().copied().collect();
        each_event_at::<LogError>(self.reader, self.run, &places, |stored| {
            let event = stored.event().map_err(LogError::from)?;
            found.insert(stored.seq, (stored, event));
            Ok(())
        })?;
        Ok(found)
    }

    /// The questions at the given seqs.
    pub(super) fn questions(
        &mut self,
        places: &BTreeSet<Seq>,
    ) -> Result<BTreeMap<Seq, (Link<()>, RequestSent)>, LogError> {
        let found = self.at(places)?.into_iter();
        let questions = found.filter_map(|(seq, (stored, event))| match event {
            Event::RequestSent(sent) => Some((seq, (link(&stored), sent))),
            _ => None,
        });
        Ok(questions.collect())
    }

    /// The events at the given seqs, as sources of a prompt or causes of a fact. The decisions about answers are [found
    /// later](Self::find_decisions), all at once.
    pub(super) fn origins(
        &mut self,
        places: &BTreeSet<Seq>,
    ) -> Result<BTreeMap<Seq, Origin>, LogError> {
        let mut found = self.at(places)?;
        // A prompt names an answer, and a fact the decision about it.
        found.extend(self.at(&found.values().filter_map(|(_, event)| answer_of(event)).collect())?);
        let asked = found.values().filter_map(|(_, event)| request_of(event)).collect();
        let asked = self.questions(&asked)?;
        let origin = |seq: &Seq| {
            let Some((stored, event)) = found.get(seq) else {
                return Origin::Other { event: None, seq: *seq };
            };
            let answer = answer_of(event);
            let (from, of) = answer.and_then(|seq| found.get(&seq)).unwrap_or(&found[seq]);
            let asked = request_of(of).and_then(|request| asked.get(&request));
            if let (Some((_, sent)), Some(content)) = (asked, &from.content) {
                return Origin::Decision {
                    call: sent.call.clone(),
                    sample: sent.sample,
                    answer: link(from),
                    content: content.hash(),
                    decision: answer.map(|_| link(stored)),
                };
            }
            match event {
                Event::Occurred(occurred) => Origin::Fact {
                    fact: Link { seq: *seq, hash: stored.hash, event: occurred.fact.clone() },
                    causes: occurred.causes.clone(),
                },
                Event::RequestSent(sent) => Origin::Question {
                    call: sent.call.clone(),
                    sample: sent.sample,
                    question: link(stored),
                },
                Event::RunStarted(_) => Origin::Draws { start: link(stored) },
                _ => {
                    let event = stored.kind.to_string();
                    let event = Link { seq: *seq, hash: stored.hash, event };
                    Origin::Other { event: Some(event), seq: *seq }
                }
            }
        };
        Ok(places.iter().map(|seq| (*seq, origin(seq))).collect())
    }

    /// Adds the decisions about answers.
    pub(super) fn find_decisions<'o>(
        &mut self,
        origins: impl Iterator<Item = &'o mut Origin>,
    ) -> Result<(), LogError> {
        let mut answers: BTreeMap<Seq, Vec<&mut Option<Link<()>>>> = BTreeMap::new();
        for origin in origins {
            if let Origin::Decision { answer, decision, .. } = origin {
                answers.entry(answer.seq).or_default().push(decision);
            }
        }
        let maybe = self.index.caused_by(self.reader, &answers.keys().copied().collect())?;
        let maybe: BTreeSet<Seq> = maybe.into_values().flatten().collect();
        for (_, (stored, event)) in self.at(&maybe)? {
            if let Event::DecisionMade(made) = event {
                let decided = answers.get_mut(&made.response).into_iter().flatten();
                decided.for_each(|decision| **decision = Some(link(&stored)));
            }
        }
        Ok(())
    }
}

/// The question that an answer belongs to.
pub(super) fn request_of(event: &Event) -> Option<Seq> {
    match event {
        Event::ResponseReceived(answer) => Some(answer.request),
        Event::AnswerReused(answer) => Some(answer.request),
        _ => None,
    }
}

/// The answer that a decision is about.
fn answer_of(event: &Event) -> Option<Seq> {
    match event {
        Event::DecisionMade(made) => Some(made.response),
        _ => None,
    }
}

pub(super) fn link(stored: &StoredEvent) -> Link<()> {
    Link { seq: stored.seq, hash: stored.hash, event: () }
}

/// The event at a seq.
pub(super) fn event_at(
    reader: &mut dyn Reader,
    run: RunId,
    seq: Seq,
) -> Result<Option<StoredEvent>, LogError> {
    let found = reader.events(run, Seq(seq.0.saturating_sub(1)), 1)?.pop();
    Ok(found.filter(|event| event.seq == seq))
}
