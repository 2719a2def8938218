//! The figures that the report leads with.

use super::conditions::Condition;
use super::experiment::Deliberation;
use super::state::{DeliberationState, Participant, ParticipantStatus};
use retold::run::fold_facts;
use retold_figures::{Draws, Figure, FigureKind};
use retold_study::error::BoxError;
use serde_json::Value;

/// For each condition with a second vote: the share of those who voted twice and changed their
/// vote. Each participant is one independent draw.
pub(crate) fn figures(facts: &[Value]) -> Result<Vec<Figure>, BoxError> {
    let state: DeliberationState = fold_facts::<Deliberation>(facts)?;
    let second = Condition::ALL.into_iter().filter(|c| *c != Condition::SimpleVoting);
    let figure = |condition: Condition| {
        let voted = |p: &&Participant| {
            let complete = p.status == ParticipantStatus::Complete;
            p.condition == condition && complete && p.final_choice.is_some()
        };
        let draws = state.participants.values().filter(voted).map(|p| Draws {
            lane: p.participant_id.clone(),
            cluster: p.participant_id.clone(),
            sum: f64::from(u8::from(p.position_changed == Some(true))),
            count: 1,
        });
        let name = condition.as_str();
        Figure {
            name: format!("changed their vote, {name}"),
            pointer: Some(format!("/by_condition/{name}/position_changed_rate")),
            kind: FigureKind::Share,
            unit: "participants: each of them is one draw",
            draws: draws.collect(),
        }
    };
    Ok(second.map(figure).collect())
}
