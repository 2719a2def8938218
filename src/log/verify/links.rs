//! The chain of one run, recomputed event by event.

use crate::event::chain::{ChainLink, Head};
use crate::event::{Event, EventError, ExchangesHasher, MerkleTree, OutcomeHasher, StoredEvent};
use crate::id::{CallPath, EventsRoot, OutcomeDigest, RunId, Sample, Seq};
use crate::log::checked::gap;
use crate::log::ledger::{Milestone, milestone};
use crate::log::problem::Problem;
use crate::lookup::LookupMap;
use crate::prompt::canonical;

/// The chain of one run, link by link.
pub(super) struct Chain {
    run: RunId,
    /// The end of the part that matches.
    pub(super) head: Head,
    outcome: OutcomeHasher,
    /// Of a run whose outcome is what was answered.
    exchanges: Option<ExchangesHasher>,
    tree: MerkleTree,
    /// The address of each question, and the question of each answer: needed for the outcome
    /// digest.
    questions: LookupMap<Seq, (CallPath, Sample)>,
    answers: LookupMap<Seq, Seq>,
    /// What the ledger must contain about the run.
    pub(super) milestones: Vec<Milestone>,
}

/// Why an event does not fit what came before it.
#[derive(Debug, thiserror::Error)]
pub(super) enum Misfit {
    #[error("it decides about an answer that does not exist")]
    NoAnswer,
    #[error("it is about a request that does not exist")]
    NoRequest,
    #[error("it does not say what decided")]
    NoParser,
    #[error("{}", .0.what)]
    Fact(#[from] EventError),
    #[error("it states the outcome digest {stated}, but its events give {found}")]
    OutcomeDigest { stated: OutcomeDigest, found: OutcomeDigest },
    #[error("it states the root {} over its events, but they give {}", .stated.short(12), .found.short(12))]
    Root { stated: EventsRoot, found: EventsRoot },
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

    /// What is missing if this event is the next one found.
    pub(super) fn missing_before(&self, seq: Seq) -> Option<Problem> {
        let due = self.head.seq.next();
        Some(Problem { run: Some(self.run), seq: Some(due), what: gap(due, seq)? })
    }

    /// Adds the next event, or says why it is not the one that was written.
    pub(super) fn add(&mut self, stored: &StoredEvent) -> Result<(), Problem> {
        let run = Some(self.run);
        let problem = |what: String| Problem { run, seq: Some(stored.seq), what };
        if let Some(missing) = self.missing_before(stored.seq) {
            return Err(missing);
        }
        let due = self.head.seq.next();
        if stored.seq < due {
            let what = "another event is in its place".to_owned();
            return Err(Problem { run, seq: Some(due), what });
        }
        let hash = ChainLink::of_stored(stored).hash_after(self.head.hash);
        if hash != stored.hash {
            return Err(problem(
                "its hash does not match: the event, its content or its position was changed"
                    .into(),
            ));
        }
        // The chain covers the bytes of the body. That they are one JSON object and nothing more
        // must be checked as well, since otherwise a body could pretend to be other columns.
        let body: Result<serde_json::Value, _> = serde_json::from_str(&stored.body);
        let plain = body.ok().filter(|b| b.is_object()).and_then(|b| canonical(&b).ok());
        if plain.as_deref() != Some(&*stored.body) {
            return Err(problem("its body is not a canonical JSON object".into()));
        }
        if stored.cause.is_some_and(|cause| cause >= stored.seq || cause == Seq(0)) {
            return Err(problem("its cause is not an earlier event".into()));
        }
        let event = stored.event().map_err(|e| problem(e.what))?;
        self.follow(stored, event).map_err(|misfit| problem(misfit.to_string()))?;
        self.head = Head { seq: stored.seq, hash };
        self.tree.push(hash);
        self.milestones.extend(milestone(stored.seq, &stored.kind));
        Ok(())
    }

    /// The outcome digest of what was followed.
    pub(super) fn digest(&self) -> OutcomeDigest {
        match &self.exchanges {
            Some(exchanges) => exchanges.digest(),
            None => self.outcome.digest(),
        }
    }

    /// Interprets the events as far as the outcome digest needs it.
    pub(super) fn follow(&mut self, stored: &StoredEvent, event: Event) -> Result<(), Misfit> {
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
            Event::ClientLeft(left) if self.questions.get(&left.request).is_none() => {
                return Err(Misfit::NoRequest);
            }
            Event::DecisionMade(made) => {
                let question = self.answers.get(&made.response);
                let question = question.and_then(|q| self.questions.get(q));
                let Some((call, sample)) = question else {
                    return Err(Misfit::NoAnswer);
                };
                let by = stored.decided_by().ok_or(Misfit::NoParser)?;
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
                    return Err(Misfit::OutcomeDigest { stated, found });
                }
                let root = self.tree.root();
                if finished.events_root != root {
                    return Err(Misfit::Root { stated: finished.events_root, found: root });
                }
            }
            _ => {}
        }
        Ok(())
    }
}
