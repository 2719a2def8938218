//! From a decision back to its prompt.

use std::collections::BTreeSet;

use serde::Deserialize;

use super::declared_sources::{DeclaredSources, declared_sources};
use super::error::AuditError;
use super::events::{not_found, question};
use super::link::Link;
use super::matches::{Match, matches};
use super::origin::{Events, Origin, event_at};
use super::target::Target;
use crate::event::{ClientLeft, DecisionMade, Event, FactOccurred, Labels};
use crate::id::{CallPath, RunId, Sample, Seq};
use crate::log::{EventFault, Index, LogError, Reader, each_event_at};
use crate::parse::{ParserSpec, Parsers};
use crate::prompt::Request;
use crate::run::AnswerDetails;

/// A decision and everything that it rests on.
#[derive(Debug, Clone)]
pub struct Audit {
    /// The run.
    pub run: RunId,
    /// The call.
    pub call: CallPath,
    /// The sample.
    pub sample: Sample,
    /// The decision: the one that was asked for, or else the last; `None` for a question that has
    /// none.
    pub decision: Option<Link<DecisionMade>>,
    /// The other decisions about the same answer.
    pub others: Vec<Link<DecisionMade>>,
    /// The validator's judgement of it, for parsers that come with a validator.
    pub verdict: Option<&'static str>,
    /// The answer, or the failure that ended the call.
    pub answer: Option<Link<Event>>,
    /// The failed attempts before it.
    pub attempts: Vec<Link<Event>>,
    /// The question.
    pub question: Link<()>,
    /// The request.
    pub request: Request,
    /// The labels of the call.
    pub labels: Labels,
    /// Whether its client hung up before it had the whole answer.
    pub left: Option<Link<ClientLeft>>,
    /// The facts that name the decision as their cause.
    pub facts: Vec<AuditedFact>,
    /// The declared sources of the prompt.
    pub declared: DeclaredSources,
    /// Independently of that, texts of the run that also occur in the prompt.
    pub same_text: Vec<Match>,
}

/// A fact that an audited decision led to.
#[derive(Debug, Clone)]
pub struct AuditedFact {
    /// The fact.
    pub fact: Link<FactOccurred>,
    /// Everything else that it rests on: other decisions, what tools gave, earlier facts, the draws of the run.
    pub also: Vec<Origin>,
}

