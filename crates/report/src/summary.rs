//! The part of a report that any run has: the numbers of `retold stats`, how the run began and how it ended.

use std::collections::BTreeMap;

use retold::audit::{AuditError, Independence, independence};
use retold::counted::count_of;
use retold::event::{Event, RunStarted};
use retold::id::{RunId, Seq, Time};
use retold::log::{LogError, Reader};
use retold::model::Prices;
use retold::parse::Parsers;
use retold::totals::{Counts, Figures, ParserFigures, Totals};

use crate::MOST_GROUPS;

/// Decisions by method, and whether it is the parser's last resort: nothing was found in the answer.
pub type Methods = BTreeMap<(String, bool), u64>;

/// A run, summed up.
#[derive(Debug, Clone)]
pub struct RunSummary {
    /// The run.
    pub run: RunId,
    /// How it began.
    pub started: RunStarted,
    /// When it began.
    pub began: Time,
    /// When its last event was recorded.
    pub ended: Time,
    /// The word for how it ended; `None` if it is unfinished.
    pub outcome: Option<String>,
    /// Its numbers, by the kinds of call and the models with the most calls.
    pub figures: Figures,
    /// What its decisions rest on.
    pub independence: Independence,
}

impl RunSummary {
    /// Reads a run. `clusters` is the label over which its study says that draws are independent.
    ///
    /// # Errors
    /// [`AuditError`] if it cannot be read or is damaged.
    pub fn read(
        reader: &mut dyn Reader,
        run: RunId,
        parsers: &Parsers,
        prices: &Prices,
        clusters: Option<&str>,
    ) -> Result<Self, AuditError> {
        let started = retold::run::latest_start(reader, run)?;
        let mut totals = Totals::read(reader, run, prices)?;
        totals.read_shards(reader)?;
        let before = Seq(totals.end().0.saturating_sub(1));
        let first = reader.events(run, Seq(0), 1)?.pop();
        let last = reader.events(run, before, 1)?.pop();
        let [began, ended] =
            [&first, &last].map(|event| event.as_ref().map_or(Time(0), |event| event.time));
        let last = last.map(|last| last.event()).transpose().map_err(LogError::from)?;
        let outcome = match last {
            Some(Event::RunFinished(finished)) => Some(finished.outcome.as_str().to_owned()),
            _ => None,
        };
        totals.sum_up(MOST_GROUPS);
        let figures = totals.figures(parsers);
        let independence = independence(reader, run, parsers, clusters)?;
        Ok(RunSummary { run, started, began, ended, outcome, figures, independence })
    }

    /// The calls of each model: the one that was asked for, or else the one that answered.
    pub fn models(&self) -> BTreeMap<String, Counts> {
        let models = self.figures.models.iter();
        models.map(|(name, of)| (name.clone(), of.counts.clone())).collect()
    }

    /// How the decisions were found.
    pub fn decision_counts(&self) -> DecisionCounts {
        let mut found = DecisionCounts::default();
        for parser in self.figures.all.counts.parsers.values() {
            found.decisions += parser.decisions;
            found.null += parser.null;
            if parser.found.is_none() {
                found.unknown += parser.decisions;
                continue;
            }
            for method in &parser.methods {
                if method.is_last_resort {
                    found.last_resort += method.decisions;
                } else {
                    found.in_answer += method.decisions - method.null;
                }
            }
        }
        found
    }
}

/// Decisions by how they were found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DecisionCounts {
    /// All of them.
    pub decisions: u64,
    /// A strategy of their parser found a value in the answer, other than null.
    pub in_answer: u64,
    /// Nothing was found in the answer: their parser's last resort.
    pub last_resort: u64,
    /// A program reported them, or the last resort of their parser is not known.
    pub unknown: u64,
    /// Those whose value is null.
    pub null: u64,
}

impl DecisionCounts {
    /// What there is to say; `None` if there are no decisions.
    pub fn says(&self, run: &str) -> Option<String> {
        let DecisionCounts { decisions, in_answer, last_resort, unknown, null } = *self;
        if decisions == 0 {
            return None;
        }
        let mut said = Vec::new();
        if unknown < decisions {
            let share = 100.0 * in_answer as f64 / decisions as f64;
            let were = if in_answer == 1 { "was" } else { "were" };
            let come = if last_resort == 1 { "comes" } else { "come" };
            said.push(format!("{in_answer} ({share:.2} %) {were} found in the answer"));
            said.push(format!("{last_resort} {come} from a parser's last resort"));
        }
        if unknown > 0 {
            said.push(format!(
                "for {unknown} it is not known whether something was found in the answer: a program \
                 reported them, or the last resort of their parser is not known"
            ));
        }
        if null > 0 {
            let have = if null == 1 { "has" } else { "have" };
            said.push(format!("{null} {have} the value null"));
        }
        Some(format!("Of {} in run {run}: {}.", count_of(decisions, "decision"), said.join("; ")))
    }
}

/// The decisions of several parsers, by method.
pub fn methods(parsers: &BTreeMap<String, ParserFigures>) -> Methods {
    let mut methods = Methods::new();
    for method in parsers.values().flat_map(|parser| &parser.methods) {
        let key = (method.method.clone(), method.is_last_resort);
        *methods.entry(key).or_default() += method.decisions;
    }
    methods
}
