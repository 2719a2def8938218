//! Compares our results with those that the program logged and showed.

use std::collections::BTreeMap;

use serde_json::Value;

use super::run::LocalRun;
use retold::escaping::printable;
use retold_study::original::{OriginalComparison, OriginalError, OriginalRow, Outputs};

/// The columns of `participant_sim.csv` that depend on answers.
const DECIDED: [&str; 5] = [
    "data.contribution",
    "data.contribution_reasoning",
    "data.punished",
    "data.rewarded",
    "data.actions_reasoning",
];

impl LocalRun {
    /// Compares every value of `participant_sim.csv`, and every payoff that a prompt shows.
    pub(super) fn compare(&self, ours: Outputs<'_>) -> OriginalComparison {
        let mut found = OriginalComparison::default();
        let done = self.values(ours, &mut found).and_then(|()| self.payoffs(ours, &mut found));
        found.read(done);
        found
    }

    fn values(
        &self,
        ours: Outputs<'_>,
        found: &mut OriginalComparison,
    ) -> Result<(), OriginalError> {
        let key = |row: &OriginalRow<'_>| {
            ["gameId", "roundIndex", "playerAvatar"].map(|column| row.text(column).to_owned())
        };
        let ours = ours.table("participant_sim.csv")?;
        let mut rows: BTreeMap<_, OriginalRow<'_>> =
            ours.iter().map(|row| (key(&row), row)).collect();
        for row in self.sim.iter() {
            let Some(own) = rows.remove(&key(&row)) else {
                found
                    .differences
                    .push(row.wrong("there is no answer to it".to_owned()).to_string());
                continue;
            };
            for column in DECIDED {
                let (theirs, own) = (row.text(column), own.text(column));
                found.value(same(theirs, own), || {
                    let (theirs, own) = (printable(theirs, 60), printable(own, 60));
                    let reason = format!("{column}: {theirs:?} logged, {own:?} from the answers");
                    row.wrong(reason).to_string()
                });
            }
        }
        for [game, round, avatar] in rows.keys() {
            let row = format!("game {game}, round {round}, {avatar}");
            let row = printable(&row, 100);
            found.differences.push(format!("participant_sim.csv has no row of {row}"));
        }
        Ok(())
    }

    fn payoffs(
        &self,
        ours: Outputs<'_>,
        found: &mut OriginalComparison,
    ) -> Result<(), OriginalError> {
        let ours = ours.table("game_log.csv")?;
        let mut payoffs: BTreeMap<(String, u32, String), f64> = BTreeMap::new();
        for row in ours.iter() {
            let game = row.text("game_id").rsplit_once("_game").map_or("", |(_, number)| number);
            let at = game.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
            let game = at.and_then(|at| self.settings.games.get(at)).map(|game| game.id.clone());
            let key = (
                game.unwrap_or_default(),
                row.number("round")?,
                row.text("avatar_name").to_owned(),
            );
            payoffs.insert(key, row.number("round_payoff")?);
        }
        for (game, round, avatar, shown) in &self.shown {
            let own = payoffs.get(&(game.clone(), *round, avatar.clone()));
            // A prompt shows whole coins: the fraction is dropped.
            found.value(own.is_some_and(|own| own.trunc() == *shown as f64), || {
                let own = own.map_or("none".to_owned(), f64::to_string);
                let who = printable(&format!("game {game}, round {round}, {avatar}"), 100);
                format!("{who}: a payoff of {shown} in the next prompt, {own} from the answers")
            });
        }
        Ok(())
    }
}

/// Whether two values are the same text, or the same JSON in a different order.
fn same(theirs: &str, ours: &str) -> bool {
    let json = |text: &str| serde_json::from_str::<Value>(text).ok();
    theirs == ours || json(theirs).is_some_and(|theirs| Some(theirs) == json(ours))
}
