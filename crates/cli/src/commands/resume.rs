//! `retold resume`.

use std::ffi::OsString;

use crate::error::{CliError, Status};
use crate::global::Global;
use crate::model::ModelArgs;
use crate::output::Output;
use crate::runs::folder::FolderArgs;
use crate::runs::original;
use crate::runs::program::{self, Destinations, InterceptArgs, SharedArgs};
use crate::runs::resume::{Resuming, resume};
use crate::runs::settings::settings_of;
use crate::select;

/// Continue a run after a crash or an interruption.
///
/// The experiment runs again from the start: whatever is in the log is answered from the log, and
/// only the rest is asked. Nothing is asked twice except calls that were in flight. When the run
/// has finished, its output folder is written, as by `retold run`.
///
/// With a command after --, the command runs, and its requests to models are answered from a run
/// that `retold record` recorded and that was cut off, then asked and recorded. A recorded failure is sent
/// again if an answer follows it, or if the server refused the request itself (400, 404, 422); otherwise the
/// request is asked again.
///
/// To continue importing an original run, use `retold import`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The run: first digits of its id, or `latest`.
    run: String,
    #[command(flatten)]
    folder: FolderArgs,
    /// Write the output folder, even if the run was started with --no-outputs.
    #[arg(long, conflicts_with = "no_outputs")]
    outputs: bool,
    /// For a program's run: use this server for the requests of one upstream, as for `record`.
    #[arg(long = "upstream", value_name = "NAME=URL", requires = "command")]
    upstreams: Vec<String>,
    #[command(flatten)]
    intercept: InterceptArgs,
    #[command(flatten)]
    shared: SharedArgs,
    /// For a program's run: send no recorded failure again, and ask every request that has no answer.
    #[arg(long, requires = "command")]
    retry_failed: bool,
    /// For a program's run: the command to run.
    #[arg(last = true, value_name = "CMD", conflicts_with_all = ["outputs", "no_outputs"])]
    command: Vec<OsString>,
    #[command(flatten)]
    model: ModelArgs,
}

pub(crate) fn run(args: Args, global: &Global, output: &Output) -> Result<Status, CliError> {
    let Args { run, folder, outputs, upstreams, intercept, shared, retry_failed, command, model } =
        args;
    if !command.is_empty() {
        let destinations = Destinations { upstreams, intercept };
        return program::resume(&run, shared, retry_failed, &destinations, command, global);
    }
    let folder = folder.with_outputs(outputs);
    let selected = select::run(global, &run)?;
    let started = select::started(selected.log.reader()?.as_mut(), selected.run)?;
    program::needs_command(&selected, &started)?;
    if original::is_one(&settings_of(global.studies, &started)?) {
        let run = selected.run;
        let message =
            format!("run {run} is an import of an original run, whose files have its answers");
        let hint = original::how_to_continue(
            global.studies,
            &started.experiment,
            "ORIGINAL",
            &run.short(8),
        );
        return Err(CliError::usage(message).hint(hint));
    }
    resume(Resuming { selected, folder, model, seat: None }, global, output)
}
