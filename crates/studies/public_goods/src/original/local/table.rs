//! `participant_sim.csv`, with that program's columns.

use std::collections::BTreeMap;

use serde_json::json;

use super::settings::{LocalGame, LocalSettings, OriginalPlayer};
use crate::rules::{GameRules, IncentiveKind};
use crate::{PlayedGames, PlayerTurn, Stage};
use retold::id::CallPath;
use retold::run::{OutputError, RunRecord};
use retold_study::table::Table;

/// The columns.
pub(super) const COLUMNS: [&str; 11] = [
    "playerAvatar",
    "persona",
    "roundIndex",
    "gameId",
    "data.chat_message",
    "data.chat_reasoning",
    "data.contribution",
    "data.contribution_reasoning",
    "data.punished",
    "data.rewarded",
    "data.actions_reasoning",
];

/// One row per player and round in which the player contributed.
pub(super) fn participants(
    settings: &LocalSettings,
    rules: &GameRules,
    state: &PlayedGames,
    record: &mut RunRecord<'_>,
) -> Result<Table, OutputError> {
    let mut table = Table::new("participant_sim", &COLUMNS);
    for (LocalGame { id, players }, game) in settings.games.iter().zip(&state.games) {
        for round in &game.rounds {
            for contribution in &round.contributions {
                let agent = contribution.agent;
                let turn = PlayerTurn { game: game.number, round: round.number, agent };
                let given = round.redistributions.iter().find(|r| r.agent == agent);
                let units = given.map(|given| {
                    let units = given.units.iter().filter(|units| units.decided > 0);
                    let units: BTreeMap<&str, i64> =
                        units.map(|u| (game.avatar(u.target), u.decided)).collect();
                    json!(units).to_string()
                });
                let of = |kind: IncentiveKind| {
                    let has_units = rules.incentives.iter().any(|i| i.kind == kind);
                    units.as_ref().filter(|_| has_units).map_or_else(String::new, String::clone)
                };
                let who = players
                    .iter()
                    .find(|OriginalPlayer { avatar, .. }| avatar == game.avatar(agent));
                table.row([
                    game.avatar(agent).to_owned(),
                    who.map_or_else(String::new, |who| who.persona.clone()),
                    round.number.to_string(),
                    id.clone(),
                    String::new(),
                    String::new(),
                    contribution.coins.to_string(),
                    reasoning(record, Stage::Contribution, turn)?,
                    of(IncentiveKind::Punishment),
                    of(IncentiveKind::Reward),
                    reasoning(record, Stage::Redistribution, turn)?,
                ]);
            }
        }
    }
    Ok(table)
}

/// The reasoning of a decision; empty if there is none.
fn reasoning(
    record: &mut RunRecord<'_>,
    stage: Stage,
    turn: PlayerTurn,
) -> Result<String, OutputError> {
    let Ok(call) = CallPath::new(stage.call(turn)) else { return Ok(String::new()) };
    let decision = record.decision(&call, 0)?;
    Ok(decision.and_then(|decision| decision.details.reasoning).unwrap_or_default())
}
