//! Recomputes every chain and reports what is wrong.

use std::collections::BTreeSet;

use super::backend::{Reader, RunHead};
use super::checked::gap;
use super::error::LogError;
use super::index::Comparison;
use super::ledger::{Ledger, Milestone, milestone};
use super::problem::Problem;
use crate::event::chain::{ChainLink, Head};
use crate::event::{Event, EventError, MerkleTree, OutcomeHasher, StoredEvent};
use crate::id::{CallPath, EventHash, EventsRoot, OutcomeDigest, PromptHash, RunId, Sample, Seq};
use crate::lookup::LookupMap;
use crate::prompt::canonical;

/// The result of verifying a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verification {
    /// The run.
    pub run: RunId,
    /// How many events match the chain.
    pub events: u64,
    /// The end of the part that matches.
    pub head: Head,
    /// The first problem.
    pub problem: Option<Problem>,
}

/// Verifies one run and compares it with the ledger; `expected` is a head known from elsewhere.
/// Without it, events that are missing after the last entry of the ledger cannot be noticed.
///
/// # Errors
/// [`LogError`] if the log cannot be read at all; damage is a [`Problem`], not an error.
pub fn verify_run(
    reader: &mut dyn Reader,
    run: RunId,
    expected: Option<EventHash>,
) -> Result<Verification, LogError> {
    let ledger = Ledger::read(reader);
    let (mut verified, read) = verify_chain(reader, run, expected)?;
    match ledger {
        Ok(None) => {}
        Ok(Some(mut ledger)) => {
            // Other processes may have written meanwhile.
            ledger.read_on(reader)?;
            compare(&ledger, &mut verified, &read, reader)?;
        }
        // Its events are what they are; whether there were more is not known.
        Err(LogError::Damaged { what, .. }) => {
            let what = format!("the ledger cannot be read: {what}");
            let unknown = Problem { run: Some(run), seq: None, what };
            verified.problem = verified.problem.or(Some(unknown));
        }
        Err(error) => return Err(error),
    }
    verified.problem = verified.problem.or_else(|| read.index(run));
    Ok(verified)
}

/// What was noticed while the events of a run were read, besides the first that is wrong.
struct Read {
    /// What the ledger must contain about the run.
    milestones: Vec<Milestone>,
    /// What is wrong with its index.
    index: Option<String>,
}

impl Read {
    /// The problem of the index: it does not concern one event.
    fn index(self, run: RunId) -> Option<Problem> {
        self.index.map(|what| Problem { run: Some(run), seq: None, what })
    }
}

/// Adds a problem that only the ledger shows. One that is not as it was written does not show which event
/// is wrong.
fn compare(
    ledger: &Ledger,
    verified: &mut Verification,
    read: &Read,
    reader: &mut dyn Reader,
) -> Result<(), LogError> {
    if verified.problem.is_none()
        && let Some(found) = ledger.compare(verified, &read.milestones, reader)?
    {
        let whole = |what| Problem { run: Some(verified.run), seq: None, what };
        verified.problem = Some(ledger.doubt(verified.run).map_or(found, whole));
    }
    Ok(())
}

/// Events in one read.
const BATCH: usize = 2048;

fn verify_chain(
    reader: &mut dyn Reader,
    run: RunId,
    expected: Option<EventHash>,
) -> Result<(Verification, Read), LogError> {
    let mut chain = Chain::new(run);
    let mut index = Comparison::of(reader, run)?;
    let mut problem = None;
    'run: loop {
        let events = match reader.events(run, chain.head.seq, BATCH) {
            Ok(events) if events.is_empty() => break,
            Ok(events) => events,
            // Everything before it has been read.
            Err(LogError::Corrupt { seq, what, .. }) => {
                let damaged = Problem { run: Some(run), seq: Some(seq), what };
                problem = Some(chain.missing_before(seq).unwrap_or(damaged));
                break;
            }
            Err(e) => return Err(e),
        };
        for event in &events {
            let sound = match chain.add(event) {
                Ok(()) => chain.check_request(reader, event)?,
                unsound => unsound,
            };
            if let Err(found) = sound {
                problem = Some(found);
                break 'run;
            }
            index.add(reader, event)?;
        }
    }
    if problem.is_none()
        && let Some(seq) = reader.not_found(run, chain.head.seq)?
    {
        let what = "it is there but cannot be looked up: a key of the tree of events is damaged"
            .to_owned();
        problem = Some(Problem { run: Some(run), seq: Some(seq), what });
    }
    if problem.is_none() && chain.head.seq == Seq(0) {
        let what = "it has no events".to_owned();
        problem = Some(Problem { run: Some(run), seq: Some(Seq(1)), what });
    }
    if let (None, Some(expected)) = (&problem, expected)
        && chain.head.hash != expected
    {
        let what = match chain.seen_at(reader, expected)? {
            Some(seq) => format!(
                "the expected head {} is at seq {seq}, and events follow it",
                expected.short(12)
            ),
            None => format!(
                "its head is {}, not {}: events after it are missing",
                chain.head.hash.short(12),
                expected.short(12)
            ),
        };
        problem = Some(Problem { run: Some(run), seq: Some(chain.head.seq), what });
    }
    // Of a run that was not read to its end, the pieces after that are not compared.
    let index = if problem.is_none() { index.end() } else { None };
    let verified = Verification { run, events: chain.head.seq.0, head: chain.head, problem };
    Ok((verified, Read { milestones: chain.milestones, index }))
}

