//! What we computed, beside what the original program logged.

use std::collections::{BTreeMap, BTreeSet};

use super::original::Run;
use crate::experiments::public_goods::ask::Stage;
use crate::experiments::public_goods::facts::Turn;
use crate::experiments::public_goods::rules::{Rules, Units};
use crate::experiments::reenact::{Comparison, ReenactError, Row, Rows};
use crate::inert::inert;
use crate::run::OutputFile;

/// The columns compared in each file, as numbers where they are numbers. Times, hashes and ids of
/// the run are not.
const TABLES: [(&str, &[&str], &[&str]); 3] = [
    (
        "game_log.csv",
        &["game_id", "round", "agent_id"],
        &[
            "avatar_name",
            "contribution",
            "punishments_sent",
            "punishments_received",
            "rewards_sent",
            "rewards_received",
            "round_payoff",
            "cumulative_wallet",
            "public_fund",
        ],
    ),
    ("chat_messages.csv", &["game_id", "round", "agent_id"], &["avatar_name", "message"]),
    (
        "redistribution_details.csv",
        &["game_id", "round", "actor_id", "target_id", "type"],
        &["units_decided", "units_actual", "was_scaled", "cost", "impact"],
    ),
];

impl Run {
    /// Compares our output files with the original's, and what its actions come to with what it
    /// logged.
    pub(super) fn compare(&self, files: &[OutputFile]) -> Comparison {
        let mut found = Comparison::default();
        let done = self.compute_again(&mut found).and_then(|()| {
            for (name, keys, columns) in TABLES {
                self.table(files, name, keys, columns, &mut found)?;
            }
            self.results(files, &mut found)
        });
        if let Err(e) = done {
            found.differences.push(e.to_string());
        }
        found
    }

