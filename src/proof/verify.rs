//! From a proof to its statement.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::{Map, Value};

use super::error::ProofError;
use super::event_fault::ProofEventFault;
use super::format::{FORMAT, Leaf, Proof};
use crate::audit::Link;
use crate::content::Content;
use crate::event::chain::hash_after;
use crate::event::{
    DecisionMade, Event, EventLine, RequestSent, RunFinished, RunStarted, StoredEvent, root_at_end,
};
use crate::id::{ContentHash, EventHash, EventsRoot, PromptHash, RunId, Seq};
use crate::prompt::{canonical, hash_of};

/// The statement of a sound proof, given that its root is known to be that of the run.
#[derive(Debug, Clone)]
pub struct ProofStatement {
    /// The run.
    pub run: RunId,
    /// How it began: experiment, settings, model.
    pub started: RunStarted,
    /// The root over all events before the last.
    pub root: EventsRoot,
    /// The hash of the last event, which is the head of the run.
    pub head: EventHash,
    /// How many events the root covers.
    pub events: u64,
    /// The question.
    pub question: Link<RequestSent>,
    /// Its prompt, as canonical JSON.
    pub prompt: String,
    /// The answer: a `ResponseReceived` or an `AnswerReused`.
    pub answer: Link<Event>,
    /// The decision about it.
    pub decision: Option<Link<DecisionMade>>,
    /// The other events in the proof.
    pub others: Vec<StoredEvent>,
}

/// Checks the text of a proof's file. With a root, it also has to be that one; without, the caller has to compare
/// [`ProofStatement::root`] or [`ProofStatement::head`] with the known values of the run.
///
/// # Errors
/// [`ProofError`]: the first thing that is wrong.
pub fn verify(text: &str, root: Option<EventsRoot>) -> Result<ProofStatement, ProofError> {
    let proof = parse(text)?;
    let (end, finished) = run_end(&proof)?;
    let contents = contents(&proof)?;
    let mut checked =
        CheckedEvent { proof: &proof, contents, used: BTreeSet::new(), events: end.seq.0 - 1 };
    let started = checked.leaf(&proof.start)?;
    let question = checked.leaf(&proof.question)?;
    let answer = checked.leaf(&proof.answer)?;
    let decision = proof.decision.as_ref().map(|leaf| checked.leaf(leaf)).transpose()?;
    let others = proof.others.iter().map(|leaf| checked.leaf(leaf));
    let others = others.collect::<Result<Vec<_>, _>>()?;
    checked.every_content_is_used()?;
    if finished.events_root != proof.root {
        return Err(wrong(end.seq, ProofEventFault::OtherRoot));
    }
    let Event::RunStarted(start) = event_of(&started)? else {
        return Err(wrong(started.seq, ProofEventFault::NotAStart));
    };
    let prompt = canonical(&proof.prompt).map_err(|e| ProofError::NotAProof(e.to_string()))?;
    complete(&started, [Some(&question), Some(&answer), decision.as_ref()], &others)?;
    let question = link_question(&question, &prompt)?;
    let answer = answering(&answer, question.seq)?;
    let decision = decision.map(|decision| deciding(&decision, answer.seq)).transpose()?;
    if let Some(wanted) = root.filter(|wanted| *wanted != proof.root) {
        return Err(ProofError::OtherRoot { found: proof.root, wanted });
    }
    let (run, root, head, events) = (proof.run, proof.root, proof.end.head, checked.events);
    Ok(ProofStatement {
        run,
        started: start,
        root,
        head,
        events,
        question,
        prompt,
        answer,
        decision,
        others,
    })
}

fn wrong(seq: Seq, fault: ProofEventFault) -> ProofError {
    ProofError::Event { seq, fault }
}

