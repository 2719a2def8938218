//! `experiment.log`: what happened, one line per event, with the time of the event.
//!
//! The document asks for the start and end of each phase, for progress, and for the statistics of
//! phase 8. Everything is derived from the facts and their recorded times, so a run always has the
//! same file, whenever it is made, and its digest can be recorded. During a run, the same lines are
//! written as each fact happens.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{CHECKPOINT, PARTICIPANTS, phase_files};
use crate::facts::Fact;
use crate::state::DeliberationState;
use crate::summary::{ConditionSummary, SecondVote, summary};
use retold::escaping::printable;
use retold::event::RunStarted;
use retold::id::{RunId, Time};
use retold::run::{Journal, OutputError, OutputFile, RunRecord, Update};

/// The longest excerpt of a message from a model or a server.
const SHOWN: usize = 500;

/// A phase's activity, by its number.
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

/// After this many facts of a kind, a line reports the progress of the phase.
const EVERY: u32 = 100;

/// The whole text.
pub(super) fn text(pilot_id: &str, record: &RunRecord<'_>) -> Result<String, OutputError> {
    let mut diary = Diary::new(pilot_id, &[]);
    diary.begin(record.first, record.run, &record.started);
    for (number, (fact, place)) in record.facts.iter().zip(&record.places).enumerate() {
        let fact =
            Fact::deserialize(fact).map_err(|e| OutputError::Fact { number, source: e.into() })?;
        diary.take(place.time, &fact);
    }
    match record.finished.as_ref().map(|finished| &finished.outcome) {
        Some(outcome) if outcome.is_finished() => diary.say(record.last, "INFO", "finished"),
        Some(other) => diary.say(record.last, "WARNING", other.as_str()),
        None => diary.say(record.last, "WARNING", "unfinished: this is as far as the log goes"),
    }
    Ok(diary.text)
}

/// The lines so far.
pub(in super::super) struct Diary {
    pilot_id: String,
    /// The options of the vote.
    options: Vec<String>,
    text: String,
    /// When the last thing happened.
    time: Time,
    /// The number of facts of each kind in the phase so far.
    counts: BTreeMap<&'static str, u32>,
    /// The state folded from the facts, for the statistics.
    state: DeliberationState,
}

impl Journal for Diary {
    fn lines(&mut self, told: Update<'_>) -> String {
        match told {
            Update::Began { run, started, time } => self.begin(time, run, started),
            // A fact that is not ours is reported where the log is read.
            Update::Fact { time, fact } => match serde_json::from_str(fact) {
                Ok(fact) => self.take(time, &fact),
                Err(e) => tracing::warn!("experiment.log lacks a fact: {e}"),
            },
            // The original program's log has nothing else.
            _ => {}
        }
        std::mem::take(&mut self.text)
    }

    fn file_names(&self) -> &'static [&'static str] {
        &[CHECKPOINT, PARTICIPANTS]
    }

    fn files(&self) -> Result<Vec<OutputFile>, OutputError> {
        let (pilot_id, time) = (self.pilot_id.as_str(), self.time.to_string());
        Ok(phase_files(pilot_id, &self.options, &self.state, &time)?.into())
    }
}

impl Diary {
    pub(in super::super) fn new(pilot_id: &str, options: &[String]) -> Self {
        Diary {
            pilot_id: pilot_id.to_owned(),
            options: options.to_vec(),
            text: String::new(),
            time: Time::default(),
            counts: BTreeMap::new(),
            state: DeliberationState::default(),
        }
    }

    /// The beginning of a run: the program, the seed and the kind of model.
    fn begin(&mut self, time: Time, run: RunId, started: &RunStarted) {
        let RunStarted { program, seed, model, .. } = started;
        let (pilot_id, kind) = (&self.pilot_id, model["kind"].as_str().unwrap_or("unknown"));
        let begins = format!("pilot {pilot_id}: run {run} of {program}, seed {seed}, model {kind}");
        self.say(time, "INFO", &begins);
        if started.is_simulated() {
            let warning = "SIMULATED: a program made these answers up; they are not data";
            self.say(time, "WARNING", warning);
        }
    }

    fn say(&mut self, time: Time, level: &str, message: &str) {
        self.text.push_str(&format!("{time} {level} {}\n", printable(message, SHOWN)));
    }

    /// The statistics that phase 8 collects: for each condition, the votes and the number of
    /// changed positions.
    fn statistics(&mut self, time: Time) {
        let reason = self.state.termination_reason.as_deref();
        let summary = summary(&self.pilot_id, reason, self.state.participants.values());
        let (mut all_voted, mut all_changed) = (0, 0);
        for (condition, row) in &summary.by_condition {
            let ConditionSummary { completed, initial_vote_distribution, second, .. } = row;
            let initial = distribution(initial_vote_distribution);
            let rest = match second {
                SecondVote::None { .. } => "no final votes".to_owned(),
                SecondVote::Cast {
                    final_vote_distribution,
                    position_changed,
                    position_changed_rate,
                } => {
                    let voted: u32 = final_vote_distribution.iter().map(|(_, n)| n).sum();
                    (all_voted, all_changed) = (all_voted + voted, all_changed + position_changed);
                    let share = position_changed_rate
                        .map_or_else(String::new, |rate| format!(" ({:.1} %)", rate * 100.0));
                    let votes = distribution(final_vote_distribution);
                    format!(
                        "final votes: {votes}; {position_changed} of {voted} changed position{share}"
                    )
                }
            };
            let condition = condition.as_str();
            let message =
                format!("{condition}: {completed} completed; initial votes: {initial}; {rest}");
            self.say(time, "INFO", &message);
        }
        let message = format!("{all_voted} voted twice, {all_changed} changed position");
        self.say(time, "INFO", &message);
    }

    fn take(&mut self, time: Time, fact: &Fact) {
        self.time = time;
        self.state.apply(fact);
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
            Fact::PhaseBegan { phase } => {
                let name = name(*phase);
                // Earlier facts are about the personas and do not belong to a phase.
                let counts = self.take_counts();
                if !counts.is_empty() {
                    self.say(time, "INFO", &format!("prepared{counts}"));
                }
                self.say(time, "INFO", &format!("phase {phase} ({name}) began"));
                return;
            }
            Fact::PhaseCompleted { phase } => {
                if *phase == 8 {
                    self.statistics(time);
                }
                let name = name(*phase);
                let counts = self.take_counts();
                self.say(time, "INFO", &format!("phase {phase} ({name}) completed{counts}"));
                return;
            }
        };
        let count = self.counts.entry(counted).or_default();
        *count += 1;
        if count.is_multiple_of(EVERY) {
            let message = format!("{count} {counted} so far");
            self.say(time, "INFO", &message);
        }
    }

    /// The counts for the end of a line; resets them.
    fn take_counts(&mut self) -> String {
        let counts = std::mem::take(&mut self.counts);
        let counts: Vec<String> = counts.iter().map(|(of, n)| format!("{n} {of}")).collect();
        if counts.is_empty() { String::new() } else { format!(": {}", counts.join(", ")) }
    }
}

/// A phase's activity.
fn name(phase: u8) -> &'static str {
    PHASES.get(usize::from(phase).wrapping_sub(1)).unwrap_or(&"unknown")
}

/// Votes by option, in words.
fn distribution(votes: &[(String, u32)]) -> String {
    let votes: Vec<String> = votes.iter().map(|(option, n)| format!("{option}: {n}")).collect();
    if votes.is_empty() { "none".to_owned() } else { votes.join(", ") }
}
