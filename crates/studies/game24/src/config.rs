//! The config file of the Game of 24, and the settings it resolves to.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::NAME;
use super::puzzles::{BUILT_IN, Puzzle, parse_list, rows};
use super::samples::SampleCounts;
use crate::parse::GAME24;
use retold::model::{Limits, RetryPolicy};
use retold::parse::registry::RegistryError;
use retold_study::config::{
    ConfigError, ConfigFile, ModelConfig, RequestConfig, Runtime, drawn_if_left_out,
};
use retold_study::error::StudyError;
use retold_study::shard::{Shard, is_in};
use retold_study::study::Study;
use retold_study::template::TemplateText;

/// The templates that come with the program: `config/prompts/game24/`.
const TEMPLATES: &[(&str, &str)] = &[
    ("answer_tag", include_str!("../../../../config/prompts/game24/answer_tag.txt")),
    ("cot", include_str!("../../../../config/prompts/game24/cot.txt")),
    ("standard", include_str!("../../../../config/prompts/game24/standard.txt")),
];

/// The config file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// `game24`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub experiment: Option<String>,
    /// The seed of the simulated model. Drawn at random and recorded if left out.
    #[schemars(transform = drawn_if_left_out)]
    #[serde(default)]
    pub seed: u64,
    /// The puzzles to use.
    #[serde(default)]
    pub puzzles: PuzzlesConfig,
    /// The number of independent answers to each puzzle: a number, a list with one number per
    /// puzzle, or `recorded` for as many as the file of answers has.
    pub samples: SampleCounts,
    /// A built-in template (`answer_tag`, `cot` or `standard`), or the path of a file with `{input}` in it.
    #[serde(default = "answer_tag")]
    pub template: String,
    /// `game24@VERSION`, or `game24` for the latest.
    #[serde(default = "latest")]
    pub parser: String,
    /// The parameters of every request.
    pub request: RequestConfig,
    /// Whether consecutive messages of one role are sent as one, and a user's message first, for servers that want turns to
    /// alternate. It shapes the prompts, so their hashes.
    #[serde(default, skip_serializing)]
    pub alternate: bool,
    /// The model that answers.
    #[serde(default)]
    pub model: ModelConfig,
    /// How fast to ask.
    #[serde(default)]
    pub limits: Limits,
    /// When to try again.
    #[serde(default)]
    pub retry: RetryPolicy,
}

/// The puzzles to use.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PuzzlesConfig {
    /// A file with one puzzle per line; the built-in list if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<PathBuf>,
    /// `FROM..TO`, from 0, excluding `TO`; all if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<String>,
}

/// What the specification recommends ("Prompt Recommendation"): the expression in `<answer>` tags.
fn answer_tag() -> String {
    "answer_tag".to_owned()
}

fn latest() -> String {
    "game24".to_owned()
}

/// What is recorded: everything that is needed to run it again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The puzzles.
    pub puzzles: Vec<Puzzle>,
    /// The number of answers to each puzzle.
    pub samples: SampleCounts,
    /// The prompt template.
    pub template: TemplateText,
    /// `game24@VERSION`.
    pub parser: String,
    /// The parameters of every request.
    pub request: RequestConfig,
    /// The shard that the run is; the whole study if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<Shard>,
}

impl Settings {
    /// With the puzzles of its shard alone, if it is one.
    pub(super) fn of_shard(self) -> Settings {
        let shard = self.shard;
        let samples = match self.samples {
            SampleCounts::ByPuzzle(list) => SampleCounts::ByPuzzle(of_shard(shard, list)),
            other => other,
        };
        Settings { puzzles: of_shard(shard, self.puzzles), samples, ..self }
    }
}

fn of_shard<T>(shard: Option<Shard>, list: Vec<T>) -> Vec<T> {
    let mine = list.into_iter().enumerate().filter(|(place, _)| is_in(shard, *place));
    mine.map(|(_, item)| item).collect()
}

/// Reads a config file and everything it names.
///
/// # Errors
/// [`ConfigError`] with file, line or key.
pub fn load(file: &ConfigFile<'_>) -> Result<Study, ConfigError> {
    let config: Config = file.read(NAME)?;
    let Config { seed, puzzles, samples, template, parser, request, model, limits, retry, .. } =
        config;
    let list = match &puzzles.file {
        Some(named) => file.text_of(named)?,
        None => BUILT_IN.to_owned(),
    };
    let mut list = parse_list(&list).map_err(|e| match &puzzles.file {
        Some(named) => file.wrong("puzzles.file", format!("{}: {e}", named.display())),
        None => file.wrong("puzzles", e.to_string()),
    })?;
    if let Some(range) = &puzzles.rows {
        list = rows(list, range).map_err(|e| file.wrong("puzzles.rows", e.to_string()))?;
    }
    let built_in = TEMPLATES.iter().find(|(name, _)| *name == template);
    let text = match built_in {
        Some((_, text)) => (*text).to_owned(),
        None => file.text_of(Path::new(&template)).map_err(|e| {
            if let ConfigError::Outside { .. } = e {
                return e;
            }
            let known = TEMPLATES.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
            file.wrong("template", format!("{e}; the built-in templates are {known}"))
        })?,
    };
    let version = version(&parser).map_err(|e| e.at(file.path))?;
    let settings = Settings {
        puzzles: list,
        samples,
        template: TemplateText { name: template, text },
        parser: format!("{}@{version}", GAME24.name),
        request,
        shard: None,
    };
    let runtime = Runtime { model, limits, retry, ..Runtime::default() };
    Ok(Study::new(NAME, seed, settings, runtime))
}

/// The version of the parser that a setting names.
pub(super) fn version(parser: &str) -> Result<u32, StudyError> {
    GAME24.resolve(parser).map_err(|e| match e {
        RegistryError::UnknownName { name, .. } => {
            StudyError::part("parser", format!("{name} does not parse answers of {NAME}"))
        }
        e => StudyError::part("parser", e),
    })
}
