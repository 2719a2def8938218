//! The requests that a run would make, from a recorded run: that of a config, or a fork.

use std::fmt::Write;

use serde_json::{Value, json};

use super::Args;
use crate::error::{CliError, Status};
use crate::global::Global;
use crate::model::ModelArgs;
use crate::output::{Output, count_of, group_digits};
use crate::runs::changes::{changed_settings, place_of};
use crate::runs::config::NamedConfig;
use crate::runs::person::is_played;
use crate::runs::program;
use crate::runs::session::{self, StudyExecution};
use crate::runs::settings::{as_json, settings_of};
use crate::select::{self, RunSelection};
use crate::views::departures::{departures_json, departures_text};
use crate::views::forecast::{ESTIMATED, forecast_text, new_calls_json};
use retold::escaping::printable;
use retold::event::RunStarted;
use retold::members::Members;
use retold::model::{Answerer, Destinations, Prices, RequestForm};
use retold::run::{DryRun, DryRunSettings, Finish, Forecast, Mode, latest_start};
use retold_study::config::ModelKind;
use retold_study::study::StudySettings;

/// The planned run.
struct CallPlan {
    started: RunStarted,
    settings: StudySettings,
    rehearsal: DryRunSettings,
}

/// Shows the requests that a run would make.
pub(super) fn show(
    selected: RunSelection,
    args: &Args,
    prices: &Prices,
    global: &Global,
    output: &Output,
) -> Result<Status, CliError> {
    let CallPlan { started, settings, rehearsal } = call_plan(args, &selected, global)?;
    let RunSelection { log, run } = selected;
    let simulated = started.is_simulated();
    let experiment = started.experiment.clone();
    let destinations = Destinations::of_run(false, &started.settings, &started.model);
    let model = model_of(&started, &settings, global)?;
    let is_answered = model.is_some();
    let session = StudyExecution {
        model,
        rehearsal,
        ..StudyExecution::new(log, run, Mode::Rehearse, started, settings)
    };
    let found = match session::go(session, global)?.finish {
        Finish::Rehearsed(found) => found,
        Finish::Stopped(stop) => return Err(stop.into()),
        Finish::Finished | Finish::EndOfRecord | Finish::Closed(_) => DryRun::default(),
    };
    let forecast = found.forecast(prices, &destinations);
    if output.is_json() {
        output.object(&object(args, run.to_string().as_str(), &found, &forecast, simulated))?;
    } else {
        let of = match &args.config {
            Some(config) => format!("{} ({experiment})", config.display()),
            None => format!("a fork ({experiment})"),
        };
        let mut text = format!("{of} against run {run}\n");
        if simulated {
            text.push_str(select::SIMULATED);
        }
        text.push_str(&counts(&found, &forecast, is_answered));
        text.push_str(&departures_text(&found.departures));
        output.text(&text)?;
    }
    Ok(Status::Fine)
}

/// The model that answers new calls: a simulated one, which costs nothing. `None` if the planned run
/// would ask another kind, or a person takes part.
fn model_of(
    started: &RunStarted,
    settings: &StudySettings,
    global: &Global,
) -> Result<Option<Answerer>, CliError> {
    let mut runtime = settings.runtime.clone();
    let is_simulated = started.is_simulated() && runtime.model.kind == ModelKind::Simulated;
    if !is_simulated || is_played(global.studies, &started.experiment, &settings.experiment) {
        return Ok(None);
    }
    // A plan need not take the time that answers are simulated to take.
    runtime.model.latency_ms = 0.0;
    let (studies, mode) = (global.studies, Mode::Rehearse);
    let args = ModelArgs::default();
    args.make(studies, &started.experiment, started.seed, &runtime, mode).map(Some)
}

