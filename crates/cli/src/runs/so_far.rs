//! `run --so-far`: what has come out of a run that has not ended. Each look is an event of the run.

use std::cell::RefCell;
use std::rc::Rc;

use serde_json::json;

use crate::error::{CliError, Status, write_err};
use crate::global::Global;
use crate::output::{Output, count_of, group_digits};
use crate::progress::ProgressDisplay;
use crate::runs::run_figures::{figures_error, rows_error};
use crate::runtime;
use crate::select::{self, RunSelection};
use crate::views::run_figures;
use retold::event::LookedAt;
use retold::id::RunId;
use retold::log::Log;
use retold::model::Prices;
use retold::run::{Update, record_look};
use retold::totals::Totals;
use retold_figures::{FigureTable, leading_tables};
use retold_study::figures::figure_run;
use retold_study::studies::Studies;

/// What has come out of a run so far: the figures that it leads with.
struct OutcomesSoFar {
    answered: u64,
    failed: u64,
    tables: Vec<FigureTable>,
}

impl OutcomesSoFar {
    fn read(log: &Log, run: RunId, studies: &Studies) -> Result<Self, CliError> {
        let mut reader = log.checked_reader()?;
        let mut totals = Totals::new(run, &Prices::default());
        while totals.read_on(&mut reader)? {}
        let calls = totals.figures(studies.parsers()).all.counts.calls;
        let of = figure_run(studies, run.short(8), run, &mut reader).map_err(rows_error)?;
        let leading = leading_tables(&mut [of], studies.parsers()).map_err(figures_error)?;
        Ok(OutcomesSoFar { answered: calls.answered, failed: calls.failed, tables: leading.tables })
    }

    /// The event of a look at them.
    fn event(&self) -> LookedAt {
        let OutcomesSoFar { answered, failed, tables } = self;
        let figures = tables.iter().map(FigureTable::title).collect();
        LookedAt { answered: *answered, failed: *failed, figures }
    }

    fn text(&self, is_simulated: bool) -> String {
        let OutcomesSoFar { answered, failed, tables } = self;
        let (answers, failed) = (count_of(*answered, "answer"), group_digits(*failed));
        let simulated = if is_simulated { select::SIMULATED } else { "" };
        let figures = run_figures::tables(tables);
        format!(
            "so far, after {answers} and {failed} failed (this look is recorded):\n{simulated}{figures}"
        )
    }
}

/// What is shown of a run at each of its marks while it is executed.
#[derive(Clone)]
pub(crate) struct Looks(Rc<LooksOfRun>);

struct LooksOfRun {
    log: Log,
    run: RunId,
    studies: Studies,
    is_simulated: bool,
    console: ProgressDisplay,
    /// The text of a look that is being recorded.
    next: RefCell<Option<String>>,
}

impl Looks {
    pub(crate) fn new(
        log: Log,
        run: RunId,
        is_simulated: bool,
        console: ProgressDisplay,
        studies: &Studies,
    ) -> Self {
        let (studies, next) = (studies.clone(), RefCell::new(None));
        Looks(Rc::new(LooksOfRun { log, run, studies, is_simulated, console, next }))
    }

    /// Reads what has come out so far. A failure does not stop the run, and nothing is shown or recorded.
    pub(crate) fn read(&self) -> Option<LookedAt> {
        let LooksOfRun { log, run, studies, is_simulated, next, .. } = &*self.0;
        match OutcomesSoFar::read(log, *run, studies) {
            Ok(so_far) if so_far.tables.is_empty() => None,
            Ok(so_far) => {
                next.replace(Some(so_far.text(*is_simulated)));
                Some(so_far.event())
            }
            Err(error) => {
                write_err(&format!(
                    "warning: what came out so far cannot be shown: {}\n",
                    error.message
                ));
                None
            }
        }
    }

    /// Shows what was read, now that the look is recorded.
    pub(crate) fn take(&self, told: Update<'_>) {
        if let (Update::Looked, Some(text)) = (told, self.0.next.take()) {
            self.0.console.lines(&text);
        }
    }
}

/// Shows what has come out of a run that nobody executes, and records that.
pub(crate) fn look_at(name: &str, global: &Global, output: &Output) -> Result<Status, CliError> {
    let RunSelection { log, run } = select::run(global, name)?;
    select::sound(&log, run, "nothing was recorded")?;
    let started = select::run_start(log.reader()?.as_mut(), run)?;
    let mut so_far = None;
    let read = || {
        let read = OutcomesSoFar::read(&log, run, global.studies)?;
        if read.tables.is_empty() {
            let message = format!("run {run} has no figures yet: nothing was recorded");
            return Err(CliError::usage(message)
                .hint(format!("`retold log {}` shows what it has", run.short(8))));
        }
        let event = read.event();
        so_far = Some(read);
        Ok(event)
    };
    let tokio = runtime::of_this_thread()?;
    let looked = tokio.block_on(record_look(&log, run, read))?;
    let Some(so_far) = so_far else { return Ok(Status::Fine) };
    if output.is_json() {
        let LookedAt { answered, failed, .. } = looked;
        output.object(&json!({
            "run": run, "answered": answered, "failed": failed, "figures": so_far.tables,
        }))?;
    } else {
        output.text(&so_far.text(started.is_simulated()))?;
    }
    Ok(Status::Fine)
}
