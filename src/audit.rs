//! The chain from a decision back to the prompt: decision, method, parser, answer, prompt, each with
//! its place in the log and its hash.

use crate::event::{DecisionMade, Event, Occurred, StoredEvent};
use crate::id::{CallPath, EventHash, RunId, Sample, Seq};
use crate::log::{LogError, Reader};
use crate::parse::ParserSpec;
use crate::parse::registry;
use crate::prompt::Request;

/// Which decision is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// The event at a seq: a decision, an answer, a question, or a fact.
    Seq(Seq),
    /// The decision on a call: of a sample, or of the only one.
    Call(CallPath, Option<Sample>),
}

impl std::str::FromStr for Target {
    type Err = crate::id::IdError;

    /// `SEQ`, `CALL` or `CALL#SAMPLE`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if let Ok(seq) = text.parse() {
            return Ok(Target::Seq(Seq(seq)));
        }
        if let Some((call, sample)) = text.rsplit_once('#')
            && let Ok(sample) = sample.parse()
        {
            return Ok(Target::Call(call.parse()?, Some(sample)));
        }
        Ok(Target::Call(text.parse()?, None))
    }
}

/// An audit that could not be done.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AuditError {
    /// The log could not be read.
    #[error(transparent)]
    Log(#[from] LogError),
    /// There is no such decision.
    #[error("run {run} has no decision {wanted}{nearest}")]
    NotFound {
        /// The run.
        run: RunId,
        /// As given.
        wanted: String,
        /// ` (its calls are like ..)`, or nothing.
        nearest: String,
    },
    /// A call with several samples.
    #[error("call {call} has samples {first} to {last}: write {call}#{first}, or another sample")]
    ManySamples {
        /// The call.
        call: CallPath,
        /// The first.
        first: Sample,
        /// The last.
        last: Sample,
    },
}

/// A link of the chain: an event with its place and hash.
#[derive(Debug, Clone, PartialEq)]
pub struct Link<T> {
    /// The place in the log.
    pub seq: Seq,
    /// The hash there.
    pub hash: EventHash,
    /// The event.
    pub event: T,
}

/// A decision and everything it rests on.
#[derive(Debug, Clone)]
pub struct Audit {
    /// The run.
    pub run: RunId,
    /// The call.
    pub call: CallPath,
    /// The sample.
    pub sample: Sample,
    /// The decision; none for a question without one.
    pub decision: Option<Link<DecisionMade>>,
    /// What a validator says of it, for parsers that come with one.
    pub verdict: Option<&'static str>,
    /// The answer, or the failure that ended the call.
    pub answer: Option<Link<Event>>,
    /// Failed attempts before it.
    pub attempts: Vec<Link<Event>>,
    /// The question.
    pub question: Link<()>,
    /// What was asked.
    pub request: Request,
    /// The facts that name the decision as their cause.
    pub facts: Vec<Link<Occurred>>,
}

