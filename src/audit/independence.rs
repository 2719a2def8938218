//! Decisions that rest on one recorded answer, which are not independent of each other. Others may depend on
//! each other all the same.

use std::collections::{BTreeMap, BTreeSet};

use super::error::AuditError;
use crate::event::Event;
use crate::id::{CallPath, RunId, Sample, Seq};
use crate::log::{LogError, Reader, RunEvents};

/// What the decisions of a run rest on.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Independence {
    /// By the kind of call, which is its parts without those that have a digit, such as `final_vote`;
    /// and by what was decided, such as `vote`.
    pub kinds: BTreeMap<(String, String), Sizes>,
    /// The answers on which several decisions rest, in the order of the log.
    pub shared: Vec<SharedAnswer>,
}

/// How many decisions there are, and how much they are worth.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Sizes {
    /// The decisions.
    pub decisions: u64,
    /// The recorded answers on which they rest.
    pub answers: u64,
    /// The effective sample size: the square of the number of decisions over the sum of the squares
    /// of the numbers that rest on each answer (Kish 1965, for clusters whose members are equal).
    /// From 1 to `decisions`. `None` if the decisions may depend on each other in another way: a prompt was
    /// made from earlier answers or facts, or the run does not say what its prompts were made from.
    pub effective: Option<f64>,
}

/// A recorded answer on which several decisions rest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedAnswer {
    /// The run that recorded it.
    pub run: RunId,
    /// The event there.
    pub seq: Seq,
    /// What they decide.
    pub decides: String,
    /// The decisions, with the calls that they were made for.
    pub decisions: Vec<(Seq, CallPath, Sample)>,
}

/// Finds the decisions of a run that share a recorded answer: the first of a prompt, which later
/// calls reuse, or one of another run that several calls of a fork reuse. Decisions of different
/// things, such as a choice and its reason, are not compared.
///
/// # Errors
/// [`LogError`] if the run cannot be read.
pub fn independence(reader: &mut dyn Reader, run: RunId) -> Result<Independence, AuditError> {
    let mut asked: BTreeMap<Seq, (CallPath, Sample)> = BTreeMap::new();
    let mut declares = false;
    // The kinds of call of which a prompt was made from something earlier.
    let mut dependent: BTreeSet<String> = BTreeSet::new();
    // The question and the origin of each answer, and what rests on each origin.
    let mut answers: BTreeMap<Seq, (Seq, (RunId, Seq))> = BTreeMap::new();
    let mut resting: BTreeMap<Draw, Vec<(Seq, Seq)>> = BTreeMap::new();
    let mut events = RunEvents::new(run);
    while let Some(stored) = events.next(reader)? {
        match stored.event().map_err(LogError::from)? {
            Event::RunStarted(started) => declares = started.is_of_experiment(),
            Event::RequestSent(sent) => {
                if !sent.because.is_empty() {
                    dependent.insert(kind(&sent.call));
                }
                asked.insert(stored.seq, (sent.call, sent.sample));
            }
            Event::ResponseReceived(received) => {
                answers.insert(stored.seq, (received.request, (run, stored.seq)));
            }
            Event::AnswerReused(reused) => {
                // An answer that was itself reused in this run has its own origin.
                let from = (reused.from_run, reused.from_seq);
                let known = answers.get(&reused.from_seq).filter(|_| reused.from_run == run);
                let origin = known.map_or(from, |(_, origin)| *origin);
                answers.insert(stored.seq, (reused.request, origin));
            }
            Event::DecisionMade(made) => {
                if let Some((question, (run, seq))) = answers.get(&made.response) {
                    // Each choice of an answer was drawn by itself.
                    let choice = made.details.choice.unwrap_or(0);
                    let of = (*run, *seq, choice, made.by.decides().to_owned());
                    resting.entry(of).or_default().push((stored.seq, *question));
                }
            }
            _ => {}
        }
    }
    let mut found = Independence::default();
    let mut squares: BTreeMap<(String, String), u64> = BTreeMap::new();
    for ((run, seq, _, decides), decisions) in resting {
        let calls = decisions.iter().filter_map(|(seq, question)| {
            let (call, sample) = asked.get(question)?;
            Some((*seq, call.clone(), *sample))
        });
        let calls: Vec<_> = calls.collect();
        let mut by_kind: BTreeMap<String, u64> = BTreeMap::new();
        for (_, call, _) in &calls {
            *by_kind.entry(kind(call)).or_default() += 1;
        }
        for (kind, count) in by_kind {
            let kind = (kind, decides.clone());
            *squares.entry(kind.clone()).or_default() += count * count;
            let sizes = found.kinds.entry(kind).or_default();
            sizes.decisions += count;
            sizes.answers += 1;
        }
        if calls.len() > 1 {
            found.shared.push(SharedAnswer { run, seq, decides, decisions: calls });
        }
    }
    for (kind, sizes) in &mut found.kinds {
        if declares && !dependent.contains(&kind.0) {
            let square = squares.get(kind).copied().unwrap_or(1).max(1);
            sizes.effective = Some((sizes.decisions as f64).powi(2) / square as f64);
        }
    }
    found.shared.sort_by_key(|shared| shared.decisions.first().map(|(seq, ..)| *seq));
    Ok(found)
}

/// What decisions rest on: a run, an answer recorded in it, one of its choices; and what they decide.
type Draw = (RunId, Seq, u32, String);

/// The kind of a call.
fn kind(call: &CallPath) -> String {
    let has_digit = |part: &&str| part.bytes().any(|byte| byte.is_ascii_digit());
    call.as_str().split('/').filter(|part| !has_digit(part)).collect::<Vec<_>>().join("/")
}
