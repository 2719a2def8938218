//! Statistics about the participants: the document's `summary.json`, and a table for people.

use std::fmt::Write;

use serde::{Serialize, Serializer};

use super::conditions::Condition;
use super::state::{DeliberationState, Participant, ParticipantStatus};
use super::transcript::Votes;
use retold::members::Members;
use retold::run::{FailedParts, Report};

/// The document's `summary.json`: all its keys, in the order of the original outputs.
///
/// Votes and changes are counted for participants who completed; failed ones are only in `failed`
/// and `total`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DeliberationSummary {
    /// From the config.
    pub pilot_id: String,
    /// Whether phase 2 ended it.
    pub terminated_early: bool,
    /// Why it did.
    pub termination_reason: Option<String>,
    /// The number of enrolled participants.
    pub total_participants: usize,
    /// In the document's order.
    #[serde(serialize_with = "pairs")]
    pub by_condition: Vec<(Condition, ConditionSummary)>,
}

/// The figures of one condition.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ConditionSummary {
    /// The number of enrolled participants.
    pub total: usize,
    /// The number who completed it.
    pub completed: usize,
    /// The number who failed; in an unfinished run, the others are not finished yet.
    pub failed: usize,
    /// Votes by option, in the order in which the options were first chosen.
    #[serde(serialize_with = "pairs")]
    pub initial_vote_distribution: Vec<(String, u32)>,
    /// The second votes.
    #[serde(flatten)]
    pub second: SecondVote,
}

/// The second votes of a condition.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum SecondVote {
    /// There are none: participants who vote only once cannot change.
    None {
        /// Always null.
        position_changed: (),
        /// Always null.
        position_changed_rate: (),
        /// Always null.
        final_vote_distribution: (),
    },
    /// There are second votes.
    Cast {
        /// Votes by option, in the order in which the options were first chosen.
        #[serde(serialize_with = "pairs")]
        final_vote_distribution: Vec<(String, u32)>,
        /// How many chose a different option than before.
        position_changed: usize,
        /// Their share of those who voted twice, from 0 to 1; null if nobody did.
        position_changed_rate: Option<f64>,
    },
}

/// Pairs as an object, in their order.
pub(super) fn pairs<K: Serialize, V: Serialize, S: Serializer>(
    pairs: &[(K, V)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(pairs.iter().map(|(key, value)| (key, value)))
}

/// The statistics of some participants, in the order of their ids.
pub fn summary<'a>(
    pilot_id: &str,
    termination_reason: Option<&str>,
    participants: impl IntoIterator<Item = &'a Participant>,
) -> DeliberationSummary {
    let participants: Vec<&Participant> = participants.into_iter().collect();
    let of = |condition: &Condition| {
        let of_it: Vec<&Participant> =
            participants.iter().copied().filter(|p| p.condition == *condition).collect();
        (*condition, of_condition(*condition, &of_it))
    };
    DeliberationSummary {
        pilot_id: pilot_id.to_owned(),
        terminated_early: termination_reason.is_some(),
        termination_reason: termination_reason.map(str::to_owned),
        total_participants: participants.len(),
        by_condition: Condition::ALL.iter().map(of).collect(),
    }
}

fn of_condition(condition: Condition, participants: &[&Participant]) -> ConditionSummary {
    let completed: Vec<&Participant> =
        participants.iter().copied().filter(|p| p.status == ParticipantStatus::Complete).collect();
    let failed = participants.iter().filter(|p| p.status == ParticipantStatus::Failed).count();
    let second = match condition {
        Condition::SimpleVoting => SecondVote::None {
            position_changed: (),
            position_changed_rate: (),
            final_vote_distribution: (),
        },
        Condition::SimplePassive | Condition::ClarifiedPassive | Condition::Acp => {
            let voted = completed.iter().filter(|p| p.final_choice.is_some()).count();
            let changed = completed.iter().filter(|p| p.position_changed == Some(true)).count();
            SecondVote::Cast {
                final_vote_distribution: distribution(&completed, |p| p.final_choice.as_deref()),
                position_changed: changed,
                position_changed_rate: (voted > 0).then(|| changed as f64 / voted as f64),
            }
        }
    };
    ConditionSummary {
        total: participants.len(),
        completed: completed.len(),
        failed,
        initial_vote_distribution: distribution(&completed, |p| p.initial_choice.as_deref()),
        second,
    }
}

/// Votes by option, in the order in which the options were first chosen.
fn distribution(
    participants: &[&Participant],
    choice: impl Fn(&Participant) -> Option<&str>,
) -> Vec<(String, u32)> {
    let mut counts: Vec<(String, u32)> = Vec::new();
    for option in participants.iter().filter_map(|p| choice(p)) {
        match counts.iter_mut().find(|(known, _)| known == option) {
            Some((_, count)) => *count += 1,
            None => counts.push((option.to_owned(), 1)),
        }
    }
    counts
}

/// Counts votes.
pub(super) fn votes<'a>(choices: impl Iterator<Item = &'a str>) -> Votes {
    let mut votes = Votes::new();
    choices.for_each(|choice| *votes.entry(choice.to_owned()).or_default() += 1);
    votes
}

/// If all participants failed, says so and gives the reason for the first.
fn empty_because(state: &DeliberationState) -> Option<String> {
    let (all, first) = (state.participants.len(), state.participants.values().next()?);
    let reason = first.error_message.as_deref().unwrap_or("");
    let id = &first.participant_id;
    let nobody = state.active().next().is_none();
    nobody.then(|| format!("every one of {all} participants failed, {id} at {reason}"))
}

/// The report at the end of a run.
pub(super) fn report(pilot_id: &str, state: &DeliberationState) -> Report {
    let reason = state.termination_reason.as_deref();
    let summary = summary(pilot_id, reason, state.participants.values());
    let mut json = serde_json::json!(&summary);
    json.set("last_completed_phase", state.last_completed_phase.into());
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(text, "pilot {pilot_id}: phase {} of 9", state.last_completed_phase);
    if let Some(reason) = reason {
        let _ = writeln!(text, "ended early: {reason}");
    }
    let _ = writeln!(
        text,
        "{:<20}{:>7}{:>10}{:>8}{:>16}",
        "condition", "total", "completed", "failed", "changed"
    );
    for (condition, row) in &summary.by_condition {
        let ConditionSummary { total, completed, failed, second, .. } = row;
        let changed = match second {
            SecondVote::None { .. } => "-".to_owned(),
            SecondVote::Cast { position_changed_rate: None, .. } => "-".to_owned(),
            SecondVote::Cast { position_changed, position_changed_rate: Some(rate), .. } => {
                format!("{position_changed} ({:.1} %)", rate * 100.0)
            }
        };
        let _ = writeln!(
            text,
            "{:<20}{total:>7}{completed:>10}{failed:>8}{changed:>16}",
            condition.as_str()
        );
    }
    let _ = writeln!(text, "clusters: {}", state.clusters.len());
    let is_failed = |p: &&Participant| p.status == ParticipantStatus::Failed;
    let failed = state.participants.values().filter(is_failed).count() as u64;
    let of = state.participants.len() as u64;
    let failed = Some(FailedParts { failed, of, what: "participants" });
    Report { json, text, empty_because: empty_because(state), failed }
}