/// Follows a decision back to its prompt.
///
/// # Errors
/// [`AuditError`].
pub fn audit(reader: &mut dyn Reader, run: RunId, target: &Target) -> Result<Audit, AuditError> {
    let events = Events::of(reader, run, target)?;
    let question = events.question(run, target)?;
    let (Some(call), Some(sample), Some(prompt)) =
        (&question.call, question.sample, question.prompt)
    else {
        return Err(events.not_found(run, target));
    };
    let request = reader.request(prompt)?.ok_or_else(|| LogError::Corrupt {
        run,
        seq: question.seq,
        what: format!("its request {prompt} is missing"),
    })?;
    let mut audit = Audit {
        run,
        call: call.clone(),
        sample,
        decision: None,
        verdict: None,
        answer: None,
        attempts: Vec::new(),
        question: Link { seq: question.seq, hash: question.hash, event: () },
        request,
        facts: Vec::new(),
    };
    let corrupt = |e: crate::event::EventError| LogError::Corrupt { run, seq: e.seq, what: e.what };
    for stored in &events.0 {
        let link = |event| Link { seq: stored.seq, hash: stored.hash, event };
        let event = stored.event().map_err(corrupt)?;
        let answers = |seq| audit.answer.as_ref().is_some_and(|a: &Link<Event>| a.seq == seq);
        let decided = audit.decision.as_ref().map(|d| d.seq);
        match event {
            Event::ResponseReceived(ref r) if r.request == question.seq => {
                audit.answer = Some(link(event));
            }
            Event::AnswerReused(ref r) if r.request == question.seq => {
                audit.answer = Some(link(event));
            }
            Event::AttemptFailed(ref a) if a.request == question.seq => {
                audit.attempts.push(link(event));
            }
            Event::DecisionMade(made) if answers(made.response) => {
                audit.decision = Some(Link { seq: stored.seq, hash: stored.hash, event: made });
            }
            Event::Occurred(fact) if decided.is_some_and(|seq| fact.causes.contains(&seq)) => {
                audit.facts.push(Link { seq: stored.seq, hash: stored.hash, event: fact });
            }
            _ => {}
        }
    }
    audit.verdict = audit.decision.as_ref().and_then(|decision| {
        let spec: ParserSpec = serde_json::from_str(&decision.event.parser).ok()?;
        let answer = audit.answer.as_ref()?;
        let text = match &answer.event {
            Event::ResponseReceived(r) => r.content.text(),
            Event::AnswerReused(r) => r.content.text(),
            _ => return None,
        };
        registry::parser(&spec).ok()?.parse_any(text).1
    });
    Ok(audit)
}

/// The events of a run, in order.
struct Events(Vec<StoredEvent>);

impl Events {
    fn of(reader: &mut dyn Reader, run: RunId, target: &Target) -> Result<Self, AuditError> {
        let mut all = Vec::new();
        let mut after = Seq(0);
        loop {
            let events = reader.events(run, after, 4096)?;
            let Some(last) = events.last() else { return Ok(Events(all)) };
            after = last.seq;
            // Of a long run only what may belong to the question is kept.
            all.extend(events.into_iter().filter(|e| match target {
                Target::Call(call, _) => e.call.as_ref().is_none_or(|c| c == call),
                Target::Seq(_) => true,
            }));
        }
    }

    fn at(&self, seq: Seq) -> Option<&StoredEvent> {
        self.0.binary_search_by_key(&seq, |e| e.seq).ok().and_then(|i| self.0.get(i))
    }

    fn question<'a>(
        &'a self,
        run: RunId,
        target: &'a Target,
    ) -> Result<&'a StoredEvent, AuditError> {
        let found = match target {
            Target::Seq(seq) => {
                let mut event = self.at(*seq);
                // From the decision to the answer to the question.
                while let Some(e) = event.filter(|e| e.call.is_none()) {
                    event = e.cause.and_then(|cause| self.at(cause));
                }
                event
            }
            Target::Call(call, Some(sample)) => {
                self.asked(call).filter(|e| e.sample == Some(*sample)).last()
            }
            Target::Call(call, None) => {
                let samples: Vec<Sample> = self.asked(call).filter_map(|e| e.sample).collect();
                let (first, last) = (samples.iter().min(), samples.iter().max());
                match (first.copied(), last.copied()) {
                    (Some(first), Some(last)) if first != last => {
                        return Err(AuditError::ManySamples { call: call.clone(), first, last });
                    }
                    _ => self.asked(call).last(),
                }
            }
        };
        found.ok_or_else(|| self.not_found(run, target))
    }

    /// The questions of a call; a question asked again after a crash comes last.
    fn asked<'a>(&'a self, call: &'a CallPath) -> impl Iterator<Item = &'a StoredEvent> {
        self.0.iter().filter(move |e| e.call.as_ref() == Some(call))
    }

    fn not_found(&self, run: RunId, target: &Target) -> AuditError {
        let wanted = match target {
            Target::Seq(seq) => format!("at seq {seq}"),
            Target::Call(call, Some(sample)) => format!("{call}#{sample}"),
            Target::Call(call, None) => call.to_string(),
        };
        let nearest = match self.0.iter().find_map(|e| e.call.as_ref()) {
            Some(call) => format!("; its calls are like {call}"),
            None => String::new(),
        };
        AuditError::NotFound { run, wanted, nearest }
    }
}
