//! From a log to a proof.

use std::collections::{BTreeMap, BTreeSet};

use super::error::ProveError;
use super::format::{FORMAT, Leaf, Proof, ProofEnd, StoredContent};
use super::verify::verify;
use crate::audit::{Audit, AuditedFact, DeclaredSources, Origin, PromptRelation};
use crate::event::chain::{ChainLink, GENESIS};
use crate::event::{Event, StoredEvent, inclusion_paths};
use crate::id::{EventHash, EventsRoot, MerkleNode, RunId, Seq};
use crate::log::{EventFault, LogError, Reader, RunEvents};
use crate::prompt::canonical;

/// Makes the proof of an audited decision, as the text of its file. It covers the question, its
/// attempts, the answer, the decision, the facts that name it with what tools gave to them, and the events that the prompt was
/// declared to be made from. The run's start, with the seed of its draws, is in every proof. What those were made from in turn, a proof of their own decisions shows.
///
/// The whole run is read once. The reader should check every event that it reads, since a proof of a damaged log would be
/// refused.
///
/// # Errors
/// [`ProveError`]: the run is not finished, the call failed, or the log cannot be read.
pub fn prove(reader: &mut dyn Reader, audit: &Audit) -> Result<String, ProveError> {
    let run = audit.run;
    let Some(answer) = audit.answer.as_ref().filter(|answer| is_answer(&answer.event)) else {
        return Err(ProveError::NoAnswer { call: audit.call.clone(), sample: audit.sample });
    };
    let named = [Some(Seq(1)), Some(audit.question.seq), Some(answer.seq)];
    let decision = audit.decision.as_ref().map(|decision| decision.seq);
    let wanted: BTreeSet<Seq> =
        named.into_iter().flatten().chain(decision).chain(others(audit)).collect();
    let collected = collect(reader, run, &wanted)?;
    let stated = collected.root()?;

    let places = wanted.iter().map(|seq| place(*seq)).collect();
    let (root, mut paths) = inclusion_paths(&collected.hashes, &places);
    if root != stated {
        let fault = EventFault::EventsRoot { stated, found: root };
        return Err(LogError::corrupt(run, collected.end.seq, fault).into());
    }
    let (mut contents, mut leaves) = (BTreeMap::new(), BTreeMap::new());
    for event in &collected.events {
        let seq = event.seq;
        if let Some(content) = &event.content {
            contents.entry(content.hash()).or_insert_with(|| StoredContent::new(content));
        }
        let path = paths.remove(&place(seq)).unwrap_or_default();
        leaves.insert(seq, collected.leaf(run, event, path)?);
    }
    let mut leaf = |seq: Seq| {
        leaves.remove(&seq).ok_or_else(|| LogError::corrupt(run, seq, EventFault::OnlyIndexed))
    };
    let proof = Proof {
        start: leaf(Seq(1))?,
        question: leaf(audit.question.seq)?,
        answer: leaf(answer.seq)?,
        decision: decision.map(&mut leaf).transpose()?,
        others: leaves.into_values().collect(),
        contents,
        end: ProofEnd {
            event: parse(
                run,
                collected.end.seq,
                &ChainLink::of_stored(&collected.end).canonical(),
            )?,
            head: collected.end.hash,
            previous: collected.before(collected.end.seq),
        },
        format: FORMAT.to_owned(),
        prompt: parse(run, audit.question.seq, audit.request.canonical())?,
        root,
        run,
    };
    let text = canonical(&proof)
        .map_err(|source| ProveError::NotCanonical { seq: audit.question.seq, source })?;
    verify(&text, Some(root))?;
    Ok(text)
}

/// The events around the decision: those that belong to its question, and those that its prompt was
/// declared to be made from.
fn others(audit: &Audit) -> Vec<Seq> {
    let mut all: Vec<Seq> = audit.attempts.iter().map(|attempt| attempt.seq).collect();
    for AuditedFact { fact, also } in &audit.facts {
        all.push(fact.seq);
        // What a tool gave has no decision, so no other proof holds it.
        all.extend(also.iter().filter_map(|origin| match origin {
            Origin::Decision { answer, decision: None, .. } => Some(answer.seq),
            _ => None,
        }));
    }
    if let DeclaredSources::Kept { prompts, sources, complete: _ } = &audit.declared {
        all.extend(sources);
        let within = prompts.iter().filter(|made| made.part == PromptRelation::Within);
        all.extend(within.map(|made| made.question.seq));
    }
    all
}

fn is_answer(event: &Event) -> bool {
    matches!(event, Event::ResponseReceived(_) | Event::AnswerReused(_))
}

/// The place of an event in the tree.
fn place(seq: Seq) -> usize {
    usize::try_from(seq.0.saturating_sub(1)).unwrap_or(usize::MAX)
}

/// A canonical text as JSON.
fn parse<T: serde::de::DeserializeOwned>(
    run: RunId,
    seq: Seq,
    canonical: &str,
) -> Result<T, LogError> {
    serde_json::from_str(canonical)
        .map_err(|error| LogError::corrupt(run, seq, EventFault::defect(error)))
}

/// The events and hashes of a run that make up a proof.
struct ProofEvents {
    /// The hashes of all events but the last.
    hashes: Vec<EventHash>,
    /// The events that are proved.
    events: Vec<StoredEvent>,
    /// The last event.
    end: StoredEvent,
}

fn collect(
    reader: &mut dyn Reader,
    run: RunId,
    wanted: &BTreeSet<Seq>,
) -> Result<ProofEvents, ProveError> {
    let (mut hashes, mut kept, mut end) = (Vec::new(), Vec::new(), None::<StoredEvent>);
    let mut events = RunEvents::new(run);
    while let Some(event) = events.next(reader)? {
        if wanted.contains(&event.seq) {
            kept.push(event.clone());
        }
        hashes.push(event.hash);
        end = Some(event);
    }
    hashes.pop();
    let end = end.ok_or(ProveError::NotFinished(run))?;
    Ok(ProofEvents { hashes, events: kept, end })
}

impl ProofEvents {
    /// The root that the run states.
    fn root(&self) -> Result<EventsRoot, ProveError> {
        let run = self.end.run;
        match self.end.event().map_err(LogError::from)? {
            Event::RunFinished(finished) => Ok(finished.events_root),
            _ => Err(ProveError::NotFinished(run)),
        }
    }

    /// The hash of the event before one.
    fn before(&self, seq: Seq) -> EventHash {
        place(seq).checked_sub(1).and_then(|at| self.hashes.get(at)).copied().unwrap_or(GENESIS)
    }

    fn leaf(
        &self,
        run: RunId,
        event: &StoredEvent,
        path: Vec<MerkleNode>,
    ) -> Result<Leaf, LogError> {
        Ok(Leaf {
            event: parse(run, event.seq, &ChainLink::of_stored(event).canonical())?,
            path,
            previous: self.before(event.seq),
        })
    }
}
