//! What a report says about any run: the numbers of `retold stats`, how the run began and how it ended.

use std::collections::BTreeMap;

use retold::event::{Event, RunStarted};
use retold::id::{RunId, Seq};
use retold::log::{LogError, Reader};
use retold::model::Prices;
use retold::parse::Parsers;
use retold::totals::{Counts, Figures, ParserFigures, Totals};

/// Decisions by method, and whether it is the parser's last resort: nothing was found in the answer.
pub type Methods = BTreeMap<(String, bool), u64>;

/// A run, summed up.
#[derive(Debug, Clone)]
pub struct Summary {
    /// The run.
    pub run: RunId,
    /// How it began.
    pub started: RunStarted,
    /// The word for how it ended; `None` if it is unfinished.
    pub outcome: Option<String>,
    /// Its numbers.
    pub figures: Figures,
}

impl Summary {
    /// Reads a run once.
    ///
    /// # Errors
    /// [`LogError`] if it cannot be read or is damaged.
    pub fn read(reader: &mut dyn Reader, run: RunId, parsers: &Parsers) -> Result<Self, LogError> {
        let started = retold::run::started(reader, run)?;
        let totals = Totals::read(reader, run)?;
        let before = Seq(totals.end().0.saturating_sub(1));
        let last = reader.events(run, before, 1)?.pop().map(|last| last.event()).transpose()?;
        let outcome = match last {
            Some(Event::RunFinished(finished)) => Some(finished.outcome.as_str().to_owned()),
            _ => None,
        };
        // Nothing of what a report shows depends on prices.
        let figures = totals.figures(&Prices::default(), parsers);
        Ok(Summary { run, started, outcome, figures })
    }

    /// The calls of each model: the one that was asked for, or else the one that answered.
    pub fn models(&self) -> BTreeMap<String, Counts> {
        let models = self.figures.models.iter();
        models.map(|(name, of)| (name.clone(), of.counts.clone())).collect()
    }

    /// Decisions, and how many of them a strategy found.
    pub fn found(&self) -> (u64, u64) {
        let all = methods(&self.figures.all.counts.parsers);
        let found = all.iter().filter(|((_, is_last_resort), _)| !is_last_resort);
        (all.values().sum(), found.map(|(_, decisions)| decisions).sum())
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
