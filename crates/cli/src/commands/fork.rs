//! `retold fork`.

use std::ffi::OsString;

use crate::error::{CliError, Status};
use crate::global::Global;
use crate::model::ModelArgs;
use crate::output::Output;
use crate::runs::fork::{Forking, fork};
use crate::runs::program::{self, Destinations, InterceptArgs, SharedArgs};
use crate::runs::settings::{as_json, settings_of};
use crate::select;
use retold::audit::{Target, audit};
use retold::event::{Event, RunStarted, StoredEvent};
use retold::explain::explain;
use retold::id::{RunId, Seq};
use retold::log::Reader;
use retold_study::config::{ConfigError, with_overrides};
use retold_study::error::ExperimentError;
use retold_study::settings::ExperimentSettings;
use retold_study::studies::Studies;
use serde_json::Value;

/// Record a new run that shares the beginning of another.
///
/// A request that was asked before (same prompt, call and sample) gets the recorded answer, and the
/// log names its source; everything else is asked again. The other run is not changed.
///
/// With a command after --, the command runs; what `retold record` recorded of it is shared, and
/// all other requests are asked and recorded.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The run: first digits of its id, or `latest`.
    run: String,
    /// Share only the answers before this place: a call, CALL#SAMPLE, or a seq.
    #[arg(long, value_name = "PLACE")]
    at: Option<Target>,
    /// Change a recorded setting of the experiment, such as samples=10, or config.turns=12 if the
    /// whole config is recorded. Can be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    settings: Vec<String>,
    /// Ask failed calls again; all answers are shared.
    #[arg(long)]
    retry_failed: bool,
    /// For a program's run: use this server for the requests of one upstream, as for `record`.
    #[arg(long = "upstream", value_name = "NAME=URL", requires = "command")]
    upstreams: Vec<String>,
    #[command(flatten)]
    intercept: InterceptArgs,
    #[command(flatten)]
    shared: SharedArgs,
    /// For a program's run: the command to run.
    #[arg(last = true, value_name = "CMD", conflicts_with_all = ["at", "settings", "retry_failed"])]
    command: Vec<OsString>,
    // Last, because clap puts everything that follows under its heading.
    #[command(flatten)]
    model: ModelArgs,
}

pub(crate) fn run(args: Args, global: &Global, output: &Output) -> Result<Status, CliError> {
    let Args {
        run,
        at,
        settings: overrides,
        retry_failed,
        upstreams,
        intercept,
        shared,
        command,
        model,
    } = args;
    if !command.is_empty() {
        let destinations = Destinations { upstreams, intercept };
        return program::fork(&run, shared, &destinations, command, global);
    }
    if at.is_none() && overrides.is_empty() && !retry_failed {
        return Err(CliError::usage("this fork would be identical to its parent").hint(
            "give the place to fork at (--at PLACE) or a changed setting (--set KEY=VALUE), or ask \
             failed calls again (--retry-failed)",
        ));
    }
    let selected = select::run(global, &run)?;
    let mut reader = selected.log.reader()?;
    let started = select::started(reader.as_mut(), selected.run)?;
    let settings = changed(global.studies, &started, &overrides)?;
    let before = match at {
        None => None,
        Some(Target::Seq(seq)) => Some(seq),
        Some(call) => Some(
            audit(reader.as_mut(), selected.run, &call, global.studies.parsers())?.question.seq,
        ),
    };
    if retry_failed && !any_failed(reader.as_mut(), selected.run)? {
        let message =
            format!("run {} has no failed calls: there is nothing to retry", selected.run);
        let hint = format!(
            "`retold resume {run}` asks the calls that were never answered, if the run is unfinished"
        );
        return Err(CliError::usage(message).hint(hint));
    }
    drop(reader);
    let forking = Forking { selected, before, settings, retry_failed, model, seat: None };
    fork(forking, global, output)
}

/// The recorded settings of an experiment with the changes applied. The error names the first
/// change that cannot be applied.
fn changed(
    studies: &Studies,
    started: &RunStarted,
    overrides: &[String],
) -> Result<ExperimentSettings, CliError> {
    let recorded = as_json(&settings_of(studies, started)?.experiment)?;
    if let Some(error) = overrides.iter().find_map(|setting| inherited(&recorded, setting)) {
        return Err(error);
    }
    let (mut settings, mut wrong) = (recorded.clone(), None);
    for setting in overrides {
        settings = with_overrides(settings, std::slice::from_ref(setting))?;
        // A later change may fix it, if the two only make sense together.
        wrong = match studies.build(&started.experiment, &settings.clone().into()) {
            Ok(_) => None,
            Err(error) => wrong.or(Some((setting, error))),
        };
    }
    let Some((setting, error)) = wrong else { return Ok(settings.into()) };
    let ExperimentError::BadSettings { source, .. } = error else {
        return Err(CliError::usage(error.to_string()));
    };
    let error = CliError::from(ConfigError::of_override(setting, explain(&source.to_string())));
    let group = setting.split_once(['.', '=']).map_or(&**setting, |(group, _)| group);
    Err(if recorded["config"].is_object() && recorded.get(group).is_none() {
        error.hint(format!("the config's keys are in a group: --set config.{group}"))
    } else {
        error
    })
}

/// The error for a key of a config that is not a setting of the experiment: to change it would
/// change nothing.
fn inherited(recorded: &Value, setting: &str) -> Option<CliError> {
    let path = setting.split('=').next().unwrap_or(setting);
    let path = path.strip_prefix("config.").unwrap_or(path);
    let group = path.split('.').next().unwrap_or(path);
    let refused = |message: &str, hint: String| {
        let error = ConfigError::of_override(setting, message.to_owned());
        Some(CliError::from(error).hint(hint))
    };
    match group {
        "seed" | "random_seed" => refused(
            "a fork has the seed of the run that it shares answers with",
            format!("`retold run CONFIG --set {group}=N` records a run with another seed"),
        ),
        // In some studies, this is the name of the model that is asked.
        "model" if recorded["config"]["model"].is_string() => None,
        "model" | "provider" | "limits" | "retry" => refused(
            "who answers, and how fast, is not a setting of the experiment",
            "give it as a flag, such as --model KIND or --concurrency N: `retold fork --help` lists them"
                .to_owned(),
        ),
        _ => None,
    }
}

/// Whether any call of a run has failed after all retries.
fn any_failed(reader: &mut dyn Reader, run: RunId) -> Result<bool, CliError> {
    let mut after = Seq(0);
    loop {
        let events = reader.events(run, after, 1024)?;
        let Some(last) = events.last() else { return Ok(false) };
        after = last.seq;
        let failed = |event: &StoredEvent| matches!(event.event(), Ok(Event::AttemptFailed(failed)) if failed.details.gave_up);
        if events.iter().filter(|event| event.kind == "AttemptFailed").any(failed) {
            return Ok(true);
        }
    }
}