/// Verifies every run, the ledger, and what no chain covers. The second value lists the problems of
/// the file.
///
/// # Errors
/// [`LogError`] if the log cannot be read at all.
pub fn verify_all(reader: &mut dyn Reader) -> Result<(Vec<Verification>, Vec<Problem>), LogError> {
    let (mut runs, mut problems) = (Vec::new(), Vec::new());
    let whole = |what| Problem { run: None, seq: None, what };
    // Read before the runs: every run that it names must be found afterwards.
    let mut ledger = match Ledger::read(reader) {
        Ok(ledger) => ledger,
        Err(LogError::Damaged { what, .. }) => {
            problems.push(whole(format!("the ledger cannot be read: {what}")));
            None
        }
        Err(e) => return Err(e),
    };
    match reader.runs() {
        Ok(heads) => {
            for RunHead { run, .. } in heads {
                runs.push(verify_chain(reader, run, None)?);
            }
            if let Some(ledger) = &mut ledger {
                ledger.read_on(reader)?;
                for (verified, read) in &mut runs {
                    compare(ledger, verified, read, reader)?;
                }
                let held: BTreeSet<RunId> = runs.iter().map(|(verified, _)| verified.run).collect();
                problems.extend(ledger.deleted(|run| held.contains(&run)));
            }
        }
        Err(LogError::Damaged { what, .. }) => {
            problems.push(whole(format!("the runs cannot be read: {what}")));
        }
        Err(e) => return Err(e),
    }
    problems.extend(ledger.iter().flat_map(Ledger::problems).cloned());
    problems.extend(reader.integrity()?.into_iter().map(whole));
    let with_index = |(verified, read): (Verification, Read)| {
        let Verification { run, problem, .. } = verified;
        Verification { problem: problem.or_else(|| read.index(run)), ..verified }
    };
    Ok((runs.into_iter().map(with_index).collect(), problems))
}

/// The root of a Merkle tree over the events that a run has so far: see [`MerkleTree`].
///
/// # Errors
/// [`LogError`] if it cannot be read.
pub fn events_root(reader: &mut dyn Reader, run: RunId) -> Result<EventsRoot, LogError> {
    let (mut tree, mut after) = (MerkleTree::default(), Seq(0));
    loop {
        let events = reader.events(run, after, 2048)?;
        let Some(last) = events.last() else { return Ok(tree.root()) };
        after = last.seq;
        events.iter().for_each(|event| tree.push(event.hash));
    }
}

/// The outcome digest of what a run has so far.
///
/// # Errors
/// [`LogError`] if it cannot be read.
pub fn outcome_digest(reader: &mut dyn Reader, run: RunId) -> Result<OutcomeDigest, LogError> {
    let mut chain = Chain::new(run);
    let mut after = Seq(0);
    loop {
        let events = reader.events(run, after, 2048)?;
        let Some(last) = events.last() else { return Ok(chain.outcome.digest()) };
        after = last.seq;
        for stored in &events {
            let corrupt = |what: String| LogError::Corrupt { run, seq: stored.seq, what };
            let event = stored.event().map_err(|e| corrupt(e.what))?;
            chain.follow(stored, event).map_err(|misfit| corrupt(misfit.to_string()))?;
        }
    }
}

