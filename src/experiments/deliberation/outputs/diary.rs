//! `experiment.log`: what happened, a line each, with the time of the event that says so.
//!
//! The document names the file and not what is in it (the original's is empty). It is told from the
//! facts: phases, the check of the threshold, and every failure with the call that failed.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::experiments::deliberation::facts::Fact;
use crate::id::Time;
use crate::inert::inert;
use crate::run::{OutputError, RunRecord};

/// The longest message that is shown of what a model or a server said.
const SHOWN: usize = 500;

/// What a phase does, by its number.
const PHASES: [&str; 9] = [
    "initial vote",
    "threshold check",
    "clarification",
    "summaries and clusters",
    "opposition",
    "cross-pollination",
    "adversarial dialogue",
    "final votes",
    "save",
];

/// The whole text.
pub(super) fn text(pilot_id: &str, record: &RunRecord<'_>) -> Result<String, OutputError> {
    let started = &record.started;
    let kind = started.model["kind"].as_str().unwrap_or("unknown");
    let mut diary = Diary::default();
    let begins = format!(
        "pilot {pilot_id}: run {} of {}, seed {}, model {kind}",
        record.run, started.program, started.seed
    );
    diary.say(record.first, "INFO", &begins);
    if started.is_simulated() {
        let warning = "SIMULATED: a program made these answers up; they are no data";
        diary.say(record.first, "WARNING", warning);
    }
    for (number, (fact, place)) in record.facts.iter().zip(&record.places).enumerate() {
        let fact = Fact::deserialize(fact)
            .map_err(|e| OutputError::Fact { number, reason: e.to_string() })?;
        diary.take(place.time, &fact);
    }
    match record.finished.as_ref().map(|finished| &finished.outcome) {
        Some(outcome) if outcome.is_finished() => diary.say(record.last, "INFO", "finished"),
        Some(other) => diary.say(record.last, "WARNING", other.as_str()),
        None => diary.say(record.last, "WARNING", "unfinished: this is as far as the log goes"),
    }
    Ok(diary.text)
}

#[derive(Default)]
struct Diary {
    text: String,
    /// How many facts of each kind the phase has had so far.
    counts: BTreeMap<&'static str, u32>,
}

impl Diary {
    fn say(&mut self, time: Time, level: &str, message: &str) {
        self.text.push_str(&format!("{time} {level} {}\n", inert(message, SHOWN)));
    }

    fn take(&mut self, time: Time, fact: &Fact) {
        let counted = match fact {
            Fact::Enrolled { .. } => "enrolled",
            Fact::PersonaEnriched { .. } => "personas enriched",
            Fact::PersonaDrawn { .. } => "personas drawn from the pool",
            Fact::SparePersonaMade { .. } => "personas made for the pool",
            Fact::InitialVoteCast { .. } | Fact::FinalVoteCast { .. } => "votes",
            Fact::InitialVoteExplained { .. } => "explanations taken over",
            Fact::Clarified { .. } | Fact::Challenged { .. } => "dialogues",
            Fact::Summarised { .. } => "summaries",
            Fact::SummaryEmbedded { .. } => "vectors",
            Fact::ClusterFormed { .. } => "clusters",
            Fact::ClusterDescribed { .. } => "descriptions",
            Fact::OppositionChosen { .. } => "opposing views",
            Fact::SummaryPrepared { .. } => return,
            Fact::SummaryShown { .. } => "shown",
            Fact::ThresholdChecked { votes, termination_reason } => {
                let votes: Vec<String> =
                    votes.iter().map(|(option, n)| format!("{option}: {n}")).collect();
                self.say(time, "INFO", &format!("votes: {}", votes.join(", ")));
                if let Some(reason) = termination_reason {
                    self.say(time, "WARNING", &format!("terminated early: {reason}"));
                }
                return;
            }
            Fact::ParticipantFailed { participant_id, call, sample, reason } => {
                let message =
                    format!("{participant_id} failed at {call} sample {sample}: {reason}");
                self.say(time, "ERROR", &message);
                "failed"
            }
            Fact::ClusterFailed { cluster_id, reason } => {
                self.say(time, "ERROR", &format!("cluster {cluster_id} failed: {reason}"));
                "clusters failed"
            }
            Fact::TakenOver { phases } => {
                let message = format!("taken over from an original run: phases {phases:?}");
                self.say(time, "INFO", &message);
                return;
            }
            Fact::PhaseCompleted { phase } => {
                let name = PHASES.get(usize::from(*phase).wrapping_sub(1)).unwrap_or(&"unknown");
                let counts = std::mem::take(&mut self.counts);
                let counts: Vec<String> =
                    counts.iter().map(|(of, n)| format!("{n} {of}")).collect();
                let counts = match counts.is_empty() {
                    true => String::new(),
                    false => format!(": {}", counts.join(", ")),
                };
                self.say(time, "INFO", &format!("phase {phase} ({name}) completed{counts}"));
                return;
            }
        };
        *self.counts.entry(counted).or_default() += 1;
    }
}
