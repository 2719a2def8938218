//! The report at the end of a run.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::{Value, json};

use super::actions::means;
use super::config::Config;
use super::rules::GameRules;
use super::stage::Stage;
use super::state::{Game, PlayedGames, Round};
use super::words::{number, quantity};
use retold::run::{FailedParts, Report};

/// Contributions, payoffs and efficiency by round and by model, the methods of all decisions, and
/// the groups.
pub(crate) fn report(config: &Config, state: &PlayedGames) -> Report {
    let rules = GameRules::new(config);
    let rounds = by_round(&rules, state);
    let models = by_model(state);
    let methods = methods(state);
    let failed: usize = state.games.iter().map(|g| g.players.len() - g.active().count()).sum();
    let players: usize = state.games.iter().map(|g| g.players.len()).sum();
    let groups = groups(state);
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "{}: {} of {} players and {}",
        config.experiment_id,
        quantity(state.games.len(), "game"),
        config.group_size,
        quantity(config.game_length as usize, "round"),
    );
    if failed > 0 {
        let _ = writeln!(text, "players who failed: {failed} of {players}");
    }
    let _ =
        writeln!(text, "{:<8}{:>15}{:>12}{:>14}", "round", "contributed", "payoff", "efficiency");
    for row in &rounds {
        let _ = writeln!(
            text,
            "{:<8}{:>13} %{:>12}{:>14}",
            row.round,
            number(100.0 * row.contributed, 1),
            number(row.payoff, 2),
            row.efficiency.map_or_else(|| "-".to_owned(), |e| number(e, 2)),
        );
    }
    let _ = writeln!(text, "by model:");
    for (model, mean) in &models {
        let mean = number(*mean, 2);
        let _ = writeln!(text, "  {model:<24} mean contribution {mean} of {}", config.endowment);
    }
    let _ = writeln!(text, "by method:");
    for (method, count) in &methods {
        let _ = writeln!(text, "  {method:<40}{count:>6}");
    }
    if !groups.is_empty() {
        let _ = writeln!(text, "groups of reasoning:");
        for (group, (players, mean)) in &groups {
            let mean = number(*mean, 2);
            let _ = writeln!(
                text,
                "  {group:<4}{:>12}, mean contribution {mean}",
                quantity(players, "player")
            );
        }
    }
    let rounds: Vec<Value> = rounds.iter().map(RoundMean::json).collect();
    let groups: Vec<Value> = groups
        .iter()
        .map(|(g, (n, mean))| json!({"group": g, "players": n, "mean_contribution": mean}))
        .collect();
    let json = json!({
        "experiment_id": config.experiment_id,
        "games": state.games.len(),
        "players": players,
        "failed": failed,
        "rounds": rounds,
        "models": models,
        "methods": methods,
        "groups": groups,
        "silhouette": state.silhouette,
    });
    let failed = FailedParts { failed: failed as u64, of: players as u64, what: "players" };
    Report { json, text, failed: Some(failed), ..Report::default() }
}

/// The rounds that the report shows, in its order.
pub(super) fn rounds_shown(rules: &GameRules, state: &PlayedGames) -> Vec<u32> {
    by_round(rules, state).iter().map(|row| row.round).collect()
}

/// The mean of a round over all games.
struct RoundMean {
    round: u32,
    /// Of the endowment, 0 to 1.
    contributed: f64,
    payoff: f64,
    /// Where the payoffs are between those if nobody contributes (0) and those if all contribute
    /// everything (1); `None` if these do not differ.
    efficiency: Option<f64>,
}

impl RoundMean {
    fn json(&self) -> Value {
        let RoundMean { round, contributed, payoff, efficiency } = self;
        json!({
            "round": round, "contributed": contributed, "payoff": payoff, "efficiency": efficiency,
        })
    }
}

fn by_round(rules: &GameRules, state: &PlayedGames) -> Vec<RoundMean> {
    let last = state.games.iter().flat_map(|g| &g.rounds).map(|r| r.number).max().unwrap_or(0);
    let endowment = rules.endowment as f64;
    let rounds = (1..=last).filter_map(|number| {
        let rounds: Vec<&Round> = state.games.iter().filter_map(|g| g.round(number)).collect();
        let coins: Vec<f64> =
            rounds.iter().flat_map(|r| &r.contributions).map(|c| c.coins as f64).collect();
        let settled = rounds.iter().filter_map(|r| r.settled.as_ref());
        let payoffs: Vec<f64> = settled.flat_map(|s| &s.payoffs).map(|p| p.coins).collect();
        let payoff = mean(&payoffs)?;
        let gain = endowment * (rules.multiplier - 1.0);
        Some(RoundMean {
            round: number,
            contributed: mean(&coins)? / endowment,
            payoff,
            efficiency: (gain.abs() > 1e-9).then(|| (payoff - endowment) / gain),
        })
    });
    rounds.collect()
}

/// The mean contribution of each model, by the same computation as in `reasoning_by_model.csv`.
fn by_model(state: &PlayedGames) -> BTreeMap<&str, f64> {
    let means = means(state, |action| (action.stage, action.llm_model)).into_iter();
    let contributions = means.filter(|((stage, _), _)| *stage == Stage::Contribution);
    contributions.map(|((_, model), mean)| (model, mean.amount)).collect()
}

fn methods(state: &PlayedGames) -> BTreeMap<String, u32> {
    let mut methods: BTreeMap<String, u32> = BTreeMap::new();
    let mut add = |stage: &str, method: &str| {
        *methods.entry(format!("{stage}: {method}")).or_default() += 1;
    };
    for round in state.games.iter().flat_map(|game| &game.rounds) {
        round.messages.iter().for_each(|m| add("chat", &m.by.method));
        round.contributions.iter().for_each(|c| add("contribution", &c.by.method));
        round.redistributions.iter().for_each(|r| add("redistribution", &r.by.method));
    }
    methods
}

/// Players and mean contribution of each group.
fn groups(state: &PlayedGames) -> BTreeMap<usize, (usize, f64)> {
    let mut coins: BTreeMap<usize, (usize, Vec<f64>)> = BTreeMap::new();
    for (game, agent, group) in &state.groups {
        let (players, all) = coins.entry(*group).or_default();
        *players += 1;
        let rounds = state.game(*game).into_iter().flat_map(|game: &Game| &game.rounds);
        let own = rounds.filter_map(|round| round.contribution(*agent));
        all.extend(own.map(|c| c.coins as f64));
    }
    let mean =
        |(group, (players, all)): (usize, (usize, Vec<f64>))| Some((group, (players, mean(&all)?)));
    coins.into_iter().filter_map(mean).collect()
}

/// The mean; `None` if there are no values.
pub(super) fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}
