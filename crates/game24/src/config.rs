//! The config file of the Game of 24, and the settings it resolves to.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::NAME;
use super::experiment::{Game24, NOT_COUNTED, version};
use super::puzzles::{BUILT_IN, Puzzle, parse_list, rows};
use super::samples::Samples;
use crate::parse::GAME24;
use retold::model::{Limits, RetryPolicy};
use retold_study::config::{
    ConfigError, ModelConfig, RequestConfig, Runtime, Wrong, beside, load as load_yaml, read_text,
    with_overrides,
};
use retold_study::study::{Study, StudySettings};
use retold_study::template::TemplateText;

/// The templates that come with the program: `config/prompts/game24/`.
const TEMPLATES: &[(&str, &str)] = &[
    ("cot", include_str!("../../../config/prompts/game24/cot.txt")),
    ("standard", include_str!("../../../config/prompts/game24/standard.txt")),
    ("answer_tag", include_str!("../../../config/prompts/game24/answer_tag.txt")),
];

/// The config file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// `game24`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub experiment: Option<String>,
    /// The seed of the simulated model.
    #[serde(default)]
    pub seed: u64,
    /// Which puzzles.
    #[serde(default)]
    pub puzzles: PuzzlesConfig,
    /// Independent answers of each puzzle: a number, a list of one for each, or `recorded`: as many as the file of
    /// answers has.
    pub samples: Samples,
    /// A built-in template, or the path of a file with `{input}` in it.
    #[serde(default = "cot")]
    pub template: String,
    /// `game24@VERSION`, or `game24` for the latest.
    #[serde(default = "latest")]
    pub parser: String,
    /// The parameters of every request.
    pub request: RequestConfig,
    /// Who answers.
    #[serde(default)]
    pub model: ModelConfig,
    /// How fast to ask.
    #[serde(default)]
    pub limits: Limits,
    /// When to try again.
    #[serde(default)]
    pub retry: RetryPolicy,
}

/// Which puzzles.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PuzzlesConfig {
    /// A file, a puzzle a line; the built-in list if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<PathBuf>,
    /// `FROM..TO`, from 0, `TO` not included; all if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<String>,
}

fn cot() -> String {
    "cot".to_owned()
}

fn latest() -> String {
    "game24".to_owned()
}

/// What is recorded: everything that a re-execution needs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The puzzles.
    pub puzzles: Vec<Puzzle>,
    /// Answers of each puzzle.
    pub samples: Samples,
    /// The prompt template.
    pub template: TemplateText,
    /// `game24@VERSION`.
    pub parser: String,
    /// The parameters of every request.
    pub request: RequestConfig,
}

/// Reads a config file and everything it names. Paths in it are relative to it, or else to the
/// working directory.
///
/// # Errors
/// [`ConfigError`] with file, line or key.
pub fn load(path: &Path, text: &str, overrides: &[String]) -> Result<Study, ConfigError> {
    let config: Config = with_overrides(load_yaml(path, text)?, overrides)?;
    let value = |key: &str, message: String| ConfigError::Value {
        path: path.display().to_string(),
        key: key.to_owned(),
        message,
    };
    let Config {
        experiment,
        seed,
        puzzles,
        samples,
        template,
        parser,
        request,
        model,
        limits,
        retry,
    } = config;
    if let Some(other) = experiment.filter(|name| name != NAME) {
        return Err(value("experiment", format!("this is read as {NAME}, and it says {other:?}")));
    }
    request.check().map_err(|wrong| Wrong::from(wrong).at(path))?;
    let list = match &puzzles.file {
        Some(file) => read_text(&beside(path, file))?,
        None => BUILT_IN.to_owned(),
    };
    let mut list = parse_list(&list).map_err(|e| match &puzzles.file {
        Some(file) => value("puzzles.file", format!("{}: {e}", file.display())),
        None => value("puzzles", e.to_string()),
    })?;
    if let Some(range) = &puzzles.rows {
        list = rows(list, range).map_err(|e| value("puzzles.rows", e.to_string()))?;
    }
    samples.check(list.len()).map_err(|wrong| wrong.at(path))?;
    let built_in = TEMPLATES.iter().find(|(name, _)| *name == template);
    let text = match built_in {
        Some((_, text)) => (*text).to_owned(),
        None => read_text(&beside(path, Path::new(&template))).map_err(|e| {
            let known = TEMPLATES.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
            value("template", format!("{e}; the built-in templates are {known}"))
        })?,
    };
    let version = version(&parser).map_err(|e| value("parser", e))?;
    let settings = Settings {
        puzzles: list,
        samples,
        template: TemplateText { name: template, text },
        parser: format!("{}@{version}", GAME24.name),
        request,
    };
    // What cannot be executed is refused before anything is recorded.
    Game24::tried(settings.clone()).map_err(|(key, message)| value(key, message))?;
    let experiment = serde_json::to_value(&settings);
    let experiment = experiment.map_err(|e| value("settings", e.to_string()))?;
    let settings = StudySettings { experiment, runtime: Runtime { model, limits, retry } };
    Ok(Study { experiment: NAME.to_owned(), seed, settings })
}

/// Checks the settings of a run that a config does not make, as a config is checked.
///
/// # Errors
/// The first value that makes no sense, with its key.
pub fn check_settings(settings: &Value) -> Result<(), String> {
    let settings = Settings::deserialize(settings).map_err(|e| e.to_string())?;
    settings.request.check().map_err(|wrong| Wrong::from(wrong).to_string())?;
    if settings.samples == Samples::Recorded {
        return Err(NOT_COUNTED.to_owned());
    }
    Game24::tried(settings).map(drop).map_err(|(_, message)| message)
}
