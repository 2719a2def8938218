//! The events of an exchange.

use std::collections::BTreeSet;

use retold::audit::question_behind;
use retold::event::{DecisionMade, Event, StoredEvent};
use retold::id::Seq;
use retold::log::{EventFault, FieldFault, Index, LogError, each_event_at};
use retold::prompt::Request;

use super::super::RunPageRequest;
use crate::error::PageError;

/// The events of an exchange.
pub(super) struct ExchangeEvents {
    pub(super) question: StoredEvent,
    pub(super) answer: Option<StoredEvent>,
    pub(super) attempts: Vec<StoredEvent>,
    /// That the client hung up, if it did.
    pub(super) left: Option<StoredEvent>,
    /// The decision that was asked for, or the last.
    pub(super) decision: Option<(StoredEvent, DecisionMade)>,
    pub(super) others: Vec<StoredEvent>,
    pub(super) facts: Vec<StoredEvent>,
    pub(super) index: Index,
}

impl RunPageRequest<'_> {
    /// The events of the exchange that an event belongs to.
    pub(super) fn gather(&mut self, seq: Seq) -> Result<ExchangeEvents, PageError> {
        self.event(seq)?;
        let run = self.head.run;
        let Some(question) = question_behind(self.reader.as_mut(), run, seq)? else {
            return Err(PageError::NotFound(format!(
                "event {seq} does not belong to a question: the page of the event shows what it is"
            )));
        };
        let reader = self.reader.as_mut();
        let index = Index::open(reader, run)?;
        let mut all = BTreeSet::new();
        let mut newest = BTreeSet::from([question.seq]);
        for _ in 0..3 {
            newest = index.caused_by(reader, &newest)?.into_values().flatten().collect();
            all.extend(newest.iter().copied());
        }
        let places: Vec<Seq> = all.into_iter().collect();
        let (mut answer, mut attempts, mut left) = (None, Vec::new(), None);
        let mut decisions: Vec<(StoredEvent, DecisionMade)> = Vec::new();
        let mut facts: Vec<(StoredEvent, Vec<Seq>)> = Vec::new();
        each_event_at::<LogError>(reader, run, &places, |stored| {
            let is_answer = |seq| answer.as_ref().is_some_and(|a: &StoredEvent| a.seq == seq);
            match stored.event() {
                Ok(Event::ResponseReceived(received)) if received.request == question.seq => {
                    answer = Some(stored);
                }
                Ok(Event::AnswerReused(reused)) if reused.request == question.seq => {
                    answer = Some(stored);
                }
                Ok(Event::AttemptFailed(failed)) if failed.request == question.seq => {
                    attempts.push(stored);
                }
                Ok(Event::ClientLeft(client)) if client.request == question.seq => {
                    left = Some(stored);
                }
                Ok(Event::DecisionMade(made)) if is_answer(made.response) => {
                    decisions.push((stored, made));
                }
                Ok(Event::Occurred(fact)) => facts.push((stored, fact.causes)),
                _ => {}
            }
            Ok(())
        })?;
        let wanted = decisions.iter().position(|(decision, _)| {
            let leads_to = |(fact, causes): &(StoredEvent, Vec<Seq>)| {
                fact.seq == seq && causes.contains(&decision.seq)
            };
            decision.seq == seq || facts.iter().any(leads_to)
        });
        let wanted = wanted.or(decisions.len().checked_sub(1));
        let decision = wanted.map(|at| decisions.remove(at));
        let decided = decision.as_ref().map(|(stored, _)| stored.seq);
        facts.retain(|(_, causes)| decided.is_some_and(|seq| causes.contains(&seq)));
        let facts = facts.into_iter().map(|(fact, _)| fact).collect();
        let others = decisions.into_iter().map(|(stored, _)| stored).collect();
        Ok(ExchangeEvents { question, answer, attempts, left, decision, others, facts, index })
    }

    pub(super) fn request(&mut self, question: &StoredEvent) -> Result<Request, PageError> {
        let corrupt = |fault: EventFault| LogError::corrupt(question.run, question.seq, fault);
        let prompt = question
            .prompt
            .ok_or_else(|| corrupt(EventFault::field("request", FieldFault::Missing)))?;
        let request = self.reader.request(prompt)?;
        Ok(request.ok_or_else(|| corrupt(EventFault::NoRequest { prompt }))?)
    }
}
