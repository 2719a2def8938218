//! Which decisions are in force: those recorded in a run, and those that were accepted about its
//! answers, as runs of their own. Recorded decisions are never replaced in the run itself.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::compare::{CallCounts, RunSide, compare};
use crate::counted::{counted, grouped};
use crate::event::Event;
use crate::exchange::{accepted_about, read_decides_about};
use crate::id::{CallPath, RunId, Sample};
use crate::log::{LogError, Reader, RunEvents};

/// The longest run whose accepted decisions are compared with its own, in events.
const MOST_COMPARED: u64 = 100_000;

/// Two sets of decisions about the same answers.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct DecisionReplacement {
    /// The other run.
    pub run: RunId,
    /// The accepted decisions; `None` if they were not compared.
    #[serde(skip)]
    pub accepted: Option<u64>,
    /// Decisions that both have; `None` if they were not compared.
    pub decisions: Option<u64>,
    /// How many of these have another value.
    pub flips: Option<u64>,
    /// How many of the accepted decisions are in force: no later run decides about their answers.
    /// `None` if they were not compared.
    pub in_force: Option<u64>,
}

/// What is known about the decisions of a run besides the run itself.
#[derive(Debug, Clone, Default, Serialize)]
pub struct EffectiveDecisions {
    /// The runs of accepted decisions about its answers, in the order in which they were accepted.
    pub accepted: Vec<DecisionReplacement>,
    /// For a run of accepted decisions: the run whose answers they are about.
    pub decides_about: Option<DecisionReplacement>,
    /// Whether that run is not in this log.
    pub is_elsewhere: bool,
    /// For a run of accepted decisions: the runs of decisions that were accepted later about the same
    /// run.
    pub later: Vec<RunId>,
}

/// Finds out which other decisions there are about the answers of a run. `reader` and `others` read
/// the same log.
///
/// # Errors
/// [`LogError`] if the log or the beginning of the run cannot be read.
pub fn effective_decisions(
    reader: &mut dyn Reader,
    others: &mut dyn Reader,
    run: RunId,
) -> Result<EffectiveDecisions, LogError> {
    let mut found = EffectiveDecisions::default();
    if let Some(of) = read_decides_about(reader, run)? {
        found.is_elsewhere = !reader.runs()?.iter().any(|head| head.run == of);
        let accepted = accepted_about(others, of)?;
        let mut counts = counts_in_force(others, &accepted)?.into_iter();
        let at = accepted.iter().position(|accepted| *accepted == run);
        found.later = at.map_or(Vec::new(), |at| accepted[at + 1..].to_vec());
        let replaced = match found.is_elsewhere {
            true => DecisionReplacement {
                accepted: None,
                run: of,
                decisions: None,
                flips: None,
                in_force: None,
            },
            false => replaced(others, reader, of, run, of)?,
        };
        let in_force = at.and_then(|at| counts.nth(at)?);
        found.decides_about = Some(DecisionReplacement { in_force, ..replaced });
        return Ok(found);
    }
    let accepted = accepted_about(others, run)?;
    let counts = counts_in_force(others, &accepted)?;
    for (accepted, in_force) in accepted.into_iter().zip(counts) {
        let replaced = replaced(reader, others, run, accepted, accepted)?;
        found.accepted.push(DecisionReplacement { in_force, ..replaced });
    }
    Ok(found)
}

/// How many of the decisions of each of these runs are in force: no later one has a decision about the
/// same answer. `None` if that is not known, because it or a later one is too long.
fn counts_in_force(
    reader: &mut dyn Reader,
    accepted: &[RunId],
) -> Result<Vec<Option<u64>>, LogError> {
    let (mut decided, mut is_known) = (BTreeSet::new(), true);
    let mut counts = Vec::new();
    for run in accepted.iter().rev() {
        is_known = is_known && !is_long(reader, *run)?;
        let mut count = None;
        if is_known {
            let theirs = decided_about(reader, *run)?;
            count = Some(theirs.difference(&decided).count() as u64);
            decided.extend(theirs);
        }
        counts.push(count);
    }
    counts.reverse();
    Ok(counts)
}

/// The choices of answers that a run of accepted decisions is about: the decisions about an answer come after it, and
/// its question, in which its call is, before it.
fn decided_about(
    reader: &mut dyn Reader,
    run: RunId,
) -> Result<BTreeSet<(CallPath, Sample, u32)>, LogError> {
    let (mut events, mut found) = (RunEvents::new(run), BTreeSet::new());
    let (mut questions, mut answers) = (BTreeMap::new(), BTreeMap::new());
    // A damaged run is reported by commands that are about it.
    while let Ok(Some(stored)) = events.next(reader) {
        match stored.event() {
            Ok(Event::RequestSent(sent)) => {
                questions.insert(stored.seq, (sent.call, sent.sample));
            }
            Ok(Event::AnswerReused(reused)) => {
                answers.extend(questions.remove(&reused.request).map(|of| (stored.seq, of)));
            }
            Ok(Event::DecisionMade(made)) => {
                let choice = made.details.choice.unwrap_or(0);
                let of = answers.get(&made.response).cloned();
                found.extend(of.map(|(call, sample)| (call, sample, choice)));
            }
            _ => {}
        }
    }
    Ok(found)
}

