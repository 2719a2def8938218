//! Statistics of the participants: `summary.json` of the document, and a table for people.

use std::fmt::Write;

use serde_json::{Value, json};

use super::conditions::Condition;
use super::state::{Deliberated, Participant, Status, Votes};
use crate::run::Report;

/// The document's `summary.json`. Votes and changes are counted over those who completed: no failed
/// participant is in any figure but `failed` and `total`.
pub fn summary<'a>(
    pilot_id: &str,
    termination_reason: Option<&str>,
    participants: impl IntoIterator<Item = &'a Participant>,
) -> Value {
    let participants: Vec<&Participant> = participants.into_iter().collect();
    let by_condition: serde_json::Map<String, Value> = Condition::ALL
        .iter()
        .map(|condition| {
            let of_it: Vec<&Participant> =
                participants.iter().copied().filter(|p| p.condition == *condition).collect();
            (condition.as_str().to_owned(), of_condition(*condition, &of_it))
        })
        .collect();
    json!({
        "pilot_id": pilot_id,
        "terminated_early": termination_reason.is_some(),
        "termination_reason": termination_reason,
        "total_participants": participants.len(),
        "by_condition": by_condition,
    })
}

fn of_condition(condition: Condition, participants: &[&Participant]) -> Value {
    let completed: Vec<&&Participant> =
        participants.iter().filter(|p| p.status == Status::Complete).collect();
    let failed = participants.iter().filter(|p| p.status == Status::Failed).count();
    let initial = votes(completed.iter().filter_map(|p| p.initial_choice.as_deref()));
    let final_votes = votes(completed.iter().filter_map(|p| p.final_choice.as_deref()));
    let voted = completed.iter().filter(|p| p.final_choice.is_some()).count();
    let changed = completed.iter().filter(|p| p.position_changed == Some(true)).count();
    // Who votes once cannot change. A share of nobody is 0, as in the original outputs.
    let votes_twice = condition != Condition::SimpleVoting;
    let rate = if voted > 0 { changed as f64 / voted as f64 } else { 0.0 };
    json!({
        "total": participants.len(),
        "completed": completed.len(),
        "failed": failed,
        "initial_vote_distribution": initial,
        "position_changed": votes_twice.then_some(changed),
        "position_changed_rate": votes_twice.then_some(rate),
        "final_vote_distribution": votes_twice.then_some(final_votes),
    })
}

/// Counts votes.
pub(super) fn votes<'a>(choices: impl Iterator<Item = &'a str>) -> Votes {
    let mut votes = Votes::new();
    choices.for_each(|choice| *votes.entry(choice.to_owned()).or_default() += 1);
    votes
}

/// What a run shows at its end.
pub(super) fn report(pilot_id: &str, state: &Deliberated) -> Report {
    let reason = state.termination_reason.as_deref();
    let mut json = summary(pilot_id, reason, state.participants.values());
    json["last_completed_phase"] = state.last_completed_phase.into();
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
    for condition in Condition::ALL {
        let row = &json["by_condition"][condition.as_str()];
        let number = |key: &str| row[key].as_u64().unwrap_or_default();
        let changed = match row["position_changed_rate"].as_f64() {
            Some(rate) => format!("{} ({:.1} %)", number("position_changed"), rate * 100.0),
            None => "-".to_owned(),
        };
        let _ = writeln!(
            text,
            "{:<20}{:>7}{:>10}{:>8}{changed:>16}",
            condition.as_str(),
            number("total"),
            number("completed"),
            number("failed")
        );
    }
    let _ = writeln!(text, "clusters: {}", state.clusters.len());
    Report { json, text }
}
