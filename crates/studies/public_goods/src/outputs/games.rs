//! What happened in the games.

use super::row::{RowHead, float, table_of_games, table_of_players};
use super::times::Times;
use crate::facts::PlayerTurn;
use crate::rules::{GameRules, IncentiveKind, Units};
use crate::state::{Game, PlayedGames, Round};
use retold_study::table::Table;

/// Every game's settled rounds.
fn settled_rounds(state: &PlayedGames) -> impl Iterator<Item = (&Game, &Round)> {
    let rounds = state.games.iter().flat_map(|game| game.rounds.iter().map(move |r| (game, r)));
    rounds.filter(|(_, round)| round.settled.is_some())
}

/// `game_log.csv`: one row per player and settled round.
pub(super) fn game_log(
    head: &RowHead,
    rules: &GameRules,
    state: &PlayedGames,
    times: &Times,
) -> Table {
    let mut table = table_of_players(
        "game_log",
        &[
            "contribution",
            "punishments_sent",
            "punishments_received",
            "rewards_sent",
            "rewards_received",
            "round_payoff",
            "cumulative_wallet",
            "public_fund",
            "timestamp",
        ],
    );
    let enabled = |kind| rules.incentives.iter().any(|incentive| incentive.kind == kind);
    for (game, round) in settled_rounds(state) {
        let Some(settled) = &round.settled else { continue };
        let units = round.units();
        for payoff in &settled.payoffs {
            let sum = |mine: fn(&Units, u32) -> bool| -> i64 {
                units.iter().filter(|u| mine(u, payoff.agent)).map(|u| u.actual).sum()
            };
            let (sent, received) = (sum(|u, a| u.actor == a), sum(|u, a| u.target == a));
            let of = |kind: IncentiveKind, units: i64| if enabled(kind) { units } else { 0 };
            let contribution = round.contribution(payoff.agent).map_or(0, |c| c.coins);
            let mut row = head.row_of_player(game, round.number, payoff.agent);
            row.extend([
                contribution.to_string(),
                of(IncentiveKind::Punishment, sent).to_string(),
                of(IncentiveKind::Punishment, received).to_string(),
                of(IncentiveKind::Reward, sent).to_string(),
                of(IncentiveKind::Reward, received).to_string(),
                float(payoff.coins),
                float(payoff.wallet),
                float(settled.public_fund),
                times.settlement(game.number, round.number),
            ]);
            table.row(row);
        }
    }
    table
}

/// `chat_messages.csv`: one row per message; silence is not a message.
pub(super) fn chat_messages(head: &RowHead, state: &PlayedGames, times: &Times) -> Table {
    let mut table = table_of_players("chat_messages", &["message", "timestamp"]);
    for game in &state.games {
        for round in &game.rounds {
            for message in round.messages.iter().filter(|m| !m.text.is_empty()) {
                let turn =
                    PlayerTurn { game: game.number, round: round.number, agent: message.agent };
                let mut row = head.row_of_player(game, round.number, message.agent);
                row.extend([message.text.clone(), times.spoke(turn)]);
                table.row(row);
            }
        }
    }
    table
}

/// `redistribution_details.csv`: one row per player who received units from another.
pub(super) fn redistribution_details(
    head: &RowHead,
    rules: &GameRules,
    state: &PlayedGames,
    times: &Times,
) -> Table {
    let mut table = table_of_games(
        "redistribution_details",
        &[
            "round", "actor_id", "actor_name", "target_id", "target_name", "type", "units_decided",
            "units_actual", "was_scaled", "cost", "impact", "timestamp",
        ],
    );
    for game in &state.games {
        for (round, redistribution) in
            game.rounds.iter().flat_map(|r| r.redistributions.iter().map(move |d| (r, d)))
        {
            let agent = redistribution.agent;
            let turn = PlayerTurn { game: game.number, round: round.number, agent };
            for units in redistribution.units.iter().filter(|u| u.decided > 0) {
                for incentive in &rules.incentives {
                    let kind = match incentive.kind {
                        IncentiveKind::Punishment => "punishment",
                        IncentiveKind::Reward => "reward",
                    };
                    let scaled = if redistribution.was_scaled { "True" } else { "False" };
                    let mut row = head.row(game);
                    row.extend([
                        round.number.to_string(),
                        format!("agent_{}", units.actor),
                        game.avatar(units.actor).to_owned(),
                        format!("agent_{}", units.target),
                        game.avatar(units.target).to_owned(),
                        kind.to_owned(),
                        units.decided.to_string(),
                        units.actual.to_string(),
                        scaled.to_owned(),
                        (units.actual as f64 * incentive.cost).to_string(),
                        incentive.effect(units.actual).abs().to_string(),
                        times.redistribution(turn),
                    ]);
                    table.row(row);
                }
            }
        }
    }
    table
}
