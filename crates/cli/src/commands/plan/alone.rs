//! The requests that a run of a config would make, from simulated answers.

use std::path::Path;
use std::time::Duration;

use super::Args;
use super::planned::PlannedRun;
use crate::error::{CliError, Status};
use crate::global::Global;
use crate::model::ModelArgs;
use crate::output::Output;
use crate::runs::config::{NamedConfig, drawn_seed};
use crate::runs::simulated::{self, SimulatedRun, with_simulated_model};
use crate::select;
use crate::views::pace::{least_time, pace_text};
use retold::members::Members;
use retold::model::Prices;
use retold_study::config::ModelKind;
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
    let interval = interval(&study, global);
    let SimulatedRun { selected, requests, .. } = simulate(config, study, args, global)?;
    let tables = args.figures.tables(std::slice::from_ref(&selected), global)?;
    let planned = PlannedRun::read(&selected, args, &tables, prices, global)?;
    if output.is_json() {
        let mut object = planned.json();
        object.set("config", config.display().to_string().into());
        object.set("experiment", experiment.into());
        object.set("seed", seed.into());
        object.set("simulated", true.into());
        object.set("least_seconds", least_time(requests, interval).as_secs_f64().into());
        output.object(&object)?;
    } else {
        let pace = pace_text(requests, interval);
        let pace = pace
            .map_or_else(String::new, |pace| format!("{pace}, with a model that is a server\n"));
        output.text(&format!(
            "{} ({experiment}), from a run with simulated answers\n{}{drawn}{}{pace}nothing was asked and nothing was written\n",
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
) -> Result<SimulatedRun, CliError> {
    with_simulated_model(&mut study, global);
    global.studies.supply(config, &mut study, &args.settings, args.trust)?;
    let simulated = simulated::simulate(study, None, global)?;
    simulated.ok_or_else(|| CliError::usage("the study takes too long to be simulated"))
}

/// How fast a run of a study asks a server.
fn interval(study: &Study, global: &Global) -> Duration {
    let mut settings = study.settings.clone();
    let kind = &mut settings.runtime.model.kind;
    let before = *kind;
    if kind.api().is_none() {
        // Every provider is asked at the same pace.
        *kind = ModelKind::from_name("openai").unwrap_or_default();
    }
    global.studies.pace(&study.experiment, &mut settings, before);
    settings.runtime.limits.interval()
}
