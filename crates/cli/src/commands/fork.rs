//! `retold fork`.

use crate::error::{CliError, Status};
use crate::global::Global;
use crate::model::ModelArgs;
use crate::output::Output;
use crate::runs::fork::{Forking, fork};
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

/// Record a new run that shares the beginning of another.
///
/// What is asked as before (prompt, call, sample) is answered as before, and the log says from where;
/// everything else is asked anew. The other run stays as it is.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The run: first digits of its id, or `latest`.
    run: String,
    /// Share only what was answered before this place: a call, CALL#SAMPLE, or a seq.
    #[arg(long, value_name = "PLACE")]
    at: Option<Target>,
    /// Change a recorded setting of the experiment, such as samples=10, or config.turns=12 where the
    /// config is recorded whole. Repeatable.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    settings: Vec<String>,
    /// Ask the calls again that failed; all answers are shared.
    #[arg(long)]
    retry_failed: bool,
    // Last: its heading would take in what follows.
    #[command(flatten)]
    model: ModelArgs,
}

pub(crate) fn run(args: Args, global: &Global, output: &Output) -> Result<Status, CliError> {
    let Args { run, at, settings: overrides, retry_failed, model } = args;
    if at.is_none() && overrides.is_empty() && !retry_failed {
        return Err(CliError::usage(
            "a fork goes another way than its parent, and this one does not",
        )
        .hint(
            "say from where on with --at PLACE, what is to change with --set KEY=VALUE, or that failed \
             calls are to be asked again with --retry-failed",
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
            format!("no call of run {} has failed: there is nothing to retry", selected.run);
        let hint =
            format!("`retold resume {run}` asks what was never answered, if it did not finish");
        return Err(CliError::usage(message).hint(hint));
    }
    drop(reader);
    let forking = Forking { selected, before, settings, retry_failed, model, seat: None };
    fork(forking, global, output)
}

/// The recorded settings of an experiment, changed; the first change that they do not bear is told.
fn changed(
    studies: &Studies,
    started: &RunStarted,
    overrides: &[String],
) -> Result<ExperimentSettings, CliError> {
    let recorded = as_json(&settings_of(studies, started)?.experiment)?;
    let (mut settings, mut wrong) = (recorded.clone(), None);
    for setting in overrides {
        settings = with_overrides(settings, std::slice::from_ref(setting))?;
        // A later one may mend what only both together make sense of.
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
    Err(match recorded["config"].is_object() && recorded.get(group).is_none() {
        true => error.hint(format!("the keys of the config are in a group: --set config.{group}")),
        false => error,
    })
}

/// Whether a call of a run finally failed.
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