/// Whether a run of accepted decisions is about several choices of one answer, or about others than the first.
fn is_about_choices(reader: &mut dyn Reader, run: RunId) -> Result<bool, LogError> {
    Ok(decided_about(reader, run)?.iter().any(|(.., choice)| *choice > 0))
}

fn is_long(reader: &mut dyn Reader, run: RunId) -> Result<bool, LogError> {
    let head = reader.runs()?.into_iter().find(|head| head.run == run);
    Ok(head.is_none_or(|head| head.head.seq.0 > MOST_COMPARED))
}

/// Compares recorded decisions with accepted ones; `shown` is the one that is named.
fn replaced(
    one: &mut dyn Reader,
    other: &mut dyn Reader,
    recorded: RunId,
    accepted: RunId,
    shown: RunId,
) -> Result<DecisionReplacement, LogError> {
    let unknown = DecisionReplacement {
        run: shown,
        accepted: None,
        decisions: None,
        flips: None,
        in_force: None,
    };
    if is_long(one, recorded)? || is_long(other, accepted)? {
        return Ok(unknown);
    }
    // The comparison takes all decisions about an answer together.
    if is_about_choices(other, accepted)? {
        return Ok(unknown);
    }
    let (one, other) =
        (RunSide { reader: one, run: recorded }, RunSide { reader: other, run: accepted });
    // A damaged run is reported by commands that are about it.
    let Ok(compared) = compare(one, other) else { return Ok(unknown) };
    // Each question of the accepted ones has a decision.
    let CallCounts { decided, same_value, other: accepted, .. } = compared.calls;
    let (decisions, flips) = (Some(decided), Some(decided - same_value));
    Ok(DecisionReplacement { accepted: Some(accepted), decisions, flips, ..unknown })
}

impl EffectiveDecisions {
    /// Whether there is anything to say.
    pub fn is_plain(&self) -> bool {
        self.accepted.is_empty() && self.decides_about.is_none()
    }

    /// What there is to say, line by line: which decisions are in force, and which are not any more.
    pub fn lines(&self) -> Vec<String> {
        if let Some(of) = &self.decides_about {
            return vec![self.about(of)];
        }
        let as_recorded = "the decisions of this run itself are as they were recorded".to_owned();
        match self.accepted.as_slice() {
            [] => Vec::new(),
            [one] => {
                let run = one.run;
                let compared = one.compared();
                vec![
                    format!(
                        "decisions accepted about these answers are in force, in run {run}{compared}"
                    ),
                    as_recorded,
                ]
            }
            several => {
                let mut lines = vec![format!(
                    "decisions about these answers were accepted {}; of each answer, the one that was accepted last is in force",
                    counted(several.len() as u64, "time")
                )];
                lines.extend(several.iter().map(|accepted| {
                    let DecisionReplacement { run, accepted: all, in_force, .. } = accepted;
                    let in_force = match (in_force, all) {
                        (None, _) => String::new(),
                        (Some(0), _) => "; none is in force any more".to_owned(),
                        (Some(some), Some(all)) if some == all => "; all are in force".to_owned(),
                        (Some(some), _) => format!("; {} in force", grouped(*some)),
                    };
                    format!("in run {run}{}{in_force}", accepted.compared())
                }));
                lines.push(as_recorded);
                lines
            }
        }
    }

    /// What there is to say about a run of accepted decisions.
    fn about(&self, of: &DecisionReplacement) -> String {
        let elsewhere = if self.is_elsewhere { ", which is not in this log" } else { "" };
        let later: Vec<String> = self.later.iter().map(ToString::to_string).collect();
        let later = later.join(", ");
        let stand = match of.in_force {
            _ if self.later.is_empty() && of.decisions == Some(0) => "they are in force".to_owned(),
            _ if self.later.is_empty() => "they replace the ones recorded there".to_owned(),
            Some(0) => format!("none of them is in force any more: later ones are in run {later}"),
            Some(some) => format!(
                "{} of them in force, the others are replaced by later ones, in run {later}",
                grouped(some)
            ),
            None => format!("where run {later} decides about the same answer, that is in force"),
        };
        let compared = of.compared();
        format!(
            "accepted decisions about the answers of run {}{elsewhere}{compared}; {stand}",
            of.run
        )
    }
}

impl DecisionReplacement {
    /// How the two sets differ, if they were compared.
    fn compared(&self) -> String {
        let (Some(accepted), Some(both), Some(flips)) = (self.accepted, self.decisions, self.flips)
        else {
            return String::new();
        };
        let all = counted(accepted, "decision");
        match both {
            0 => format!(": {all}, all about answers without a recorded decision"),
            both if both == accepted => format!(": {all}, {} with another value", grouped(flips)),
            both => format!(
                ": {all}, {} about answers with a recorded decision, {} of these with another value",
                grouped(both),
                grouped(flips)
            ),
        }
    }
}
