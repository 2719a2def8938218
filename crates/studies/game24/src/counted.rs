//! `samples: recorded`: as many answers to each puzzle as the file of answers has.

use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

use super::config::Settings;
use super::experiment::Game24;
use super::samples::SampleCounts;
use retold::jsonl::JsonlReader;
use retold::members::Members;
use retold::model::scripted::ScriptedModel;
use retold_study::config::{AnswersFile, ConfigError, ConfigFile, ModelKind};
use retold_study::settings::ExperimentSettings;
use retold_study::study::Study;

/// Copies the numbers that were counted at the start of a run into the settings of the same config.
/// The current contents of the file do not matter: the run continues with its original numbers.
pub(crate) fn take_over(settings: &mut Value, recorded: &Value) {
    let (Ok(now), Ok(then)) = (Settings::deserialize(&*settings), Settings::deserialize(recorded))
    else {
        return;
    };
    let mut chosen = now.puzzles.iter();
    // A run on other puzzles has nothing to copy.
    let are_among = then.puzzles.iter().all(|puzzle| chosen.any(|one| one == puzzle));
    let was_counted = matches!(then.samples, SampleCounts::ByPuzzle(_));
    if now.samples == SampleCounts::Recorded && was_counted && are_among {
        settings.set("puzzles", recorded["puzzles"].clone());
        settings.set("samples", recorded["samples"].clone());
    }
}

/// Writes the numbers into a study's settings, and drops puzzles without an answer in the file.
///
/// # Errors
/// [`ConfigError`] if the file does not exist or answers none of the puzzles.
pub(crate) fn draw(config: &ConfigFile<'_>, study: &mut Study) -> Result<(), ConfigError> {
    let wrong = |message: String| config.wrong("samples", message);
    let settings = study.settings.experiment.read::<Settings>();
    let mut settings = settings.map_err(|e| wrong(e.to_string()))?.into_owned();
    let SampleCounts::Recorded = settings.samples else { return Ok(()) };
    let model = &study.settings.runtime.model;
    let (ModelKind::Scripted, Some(AnswersFile::Named(file))) = (model.kind, &model.answers) else {
        return Err(wrong(
            "\"recorded\" needs recorded answers: name them with --answers FILE".to_owned(),
        ));
    };
    if file == Path::new("-") || !file.is_file() {
        return Err(wrong(
            "\"recorded\" needs a file of answers, not a pipe, because it is read twice".to_owned(),
        ));
    }
    let shown = file.display().to_string();
    let lines = JsonlReader::open(file).map_err(|e| wrong(e.to_string()))?;
    let answers = ScriptedModel::from_lines(shown.clone(), lines);
    let answers = answers.map_err(|e| wrong(format!("{shown}: {e}")))?;
    let game = Game24::try_out(settings.clone()).map_err(|e| wrong(e.to_string()))?;
    let (mut puzzles, mut numbers) = (Vec::new(), Vec::new());
    for puzzle in settings.puzzles {
        let (call, request) = game.question(&puzzle).map_err(|e| wrong(e.to_string()))?;
        let number = answers.samples_of(&call, request.hash());
        if number > 0 {
            puzzles.push(puzzle);
            numbers.push(number);
        }
    }
    if puzzles.is_empty() {
        return Err(wrong(format!(
            "{shown} has no answer to any of the prompts: check the template, the puzzles and the parameters"
        )));
    }
    settings.puzzles = puzzles;
    settings.samples = SampleCounts::ByPuzzle(numbers);
    study.settings.experiment = ExperimentSettings::new(settings);
    Ok(())
}
