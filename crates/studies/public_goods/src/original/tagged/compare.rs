//! Compares our results with those that the original program logged.
//!
//! Rows come first: a missing or duplicate row explains later differences. A cell that cannot be
//! read is reported, and the comparison continues.

use std::collections::{BTreeMap, BTreeSet};

use super::run::TaggedRun;
use crate::facts::PlayerTurn;
use crate::stage::Stage;
use retold::escaping::printable;
use retold_study::original::{
    OriginalComparison, OriginalError, OriginalRow, Outputs, Pairs, Rows,
};

/// A file and its compared columns, as numbers if they are numbers. Times, hashes and run ids are
/// not compared.
struct ComparedTable {
    name: &'static str,
    actor: &'static str,
    /// What identifies a row in addition to its turn.
    keys: &'static [&'static str],
    columns: &'static [&'static str],
}

const GAME_LOG: ComparedTable = ComparedTable {
    name: "game_log.csv",
    actor: "agent_id",
    keys: &[],
    columns: &[
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
};

const CHAT_MESSAGES: ComparedTable = ComparedTable {
    name: "chat_messages.csv",
    actor: "agent_id",
    keys: &[],
    columns: &["avatar_name", "message"],
};

const REDISTRIBUTION_DETAILS: ComparedTable = ComparedTable {
    name: "redistribution_details.csv",
    actor: "actor_id",
    keys: &["target_id", "type"],
    columns: &["units_decided", "units_actual", "was_scaled", "cost", "impact"],
};

const RAW_RESPONSES: ComparedTable = ComparedTable {
    name: "raw_responses.csv",
    actor: "agent_id",
    keys: &["prompt_type"],
    columns: &["parsed_result"],
};

/// What identifies a row in both.
type Key = (PlayerTurn, Vec<String>);

impl TaggedRun {
    /// Compares our output files with the original's, and the results of its actions with those
    /// that it logged.
    pub(super) fn compare(&self, ours: Outputs<'_>) -> OriginalComparison {
        let mut found = OriginalComparison::default();
        let done = self.compare_all(ours, &mut found);
        found.read(done);
        found
    }

    fn compare_all(
        &self,
        ours: Outputs<'_>,
        found: &mut OriginalComparison,
    ) -> Result<(), OriginalError> {
        let tables = [
            (GAME_LOG, &self.game_log),
            (CHAT_MESSAGES, &self.chat_messages),
            (REDISTRIBUTION_DETAILS, &self.redistribution_details),
        ];
        let own = tables.iter().map(|(table, _)| ours.table(table.name));
        let own = own.collect::<Result<Vec<Rows>, _>>()?;
        let mut missing: Vec<PlayerTurn> = Vec::new();
        let mut pairs = Vec::new();
        for ((table, theirs), own) in tables.iter().zip(&own) {
            let rows = Pairs::new(self.key_rows(theirs, table, found), keyed_ours(own, table));
            missing.extend(self.rows(table, theirs, &rows, found));
            pairs.push((table, rows.both));
        }
        self.recompute(&missing, found);
        for (table, pairs) in pairs {
            for (theirs, own) in pairs {
                cells(table, &theirs, &own, found);
            }
        }
        self.results(ours, found)
    }

    /// The rows of the original with their keys; reports rows without a key.
    fn key_rows<'a>(
        &self,
        theirs: &'a Rows,
        table: &ComparedTable,
        found: &mut OriginalComparison,
    ) -> Vec<(Key, OriginalRow<'a>)> {
        let mut keyed = Vec::new();
        for row in theirs.iter() {
            let players = self.config.group_size;
            let target = if table.keys.contains(&"target_id") {
                row.agent("target_id", players).map(drop)
            } else {
                Ok(())
            };
            match self.turn(&row, table.actor).and_then(|turn| target.map(|()| turn)) {
                Ok(turn) => keyed.push(((turn, texts(&row, table.keys)), row)),
                Err(e) => found.differences.push(e.to_string()),
            }
        }
        keyed
    }

    /// Reports rows that exist only on one side, and duplicates. Returns the turns without a row in
    /// `game_log.csv`.
    fn rows(
        &self,
        table: &ComparedTable,
        theirs: &Rows,
        rows: &Pairs<'_, Key>,
        found: &mut OriginalComparison,
    ) -> Vec<PlayerTurn> {
        let ours = rows.ours.iter().filter(|(turn, _)| self.is_settled(*turn)).cloned();
        let mut missing: BTreeSet<Key> = ours.collect();
        let mut turns = Vec::new();
        if table.name == GAME_LOG.name {
            missing.extend(self.missing_turns().into_iter().map(|turn| (turn, Vec::new())));
            turns.extend(missing.iter().map(|(turn, _)| *turn));
        }
        for key in &missing {
            let row = self.row_name(key);
            found.differences.push(format!("{}: the row of {row} is missing", theirs.path()));
        }
        for (key, row, first) in &rows.twice {
            let reason =
                format!("the row of {} occurs twice, first in line {first}", self.row_name(key));
            found.differences.push(row.wrong(reason).to_string());
        }
        // Rows based on answers that were not recorded are left out.
        let answered =
            |turn: PlayerTurn| self.answers.contains_key(&Stage::Contribution.call(turn));
        for (_, row) in rows.theirs.iter().filter(|((turn, _), _)| answered(*turn)) {
            found
                .differences
                .push(row.wrong("there is no such row in ours".to_owned()).to_string());
        }
        turns
    }

    /// Whether a round is one that the original logged, or an earlier one: a run that was cut short
    /// logged nothing about its last round.
    fn is_settled(&self, turn: PlayerTurn) -> bool {
        self.game_log.iter().any(|row| {
            self.round(&row).is_ok_and(|(game, round)| game == turn.game && round >= turn.round)
        })
    }

    /// The rows that are missing from `game_log.csv`, regardless of the answers: those of players
    /// who continue later, or, if no answers are recorded, of all players.
    fn missing_turns(&self) -> Vec<PlayerTurn> {
        let logged: BTreeSet<PlayerTurn> =
            self.game_log.iter().filter_map(|row| self.turn(&row, "agent_id").ok()).collect();
        let mut last: BTreeMap<u32, u32> = BTreeMap::new();
        let mut last_of: BTreeMap<(u32, u32), u32> = BTreeMap::new();
        for PlayerTurn { game, round, agent } in &logged {
            let (game_end, own_end) =
                (last.entry(*game).or_default(), last_of.entry((*game, *agent)).or_default());
            (*game_end, *own_end) = ((*game_end).max(*round), (*own_end).max(*round));
        }
        let all = last.into_iter().flat_map(|(game, last)| {
            let players = self.config.group_size;
            (1..=last).flat_map(move |round| {
                (0..players).map(move |agent| PlayerTurn { game, round, agent })
            })
        });
        let plays = |turn: &PlayerTurn| {
            let end = last_of.get(&(turn.game, turn.agent));
            self.answers.is_empty() || end.is_some_and(|end| *end > turn.round)
        };
        all.filter(|turn| !logged.contains(turn) && plays(turn)).collect()
    }

    /// A row's name for messages.
    fn row_name(&self, (turn, others): &Key) -> String {
        let PlayerTurn { game, round, agent } = turn;
        let game = printable(self.game(*game), 40);
        let others: String =
            others.iter().map(|other| format!(", {}", printable(other, 40))).collect();
        format!("{game}, round {round}, agent_{agent}{others}")
    }

    /// Compares the results of all answers.
    fn results(
        &self,
        ours: Outputs<'_>,
        found: &mut OriginalComparison,
    ) -> Result<(), OriginalError> {
        let ours = ours.table(RAW_RESPONSES.name)?;
        let theirs = self.key_rows(&self.raw_responses, &RAW_RESPONSES, found);
        // An amount that was asked for separately is an answer, not a result.
        for (theirs, own) in Pairs::new(theirs, keyed_ours(&ours, &RAW_RESPONSES)).both {
            cells(&RAW_RESPONSES, &theirs, &own, found);
        }
        Ok(())
    }
}

