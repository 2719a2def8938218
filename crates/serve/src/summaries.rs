//! Runs in a line each, as the list shows them: the first figure, the answers, and their cost.

use std::sync::Arc;

use retold::escaping::printable;
use retold::id::Seq;
use retold::log::RunHead;
use retold::totals::{Cost, Totals};

use crate::background::WAIT_TIMEOUT;
use crate::figures::run_figures;
use crate::job_error::JobError;
use crate::run_summary::{LONGEST, MOST_MODELS, RunSummary, Summaries, SummaryKey, figure_line};
use crate::site::Site;

/// The most events of a run that is read for the list. A longer run is read when somebody opens it.
pub(crate) const MOST_EVENTS: u64 = 20_000;

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
