//! The requests that a run of a config would make, from simulated answers.

use std::path::Path;
use std::sync::Arc;

use super::Args;
use super::planned::PlannedRun;
use crate::error::{CliError, Status};
use crate::global::Global;
use crate::model::ModelArgs;
use crate::output::Output;
use crate::run_id::new_run_id;
use crate::runs::config::{NamedConfig, drawn_seed};
use crate::runs::person::with_person;
use crate::runs::record::first_event;
use crate::runs::session::{self, StudyExecution};
use crate::select::{self, RunSelection};
use retold::log::{Log, MemoryBackend};
use retold::members::Members;
use retold::model::{Limits, Prices};
use retold::run::{Finish, Mode};
use retold_study::config::{ModelKind, Rates};
use retold_study::study::Study;

/// Shows the requests that a run of a config would make. Nothing is written.
pub(super) fn show(
    config: &Path,
    args: &Args,
    prices: &Prices,
    global: &Global,
    output: &Output,
) -> Result<Status, CliError> {
    let (path, settings) = (config.to_owned(), args.settings.clone());
    let model = ModelArgs::trusting(args.trust);
    let named = NamedConfig { path, experiment: None, settings, shard: None, model };
    let study = named.study(global.studies)?;
    named.model.keys_fit(&study.settings.runtime, &named)?;
    let (experiment, seed) = (study.experiment.clone(), study.seed);
    let drawn = if study.seed_is_drawn { drawn_seed(seed) } else { String::new() };
    let selected = simulate(config, study, args, global)?;
    let tables = args.figures.tables(std::slice::from_ref(&selected), global)?;
    let planned = PlannedRun::read(&selected, args, &tables, prices, global)?;
    if output.is_json() {
        let mut object = planned.json();
        object.set("config", config.display().to_string().into());
        object.set("experiment", experiment.into());
        object.set("seed", seed.into());
        object.set("simulated", true.into());
        output.object(&object)?;
    } else {
        output.text(&format!(
            "{} ({experiment}), from a run with simulated answers\n{}{drawn}{}nothing was asked and nothing was written\n",
            config.display(),
            select::SIMULATED,
            planned.text("simulated")
        ))?;
    }
    Ok(Status::Fine)
}

/// The run of a study with simulated answers, in memory.
pub(super) fn simulate(
    config: &Path,
    mut study: Study,
    args: &Args,
    global: &Global,
) -> Result<RunSelection, CliError> {
    let runtime = &mut study.settings.runtime;
    let before = std::mem::replace(&mut runtime.model.kind, ModelKind::Simulated);
    // A plan need not take the time that a run takes, and costs nothing.
    runtime.model.latency_ms = 0.0;
    let Rates { malformed, malformed_kinds, truncated, .. } =
        std::mem::take(&mut runtime.model.rates);
    runtime.model.rates = Rates {
        malformed,
        malformed_kinds,
        truncated,
        rate_limited: 0.0,
        server_error: 0.0,
        failure: 0.0,
    };
    let concurrency = runtime.limits.concurrency;
    runtime.limits = Limits { concurrency, ..Limits::default() };
    global.studies.pace(&study.experiment, &mut study.settings, before);
    global.studies.supply(config, &mut study, &args.settings, args.trust)?;
    let (experiment, seed) = (study.experiment.clone(), study.seed);
    let runtime = &study.settings.runtime;
    let model =
        ModelArgs::default().make(global.studies, &experiment, seed, runtime, Mode::Record)?;
    let settings = &study.settings.experiment;
    let model = with_person(global.studies, model, None, &experiment, settings)?;
    let log = Log::new(Arc::new(MemoryBackend::with_name("the plan".to_owned())));
    let run = new_run_id()?;
    let started = first_event(&study, model.as_ref())?;
    let session = StudyExecution {
        model: Some(model),
        ..StudyExecution::new(log.clone(), run, Mode::Record, started, study.settings)
    };
    match session::go(session, global)?.finish {
        Finish::Stopped(stop) => Err(stop.into()),
        _ => Ok(RunSelection { log, run }),
    }
}