    /// Public fund, payoff and wallet of every row of `game_log.csv`, from the actions that are logged.
    fn compute_again(&self, found: &mut Comparison) -> Result<(), ReenactError> {
        let rules = Rules::of(&self.config);
        let mut rounds: BTreeMap<(u32, u32), Vec<(Turn, Row<'_>)>> = BTreeMap::new();
        for row in self.game_log.iter() {
            let turn = self.turn(&row, "agent_id")?;
            rounds.entry((turn.game, turn.round)).or_default().push((turn, row));
        }
        let mut units: BTreeMap<(u32, u32), Vec<Units>> = BTreeMap::new();
        let mut seen = BTreeSet::new();
        for row in self.redistribution_details.iter() {
            let turn = self.turn(&row, "actor_id")?;
            let target = row.agent("target_id", self.config.group_size)?;
            // Where an array was both, each of its numbers has two rows.
            if seen.insert((turn, target)) {
                let (decided, actual) = (row.number("units_decided")?, row.number("units_actual")?);
                let units = units.entry((turn.game, turn.round)).or_default();
                units.push(Units { actor: turn.agent, target, decided, actual });
            }
        }
        let mut wallets: BTreeMap<(u32, u32), f64> = BTreeMap::new();
        for (round, rows) in &rounds {
            let contributions: Result<Vec<(u32, i64)>, ReenactError> = rows
                .iter()
                .map(|(turn, row)| Ok((turn.agent, row.number("contribution")?)))
                .collect();
            let units = units.get(round).map(Vec::as_slice).unwrap_or_default();
            let settlement = rules.settle(&contributions?, units);
            for ((turn, row), payoff) in rows.iter().zip(settlement.payoffs) {
                let wallet = wallets.entry((turn.game, turn.agent)).or_default();
                *wallet += payoff;
                for (column, ours) in [
                    ("public_fund", settlement.public_fund),
                    ("round_payoff", payoff),
                    ("cumulative_wallet", *wallet),
                ] {
                    let logged: f64 = row.number(column)?;
                    found.compared += 1;
                    if logged.to_bits() != ours.to_bits() {
                        let reason =
                            format!("{column}: {logged} logged, {ours} from the logged actions");
                        found.differences.push(row.wrong(reason).to_string());
                    }
                }
            }
        }
        Ok(())
    }

    /// The rows of one file beside ours. Rows that rest on answers nobody recorded are left out.
    fn table(
        &self,
        files: &[OutputFile],
        name: &str,
        keys: &[&str],
        columns: &[&str],
        found: &mut Comparison,
    ) -> Result<(), ReenactError> {
        let (theirs, actor) = match name {
            "game_log.csv" => (&self.game_log, "agent_id"),
            "chat_messages.csv" => (&self.chat_messages, "agent_id"),
            _ => (&self.redistribution_details, "actor_id"),
        };
        let ours = ours(files, name)?;
        let mut rows: BTreeMap<Vec<String>, Row<'_>> =
            ours.iter().map(|row| (self.key(&row, keys), row)).collect();
        for row in theirs.iter() {
            let turn = self.turn(&row, actor)?;
            if !self.answers.contains_key(&Stage::Contribution.call(turn)) {
                continue;
            }
            let Some(own) = rows.remove(&self.key(&row, keys)) else {
                found.differences.push(row.wrong("we have no such row".to_owned()).to_string());
                continue;
            };
            for column in columns {
                found.compared += 1;
                let (theirs, own) = (row.text(column), own.text(column));
                if !same(theirs, own) {
                    let reason = format!(
                        "{column}: {:?} logged, {:?} from the answers",
                        inert(theirs, 60),
                        inert(own, 60)
                    );
                    found.differences.push(row.wrong(reason).to_string());
                }
            }
        }
        // A run that broke off logged nothing of its last round.
        let settled = |key: &[String]| {
            self.game_log.iter().any(|row| self.key(&row, &["game_id", "round"]) == key[..2])
        };
        for key in rows.keys().filter(|key| settled(key)) {
            found.differences.push(format!("{name}: the original has no row of {}", key.join(" ")));
        }
        Ok(())
    }

    /// The results of all answers.
    fn results(&self, files: &[OutputFile], found: &mut Comparison) -> Result<(), ReenactError> {
        let keys = ["game_id", "round", "agent_id", "prompt_type"];
        let ours = ours(files, "raw_responses.csv")?;
        let rows: BTreeMap<Vec<String>, Row<'_>> =
            ours.iter().map(|row| (self.key(&row, &keys), row)).collect();
        for row in self.raw_responses.iter() {
            // An amount asked for by itself is an answer, not a result.
            let Some(own) = rows.get(&self.key(&row, &keys)) else { continue };
            found.compared += 1;
            let (theirs, own) = (row.text("parsed_result"), own.text("parsed_result"));
            if !same(theirs, own) {
                let (theirs, own) = (inert(theirs, 60), inert(own, 60));
                let reason = format!("parsed_result: {theirs:?} logged, {own:?} from the answers");
                found.differences.push(row.wrong(reason).to_string());
            }
        }
        Ok(())
    }

    /// What identifies a row in both; games by their number.
    fn key(&self, row: &Row<'_>, columns: &[&str]) -> Vec<String> {
        let cell = |column: &&str| match *column {
            "game_id" => {
                let name = row.text("game_id");
                let number = name.rsplit_once("_game").map_or("", |(_, number)| number);
                match self.games.iter().position(|game| game == name) {
                    Some(at) => (at + 1).to_string(),
                    None => number.to_owned(),
                }
            }
            column => row.text(column).to_owned(),
        };
        columns.iter().map(cell).collect()
    }
}

fn ours(files: &[OutputFile], name: &str) -> Result<Rows, ReenactError> {
    let file = files.iter().find(|file| file.name == name);
    let bytes = file.map(|file| file.bytes.as_slice()).unwrap_or_default();
    Rows::parse(&String::from_utf8_lossy(bytes), &format!("our {name}"), &[])
}

/// The same number, to the last bit, or the same text.
fn same(theirs: &str, ours: &str) -> bool {
    match (theirs.parse::<f64>(), ours.parse::<f64>()) {
        (Ok(theirs), Ok(ours)) => theirs.to_bits() == ours.to_bits(),
        _ => theirs == ours,
    }
}