/// Follows a decision back to its prompt. The verdict on it is that of one of the `parsers`.
///
/// # Errors
/// [`AuditError`].
pub fn audit(
    reader: &mut dyn Reader,
    run: RunId,
    target: &Target,
    parsers: &Parsers,
) -> Result<Audit, AuditError> {
    let index = Index::open(reader, run)?;
    let question = question(reader, run, &index, target)?;
    let (Some(call), Some(sample), Some(prompt)) =
        (&question.call, question.sample, question.prompt)
    else {
        return Err(not_found(reader, run, &index, target)?);
    };
    let request = reader
        .request(prompt)?
        .ok_or_else(|| LogError::corrupt(run, question.seq, EventFault::NoRequest { prompt }))?;
    let mut audit = Audit {
        run,
        call: call.clone(),
        sample,
        decision: None,
        others: Vec::new(),
        verdict: None,
        answer: None,
        attempts: Vec::new(),
        question: Link { seq: question.seq, hash: question.hash, event: () },
        request,
        labels: question.labels().map_err(LogError::from)?,
        left: None,
        facts: Vec::new(),
        declared: DeclaredSources::NotKept,
        same_text: Vec::new(),
    };
    let belonging = belonging(reader, &index, question.seq)?;
    let mut facts = Vec::new();
    each_event_at::<LogError>(reader, run, &belonging, |stored| {
        let link = |event| Link { seq: stored.seq, hash: stored.hash, event };
        let event = stored.event().map_err(LogError::from)?;
        let answers = |seq| audit.answer.as_ref().is_some_and(|a: &Link<Event>| a.seq == seq);
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
            Event::ClientLeft(left) if left.request == question.seq => {
                audit.left = Some(Link { seq: stored.seq, hash: stored.hash, event: left });
            }
            Event::DecisionMade(made) if answers(made.response) => {
                audit.others.push(Link { seq: stored.seq, hash: stored.hash, event: made });
            }
            Event::Occurred(fact) => {
                facts.push(Link { seq: stored.seq, hash: stored.hash, event: fact });
            }
            _ => {}
        }
        Ok(())
    })?;
    let wanted = match target {
        Target::Seq(seq) => audit.others.iter().position(|decision| {
            let leads_to = |fact: &Link<FactOccurred>| {
                fact.seq == *seq && fact.event.causes.contains(&decision.seq)
            };
            decision.seq == *seq || facts.iter().any(leads_to)
        }),
        Target::Call(..) => None,
    };
    if let Some(at) = wanted.or(audit.others.len().checked_sub(1)) {
        audit.decision = Some(audit.others.remove(at));
    }
    let decided = audit.decision.as_ref().map(|decision| decision.seq);
    // What a tool gave is no decision, and a fact may rest on it.
    let caused = decided.or_else(|| Some(audit.answer.as_ref()?.seq));
    facts.retain(|fact| caused.is_some_and(|seq| fact.event.causes.contains(&seq)));
    audit.verdict = audit.decision.as_ref().and_then(|decision| {
        let spec = ParserSpec::deserialize(&decision.event.by.parser).ok()?;
        let answer = audit.answer.as_ref()?;
        let (content, details) = match &answer.event {
            Event::ResponseReceived(r) => (&r.content, &r.details),
            Event::AnswerReused(r) => (&r.content, &r.details),
            _ => return None,
        };
        let beside = AnswerDetails::new(content, details.clone());
        let (parser, choice) = (parsers.parser(&spec).ok()?, decision.event.details.choice);
        beside.of_choice(content, choice, |whole| parser.parse_whole_any(whole).1)?
    });
    let has_sources = match question.event().map_err(LogError::from)? {
        Event::RequestSent(sent) => !sent.because.is_empty(),
        _ => false,
    };
    let declares = match event_at(reader, run, Seq(1))?.map(|first| first.event()).transpose() {
        // A program declares what its tools gave.
        Ok(Some(Event::RunStarted(started))) => started.is_of_experiment() || has_sources,
        Ok(_) => false,
        Err(error) => return Err(LogError::from(error).into()),
    };
    let question = audit.question.seq;
    let mut events = Events { reader, index: &index, run };
    let causes = facts.iter().flat_map(|fact| &fact.event.causes).copied();
    let origins = events.origins(&causes.filter(|cause| Some(*cause) != caused).collect())?;
    let also = |fact: Link<FactOccurred>| AuditedFact {
        also: fact.event.causes.iter().filter_map(|cause| origins.get(cause).cloned()).collect(),
        fact,
    };
    audit.facts = facts.into_iter().map(also).collect();
    if declares {
        audit.declared = declared_sources(&mut events, question)?;
    }
    let none = BTreeSet::new();
    let sources = match &audit.declared {
        DeclaredSources::Kept { sources, .. } => sources,
        DeclaredSources::NotKept => &none,
    };
    audit.same_text = matches(&mut events, question, &audit.request, sources)?;
    Ok(audit)
}

/// Everything that may belong to a question, in order: events that name it as their cause, events
/// that name those, and so on. (An answer, the decision on it, the facts that follow.)
fn belonging(reader: &mut dyn Reader, index: &Index, question: Seq) -> Result<Vec<Seq>, LogError> {
    let mut all = BTreeSet::new();
    let mut newest = BTreeSet::from([question]);
    for _ in 0..3 {
        let found = index.caused_by(reader, &newest)?;
        newest = found.into_values().flatten().collect();
        all.extend(newest.iter().copied());
    }
    Ok(all.into_iter().collect())
}
