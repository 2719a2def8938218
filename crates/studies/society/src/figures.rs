//! The figures that a run leads with, and their rows.

use super::world::{TurnCounts, World};
use retold_figures::FigureRow;

/// Inequality and activity on the last day, and the share of answers without a legible action.
///
/// The agents of a society react to each other, so a run is a single draw. Whether an answer can be read depends on the
/// model and the prompt, not on what other agents are answered on that day.
pub(crate) const HEADLINE: &[&str] = &[
    "mean of gini_all by day clustered by run",
    "mean of active by day clustered by run",
    "mean of dormant by day clustered by run",
    "share of legible = false clustered by agent",
];

/// A row for the last day, and one for each answer.
pub(crate) fn rows(world: &World) -> Vec<FigureRow> {
    let last_day = world.days.last().map(|day| {
        let fields = [
            ("day", day.day.into()),
            ("gini_all", day.gini_all.into()),
            ("active", day.active.into()),
            ("dormant", day.dormant.into()),
        ];
        FigureRow::new("last_day", fields)
    });
    let answers = world.agents.iter().flat_map(|(id, agent)| {
        let rejected = world.invalid.iter();
        let rejected = rejected.filter(|it| it.agent_id == *id && it.rejected_by == "parser");
        let illegible = u32::try_from(rejected.count()).unwrap_or(u32::MAX);
        let of = |legible: bool, answers: u32| {
            let fields = [("agent", (*id).into()), ("legible", legible.into())];
            FigureRow::new("answer", fields).times(answers)
        };
        [of(false, illegible), of(true, answers(agent.did).saturating_sub(illegible))]
    });
    last_day.into_iter().chain(answers).collect()
}

/// The turns for which there was an answer.
fn answers(mut did: TurnCounts) -> u32 {
    let unanswered = did.unanswered;
    let turns: u32 = did.each().into_iter().map(|(_, count)| *count).sum();
    turns - unanswered
}
