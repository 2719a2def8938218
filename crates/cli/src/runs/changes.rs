//! Recorded settings, changed for a new run.

use std::path::Path;

use crate::again::typed_options;
use crate::error::CliError;
use crate::runs::settings::{as_json, settings_of};
use crate::runs::templates;
use retold::audit::{AuditError, Target, audit};
use retold::escaping::printable;
use retold::event::RunStarted;
use retold::explain::explain;
use retold::id::{CallPath, RunId, Seq};
use retold::log::{LogError, Reader, RunEvents};
use retold_study::config::{ConfigError, with_overrides};
use retold_study::error::ExperimentError;
use retold_study::settings::ExperimentSettings;
use retold_study::studies::{ALTERNATE, Studies};
use retold_study::study::StudySettings;
use retold_study::templates::replace;
use serde_json::Value;

/// The seq before which a fork at this place shares answers.
pub(crate) fn place_of(
    at: Option<&Target>,
    reader: &mut dyn Reader,
    run: RunId,
    studies: &Studies,
) -> Result<Option<Seq>, CliError> {
    Ok(match at {
        None => None,
        Some(Target::Seq(seq)) => Some(*seq),
        Some(target) => match (audit(reader, run, target, studies.parsers()), target) {
            (Err(AuditError::NotFound { .. }), Target::Call(name, None)) => {
                return Err(no_place(reader, run, name)?);
            }
            (found, _) => Some(found?.question.seq),
        },
    })
}

/// The question whose answer a fork does not share: that of a decision, an answer or a call.
pub(crate) fn question_of(
    without: Option<&Target>,
    reader: &mut dyn Reader,
    run: RunId,
    studies: &Studies,
) -> Result<Option<Seq>, CliError> {
    let found = without.map(|target| audit(reader, run, target, studies.parsers())).transpose()?;
    Ok(found.map(|found| found.question.seq))
}

/// The most kinds of calls that an error names.
const MOST_KINDS: usize = 12;

/// Why a fork cannot begin at a name, such as that of a phase, and where it can.
fn no_place(reader: &mut dyn Reader, run: RunId, name: &CallPath) -> Result<CliError, LogError> {
    let mut first: Vec<(String, String)> = Vec::new();
    let mut events = RunEvents::new(run);
    while let Some(event) = events.next(reader)? {
        let (Some(call), Some(sample)) = (&event.call, event.sample) else { continue };
        if !first.iter().any(|(kind, _)| *kind == call.kind()) {
            let place = format!("{call}#{sample} (seq {})", event.seq);
            first.push((call.kind(), place));
        }
    }
    let given = printable(name.as_str(), 60);
    let error = CliError::usage(format!(
        "{given} is not a place in run {run}: a fork begins at a call, CALL#SAMPLE, or a seq"
    ));
    if let Some((kind, place)) = first.iter().find(|(kind, _)| *kind == name.as_str()) {
        return Ok(error.hint(format!(
            "the first call of {} is {}",
            printable(kind, 60),
            printable(place, 200)
        )));
    }
    let more = first.len().saturating_sub(MOST_KINDS);
    let mut places: Vec<String> =
        first.iter().take(MOST_KINDS).map(|(_, place)| printable(place, 120)).collect();
    if more > 0 {
        places.push(format!("and {more} more"));
    }
    let places = if places.is_empty() { "none".to_owned() } else { places.join(", ") };
    Ok(error.hint(format!("the first call of each kind: {places}")))
}

/// A change as the recorded settings spell its key: parameters of requests are in the group `request` of every config, and
/// some studies record their whole config in a group.
fn spell(studies: &Studies, experiment: &str, recorded: &Value, setting: &str) -> String {
    let (key, value) = setting.split_once('=').unwrap_or((setting, ""));
    let keys = studies.find(experiment).map_or(&[][..], |study| study.config_keys().request);
    let parameter = key.strip_prefix("request.").filter(|_| recorded["request"].is_null());
    if let Some((_, own)) = keys.iter().find(|(name, _)| parameter == Some(*name)) {
        return format!("config.{own}={value}");
    }
    let group = key.split('.').next().unwrap_or(key);
    match recorded["config"].is_object() && recorded.get(group).is_none() {
        true => format!("config.{setting}"),
        false => setting.to_owned(),
    }
}

/// Whether turns alternate, if a change says so: it is a setting of every study.
fn alternates(change: &str) -> Result<Option<bool>, CliError> {
    let Some((ALTERNATE, value)) = change.split_once('=') else { return Ok(None) };
    let value = value.trim().parse::<bool>().map(Some);
    value.map_err(|_| ConfigError::of_override(change, "it is true or false".to_owned()).into())
}