/// The run to execute, and the recorded answers that it shares.
fn call_plan(args: &Args, selected: &RunSelection, global: &Global) -> Result<CallPlan, CliError> {
    let studies = global.studies;
    let mut reader = selected.log.reader()?;
    let started = latest_start(reader.as_mut(), selected.run)?;
    program::needs_command(selected, &started)?;
    let recorded = settings_of(studies, &started)?;
    let rehearsal = DryRunSettings {
        before: place_of(args.at.as_ref(), reader.as_mut(), selected.run, studies)?,
        retry_failed: args.retry_failed,
        stand_ins: true,
        ..DryRunSettings::default()
    };
    let Some(config) = &args.config else {
        let mut settings =
            changed_settings(studies, &started, &args.settings, args.prompts.as_deref())?;
        let before = &recorded.experiment;
        let checked = studies.check_fork(&started.experiment, &settings.experiment, before);
        checked.map_err(|e| CliError::usage(e.to_string()))?;
        let kind = settings.runtime.model.kind;
        studies.pace(&started.experiment, &mut settings, kind);
        // The form of its requests shapes which recorded answers it shares.
        let mut started = started;
        started.settings.set(RequestForm::KEY, json!(settings.requests));
        return Ok(CallPlan { started, settings, rehearsal });
    };
    let model = ModelArgs::trusting(args.trust);
    let named = NamedConfig {
        path: config.clone(),
        experiment: None,
        settings: args.settings.clone(),
        shard: None,
        model,
    };
    let mut study = named.with_seed(studies, started.seed)?;
    named.model.keys_fit(&study.settings.runtime, &named)?;
    let kind = study.settings.runtime.model.kind;
    studies.pace(&study.experiment, &mut study.settings, kind);
    if study.experiment != started.experiment {
        return Err(CliError::usage(format!(
            "{} is a config of {}, and run {} is of {}",
            config.display(),
            study.experiment,
            selected.run,
            printable(&started.experiment, 60)
        ))
        .hint("`retold log` lists the runs with their experiments"));
    }
    // Values that the recorded run drew at its start are drawn again only if they do not fit.
    let mut settings = as_json(&study.settings.experiment)?;
    studies.take_over(&study.experiment, &mut settings, &as_json(&recorded.experiment)?);
    if studies.build(&study.experiment, &settings.clone().into()).is_ok() {
        study.settings.experiment = settings.into();
    } else {
        studies.supply(config, &mut study, &args.settings, args.trust)?;
    }
    let started = RunStarted { seed: study.seed, ..started };
    Ok(CallPlan { started, settings: study.settings, rehearsal })
}

/// How many calls are recorded, and how many are new.
fn new_calls(forecast: &Forecast) -> (u64, u64) {
    (forecast.known.values().sum(), forecast.foretold)
}

fn counts(found: &DryRun, forecast: &Forecast, is_answered: bool) -> String {
    let DryRun { matching, changed, unrecorded, left, complete, .. } = found;
    let (known, foretold) = new_calls(forecast);
    let all = matching + changed + unrecorded;
    let mut text = String::new();
    // Writing to a string cannot fail, here and below.
    let _ = writeln!(
        text,
        "{}: {} already recorded, {} to ask",
        count_of(all, "call"),
        group_digits(all - known - foretold),
        group_digits(known + foretold)
    );
    let tokens = match is_answered {
        true => "tokens of the simulated answers",
        false => ESTIMATED,
    };
    text.push_str(&forecast_text(forecast, tokens));
    if *left > 0 {
        let left = count_of(*left, "recorded call");
        let _ = writeln!(text, "{left} would not be asked any more");
    }
    if !complete {
        text.push_str(
            "the recorded run never finished: calls that it never reached were never recorded\n",
        );
    }
    text.push_str(match is_answered && known > 0 {
        true => "the simulated model answered, so every call is known; nothing was written, and only a fork shares recorded answers\n",
        false => "nothing was asked and nothing was written; only a fork shares recorded answers\n",
    });
    text
}

fn object(args: &Args, run: &str, found: &DryRun, forecast: &Forecast, simulated: bool) -> Value {
    let DryRun { matching, changed, unrecorded, left, complete, departures, .. } = found;
    let (known, foretold) = new_calls(forecast);
    let all = matching + changed + unrecorded;
    json!({
        "against": run,
        "config": args.config,
        "calls": all,
        "recorded": all - known - foretold,
        "new": known + foretold,
        "known": known,
        "foretold": foretold,
        "exact": foretold == 0,
        "left": left,
        "complete": complete,
        "forecast": forecast,
        "new_calls": new_calls_json(&found.new),
        "lanes": departures_json(departures),
        "simulated": simulated,
    })
}