/// The proof, if its text is the canonical JSON of one.
fn parse(text: &str) -> Result<Proof, ProofError> {
    let not_one = |error: &dyn std::fmt::Display| ProofError::NotAProof(error.to_string());
    let proof: Proof = serde_json::from_str(text).map_err(|error| not_one(&error))?;
    if proof.format != FORMAT {
        return Err(ProofError::Format(proof.format));
    }
    let due = canonical(&proof).map_err(|error| not_one(&error))?;
    if due != text {
        let same = due.bytes().zip(text.bytes()).take_while(|(due, given)| due == given).count();
        return Err(ProofError::NotCanonical(same));
    }
    Ok(proof)
}

/// The last event of the run, and its `RunFinished`.
fn run_end(proof: &Proof) -> Result<(StoredEvent, RunFinished), ProofError> {
    let end = stored_event(&proof.end.event, proof.end.previous, &BTreeMap::new(), proof.run)?;
    if end.hash != proof.end.head {
        let fault = ProofEventFault::Hash { found: end.hash, due: proof.end.head };
        return Err(wrong(end.seq, fault));
    }
    match event_of(&end)? {
        Event::RunFinished(finished) if end.seq > Seq(1) => Ok((end, finished)),
        _ => Err(wrong(end.seq, ProofEventFault::NotAnEnd)),
    }
}

/// The contents, each with the hash by which events name it.
fn contents(proof: &Proof) -> Result<BTreeMap<ContentHash, Content>, ProofError> {
    let content = |(hash, stored): (&ContentHash, &super::format::StoredContent)| {
        let content = stored.content().filter(|content| content.hash() == *hash);
        Ok((*hash, content.ok_or(ProofError::Content(*hash, "does not have that hash"))?))
    };
    proof.contents.iter().map(content).collect()
}

struct CheckedEvent<'a> {
    proof: &'a Proof,
    contents: BTreeMap<ContentHash, Content>,
    used: BTreeSet<ContentHash>,
    /// How many events the root covers.
    events: u64,
}

impl CheckedEvent<'_> {
    /// An event that is in the tree.
    fn leaf(&mut self, leaf: &Leaf) -> Result<StoredEvent, ProofError> {
        let event = stored_event(&leaf.event, leaf.previous, &self.contents, self.proof.run)?;
        let place =
            event.seq.0.checked_sub(1).ok_or_else(|| wrong(event.seq, ProofEventFault::SeqZero))?;
        match root_at_end(event.hash, place, self.events, &leaf.path) {
            Some(root) if root == self.proof.root => {
                self.used.extend(event.content.as_ref().map(Content::hash));
                Ok(event)
            }
            Some(_) => Err(wrong(event.seq, ProofEventFault::NotInRun)),
            None => Err(wrong(event.seq, ProofEventFault::PathLength { events: self.events })),
        }
    }

    fn every_content_is_used(&self) -> Result<(), ProofError> {
        match self.contents.keys().find(|hash| !self.used.contains(hash)) {
            Some(unused) => Err(ProofError::Content(*unused, "belongs to none of the events")),
            None => Ok(()),
        }
    }
}

/// The event of a canonical object, with the hash that follows from it and the event before it.
fn stored_event(
    object: &Map<String, Value>,
    previous: EventHash,
    contents: &BTreeMap<ContentHash, Content>,
    run: RunId,
) -> Result<StoredEvent, ProofError> {
    let not_one =
        |error: &dyn std::fmt::Display| ProofError::NotAProof(format!("an event: {error}"));
    let text = canonical(object).map_err(|error| not_one(&error))?;
    let hash = hash_after(previous, &text);
    let mut with_hash = object.clone();
    if with_hash.insert("hash".to_owned(), hash.to_string().into()).is_some() {
        return Err(not_one(&"unknown field `hash`"));
    }
    let line = EventLine::deserialize(Value::Object(with_hash)).map_err(|error| not_one(&error))?;
    let seq = line.seq;
    if line.run != run {
        return Err(wrong(seq, ProofEventFault::OtherRun(line.run)));
    }
    let content = match line.content.or(line.vector) {
        Some(hash) => {
            let missing = || wrong(seq, ProofEventFault::NoContent(hash));
            let content = contents.get(&hash).ok_or_else(missing)?;
            if matches!(content, Content::Vector(_)) != line.vector.is_some() {
                return Err(wrong(seq, ProofEventFault::OtherKindOfContent));
            }
            Some(content.clone())
        }
        None => None,
    };
    let body = canonical(&line.body).map_err(|error| not_one(&error))?;
    let EventLine { call, cause, kind, prompt, sample, time, version, .. } = line;
    let (kind, body) = (Cow::Owned(kind), Cow::Owned(body));
    Ok(StoredEvent {
        run,
        seq,
        kind,
        version,
        time,
        call,
        sample,
        prompt,
        cause,
        content,
        body,
        hash,
    })
}

