//! What we computed, beside what that program logged and showed.

use std::collections::BTreeMap;

use serde_json::Value;

use super::original::Original;
use retold::inert::inert;
use retold::run::OutputFile;
use retold_study::reenact::{Comparison, ReenactError, Row, Rows};

/// The columns of `participant_sim.csv` that answers decide.
const DECIDED: [&str; 5] = [
    "data.contribution",
    "data.contribution_reasoning",
    "data.punished",
    "data.rewarded",
    "data.actions_reasoning",
];

impl Original {
    /// Compares every value of `participant_sim.csv`, and every payoff that a prompt shows.
    pub(super) fn compare(&self, files: &[OutputFile]) -> Comparison {
        let mut found = Comparison::default();
        let done = self.values(files, &mut found).and_then(|()| self.payoffs(files, &mut found));
        if let Err(e) = done {
            found.differences.push(e.to_string());
        }
        found
    }

    fn values(&self, files: &[OutputFile], found: &mut Comparison) -> Result<(), ReenactError> {
        let key = |row: &Row<'_>| {
            ["gameId", "roundIndex", "playerAvatar"].map(|column| row.text(column).to_owned())
        };
        let ours = ours(files, "participant_sim.csv")?;
        let mut rows: BTreeMap<_, Row<'_>> = ours.iter().map(|row| (key(&row), row)).collect();
        for row in self.sim.iter() {
            let Some(own) = rows.remove(&key(&row)) else {
                found
                    .differences
                    .push(row.wrong("there is no answer to it".to_owned()).to_string());
                continue;
            };
            for column in DECIDED {
                found.compared += 1;
                let (theirs, own) = (row.text(column), own.text(column));
                if !same(theirs, own) {
                    let (theirs, own) = (inert(theirs, 60), inert(own, 60));
                    let reason = format!("{column}: {theirs:?} logged, {own:?} from the answers");
                    found.differences.push(row.wrong(reason).to_string());
                }
            }
        }
        for [game, round, avatar] in rows.keys() {
            let row = format!("game {game}, round {round}, {avatar}");
            let row = inert(&row, 100);
            found.differences.push(format!("participant_sim.csv has no row of {row}"));
        }
        Ok(())
    }

    fn payoffs(&self, files: &[OutputFile], found: &mut Comparison) -> Result<(), ReenactError> {
        let ours = ours(files, "game_log.csv")?;
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
            found.compared += 1;
            let own = payoffs.get(&(game.clone(), *round, avatar.clone()));
            // A prompt shows whole coins: what is behind the point is cut off.
            if own.is_none_or(|own| own.trunc() != *shown as f64) {
                let own = own.map_or("none".to_owned(), f64::to_string);
                let who = inert(&format!("game {game}, round {round}, {avatar}"), 100);
                found.differences.push(format!(
                    "{who}: a payoff of {shown} in the next prompt, {own} from the answers"
                ));
            }
        }
        Ok(())
    }
}

fn ours(files: &[OutputFile], name: &str) -> Result<Rows, ReenactError> {
    let file = files.iter().find(|file| file.name == name);
    let bytes = file.and_then(|file| file.content.bytes().ok()).unwrap_or_default();
    Rows::parse(&String::from_utf8_lossy(&bytes), &format!("our {name}"), &[])
}

/// The same text, or the same JSON in another order.
fn same(theirs: &str, ours: &str) -> bool {
    let json = |text: &str| serde_json::from_str::<Value>(text).ok();
    theirs == ours || json(theirs).is_some_and(|theirs| Some(theirs) == json(ours))
}
