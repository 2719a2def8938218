//! The plots of a report.

use std::collections::BTreeMap;

use super::experiment::Adventure;
use super::state::{AdventureGame, Games, JournalEntry};
use retold::run::fold_facts;
use retold_study::charts::{Chart, ChartAxis, ChartData};
use retold_study::error::BoxError;
use serde::Serialize;
use serde_json::{Value, json};

/// The most games whose inventories are drawn as lines of their own.
const MOST_GAMES: usize = 6;

/// The types of suggested actions and who chose; decision
/// points by importance; and the players' items, turn by turn.
pub(crate) fn charts(facts: &[Value]) -> Result<Vec<Chart>, BoxError> {
    let games: Games = fold_facts::<Adventure>(facts)?;
    let mut charts = Vec::new();
    let entries = || games.games.values().flat_map(|game| &game.journal);
    let decisions = entries().filter_map(|entry| entry.offer.decision.as_ref());
    charts.extend(bar_chart(
        "decisions_by_importance",
        "Decision points by importance",
        "decision points",
        decisions.map(|decision| word(&decision.importance)),
    ));
    let actions = entries().filter(|entry| !entry.offer.default);
    let actions = actions.flat_map(|entry| &entry.offer.options).filter_map(|option| option.kind);
    charts.extend(bar_chart(
        "actions_by_type",
        "Suggested actions by type",
        "actions",
        actions.map(|kind| word(&kind)),
    ));
    charts.extend(bar_chart(
        "choices",
        "Choices, by who or what made them",
        "choices",
        entries().filter_map(|entry| entry.by).map(|by| match word(&by).as_str() {
            "default" => "default: no answer was usable".to_owned(),
            name => name.to_owned(),
        }),
    ));
    charts.extend(inventories(&games));
    Ok(charts)
}

/// The name of a value, as facts have it.
fn word(value: &impl Serialize) -> String {
    json!(value).as_str().unwrap_or("").to_owned()
}

/// How often each name occurs; `None` if there are none.
fn bar_chart(
    name: &str,
    title: &str,
    axis: &str,
    names: impl Iterator<Item = String>,
) -> Option<Chart> {
    let mut counts: BTreeMap<String, f64> = BTreeMap::new();
    names.for_each(|name| *counts.entry(name).or_default() += 1.0);
    (!counts.is_empty()).then(|| Chart {
        name: name.to_owned(),
        title: title.to_owned(),
        data: ChartData::Bars { axis: axis.to_owned(), bars: counts.into_iter().collect() },
    })
}

/// How many things each player carries after each turn; the mean of all games, if there are many.
fn inventories(games: &Games) -> Option<Chart> {
    let carried = |game: &AdventureGame| {
        let mut count = game.brought.len() as f64;
        let after = |entry: &JournalEntry| {
            count += entry.gained.len() as f64 - entry.lost.len() as f64;
            (entry.turn, count)
        };
        game.journal.iter().map(after).collect::<Vec<(u32, f64)>>()
    };
    let mut by_turn: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    let mut series = Vec::new();
    for (number, game) in &games.games {
        let points = carried(game);
        for (turn, count) in &points {
            by_turn.entry(*turn).or_default().push(*count);
        }
        let points = points.into_iter().map(|(turn, count)| (f64::from(turn), count));
        series.push((format!("game {number}"), points.collect::<Vec<_>>()));
    }
    if series.len() > MOST_GAMES {
        let mean = |(turn, counts): (u32, Vec<f64>)| {
            (f64::from(turn), counts.iter().sum::<f64>() / counts.len() as f64)
        };
        series = vec![("mean of all games".to_owned(), by_turn.into_iter().map(mean).collect())];
    }
    let is_empty = series.iter().all(|(_, points)| points.is_empty());
    (!is_empty).then(|| Chart {
        name: "inventory_by_turn".to_owned(),
        title: "What players carry, by turn".to_owned(),
        data: ChartData::Lines { x: "turn".to_owned(), y: ChartAxis::number("things"), series },
    })
}
