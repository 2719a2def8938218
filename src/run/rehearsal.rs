//! Executing a run again with other prompts: what still matches its record, what would be new.
//!
//! A changed prompt is counted and answered with what is recorded at its call and sample. So each
//! lane goes on to its end, and every other change of a template is found, too. The price: a later
//! prompt that quotes a new answer is compared with the old answer in it. Such calls still match
//! here, and might not when they are recorded; [`Rehearsal::behind`] counts them, lane by lane. What
//! lanes share, such as a summary of all positions, may carry a new answer further: the count of new
//! calls is a least one. (To end a lane at its first change would count nothing behind it, and to make
//! answers up would count nothing real.)
//!
//! A call that was never recorded has no answer at all. It fails, as a call to a model may, and the
//! experiment goes on without it.

use std::collections::BTreeSet;

use super::history::Found;
use super::question::Asked;
use crate::id::{CallPath, PromptHash, Sample};
use crate::log::{LogError, Reader};
use crate::prompt::{Difference, Request, first_difference};

/// The lane of a call: calls of one lane build on each other's answers, those of different lanes are
/// asked side by side.
pub type Lane = fn(&CallPath) -> String;

/// The second part of a path (`p_0007` of `clarification/p_0007/2/moderator`), or all of a path that
/// has no second.
pub(super) fn second_part(call: &CallPath) -> String {
    call.as_str().split('/').nth(1).unwrap_or(call.as_str()).to_owned()
}

/// What a rehearsal found. All counts are of questions: a call and a sample.
#[derive(Debug, Clone, Default)]
pub struct Rehearsal {
    /// Asked exactly as recorded.
    pub matching: u64,
    /// Of the matching, those that come after a change in their lane: they match as long as new
    /// answers leave their prompts as they are.
    pub behind: u64,
    /// Recorded with another prompt than is asked now.
    pub changed: u64,
    /// Never recorded.
    pub unrecorded: u64,
    /// Recorded and not asked any more.
    pub left: u64,
    /// Whether the recorded run came to its end. If not, calls that it never got to are among the
    /// unrecorded.
    pub complete: bool,
    /// The first call of each lane that is not as recorded, in the order asked.
    pub departures: Vec<Departure>,
}

/// A call that is not as recorded.
#[derive(Debug, Clone)]
pub struct Departure {
    /// Its lane.
    pub lane: String,
    /// The call.
    pub call: CallPath,
    /// Its sample, from 0.
    pub sample: Sample,
    /// What is asked now.
    pub request: Request,
    /// The hash of the prompt recorded at this address; `None` if there is none.
    pub recorded: Option<PromptHash>,
    /// Where the two part; `None` if nothing is recorded.
    pub difference: Option<Difference>,
}

impl Rehearsal {
    /// Whether everything is asked as it was recorded.
    pub fn is_identical(&self) -> bool {
        self.changed == 0 && self.left == 0 && (self.unrecorded == 0 || !self.complete)
    }
}

/// A rehearsal under way.
#[derive(Debug, Default)]
pub(super) struct Rehearsing {
    found: Rehearsal,
    /// The lanes that are not as recorded.
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

    /// The end: `left` recorded exchanges were not asked for.
    pub(super) fn ended(
        &mut self,
        left: u64,
        complete: bool,
        reader: &mut dyn Reader,
    ) -> Result<Rehearsal, LogError> {
        let mut found = std::mem::take(&mut self.found);
        (found.left, found.complete) = (left, complete);
        // Where the recorded run was cut off, nothing departs from it.
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
