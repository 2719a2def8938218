//! The chain of one run, recomputed event by event.

use crate::event::chain::{ChainLink, Head};
use crate::event::{
    BodyPart, ClientLeft, Event, ExchangesHasher, MerkleTree, OutcomeHasher, StoredEvent,
};
use crate::id::{CallPath, OutcomeDigest, RunId, Sample, Seq};
use crate::log::finding::{EventFault, Finding};
use crate::log::ledger::{Milestone, milestone};
use crate::lookup::LookupMap;
use crate::prompt::canonical;

/// The chain of one run, link by link.
pub(super) struct Chain {
    run: RunId,
    /// The end of the part that matches.
    pub(super) head: Head,
    outcome: OutcomeHasher,
    /// Set for a run whose outcome is its answers.
    exchanges: Option<ExchangesHasher>,
    tree: MerkleTree,
    /// The address of each question, and the question of each answer: needed for the outcome
    /// digest.
    questions: LookupMap<Seq, (CallPath, Sample)>,
    answers: LookupMap<Seq, Seq>,
    /// The milestones that the ledger must contain about the run.
    pub(super) milestones: Vec<Milestone>,
}

impl Chain {
    /// Of a run, before its first event.
    pub(super) fn new(run: RunId) -> Self {
        Chain {
            run,
            head: Head::START,
            outcome: OutcomeHasher::default(),
            exchanges: None,
            tree: MerkleTree::default(),
            questions: LookupMap::default(),
            answers: LookupMap::default(),
            milestones: Vec::new(),
        }
    }

    /// The finding about missing events if this event is the next one found.
    pub(super) fn missing_before(&self, seq: Seq) -> Option<Finding> {
        let due = self.head.seq.next();
        Some(Finding::of_event(self.run, due, EventFault::gap(due, seq)?))
    }

    /// Adds the next event, or says why it is not the one that was written.
    pub(super) fn add(&mut self, stored: &StoredEvent) -> Result<(), Finding> {
        let finding = |fault: EventFault| Finding::of_event(self.run, stored.seq, fault);
        if let Some(missing) = self.missing_before(stored.seq) {
            return Err(missing);
        }
        let due = self.head.seq.next();
        if stored.seq < due {
            return Err(Finding::of_event(self.run, due, EventFault::Displaced));
        }
        let hash = ChainLink::of_stored(stored).hash_after(self.head.hash);
        if hash != stored.hash {
            return Err(finding(EventFault::Hash));
        }
        // The chain covers the bytes of the body. That they are one JSON object and nothing more
        // must be checked as well, since otherwise a body could pretend to be other columns.
        let body: Result<serde_json::Value, _> = serde_json::from_str(&stored.body);
        let plain = body.ok().filter(|b| b.is_object()).and_then(|b| canonical(&b).ok());
        if plain.as_deref() != Some(&*stored.body) {
            return Err(finding(EventFault::Body));
        }
        if stored.cause.is_some_and(|cause| cause >= stored.seq || cause == Seq(0)) {
            return Err(finding(EventFault::Cause));
        }
        let event = stored.event().map_err(|error| finding(error.into()))?;
        let (run, seq) = (self.run, stored.seq);
        self.follow(stored, event).map_err(|fault| Finding::of_event(run, seq, fault))?;
        self.head = Head { seq: stored.seq, hash };
        self.milestones.extend(milestone(stored.seq, &stored.kind));
        Ok(())
    }

    /// The outcome digest of the events that were followed.
    pub(super) fn digest(&self) -> OutcomeDigest {
        match &self.exchanges {
            Some(exchanges) => exchanges.digest(),
            None => self.outcome.digest(),
        }
    }

    /// Interprets the events as far as the outcome digest needs it.
    pub(super) fn follow(&mut self, stored: &StoredEvent, event: Event) -> Result<(), EventFault> {
        match event {
            Event::RunStarted(started) => {
                self.exchanges = started.covers_answers().then(ExchangesHasher::default);
            }
            Event::RequestSent(sent) => {
                if let Some(exchanges) = &mut self.exchanges {
                    exchanges.question(stored.seq, &sent.call, sent.sample, sent.prompt);
                }
                self.questions.insert(stored.seq, (sent.call, sent.sample));
            }
            Event::ResponseReceived(answer) => {
                if let Some(exchanges) = &mut self.exchanges {
                    exchanges.answer(stored.seq, answer.request, &answer.content, &answer.details);
                }
                self.answers.insert(stored.seq, answer.request);
            }
            Event::AnswerReused(answer) => {
                if let Some(exchanges) = &mut self.exchanges {
                    exchanges.answer(stored.seq, answer.request, &answer.content, &answer.details);
                }
                self.answers.insert(stored.seq, answer.request);
            }
            Event::ClientLeft(ClientLeft { request, .. })
            | Event::BodyPart(BodyPart { request, .. })
                if self.questions.get(&request).is_none() =>
            {
                return Err(EventFault::NoCall);
            }
            Event::DecisionMade(made) => {
                let question = self.answers.get(&made.response);
                let question = question.and_then(|q| self.questions.get(q));
                let Some((call, sample)) = question else {
                    return Err(EventFault::NoAnswer);
                };
                let by = stored.decided_by().ok_or(EventFault::NoParser)?;
                self.outcome.decision(stored.seq, call, *sample, by, &stored.body);
                if let Some(exchanges) = &mut self.exchanges {
                    exchanges.decision(stored.seq, made.response, by, &stored.body);
                }
            }
            Event::Occurred(occurred) => {
                let (_, fact) = stored.occurrence()?;
                self.outcome.occurrence(stored.seq, &occurred.causes, fact);
                if let Some(exchanges) = &mut self.exchanges {
                    exchanges.fact(stored.seq, &occurred, fact);
                }
            }
            Event::RunFinished(finished) => {
                let digest = self.digest();
                if finished.outcome_digest != digest {
                    let (stated, found) = (finished.outcome_digest, digest);
                    return Err(EventFault::OutcomeDigest { stated, found });
                }
                let root = self.tree.root();
                if finished.events_root != root {
                    let stated = finished.events_root;
                    return Err(EventFault::EventsRoot { stated, found: root });
                }
            }
            _ => {}
        }
        self.tree.push(stored.hash);
        Ok(())
    }
}
