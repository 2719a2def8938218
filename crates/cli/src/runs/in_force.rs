//! Which decisions are in force: those recorded in a run, and those that were accepted about its
//! answers, as runs of their own.

use std::fmt::Write;

use serde::Serialize;

use crate::error::CliError;
use crate::output::{counted, grouped};
use crate::select;
use retold::compare::{CallCounts, Side, compare, usual_lane};
use retold::event::RunStarted;
use retold::exchange::DECISIONS;
use retold::id::RunId;
use retold::log::{LogError, Reader};

/// The longest run whose accepted decisions are compared with its own, in events.
const MOST_COMPARED: u64 = 100_000;

/// Two sets of decisions about the same answers.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Replaced {
    /// The other run.
    pub(crate) run: RunId,
    /// Decisions that both have; `None` if they were not compared.
    pub(crate) decisions: Option<u64>,
    /// How many of these have another value.
    pub(crate) flips: Option<u64>,
}

/// What is known about the decisions of a run besides the run itself.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct InForce {
    /// The runs of accepted decisions about its answers.
    pub(crate) accepted: Vec<Replaced>,
    /// For a run of accepted decisions: the run whose answers they are about.
    pub(crate) decides_about: Option<Replaced>,
    /// Whether that run is not in this log.
    pub(crate) is_elsewhere: bool,
}

/// The run whose answers a run of accepted decisions is about.
fn original(started: &RunStarted) -> Option<RunId> {
    let of = started.settings["of"]["run"].as_str()?;
    of.parse().ok().filter(|_| started.experiment == DECISIONS)
}

/// Finds out which other decisions there are about the answers of a run.
pub(crate) fn in_force(
    reader: &mut dyn Reader,
    others: &mut dyn Reader,
    run: RunId,
) -> Result<InForce, CliError> {
    let started = select::started(reader, run)?;
    let heads = reader.runs()?;
    let mut found = InForce::default();
    if let Some(of) = original(&started) {
        found.is_elsewhere = !heads.iter().any(|head| head.run == of);
        found.decides_about = Some(match found.is_elsewhere {
            true => Replaced { run: of, decisions: None, flips: None },
            false => replaced(others, reader, (of, run), of)?,
        });
        return Ok(found);
    }
    for head in heads.iter().filter(|head| head.run != run) {
        // A damaged run is reported by commands that are about it.
        let Ok(theirs) = retold::run::started(others, head.run) else { continue };
        if original(&theirs) == Some(run) {
            found.accepted.push(replaced(reader, others, (run, head.run), head.run)?);
        }
    }
    Ok(found)
}

/// Compares recorded decisions with accepted ones; `shown` is the one that is named.
fn replaced(
    one: &mut dyn Reader,
    other: &mut dyn Reader,
    (recorded, accepted): (RunId, RunId),
    shown: RunId,
) -> Result<Replaced, CliError> {
    let long = |reader: &mut dyn Reader, run: RunId| -> Result<bool, LogError> {
        let head = reader.runs()?.into_iter().find(|head| head.run == run);
        Ok(head.is_none_or(|head| head.head.seq.0 > MOST_COMPARED))
    };
    let unknown = Replaced { run: shown, decisions: None, flips: None };
    if long(one, recorded)? || long(other, accepted)? {
        return Ok(unknown);
    }
    let (one, other) = (Side { reader: one, run: recorded }, Side { reader: other, run: accepted });
    // A damaged run is reported by commands that are about it.
    let Ok(compared) = compare(one, other, &usual_lane) else { return Ok(unknown) };
    let CallCounts { decided, same_value, .. } = compared.calls;
    Ok(Replaced { run: shown, decisions: Some(decided), flips: Some(decided - same_value) })
}

impl InForce {
    /// Whether there is anything to say.
    pub(crate) fn is_plain(&self) -> bool {
        self.accepted.is_empty() && self.decides_about.is_none()
    }

    /// Lines for people; empty if there is nothing to say.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        let compared = |replaced: &Replaced| match (replaced.decisions, replaced.flips) {
            (Some(decisions), Some(flips)) => {
                format!(
                    ": {}, {} with another value",
                    counted(decisions, "decision"),
                    grouped(flips)
                )
            }
            _ => String::new(),
        };
        // Writing to a string cannot fail, here and below.
        for replaced in &self.accepted {
            let run = replaced.run;
            let _ = writeln!(
                text,
                "decisions accepted about these answers are in run {run}{}",
                compared(replaced)
            );
        }
        if !self.accepted.is_empty() {
            text.push_str("the decisions of this run itself are as they were recorded\n");
        }
        if let Some(of) = &self.decides_about {
            let elsewhere = if self.is_elsewhere { ", which is not in this log" } else { "" };
            let _ = writeln!(
                text,
                "accepted decisions about the answers of run {}{elsewhere}; they replace the ones recorded there{}",
                of.run,
                compared(of)
            );
        }
        text
    }
}
