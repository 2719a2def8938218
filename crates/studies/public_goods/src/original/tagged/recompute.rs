//! Computes public fund, payoff and wallet of every row in `game_log.csv` from the logged actions.

use std::collections::{BTreeMap, BTreeSet};

use super::run::TaggedRun;
use crate::facts::PlayerTurn;
use crate::rules::{GameRules, Units};
use retold::escaping::printable;
use retold_study::original::{OriginalComparison, OriginalError, OriginalRow};

/// A game and a round.
type GameRound = (u32, u32);

/// The logged actions, as far as they are readable.
#[derive(Default)]
struct LoggedActions<'a> {
    /// The row of each player; the first if there are two.
    rows: BTreeMap<GameRound, BTreeMap<u32, OriginalRow<'a>>>,
    units: BTreeMap<GameRound, Vec<Units>>,
    /// Rounds with a missing row or an unreadable action.
    incomplete: BTreeSet<GameRound>,
}

impl TaggedRun {
    /// Computes all rounds again. `missing` are the rows that `game_log.csv` lacks: their rounds
    /// cannot be computed, and are reported as not compared; later rounds can, starting from the
    /// logged wallets.
    pub(super) fn recompute(&self, missing: &[PlayerTurn], found: &mut OriginalComparison) {
        let rules = GameRules::new(&self.config);
        let logged = self.read_log(missing, found);
        // The possible wallets, ours first, so that an error in one round is not reported again for
        // later rounds.
        let mut wallets: BTreeMap<(u32, u32), Vec<f64>> = BTreeMap::new();
        let rounds: BTreeSet<GameRound> =
            logged.rows.keys().chain(&logged.incomplete).copied().collect();
        for place @ (game, round) in rounds {
            let rows = logged.rows.get(&place).into_iter().flatten();
            let contributions: Vec<Option<i64>> =
                rows.clone().map(|(_, row)| found.read(self.contribution(row))).collect();
            let whole: Option<Vec<i64>> = contributions.into_iter().collect();
            let Some(coins) = whole.filter(|_| !logged.incomplete.contains(&place)) else {
                for agent in 0..self.config.group_size {
                    wallets.insert((game, agent), Vec::new());
                }
                for (agent, row) in rows {
                    let logged = row.number("cumulative_wallet");
                    wallets.insert((game, *agent), logged.into_iter().collect());
                }
                found.not_compared.push(format!(
                    "{}, round {round}: public fund, payoffs and wallets with the logged actions, \
                     which are not all there",
                    printable(self.game(game), 40)
                ));
                continue;
            };
            let contributions: Vec<(u32, i64)> =
                rows.clone().map(|(agent, _)| *agent).zip(coins).collect();
            let units = logged.units.get(&place).map_or(&[][..], Vec::as_slice);
            let settlement = rules.settle(&contributions, units);
            for ((agent, row), payoff) in rows.zip(settlement.payoffs) {
                value(row, "public_fund", settlement.public_fund, found);
                value(row, "round_payoff", payoff, found);
                let wallet = wallets.entry((game, *agent)).or_insert_with(|| vec![0.0]);
                let logged: Option<f64> = row.number("cumulative_wallet").ok();
                let mut sums = wallet.iter().map(|coins| coins + payoff);
                let first = sums.clone().next();
                let ours = sums.find(|sum| logged.is_some_and(|l| same(l, *sum))).or(first);
                match ours {
                    Some(ours) => value(row, "cumulative_wallet", ours, found),
                    None => found.not_compared.push(format!(
                        "{}, round {round}: the wallet of agent_{agent}, for the one before is not \
                         there",
                        printable(self.game(game), 40)
                    )),
                }
                *wallet = ours.into_iter().chain(logged).collect();
            }
        }
    }

    /// Reads the logged actions, and reports unreadable ones.
    fn read_log(
        &self,
        missing: &[PlayerTurn],
        found: &mut OriginalComparison,
    ) -> LoggedActions<'_> {
        let mut logged = LoggedActions::default();
        logged.incomplete.extend(missing.iter().map(|turn| (turn.game, turn.round)));
        // A row without a turn is reported where rows are compared.
        for row in self.game_log.iter() {
            if let Ok(turn) = self.turn(&row, "agent_id") {
                let rows = logged.rows.entry((turn.game, turn.round)).or_default();
                rows.entry(turn.agent).or_insert(row);
            }
        }
        let mut seen = BTreeSet::new();
        for row in self.redistribution_details.iter() {
            let Ok(place) = self.round(&row) else { continue };
            let players = self.config.group_size;
            let (actor, target) = (row.agent("actor_id", players), row.agent("target_id", players));
            let (Ok(actor), Ok(target)) = (actor, target) else {
                logged.incomplete.insert(place);
                continue;
            };
            // If an array meant both, each of its numbers has two rows.
            if !seen.insert((place, actor, target)) {
                continue;
            }
            let decided = found.read(row.number("units_decided"));
            let actual = found.read(row.number("units_actual"));
            match (decided, actual) {
                (Some(decided), Some(actual)) => {
                    let units = Units { actor, target, decided, actual };
                    logged.units.entry(place).or_default().push(units);
                }
                _ => drop(logged.incomplete.insert(place)),
            }
        }
        logged
    }

    /// The contribution in a row, if it is possible.
    fn contribution(&self, row: &OriginalRow<'_>) -> Result<i64, OriginalError> {
        let (coins, most) = (row.number("contribution")?, self.config.endowment);
        if (0..=i64::from(most)).contains(&coins) {
            Ok(coins)
        } else {
            Err(row.wrong(format!("contribution: {coins}, and it is from 0 to {most}")))
        }
    }
}

/// Whether two numbers are the same to the last bit.
fn same(one: f64, other: f64) -> bool {
    one.to_bits() == other.to_bits()
}

/// Compares a logged value with ours.
fn value(row: &OriginalRow<'_>, column: &str, ours: f64, found: &mut OriginalComparison) {
    found.compared += 1;
    match row.number::<f64>(column) {
        Ok(logged) if same(logged, ours) => {}
        Ok(logged) => {
            let reason = format!("{column}: {logged} logged, {ours} from the logged actions");
            found.differences.push(row.wrong(reason).to_string());
        }
        Err(e) => found.differences.push(format!("{e}, {ours} from the logged actions")),
    }
}
