//! `retold resume`.

use crate::error::{CliError, Status};
use crate::global::Global;
use crate::model::ModelArgs;
use crate::output::Output;
use crate::runs::folder::FolderArgs;
use crate::runs::original;
use crate::runs::resume::{Resuming, resume};
use crate::runs::settings::settings_of;
use crate::select;

/// Go on with a run after a crash or an interruption.
///
/// The run is executed again from its start: what is in the log is answered from the log, the rest
/// is asked. Nothing is asked twice but what was in flight. Its output folder is written when it has finished,
/// as by `retold run`.
///
/// `retold import` goes on with an original run that it was executing.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The run: first digits of its id, or `latest`.
    run: String,
    #[command(flatten)]
    folder: FolderArgs,
    /// Write the output folder, even if the run began with --no-outputs.
    #[arg(long, conflicts_with = "no_outputs")]
    outputs: bool,
    #[command(flatten)]
    model: ModelArgs,
}

pub(crate) fn run(args: Args, global: &Global, output: &Output) -> Result<Status, CliError> {
    let Args { run, folder, outputs, model } = args;
    let folder = folder.with_outputs(outputs);
    let selected = select::run(global, &run)?;
    let started = select::started(selected.log.reader()?.as_mut(), selected.run)?;
    if original::is_one(&settings_of(global.studies, &started)?) {
        let run = selected.run;
        let message =
            format!("run {run} executes an original run again, which alone has its answers");
        let hint =
            original::how_to_go_on(global.studies, &started.experiment, "ORIGINAL", &run.short(8));
        return Err(CliError::usage(message).hint(hint));
    }
    resume(Resuming { selected, folder, model, seat: None }, global, output)
}
