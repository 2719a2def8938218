//! `retold run`.

use std::path::PathBuf;

use crate::error::{CliError, Status};
use crate::global::Global;
use crate::model::ModelArgs;
use crate::output::Output;
use crate::runs::folder::FolderArgs;
use crate::runs::record::{Recording, record};
use crate::runs::resume::same_study;

/// Record a run of an experiment.
///
/// The model is simulated unless the config or a flag says otherwise.
///
/// If the config names its outputs (deliberation: pilot_id), the run writes the folder outputs/NAME when it has
/// finished, or the next free one (outputs/NAME-2, and so on) if that exists. It is refused if the log has an
/// unfinished run of that name or, where the config names none, of the same settings. While a deliberation is running,
/// outputs/NAME.log says what it does. Nothing is lost if the folder cannot be written: `retold outputs RUN` makes it
/// from the log at any time.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The config file (YAML).
    config: PathBuf,
    /// The experiment, if the config does not name it.
    #[arg(long, value_name = "NAME")]
    experiment: Option<String>,
    /// Change a setting of the config, such as samples=10 or request.model=gpt-4o. Repeatable.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    settings: Vec<String>,
    /// Do not let the log file grow beyond this many bytes.
    #[arg(long, value_name = "BYTES")]
    log_limit: Option<u64>,
    /// Go on with the unfinished run of this config that is in the log, instead of beginning one.
    #[arg(long, conflicts_with = "log_limit")]
    resume: bool,
    /// Begin a run even if the log has an unfinished one of the same name, or of the same settings if the config names
    /// no outputs.
    #[arg(long, conflicts_with = "resume")]
    new: bool,
    #[command(flatten)]
    folder: FolderArgs,
    // Last: its heading would take in what follows.
    #[command(flatten)]
    model: ModelArgs,
}

pub(crate) fn run(args: Args, global: &Global, output: &Output) -> Result<Status, CliError> {
    let Args { config, experiment, settings, model, log_limit, resume, new, folder } = args;
    let mut study = global.studies.study(&config, experiment.as_deref(), &settings)?;
    if resume {
        model.apply(&mut study.settings.runtime)?;
        return same_study(study, model, folder, global, output);
    }
    let seat = None;
    let recording = Recording { config, settings, study, model, log_limit, new, folder, seat };
    record(recording, global, output)
}
