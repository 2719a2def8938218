//! Runs a recorded run again with other prompts: what still matches its record, and what would be
//! new.
//!
//! A changed prompt is counted and answered with what is recorded for its call and sample. Each
//! lane therefore continues to its end, and all other changes of a template are found as well. The
//! price: a later prompt that quotes a new answer is compared with a version that quotes the old
//! one. Such calls match here but might not match in a real run; [`Rehearsal::behind`] counts them,
//! lane by lane. Whatever lanes share, such as a summary of all positions, may spread the effect of
//! a new answer further, so the number of new calls is a lower bound. (Ending a lane at its first
//! change would miss everything after it, and making answers up would count nothing real.)
//!
//! A call that was never recorded has no answer. It fails, as any call to a model may, and the
//! experiment continues without it.

use std::collections::BTreeSet;

use super::history::Found;
use super::question::Asked;
use crate::id::{CallPath, PromptHash, Sample};
use crate::log::{LogError, Reader};
use crate::prompt::{Difference, Request, first_difference};

/// The lane of a call. Calls of one lane build on each other's answers; different lanes are
/// independent of each other.
pub type Lane = fn(&CallPath) -> String;

/// The second part of a path (`p_0007` of `clarification/p_0007/2/moderator`), or the whole path if
/// it has only one part.
pub(crate) fn second_part(call: &CallPath) -> String {
    call.as_str().split('/').nth(1).unwrap_or(call.as_str()).to_owned()
}

/// The result of a rehearsal. All counts are of questions, that is, of pairs of call and sample.
#[derive(Debug, Clone, Default)]
pub struct Rehearsal {
    /// Asked exactly as recorded.
    pub matching: u64,
    /// How many of the matching questions come after a change in their lane: they match only if new
    /// answers leave their prompts unchanged.
    pub behind: u64,
    /// Recorded with another prompt than the one asked now.
    pub changed: u64,
    /// Never recorded.
    pub unrecorded: u64,
    /// Recorded, but not asked any more.
    pub left: u64,
    /// Whether the recorded run was complete. If not, calls that it never reached are among the
    /// unrecorded ones.
    pub complete: bool,
    /// The first call of each lane that differs from the record, in the order asked.
    pub departures: Vec<Departure>,
}

/// A call that differs from the record.
#[derive(Debug, Clone)]
pub struct Departure {
    /// Its lane.
    pub lane: String,
    /// The call.
    pub call: CallPath,
    /// Its sample, from 0.
    pub sample: Sample,
    /// The request now.
    pub request: Request,
    /// The hash of the prompt recorded at this address; `None` if nothing is recorded.
    pub recorded: Option<PromptHash>,
    /// The first difference between the two; `None` if nothing is recorded.
    pub difference: Option<Difference>,
}

impl Rehearsal {
    /// Whether everything is asked as recorded.
    pub fn is_identical(&self) -> bool {
        self.changed == 0 && self.left == 0 && (self.unrecorded == 0 || !self.complete)
    }
}

/// A rehearsal under way.
#[derive(Debug, Default)]
pub(super) struct Rehearsing {
    found: Rehearsal,
    /// The lanes that differ from the record.
    departed: BTreeSet<String>,
}

impl Rehearsing {
    /// Counts a question.
    pub(super) fn note(&mut self, lane: Lane, asked: &Asked, found: Option<&Found>) {
        let lane = lane(&asked.call);
        let departed = self.departed.contains(&lane);
        match found {
            Some(found) if found.prompt == asked.prompt() => {
                self.found.matching += 1;
                self.found.behind += u64::from(departed);
                return;
            }
            Some(_) => self.found.changed += 1,
            None => self.found.unrecorded += 1,
        }
        if departed {
            return;
        }
        self.departed.insert(lane.clone());
        let Asked { call, sample, request, .. } = asked.clone();
        let recorded = found.map(|found| found.prompt);
        let departure = Departure { lane, call, sample, request, recorded, difference: None };
        self.found.departures.push(departure);
    }

    /// Ends the rehearsal: `left` recorded exchanges were not asked for.
    pub(super) fn ended(
        &mut self,
        left: u64,
        complete: bool,
        reader: &mut dyn Reader,
    ) -> Result<Rehearsal, LogError> {
        let mut found = std::mem::take(&mut self.found);
        (found.left, found.complete) = (left, complete);
        // Beyond the point where the recorded run was cut off, nothing can differ from it.
        found.departures.retain(|departure| complete || departure.recorded.is_some());
        for departure in &mut found.departures {
            let Some(prompt) = departure.recorded else { continue };
            let recorded = reader.request(prompt)?;
            departure.difference =
                recorded.and_then(|recorded| first_difference(&recorded, &departure.request));
        }
        Ok(found)
    }
}