/// The chain of one run, link by link.
struct Chain {
    run: RunId,
    head: Head,
    outcome: OutcomeHasher,
    tree: MerkleTree,
    /// The address of each question, and the question of each answer: needed for the outcome
    /// digest.
    questions: LookupMap<Seq, (CallPath, Sample)>,
    answers: LookupMap<Seq, Seq>,
    /// The requests that were found intact.
    sound: LookupMap<PromptHash, ()>,
    /// What the ledger must contain about the run.
    milestones: Vec<Milestone>,
}

/// Why an event does not fit what came before it.
#[derive(Debug, thiserror::Error)]
enum Misfit {
    #[error("it decides about an answer that does not exist")]
    NoAnswer,
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
    fn new(run: RunId) -> Self {
        Chain {
            run,
            head: Head::START,
            outcome: OutcomeHasher::default(),
            tree: MerkleTree::default(),
            questions: LookupMap::default(),
            answers: LookupMap::default(),
            sound: LookupMap::default(),
            milestones: Vec::new(),
        }
    }

    /// What is missing if this event is the next one found.
    fn missing_before(&self, seq: Seq) -> Option<Problem> {
        let due = self.head.seq.next();
        Some(Problem { run: Some(self.run), seq: Some(due), what: gap(due, seq)? })
    }

    fn add(&mut self, stored: &StoredEvent) -> Result<(), Problem> {
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

    /// The chain covers the prompt hash of an event; this checks that the stored request still has
    /// that hash.
    fn check_request(
        &mut self,
        reader: &mut dyn Reader,
        stored: &StoredEvent,
    ) -> Result<Result<(), Problem>, LogError> {
        let Some(prompt) = stored.prompt else { return Ok(Ok(())) };
        if self.sound.get(&prompt).is_some() {
            return Ok(Ok(()));
        }
        let what = match reader.check_request(prompt) {
            Ok(true) => {
                self.sound.insert(prompt, ());
                return Ok(Ok(()));
            }
            Ok(false) => format!("its request {prompt} is missing"),
            Err(error @ LogError::CorruptRequest { .. }) => error.to_string(),
            Err(LogError::Damaged { what, .. }) => {
                format!("its request {prompt} cannot be read: {what}")
            }
            Err(error) => return Err(error),
        };
        Ok(Err(Problem { run: Some(self.run), seq: Some(stored.seq), what }))
    }

    /// Interprets the events as far as the outcome digest needs it.
    fn follow(&mut self, stored: &StoredEvent, event: Event) -> Result<(), Misfit> {
        match event {
            Event::RequestSent(sent) => {
                self.questions.insert(stored.seq, (sent.call, sent.sample));
            }
            Event::ResponseReceived(answer) => {
                self.answers.insert(stored.seq, answer.request);
            }
            Event::AnswerReused(answer) => {
                self.answers.insert(stored.seq, answer.request);
            }
            Event::DecisionMade(made) => {
                let question = self.answers.get(&made.response);
                let question = question.and_then(|q| self.questions.get(q));
                let Some((call, sample)) = question else {
                    return Err(Misfit::NoAnswer);
                };
                let by = stored.decided_by().ok_or(Misfit::NoParser)?;
                self.outcome.decision(stored.seq, call, *sample, by, &stored.body);
            }
            Event::Occurred(occurred) => {
                let (_, fact) = stored.occurrence()?;
                self.outcome.occurrence(stored.seq, &occurred.causes, fact);
            }
            Event::RunFinished(finished) => {
                let digest = self.outcome.digest();
                if finished.outcome_digest != digest {
                    let (stated, found) = (finished.outcome_digest, digest);
                    return Err(Misfit::OutcomeDigest { stated, found });
                }
                let root = self.tree.root();
                if let Some(given) = finished.events_root.filter(|given| *given != root) {
                    return Err(Misfit::Root { stated: given, found: root });
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// The seq of the earlier event that has this hash, if any.
    fn seen_at(&self, reader: &mut dyn Reader, hash: EventHash) -> Result<Option<Seq>, LogError> {
        let mut after = Seq(0);
        loop {
            let events = reader.events(self.run, after, 2048)?;
            let Some(last) = events.last() else { return Ok(None) };
            after = last.seq;
            if let Some(found) = events.iter().find(|e| e.hash == hash) {
                return Ok(Some(found.seq));
            }
        }
    }
}