/// The recorded settings of a run with the changes applied. The error names the first change that cannot be applied.
pub(crate) fn changed_settings(
    studies: &Studies,
    started: &RunStarted,
    overrides: &[String],
    prompts: Option<&Path>,
) -> Result<StudySettings, CliError> {
    let mut changed = settings_of(studies, started)?;
    let (of_asking, others): (Vec<&String>, Vec<&String>) =
        overrides.iter().partition(|change| studies.is_of_asking(&started.experiment, change));
    change_asking(studies, started, &mut changed, of_asking)?;
    let mut of_study = Vec::new();
    for change in others {
        match alternates(change)? {
            Some(alternate) => changed.requests.alternate = alternate,
            None => of_study.push(change),
        }
    }
    let recorded = as_json(&changed.experiment)?;
    changed.experiment = changed_experiment(studies, started, recorded, &of_study, prompts)?;
    Ok(changed)
}

/// Changes how a run asks.
pub(crate) fn change_asking<'a>(
    studies: &Studies,
    started: &RunStarted,
    settings: &mut StudySettings,
    changes: impl IntoIterator<Item = &'a String>,
) -> Result<(), CliError> {
    for change in changes {
        studies.change_asking(&started.experiment, settings, change)?;
    }
    Ok(())
}

/// Refuses changes to the questions: a run continues with its recorded settings. `run` is its name in commands.
pub(crate) fn refuse_others(
    studies: &Studies,
    started: &RunStarted,
    changes: &[String],
    run: &str,
) -> Result<(), CliError> {
    let is_other = |change: &&String| !studies.is_of_asking(&started.experiment, change);
    let others: Vec<&String> = changes.iter().filter(is_other).collect();
    let Some(first) = others.first() else { return Ok(()) };
    let keys = studies.asking_keys(&started.experiment).join(", ");
    let message = format!(
        "this changes what the model is asked, and a run keeps its questions when it continues; only these may change: {keys}"
    );
    let error = CliError::from(ConfigError::of_override(first, message));
    let options: Vec<(&str, String)> =
        others.into_iter().map(|change| ("--set", change.clone())).collect();
    Err(match typed_options(&options) {
        Some(options) => error
            .hint(format!("`retold fork {run}{options}` records a new run with other settings")),
        None => error,
    })
}

/// The recorded settings of an experiment with the changes applied.
fn changed_experiment(
    studies: &Studies,
    started: &RunStarted,
    recorded: Value,
    overrides: &[&String],
    prompts: Option<&Path>,
) -> Result<ExperimentSettings, CliError> {
    if let Some(error) = overrides.iter().find_map(|setting| seed_error(setting)) {
        return Err(error);
    }
    let (mut settings, mut wrong) = (recorded.clone(), None);
    for setting in overrides {
        let change = spell(studies, &started.experiment, &recorded, setting);
        settings = with_overrides(settings, std::slice::from_ref(&change))?;
        // A later change may fix it, if the two only make sense together.
        wrong = match studies.build(&started.experiment, &settings.clone().into()) {
            Ok(_) => None,
            Err(error) => wrong.or(Some((setting, error))),
        };
    }
    if let (None, Some(folder)) = (&wrong, prompts) {
        return with_templates(studies, started, settings, folder);
    }
    let Some((setting, error)) = wrong else { return Ok(settings.into()) };
    let ExperimentError::BadSettings { source, .. } = error else {
        return Err(CliError::usage(error.to_string()));
    };
    Err(ConfigError::of_override(setting, explain(&source.to_string())).into())
}

/// The error for the seed, which is not a setting of the experiment: to change it would change nothing.
fn seed_error(setting: &str) -> Option<CliError> {
    let path = setting.split('=').next().unwrap_or(setting);
    let key = path.strip_prefix("config.").unwrap_or(path);
    matches!(key, "seed" | "random_seed").then(|| {
        let message = "a fork has the seed of the run that it shares answers with".to_owned();
        CliError::from(ConfigError::of_override(setting, message))
            .hint(format!("`retold run CONFIG --set {key}=N` records a run with another seed"))
    })
}

/// Settings with the templates of a folder.
fn with_templates(
    studies: &Studies,
    started: &RunStarted,
    mut settings: Value,
    folder: &Path,
) -> Result<ExperimentSettings, CliError> {
    let replaced = replace(&mut settings, folder)?;
    let settings = ExperimentSettings::from(settings);
    match studies.build(&started.experiment, &settings) {
        Ok(_) => Ok(settings),
        Err(ExperimentError::BadSettings { source, .. }) => {
            Err(templates::wrong(&source, folder, &replaced))
        }
        Err(error) => Err(CliError::usage(error.to_string())),
    }
}