/// Compares the cells of a row with ours.
fn cells(
    table: &ComparedTable,
    theirs: &OriginalRow<'_>,
    ours: &OriginalRow<'_>,
    found: &mut OriginalComparison,
) {
    for column in table.columns {
        let (logged, own) = (theirs.text(column), ours.text(column));
        found.value(same(logged, own), || {
            let (logged, own) = (printable(logged, 60), printable(own, 60));
            let reason = format!("{column}: {logged:?} logged, {own:?} from the answers");
            theirs.wrong(reason).to_string()
        });
    }
}

/// Our rows with their keys; our games are identified by number.
fn keyed_ours<'a>(ours: &'a Rows, table: &ComparedTable) -> Vec<(Key, OriginalRow<'a>)> {
    let turn = |row: &OriginalRow<'_>| {
        let (_, game) = row.text("game_id").rsplit_once("_game")?;
        let agent = row.agent(table.actor, u32::MAX).ok()?;
        Some(PlayerTurn { game: game.parse().ok()?, round: row.number("round").ok()?, agent })
    };
    let keyed = ours.iter().filter_map(|row| Some(((turn(&row)?, texts(&row, table.keys)), row)));
    keyed.collect()
}

fn texts(row: &OriginalRow<'_>, columns: &[&str]) -> Vec<String> {
    columns.iter().map(|column| row.text(column).to_owned()).collect()
}

/// Whether two values are the same number, to the last bit, or the same text.
fn same(theirs: &str, ours: &str) -> bool {
    match (theirs.parse::<f64>(), ours.parse::<f64>()) {
        (Ok(theirs), Ok(ours)) => theirs.to_bits() == ours.to_bits(),
        _ => theirs == ours,
    }
}
