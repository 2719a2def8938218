//! The plots of a report.

use std::collections::BTreeMap;

use super::config::Config;
use super::experiment::PublicGoods;
use super::report::rounds_shown;
use super::rules::GameRules;
use super::state::{Game, PlayedGames};
use retold::run::fold_facts;
use retold_study::charts::{Chart, ChartAxis, ChartData};
use retold_study::error::BoxError;
use serde_json::Value;

/// Contributions by round, of all games and of each; and who punished or rewarded whom.
pub(crate) fn charts(config: &Config, facts: &[Value]) -> Result<Vec<Chart>, BoxError> {
    let state: PlayedGames = fold_facts::<PublicGoods>(facts)?;
    let rules = GameRules::new(config);
    let endowment = rules.endowment as f64;
    let rounds = rounds_shown(&rules, &state);
    let share = |games: &[&Game], round: u32| {
        let coins: Vec<f64> = games
            .iter()
            .filter_map(|game| game.round(round))
            .flat_map(|round| &round.contributions)
            .map(|c| c.coins as f64 / endowment)
            .collect();
        super::report::mean(&coins).map(|mean| (f64::from(round), mean))
    };
    let line = |name: String, games: &[&Game]| {
        (name, rounds.iter().filter_map(|round| share(games, *round)).collect())
    };
    let all: Vec<&Game> = state.games.iter().collect();
    let mut series = vec![line("all games".to_owned(), &all)];
    if all.len() > 1 && all.len() <= 5 {
        series.extend(all.iter().map(|game| line(format!("game {}", game.number), &[game])));
    }
    let mut charts = vec![Chart {
        name: "contributions_by_round".to_owned(),
        title: format!("Contributions by round, {}", treatment(config)),
        data: ChartData::Lines {
            x: "round".to_owned(),
            y: ChartAxis::share("share of the endowment"),
            series,
        },
    }];
    let mut units: BTreeMap<(u32, u32), f64> = BTreeMap::new();
    for redistribution in
        state.games.iter().flat_map(|g| &g.rounds).flat_map(|r| &r.redistributions)
    {
        for unit in redistribution.units.iter().filter(|unit| unit.actual != 0) {
            *units.entry((unit.actor, unit.target)).or_default() += unit.actual as f64;
        }
    }
    if !units.is_empty() {
        let place = |agent: u32| usize::try_from(agent).unwrap_or(usize::MAX);
        charts.push(Chart {
            name: "punishment_and_reward".to_owned(),
            title: "Units of punishment or reward, over all games and rounds".to_owned(),
            data: ChartData::Matrix {
                from: "who pays".to_owned(),
                to: "whom".to_owned(),
                names: (0..config.group_size).map(|agent| format!("agent_{agent}")).collect(),
                cells: units.into_iter().map(|((a, b), n)| (place(a), place(b), n)).collect(),
            },
        });
    }
    Ok(charts)
}

/// The rules that treatments vary, in words.
fn treatment(config: &Config) -> String {
    let with =
        |is_on: bool, what: &str| format!("{} {what}", if is_on { "with" } else { "without" });
    [
        with(config.communication_enabled, "chat"),
        with(config.punishment_enabled, "punishment"),
        with(config.reward_enabled, "reward"),
    ]
    .join(", ")
}
