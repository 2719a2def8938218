//! A program whose requests are answered by batch: it is run until it has nothing more to ask, stopped, and run again from its start when
//! the answers are there.

use std::time::Duration;

use retold::batch::{BatchesOf, Settled, settle};
use retold::event::RunStarted;
use retold::id::RunId;
use retold::log::Log;
use retold::model::LIMIT;
use retold::run::Signal;
use retold_wire::HeldLayer;

use super::next;
use crate::again::spell_commands;
use crate::error::{CliError, Status, write_err};
use crate::global::Global;
use crate::model::{BatchArgs, BatchWait};
use crate::output::count_of;
use crate::runs::batches::{batch_error, batch_line, news_line};
use crate::signal::wait_for_interrupt;
use crate::{runtime, select};

/// The flags of a program's batches.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct LayerArgs {
    #[command(flatten)]
    batches: BatchArgs,
    /// With --batch: how long to wait for further requests of the program before those that it has made are put into a batch, in
    /// seconds. Without it, 10; the time-outs of SDKs are longer.
    #[arg(long, value_name = "SECONDS", value_parser = crate::model::seconds)]
    gather: Option<Duration>,
    /// With --batch: the fewest requests that are worth a batch, because each takes up to a day, and the program runs again from its
    /// start after each. Without it, 10; the last batch may have fewer.
    #[arg(long, value_name = "N")]
    least: Option<usize>,
}

/// Whether and how a program's requests are gathered for batches.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Layers {
    /// Whether they are to be. A run that has batches is continued so in any case, and what no batch has is then asked at once.
    pub(super) is_asked: bool,
    /// How long the command waits for a batch.
    wait: BatchWait,
    /// How long it waits for further requests.
    pub(super) gather: Duration,
    /// The fewest requests of the first batch.
    least: usize,
}

impl Layers {
    /// Those of a command that gathers as usual.
    pub(crate) fn of(batches: &BatchArgs) -> Self {
        let (is_asked, wait) = (batches.is_asked(), batches.batch_wait());
        Layers { is_asked, wait, gather: Duration::from_secs(10), least: 10 }
    }
}

impl From<&LayerArgs> for Layers {
    fn from(LayerArgs { batches, gather, least }: &LayerArgs) -> Self {
        let usual = Layers::of(batches);
        let gather = gather.unwrap_or(usual.gather);
        Layers { gather, least: least.unwrap_or(usual.least), ..usual }
    }
}

/// Settles the batches of a layer, the first of a run or a later one. `None` if the program can be run again; otherwise the exit code of
/// a command that waits.
pub(super) fn settle_layer(
    layer: &HeldLayer,
    layers: Layers,
    is_first: bool,
    (log, run): (&Log, RunId),
    global: &Global,
) -> Result<Option<Status>, CliError> {
    let started = select::run_start(log.reader()?.as_mut(), run)?;
    let held = layer.questions.len();
    if is_first && held < layers.least {
        return Err(too_few(held, run, &started));
    }
    if !global.quiet {
        write_err(&format!(
            "retold: the program was stopped: it waits for {}, and runs again from its start when they are answered\n",
            count_of(held as u64, "answer")
        ));
    }
    let tokio = runtime::of_this_thread()?;
    let signal = Signal::default();
    let of = BatchesOf {
        log,
        run,
        model: layer,
        poll: layers.wait.poll,
        waits: layers.wait.stays,
        plans: layers.is_asked,
        signal: &signal,
    };
    let settled = tokio.block_on(async {
        let stop = signal.clone();
        let interrupt = tokio::spawn(async move {
            if wait_for_interrupt().await {
                stop.stop();
            }
        });
        let settled = settle(of, &layer.questions, &mut |news| write_err(&news_line(news))).await;
        interrupt.abort();
        settled
    });
    match settled.map_err(|error| batch_error(error, run))? {
        Settled::Collected(renamed) => {
            for model in renamed {
                let model = retold::escaping::printable(&model, 100);
                write_err(&format!(
                    "{model} takes the limit of an answer as {LIMIT}: the program has to name it so\n"
                ));
            }
            Ok(None)
        }
        Settled::Waiting(batches) => {
            let next = next::command("record --resume", run, &["--batch".to_owned()], &started);
            let lines: String =
                batches.iter().map(|it| format!("  {}\n", batch_line(it))).collect();
            write_err(&spell_commands(&format!(
                "run {} waits:\n{lines}next:\n  retold {next}   collect what has been answered by then, and continue\n",
                run.short(8)
            )));
            Ok(Some(Status::Waiting))
        }
    }
}

/// A program that asks one thing after the other waits for a day each time.
fn too_few(held: usize, run: RunId, started: &RunStarted) -> CliError {
    let message = format!(
        "the program asks {} at a time, and then waits for the answer: by batch, each such round takes up to a day",
        count_of(held as u64, "request")
    );
    let next = next::command("record --resume", run, &[], started);
    CliError::usage(message)
        .hint(format!("nothing was submitted. `retold {next}` asks at once"))
        .hint(format!("--least {held} uses batches anyway"))
}
