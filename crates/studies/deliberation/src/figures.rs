//! The figure that a run leads with, and its rows.

use super::conditions::Condition;
use super::experiment::Deliberation;
use super::state::{DeliberationState, Participant, ParticipantStatus};
use retold::run::fold_facts;
use retold_figures::FigureRow;
use retold_study::error::BoxError;
use serde_json::Value;

/// Does adversarial cross-pollination change more minds than reading alone?
pub(crate) const HEADLINE: &[&str] =
    &["share of changed_vote = true by condition against simple_passive"];

/// A row for each participant who is to vote twice. Without a second vote, nothing is known of a change.
pub(crate) fn rows(facts: &[Value]) -> Result<Vec<FigureRow>, BoxError> {
    let state: DeliberationState = fold_facts::<Deliberation>(facts)?;
    let row = |participant: &Participant| {
        let is_complete = participant.status == ParticipantStatus::Complete;
        let voted_twice = is_complete && participant.final_choice.is_some();
        let changed = voted_twice.then_some(participant.position_changed == Some(true));
        let fields = [
            ("participant", participant.participant_id.as_str().into()),
            ("condition", participant.condition.as_str().into()),
            ("changed_vote", changed.into()),
        ];
        FigureRow::new("participant", fields)
    };
    let twice = state.participants.values();
    Ok(twice.filter(|of| of.condition != Condition::SimpleVoting).map(row).collect())
}
