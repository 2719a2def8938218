//! Which decisions are in force: those recorded in a run, and those that were accepted about its
//! answers, as runs of their own. Recorded decisions are never replaced in the run itself.

use serde::Serialize;

use crate::compare::{CallCounts, Side, compare, usual_lane};
use crate::exchange::decides_about;
use crate::id::RunId;
use crate::log::{LogError, Reader};
use crate::run::started;

/// The longest run whose accepted decisions are compared with its own, in events.
const MOST_COMPARED: u64 = 100_000;

/// Two sets of decisions about the same answers.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Replaced {
    /// The other run.
    pub run: RunId,
    /// Decisions that both have; `None` if they were not compared.
    pub decisions: Option<u64>,
    /// How many of these have another value.
    pub flips: Option<u64>,
}

/// What is known about the decisions of a run besides the run itself.
#[derive(Debug, Clone, Default, Serialize)]
pub struct InForce {
    /// The runs of accepted decisions about its answers.
    pub accepted: Vec<Replaced>,
    /// For a run of accepted decisions: the run whose answers they are about.
    pub decides_about: Option<Replaced>,
    /// Whether that run is not in this log.
    pub is_elsewhere: bool,
}

/// Finds out which other decisions there are about the answers of a run. `reader` and `others` read
/// the same log.
///
/// # Errors
/// [`LogError`] if the log or the beginning of the run cannot be read.
pub fn in_force(
    reader: &mut dyn Reader,
    others: &mut dyn Reader,
    run: RunId,
) -> Result<InForce, LogError> {
    let first = started(reader, run)?;
    let heads = reader.runs()?;
    let mut found = InForce::default();
    if let Some(of) = decides_about(&first) {
        found.is_elsewhere = !heads.iter().any(|head| head.run == of);
        found.decides_about = Some(match found.is_elsewhere {
            true => Replaced { run: of, decisions: None, flips: None },
            false => replaced(others, reader, (of, run), of)?,
        });
        return Ok(found);
    }
    for head in heads.iter().filter(|head| head.run != run) {
        // A damaged run is reported by commands that are about it.
        let Ok(theirs) = started(others, head.run) else { continue };
        if decides_about(&theirs) == Some(run) {
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
) -> Result<Replaced, LogError> {
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
    pub fn is_plain(&self) -> bool {
        self.accepted.is_empty() && self.decides_about.is_none()
    }
}
