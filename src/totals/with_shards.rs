//! The totals of a study recorded in shards: its merged run and the shards together.
//!
//! A merged run has asked only what its shards could not, so its own numbers leave out most of the study. If they included its
//! shards, a sum over a log would count these twice. So there are both numbers.

use std::collections::BTreeMap;

use serde::Serialize;

use super::Totals;
use super::figures::{Attempts, Cost, Tokens, UnansweredCounts, numbers};
use super::methods::entry;
use super::part::Part;
use crate::counted::{count_of, group_digits};
use crate::log::{LogError, Reader};
use crate::parse::Parsers;

/// The numbers of the shards of a run.
#[derive(Debug, Clone, Default)]
pub(super) struct ShardTotals {
    /// How many were read.
    read: usize,
    /// By model.
    parts: BTreeMap<String, Part>,
}

/// The totals of a merged run and its shards together.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StudyFigures {
    /// How many shards are counted: those in the log that can be read.
    pub shards: usize,
    /// How many shards there are.
    pub of: usize,
    /// Attempts to get an answer from a model.
    pub attempts: Attempts,
    /// Tokens of the answers.
    pub tokens: Tokens,
    /// Their cost.
    pub cost: Cost,
}

impl Totals {
    /// Reads the shards that this run is merged from, if it is: those that the log has. A damaged one is left out.
    ///
    /// # Errors
    /// [`LogError`] if the log cannot be read.
    pub fn read_shards(&mut self, reader: &mut dyn Reader) -> Result<(), LogError> {
        let mut of_shards = ShardTotals::default();
        if self.merged_from.is_empty() {
            return Ok(());
        }
        let there = reader.runs()?;
        for run in self.merged_from.iter().filter(|run| there.iter().any(|of| of.run == **run)) {
            match Totals::read(reader, *run, self.costs.prices()) {
                Ok(shard) => {
                    of_shards.read += 1;
                    for (model, part) in &shard.parts {
                        entry(&mut of_shards.parts, model, Part::default).merge(part);
                    }
                }
                Err(error) if error.is_damage() => {}
                Err(error) => return Err(error),
            }
        }
        self.of_shards = Some(of_shards);
        Ok(())
    }

    /// The totals of the run and its shards together; `None` if the shards were not read, or there are none.
    pub(super) fn with_shards(&self, parsers: &Parsers) -> Option<StudyFigures> {
        let ShardTotals { read, mut parts } = self.of_shards.clone()?;
        for (model, part) in &self.parts {
            entry(&mut parts, model, Part::default).merge(part);
        }
        let mut all = Part::default();
        parts.values().for_each(|part| all.merge(part));
        let cost = self.cost(&all, &parts);
        let all = numbers(&all, UnansweredCounts::default(), cost, parsers);
        let (attempts, tokens) = (all.counts.attempts, all.counts.tokens);
        let of = self.merged_from.len();
        Some(StudyFigures { shards: read, of, attempts, tokens, cost: all.cost })
    }
}

impl StudyFigures {
    /// The runs that are counted, and then attempts, tokens and cost, a line each.
    pub fn lines(&self) -> Vec<String> {
        let StudyFigures { shards, of, attempts, tokens, cost } = self;
        let (shards, all) = (*shards as u64, count_of(*of as u64, "shard"));
        let whose = match shards {
            0 => format!("this run without its {all}, which cannot be read here"),
            some if some < *of as u64 => {
                format!(
                    "this run and {} of its {all}; the others cannot be read here",
                    group_digits(some)
                )
            }
            _ => format!("this run and its {all} together"),
        };
        let Attempts { made, failed, .. } = attempts;
        let mut lines = vec![
            whose,
            format!("{}, {} failed", count_of(*made, "attempt"), group_digits(*failed)),
            format!("tokens {}", tokens.text()),
        ];
        lines.extend(cost.lines().into_iter().map(|line| format!("cost {line}")));
        lines
    }
}
