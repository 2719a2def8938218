//! `retold stats`.

mod picture;

use std::path::PathBuf;

use serde::Serialize;
use serde_json::json;

use self::picture::PictureArgs;
use crate::error::{CliError, Status};
use crate::gate;
use crate::global::Global;
use crate::limits::prices;
use crate::output::Output;
use crate::runs::run_figures::{FiguresArgs, decider_differences, planned, searches};
use crate::select::{self, RunSelection, RunSource};
use crate::views::run_figures;
use crate::views::stats::text;
use retold::event::Event;
use retold::id::{RunId, Seq};
use retold::log::Reader;
use retold::model::Prices;
use retold::totals::{Figures, Totals};
use retold_archive::{RunView, without_end};
use retold_figures::FigureTable;
use retold_plan::{BEYOND_THE_LOG, FigureSearch};

/// Show runs in numbers: what came out, tokens, cost, latency, methods.
///
/// Failed attempts are counted by reason. Tokens and cost are those of the answers that were asked
/// for in this run; cost is at the list prices of the day of each answer, and a model without a price is
/// named, never counted as 0. Latency is by nearest rank, over the answers with a recorded
/// time of 1 ms or more.
///
/// The numbers of a merged run are those of what it asked itself; `in all` are those of the run and its shards together
/// (with --json: with_shards), so that sums over a log count nothing twice.
///
/// Saved are answers that were used again within the run, that a fork shares with its parent or that a
/// resumed run already had, and tokens in the provider's cache. A replay leaves no events: the output
/// shows what one replay saves, not how many there were.
///
/// Figures come first: those of --figure and --figures, or else those of the plan by which the run was recorded, or those that the
/// study leads with, or, of a run
/// that no study made, the means or commonest values of its decisions, by label. Each group has its 95 % interval, and what is missing
/// or a parser's last resort is counted beside it. Groups, and runs where several are given, are
/// compared by differences with intervals and tests. If several runs were decided by different parsers, or by different versions of
/// one, a note above the figures says so, with the command that decides all alike.
///
/// The figures of a run that has not ended are marked as such, and that they were looked at is not recorded: this command only
/// reads. `retold run --so-far RUN` shows and records it. How often that was done is among the numbers.
///
/// With --figure, the figures are printed alone; -o draws one in a file. Below each figure of one run is what else there is to
/// it: whether it is by a registered plan (`plan --register`), what deviates, what came out in the other runs of the same study in
/// this log, and what other parsers and judges that decided, or that the plan admits, make of the same answers.
///
/// Of a damaged run, the events before the damage are counted (exit code 1).
///
/// With --json, the object of one run is the one that the page of `retold serve` has under
/// /run/RUN/stats as `stats`, with `experiment`, `outcome`, `simulated` and `figures`, and in `search` what else there is to
/// figures that were named or planned. Several runs are `runs`, beside `figures` and `deciders`, the names that different
/// parsers decided.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A run (first digits of its id, its name, or `latest`), a recording's file or a file of
    /// exchanges; several to compare them.
    #[arg(default_value = "latest", value_name = "RUN")]
    runs: Vec<String>,
    #[command(flatten)]
    figures: FiguresArgs,
    #[command(flatten)]
    picture: PictureArgs,
    /// The prices: a file like config/prices.yaml, used instead of the built-in prices.
    #[arg(long, value_name = "FILE")]
    prices: Option<PathBuf>,
}

/// What is printed with --json of one run.
#[derive(Serialize)]
struct StatsObject {
    experiment: String,
    /// How the run ended; `None` if it did not.
    outcome: Option<String>,
    simulated: bool,
    #[serde(flatten)]
    totals: Figures,
}

/// The same with its figures.
#[derive(Serialize)]
struct RunStats<'a> {
    #[serde(flatten)]
    run: &'a StatsObject,
    figures: &'a [FigureTable],
    /// What else there is to figures that were named.
    #[serde(skip_serializing_if = "<[FigureSearch]>::is_empty")]
    search: &'a [FigureSearch],
}

