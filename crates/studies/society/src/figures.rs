//! The figures that the report leads with.

use super::world::{TurnCounts, World};
use retold_figures::{Draws, Figure, FigureKind};

/// Inequality and activity on the last day, and the share of answers without a legible action.
///
/// The agents of a society react to each other, so a run is a single draw: only figures about
/// individual answers have an interval, not those about the outcome.
pub(crate) fn figures(world: &World) -> Vec<Figure> {
    let Some((at, day)) = world.days.iter().enumerate().next_back() else { return Vec::new() };
    let figure = |name: &str, key: &str, value: f64| Figure {
        name: format!("{name} on day {}", day.day),
        pointer: Some(format!("/days/{at}/{key}")),
        kind: FigureKind::Mean,
        unit: "societies: the agents of one react to each other, so that a run is a single draw",
        draws: vec![Draws {
            lane: "society".to_owned(),
            cluster: "society".to_owned(),
            sum: value,
            count: 1,
        }],
    };
    vec![
        figure("Gini of all resources", "gini_all", day.gini_all),
        figure("active agents", "active", f64::from(day.active)),
        figure("dormant agents", "dormant", f64::from(day.dormant)),
        illegible(world),
    ]
}

/// The share of answers in which the parser found no valid action. Whether an answer can be read
/// depends on the model and the prompt, not on what other agents are answered on that day.
fn illegible(world: &World) -> Figure {
    let draws = world.agents.iter().map(|(id, agent)| {
        let rejected = world.invalid.iter();
        let rejected = rejected.filter(|i| i.agent_id == *id && i.rejected_by == "parser");
        let lane = format!("agent_{id}");
        Draws {
            cluster: lane.clone(),
            lane,
            sum: rejected.count() as f64,
            count: answers(agent.did),
        }
    });
    Figure {
        name: "answers without a legible action".to_owned(),
        pointer: None,
        kind: FigureKind::Share,
        unit: "agents: the prompts of one are alike",
        draws: draws.collect(),
    }
}

/// The turns for which there was an answer.
fn answers(mut did: TurnCounts) -> u32 {
    let unanswered = did.unanswered;
    let turns: u32 = did.each().into_iter().map(|(_, count)| *count).sum();
    turns - unanswered
}