fn event_of(stored: &StoredEvent) -> Result<Event, ProofError> {
    stored.event().map_err(|error| wrong(error.seq, error.defect.into()))
}

fn link<T>(stored: &StoredEvent, event: T) -> Link<T> {
    Link { seq: stored.seq, hash: stored.hash, event }
}

/// The question, if its prompt is this one.
fn link_question(question: &StoredEvent, prompt: &str) -> Result<Link<RequestSent>, ProofError> {
    match event_of(question)? {
        Event::RequestSent(sent) if PromptHash(hash_of(prompt.as_bytes())) == sent.prompt => {
            Ok(link(question, sent))
        }
        Event::RequestSent(sent) => Err(ProofError::Prompt(sent.prompt)),
        _ => Err(wrong(question.seq, ProofEventFault::NotAQuestion)),
    }
}

/// The answer, if it answers the question.
fn answering(answer: &StoredEvent, question: Seq) -> Result<Link<Event>, ProofError> {
    let event = event_of(answer)?;
    let answered = match &event {
        Event::ResponseReceived(received) => received.request,
        Event::AnswerReused(reused) => reused.request,
        _ => return Err(wrong(answer.seq, ProofEventFault::NotAnAnswer)),
    };
    if answered != question {
        return Err(wrong(answer.seq, ProofEventFault::OtherQuestion(answered)));
    }
    Ok(link(answer, event))
}

/// The decision, if it is about the answer.
fn deciding(decision: &StoredEvent, answer: Seq) -> Result<Link<DecisionMade>, ProofError> {
    match event_of(decision)? {
        Event::DecisionMade(made) if made.response == answer => Ok(link(decision, made)),
        Event::DecisionMade(made) => {
            Err(wrong(decision.seq, ProofEventFault::OtherAnswer(made.response)))
        }
        _ => Err(wrong(decision.seq, ProofEventFault::NotADecision)),
    }
}

/// Checks that no event is there twice or out of order, and that nothing that the prompt was made
/// from is missing.
fn complete(
    started: &StoredEvent,
    chain: [Option<&StoredEvent>; 3],
    others: &[StoredEvent],
) -> Result<(), ProofError> {
    if let Some(pair) = others.windows(2).find(|pair| pair[0].seq >= pair[1].seq) {
        return Err(wrong(pair[1].seq, ProofEventFault::OutOfOrder));
    }
    let mut seqs: BTreeSet<Seq> = others.iter().map(|event| event.seq).collect();
    for event in chain.into_iter().flatten().chain([started]) {
        if !seqs.insert(event.seq) {
            return Err(wrong(event.seq, ProofEventFault::Twice));
        }
    }
    let [question, ..] = chain;
    for event in question.into_iter().chain(others).filter(|event| event.is_question()) {
        if let Event::RequestSent(sent) = event_of(event)?
            && let Some(missing) = sent.because.iter().find(|seq| !seqs.contains(seq))
        {
            return Err(wrong(event.seq, ProofEventFault::NoSource(missing)));
        }
    }
    Ok(())
}
