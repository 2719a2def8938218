//! Runs in a line each, as the list shows them: the first figure, the answers, and their cost.

use std::collections::BTreeMap;
use std::sync::Arc;

use retold::escaping::printable;
use retold::id::{RunId, Seq};
use retold::log::RunHead;
use retold::totals::{Cost, Totals};
use retold_figures::{FigureTable, PictureRow};
use serde::Serialize;

use crate::background::WAIT_TIMEOUT;
use crate::figures::run_figures;
use crate::job_error::JobError;
use crate::site::Site;

/// The most events of a run that is read for the list. A longer run is read when somebody opens it.
pub(crate) const MOST_EVENTS: u64 = 20_000;

/// The most groups of a figure in a line.
const MOST_GROUPS: usize = 3;

/// The most models in a line, and the longest name of one, in characters.
const MOST_MODELS: usize = 2;
const LONGEST: usize = 40;

/// A run in a line.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct RunSummary {
    /// The name of its first figure, and the values of the figure's groups; `None` without a figure.
    figure: Option<[String; 2]>,
    /// Calls with an answer.
    answers: u64,
    /// The first models that answered.
    models: Vec<String>,
    more_models: usize,
    /// The cost at list prices, as far as it is known, and whether it is known of all answers.
    dollars: Option<f64>,
    is_whole_cost: bool,
}

/// A run as it is now: its last event that is read, and the number of runs in the log, since each may decide about its answers.
type SummaryKey = (RunId, Seq, usize);

/// The summaries that are known; `None` of a run that cannot be read.
#[derive(Default)]
pub(crate) struct Summaries {
    known: BTreeMap<SummaryKey, Option<RunSummary>>,
    is_running: bool,
}

impl Site {
    /// The summaries of runs, given as their heads and whether they are over: those that are known after a moment, in their
    /// order, and whether others are still being made. One thread makes them, one run after another.
    pub(crate) fn summaries(
        self: &Arc<Self>,
        heads: &[(RunHead, bool)],
        runs: usize,
    ) -> (Vec<Option<RunSummary>>, bool) {
        let key = |(head, is_over): &(RunHead, bool)| {
            let end = self.computed_end(head, *is_over);
            ((1..=MOST_EVENTS).contains(&end.0)).then_some((head.run, end, runs))
        };
        let keys: Vec<Option<SummaryKey>> = heads.iter().map(key).collect();
        let mut state = self.summed.state();
        // A run that was added to the log may change all.
        state.known.retain(|(.., of), _| *of == runs);
        let wanted = heads.iter().zip(&keys);
        let wanted = wanted.filter_map(|((head, _), key)| Some((head.clone(), (*key)?)));
        let missing: Vec<(RunHead, SummaryKey)> =
            wanted.filter(|(_, key)| !state.known.contains_key(key)).collect();
        if !missing.is_empty() && !std::mem::replace(&mut state.is_running, true) {
            let (site, made) = (self.clone(), self.summed.clone());
            let all: Vec<SummaryKey> = missing.iter().map(|(_, key)| *key).collect();
            self.summed.begin(
                move || {
                    for (head, key) in missing {
                        let summary = site.summary(&head, key.1).ok();
                        made.state().known.insert(key, summary);
                    }
                    Ok(())
                },
                move |state, end: Result<(), JobError>| {
                    state.is_running = false;
                    // A run that stops the thread is not tried again.
                    if end.is_err() {
                        for key in all {
                            state.known.entry(key).or_default();
                        }
                    }
                },
            );
        }
        drop(state);
        let is_missing =
            |state: &Summaries| keys.iter().flatten().any(|key| !state.known.contains_key(key));
        let state = self.summed.wait_while(WAIT_TIMEOUT, |state| state.is_running);
        let summary = |key: &Option<SummaryKey>| state.known.get(key.as_ref()?).cloned().flatten();
        (keys.iter().map(summary).collect(), is_missing(&state))
    }

    fn summary(&self, head: &RunHead, end: Seq) -> Result<RunSummary, JobError> {
        let mut reader = self.reader_to(head, end)?;
        let totals = Totals::read(reader.as_mut(), head.run, &self.prices)?;
        let totals = totals.figures(self.studies.parsers());
        let figures = run_figures(&self.studies, reader.as_mut(), head.run)?;
        let Cost { dollars, is_complete, .. } = totals.all.cost;
        let names = totals.models.keys().take(MOST_MODELS);
        let models: Vec<String> = names.map(|name| printable(name, LONGEST)).collect();
        Ok(RunSummary {
            figure: figures.first().and_then(figure_line),
            answers: totals.all.counts.calls.answered,
            more_models: totals.models.len() - models.len(),
            models,
            dollars,
            is_whole_cost: is_complete,
        })
    }
}

/// The name of a figure, and the values of its first groups; `None` without any.
fn figure_line(table: &FigureTable) -> Option<[String; 2]> {
    let rows = table.picture()?.values.rows;
    let value = |row: &PictureRow| match rows.len() {
        1 => format!("{} {}", row.value_text, row.interval_text).trim().to_owned(),
        _ => format!("{} {}", row.name, row.value_text),
    };
    let mut values: Vec<String> = rows.iter().take(MOST_GROUPS).map(value).collect();
    if let Some(more) = rows.len().checked_sub(MOST_GROUPS).filter(|more| *more > 0) {
        values.push(format!("{more} more"));
    }
    // A number stays beside its sign.
    Some([table.title(), values.join(" · ").replace(" %", "\u{a0}%")])
}
