//! `retold stats`.

use std::path::PathBuf;

use serde::Serialize;

use crate::error::{CliError, Status};
use crate::gate::{self, UnverifiedArg};
use crate::global::Global;
use crate::limits::prices;
use crate::output::Output;
use crate::select::{self, RunSelection, RunSource};
use crate::views::stats::text;
use retold::event::Event;
use retold::id::{RunId, Seq};
use retold::log::{CheckedReader, Reader};
use retold::model::Prices;
use retold::totals::{Figures, Totals};
use retold_archive::RunView;

/// Show a run in numbers: calls, tokens, cost, latency, methods.
///
/// Failed attempts are counted by reason. Tokens and cost are those of the answers that were asked
/// for in this run; cost is at the list prices of config/prices.yaml, and a model without a price is
/// named, never counted as 0. Latency is by nearest rank, over the answers with a recorded
/// time of 1 ms or more.
///
/// What was saved are answers that were used again within the run, that a fork shares with its
/// parent, that a resumed run already had, and tokens in the provider's cache. A replay leaves no
/// events: what one replay saves is shown, not how many there were.
///
/// Of a damaged run, the events before the damage are counted (exit code 1).
///
/// With --json, the object is the one that the page of `retold serve` has under /run/RUN/stats as
/// `stats`, with `experiment`, `outcome` and `simulated`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A run (first digits of its id, its name, or `latest`), a recording's file or a file of
    /// exchanges.
    run: String,
    /// The prices: a file like config/prices.yaml, used instead of the built-in prices.
    #[arg(long, value_name = "FILE")]
    prices: Option<PathBuf>,
}

/// What is printed with --json.
#[derive(Serialize)]
struct StatsObject<'a> {
    experiment: &'a str,
    /// How the run ended; `None` if it did not.
    outcome: Option<String>,
    simulated: bool,
    #[serde(flatten)]
    figures: &'a Figures,
}

pub(crate) fn run(args: Args, global: &Global, output: &Output) -> Result<Status, CliError> {
    let prices = prices(args.prices.as_deref())?;
    let source = select::source_to_read(global, &args.run)?;
    let selected = RunSelection { log: source.log.clone(), run: source.run };
    gate::show_run(&selected, UnverifiedArg::default(), output, |view| {
        show(&source, view, &prices, global, output)
    })
}

/// Shows the figures of a run; only what is before its damage is counted.
fn show(
    source: &RunSource,
    view: &RunView,
    prices: &Prices,
    global: &Global,
    output: &Output,
) -> Result<Status, CliError> {
    let (log, run) = (view.before_damage(), view.run());
    let mut reader = CheckedReader::new(log.reader()?);
    let started = select::started(&mut reader, run)?;
    let mut totals = Totals::new(run);
    while totals.read_on(&mut reader)? {}
    if view.damage().is_none() {
        totals.read_accepted(&mut CheckedReader::new(log.reader()?))?;
    }
    let figures = totals.figures(prices, global.studies.parsers());
    let outcome = outcome(&mut reader, run, totals.end())?;
    if output.is_json() {
        let (experiment, simulated) = (started.experiment.as_str(), source.simulated);
        output.object(&StatsObject { experiment, outcome, simulated, figures: &figures })?;
        return Ok(Status::Fine);
    }
    let mut shown = match view.damage() {
        Some(_) => "only the events before it are counted\n".to_owned(),
        None => String::new(),
    };
    let ended = outcome.as_deref().unwrap_or("unfinished");
    shown.push_str(&format!("{}: {}, {ended}\n", source.name(), started.experiment));
    if source.simulated {
        shown.push_str(select::SIMULATED);
    }
    shown.push_str(&text(&figures));
    output.text(&shown)?;
    Ok(Status::Fine)
}

/// How a run ended, as its last event says.
fn outcome(reader: &mut dyn Reader, run: RunId, end: Seq) -> Result<Option<String>, CliError> {
    let last = reader.events(run, Seq(end.0.saturating_sub(1)), 1)?.pop();
    Ok(match last.map(|last| last.event()) {
        Some(Ok(Event::RunFinished(finished))) => Some(finished.outcome.as_str().to_owned()),
        _ => None,
    })
}