pub(crate) fn run(args: Args, global: &Global, output: &Output) -> Result<Status, CliError> {
    let Args { runs, figures, picture, prices: file } = args;
    let drawing = picture.drawing(output)?;
    let prices = prices(file.as_deref())?;
    let sources = select::each_once(select::sources_to_read(global, &runs)?, |of| of.run);
    if let Some(drawing) = drawing {
        return drawing.draw(&sources, &figures, global, output);
    }
    let views = gate::views(&select::runs_of(&sources))?;
    gate::through(&views, output, || {
        let runs: Vec<RunSelection> = views.iter().map(RunSelection::up_to_damage).collect();
        let tables = figures.tables(&runs, global)?;
        let searches = match figures.is_empty() && planned(&runs)?.is_empty() {
            true => Vec::new(),
            false => searches(&runs, &tables, global)?,
        };
        let deciders = decider_differences(&runs)?;
        let mut all = Vec::new();
        for (source, view) in sources.iter().zip(&views) {
            all.push(stats_of(source, view, &prices, global)?);
        }
        if output.is_json() {
            match all.as_slice() {
                [run] => output.object(&RunStats { run, figures: &tables, search: &searches })?,
                all => {
                    output.object(&json!({"runs": all, "figures": tables, "deciders": deciders}))?
                }
            }
            return Ok(Status::Fine);
        }
        let mut shown = String::new();
        for (source, stats) in sources.iter().zip(&all) {
            shown.push_str(&heading(source, stats));
            if let [_] = all.as_slice() {
                shown.push_str(not_ended(stats, &tables));
                shown.push_str(&run_figures::tables_with(&tables, &searches));
                if !searches.is_empty() {
                    shown.push_str(&format!("{BEYOND_THE_LOG}\n"));
                }
            }
            // Who names a figure wants that alone.
            if figures.is_empty() {
                shown.push_str(&text(&stats.totals));
            }
            shown.push_str(if all.len() > 1 { "\n" } else { "" });
        }
        if all.len() > 1 {
            let is_simulated = sources.iter().any(|source| source.simulated);
            let said = if is_simulated { select::SIMULATED } else { "" };
            let said = if tables.is_empty() { "" } else { said };
            let notes = run_figures::decider_notes(&deciders);
            shown = format!("{said}{notes}{}{shown}", run_figures::tables(&tables));
        }
        output.text(&shown)?;
        Ok(Status::Fine)
    })
}

/// The numbers of a run.
fn stats_of(
    source: &RunSource,
    view: &RunView,
    prices: &Prices,
    global: &Global,
) -> Result<StatsObject, CliError> {
    let (log, run) = (view.log(), view.run());
    let mut reader = log.checked_reader()?;
    let started = select::run_start(&mut reader, run)?;
    let mut totals = Totals::new(run, prices);
    while totals.read_on(&mut reader)? {}
    totals.read_accepted(&mut log.checked_reader()?)?;
    totals.read_shards(&mut log.checked_reader()?)?;
    let (experiment, simulated) = (started.experiment, source.simulated);
    let outcome = outcome(&mut reader, run, totals.end())?;
    let totals = totals.figures(global.studies.parsers());
    Ok(StatsObject { experiment, outcome, simulated, totals })
}

/// What is said of a run before its numbers.
fn heading(source: &RunSource, stats: &StatsObject) -> String {
    let log = source.log.backend().as_ref();
    let without_end = || without_end(log, source.run, None);
    let ended = stats.outcome.as_deref().unwrap_or_else(without_end);
    let mut shown = format!("{}: {}, {ended}\n", source.name(), stats.experiment);
    if source.simulated {
        shown.push_str(select::SIMULATED);
    }
    shown
}

/// What is said before figures of a run that may go on.
fn not_ended(stats: &StatsObject, tables: &[FigureTable]) -> &'static str {
    if stats.outcome.is_some() || tables.is_empty() {
        return "";
    }
    "The run has not ended: these figures will change. That you looked is not recorded; `run --so-far` records it.\n"
}

/// How a run ended, as its last event says.
fn outcome(reader: &mut dyn Reader, run: RunId, end: Seq) -> Result<Option<String>, CliError> {
    let last = reader.events(run, Seq(end.0.saturating_sub(1)), 1)?.pop();
    Ok(match last.map(|last| last.event()) {
        Some(Ok(Event::RunFinished(finished))) => Some(finished.outcome.as_str().to_owned()),
        _ => None,
    })
}
