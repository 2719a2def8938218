//! The studies of a program: from a config to an experiment, and from a recorded run back to one.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use retold::escaping::printable;
use retold::model::simulated::Player;
use retold::parse::Parsers;
use retold::run::{AnyExperiment, Journal};
use serde::de::IgnoredAny;
use serde_json::Value;

use crate::config::{
    ConfigError, ConfigFile, ConfigHead, ConfigProblem, ModelKind, load, locate, read_text,
    with_overrides,
};
use crate::error::{Clash, ExperimentError, StudyError};
use crate::original::{Original, OriginalError};
use crate::registration::{ModelNames, Registration};
use crate::settings::ExperimentSettings;
use crate::shard::{Shard, Sharding, ShardingError};
use crate::study::{Study, StudySettings};

/// The studies of a program, and their parsers.
#[derive(Clone)]
pub struct Studies {
    all: Vec<&'static dyn Registration>,
    parsers: Parsers,
}

impl Studies {
    /// The studies of a program. Their parsers are listed in this order.
    ///
    /// # Errors
    /// [`Clash`] if two of them, or of their parsers, have the same name.
    pub fn new(
        studies: impl IntoIterator<Item = &'static dyn Registration>,
    ) -> Result<Self, Clash> {
        let (mut all, mut parsers) = (Vec::<&'static dyn Registration>::new(), Parsers::default());
        for study in studies {
            if all.iter().any(|known| known.name() == study.name()) {
                return Err(Clash::Name(study.name()));
            }
            parsers.add(study.parsers())?;
            all.push(study);
        }
        Ok(Studies { all, parsers })
    }

    /// All studies.
    pub fn iter(&self) -> impl Iterator<Item = &'static dyn Registration> {
        self.all.iter().copied()
    }

    /// The parsers of all studies.
    pub fn parsers(&self) -> &Parsers {
        &self.parsers
    }

    /// The study with a name, if it exists.
    pub fn find(&self, name: &str) -> Option<&'static dyn Registration> {
        self.iter().find(|study| study.name() == name)
    }

    /// The study with a name.
    ///
    /// # Errors
    /// [`ExperimentError::Unknown`].
    pub fn get(&self, name: &str) -> Result<&'static dyn Registration, ExperimentError> {
        self.find(name).ok_or_else(|| {
            let mut known: Vec<&str> = self.iter().map(|study| study.name()).collect();
            known.sort_unstable();
            ExperimentError::Unknown { name: name.to_owned(), known: known.join(", ") }
        })
    }

    /// Reads a config file. `experiment` overrides the name in it; a file without a name is
    /// recognised by its keys if it has a document's own format. `overrides` are `KEY=VALUE`. `drawn_seed` is the
    /// seed if neither names one. A config that is not trusted names no files outside of its folder.
    ///
    /// # Errors
    /// [`ConfigError`] with file and line.
    pub fn study(
        &self,
        path: &Path,
        experiment: Option<&str>,
        overrides: &[String],
        drawn_seed: u64,
        is_trusted: bool,
    ) -> Result<Study, ConfigError> {
        let text = read_text(path)?;
        let text =
            self.iter().find_map(|study| (study.config_keys().unwrap)(&text)).unwrap_or(text);
        let file = ConfigFile { path, text: &text, overrides, is_trusted };
        let named = match experiment {
            Some(name) => name.to_owned(),
            None => load::<ConfigHead>(path, &text)?
                .experiment
                .or_else(|| self.recognise(path, &text))
                .ok_or_else(|| {
                    // A key that is nowhere in the file is missing from the top level.
                    let first = text.lines().next().unwrap_or("");
                    ConfigError::Invalid {
                        path: path.display().to_string(),
                        line: 1,
                        column: 1,
                        message:
                            "the key \"experiment\" is missing: name it, here or with --experiment"
                                .to_owned(),
                        snippet: format!("   1 | {}", printable(first, 120)),
                    }
                })?,
        };
        let entry = self.get(&named).map_err(|e| file.wrong("experiment", e.to_string()));
        if experiment.is_some() {
            // The name does not come from the file.
            entry.clone()?;
        }
        let names_seed = file.names_seed();
        let mut all = overrides.to_vec();
        if let (Ok(entry), Ok(false)) = (&entry, &names_seed) {
            all.push(format!("{}={drawn_seed}", entry.config_keys().seed));
        }
        let overrides = &all[..];
        let file = ConfigFile { overrides, ..file };
        let checked = entry.and_then(|entry| Ok((entry, load_and_check(entry, &file)?)));
        let (entry, mut study) = checked.map_err(|error| locate(error, path, &text, overrides))?;
        study.seed_is_drawn = !names_seed?;
        let given: Value = with_overrides(load(path, &text)?, overrides)?;
        // Its type was checked with the other keys.
        study.settings.requests.alternate = given[ALTERNATE] == true;
        let answers = study.settings.runtime.model.answers.as_ref();
        answers.map(|answers| file.place_of(answers.path())).transpose()?;
        // Without the line, because the error may be about a key in it.
        let group = entry.config_keys().model;
        let named = study.settings.runtime.model.named_by_config(path, &given[group]);
        named.map_err(|ConfigProblem { key, message }| {
            file.wrong(&format!("{group}.{key}"), message)
        })?;
        Ok(study)
    }

    /// The only experiment whose document has configs with these keys, if there is exactly one.
    fn recognise(&self, path: &Path, text: &str) -> Option<String> {
        let keys: BTreeMap<String, IgnoredAny> = load(path, text).ok()?;
        let has_two = |study: &&'static dyn Registration| {
            study.config_keys().known_by.iter().filter(|key| keys.contains_key(**key)).count() >= 2
        };
        let mut found = self.iter().filter(has_two);
        found.next().filter(|_| found.next().is_none()).map(|study| study.name().to_owned())
    }

    /// Copies the values that a run drew from outside its config at its start into the settings of
    /// the same config, so that the two can be compared without drawing again.
    pub fn take_over(&self, experiment: &str, settings: &mut Value, recorded: &Value) {
        if let Some(study) = self.find(experiment) {
            study.take_over(settings, recorded);
        }
    }

    /// Sets how fast to ask and when to try again, where that follows from other settings: once all
    /// of them are known, flags included. `before` is the kind of model without the flags.
    pub fn pace(&self, experiment: &str, settings: &mut StudySettings, before: ModelKind) {
        if let Some(study) = self.find(experiment) {
            study.pace(&settings.experiment, &mut settings.runtime, before);
        }
        settings.runtime.without_needless_waits();
    }

    /// The name of the folder that a run with these settings writes, if they name one. They may
    /// still lack the values that are drawn when a run begins.
    ///
    /// # Errors
    /// [`ExperimentError::Unknown`].
    pub fn output_name(
        &self,
        experiment: &str,
        settings: &ExperimentSettings,
    ) -> Result<Option<String>, ExperimentError> {
        Ok(self.get(experiment)?.output_name(settings).map(|name| settings.run_name(name)))
    }

    /// What an experiment reports about a run in progress, if anything.
    ///
    /// # Errors
    /// [`ExperimentError::Unknown`].
    pub fn journal(
        &self,
        experiment: &str,
        settings: &ExperimentSettings,
    ) -> Result<Option<Box<dyn Journal>>, ExperimentError> {
        Ok(self.get(experiment)?.journal(settings))
    }

    /// Draws the data that a study needs from outside its config (a pool, a URL) into its settings,
    /// once the model is known. Most studies need nothing.
    ///
    /// # Errors
    /// [`ConfigError`] with file and line.
    pub fn supply(
        &self,
        path: &Path,
        study: &mut Study,
        overrides: &[String],
        is_trusted: bool,
    ) -> Result<(), ConfigError> {
        let Some(entry) = self.find(&study.experiment) else { return Ok(()) };
        let text = read_text(path)?;
        let drawn = entry.draw(&ConfigFile { path, text: &text, overrides, is_trusted }, study);
        drawn.map_err(|error| locate(error, path, &text, overrides))
    }

    /// Makes a study one of its shards.
    ///
    /// # Errors
    /// [`ShardingError`] if it cannot be divided, or not into as many shards.
    pub fn shard(&self, study: &mut Study, shard: Shard) -> Result<(), ShardingError> {
        let entry = self.get(&study.experiment)?;
        let settings = &study.settings.experiment;
        let experiment = || study.experiment.clone();
        match entry.sharding(settings) {
            Sharding::Not { because } => {
                return Err(ShardingError::Indivisible { experiment: experiment(), because });
            }
            Sharding::Into { parts, count } if shard.of() as usize > count => {
                return Err(ShardingError::TooMany { shard, parts, count });
            }
            Sharding::Into { .. } => {}
        }
        if study.seed_is_drawn {
            return Err(ShardingError::DrawnSeed { key: entry.config_keys().seed });
        }
        study.settings.experiment = settings.with_shard(Some(shard))?;
        Ok(())
    }

    /// The experiment with these settings.
    ///
    /// # Errors
    /// [`ExperimentError`] if this program does not have it, or the settings are from another
    /// release.
    pub fn build(
        &self,
        name: &str,
        settings: &ExperimentSettings,
    ) -> Result<Box<dyn AnyExperiment>, ExperimentError> {
        self.get(name)?
            .build(settings)
            .map_err(|source| ExperimentError::BadSettings { name: name.to_owned(), source })
    }

    /// Checks the settings of a fork like a config. An invalid value that the fork has from its
    /// parent is accepted, because imported runs may have settings that a config may not.
    ///
    /// # Errors
    /// [`ExperimentError`] if this program does not have the experiment, or a value is invalid.
    pub fn check_fork(
        &self,
        name: &str,
        settings: &ExperimentSettings,
        parent: &ExperimentSettings,
    ) -> Result<(), ExperimentError> {
        let study = self.get(name)?;
        let Err(source) = study.check(settings) else { return Ok(()) };
        let before = study.check(parent).err();
        let key = before.as_ref().and_then(StudyError::key).filter(|key| source.key() == Some(key));
        if key.is_some_and(|key| is_kept(key, settings, parent)) {
            return Ok(());
        }
        Err(ExperimentError::BadSettings { name: name.to_owned(), source })
    }

    /// The models that an experiment with these settings may ask; `None` if it does not declare
    /// where they are named.
    pub fn models(
        &self,
        experiment: &str,
        settings: &ExperimentSettings,
    ) -> Option<BTreeSet<String>> {
        let ModelNames { chat, embedding } = self.find(experiment)?.model_names();
        let keys = [chat, embedding].concat();
        (!keys.is_empty()).then(|| names_under(&keys, settings)).flatten()
    }

    /// The models that it may ask for embeddings.
    pub fn embedding_models(
        &self,
        experiment: &str,
        settings: &ExperimentSettings,
    ) -> BTreeSet<String> {
        let names = self.find(experiment).map(|study| study.model_names().embedding);
        names.and_then(|keys| names_under(keys, settings)).unwrap_or_default()
    }

    /// Passes on the name of each model that an experiment with these settings may ask, and whether it answers in text, to be
    /// changed.
    ///
    /// # Errors
    /// If a value cannot be written as JSON.
    pub fn rename_models(
        &self,
        experiment: &str,
        settings: &mut ExperimentSettings,
        mut each: impl FnMut(&mut String, bool),
    ) -> Result<(), serde_json::Error> {
        let Some(study) = self.find(experiment) else { return Ok(()) };
        let ModelNames { chat, embedding } = study.model_names();
        let before = settings.to_json()?;
        let mut after = before.clone();
        each_named_under(chat, &mut after, &mut |name| each(name, true));
        each_named_under(embedding, &mut after, &mut |name| each(name, false));
        if after != before {
            *settings = after.into();
        }
        Ok(())
    }

    /// The player of an experiment for the simulated model.
    ///
    /// # Errors
    /// [`ExperimentError::Unknown`].
    pub fn player(&self, name: &str) -> Result<Box<dyn Player>, ExperimentError> {
        Ok(self.get(name)?.player())
    }

    /// Whether a text is the name of an experiment that supports original runs of other programs.
    pub fn knows_originals(&self, name: &str) -> bool {
        self.find(&name.replace('-', "_")).is_some_and(|study| study.originals().is_some())
    }

    /// The name that `import` uses for the original runs of an experiment; its own name if it has
    /// no original runs.
    pub fn import_name<'n>(&self, experiment: &'n str) -> &'n str {
        let originals = self.find(experiment).and_then(|study| study.originals());
        originals.map_or(experiment, |originals| originals.import)
    }

    /// Reads an original run of another program, to be run again by an experiment; `None` if the
    /// experiment does not support such runs.
    ///
    /// # Errors
    /// [`ExperimentError::Unknown`], or a problem with the files.
    pub fn original(
        &self,
        name: &str,
        path: &Path,
    ) -> Result<Option<Result<Original, OriginalError>>, ExperimentError> {
        // `public-goods` is easier to type than `public_goods`.
        let originals = self.get(&name.replace('-', "_"))?.originals();
        Ok(originals.map(|originals| (originals.read)(path)))
    }
}

/// The texts under some keys of settings, at any depth.
fn names_under(keys: &[&str], settings: &ExperimentSettings) -> Option<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    each_named_under(keys, &mut settings.to_json().ok()?, &mut |name| {
        names.insert(name.clone());
    });
    Some(names)
}

/// The key of every config that makes turns alternate.
pub const ALTERNATE: &str = "alternate";

/// Labels have names of their own.
const LABELS: &str = "labels";

/// Passes on the texts under some keys, at any depth.
fn each_named_under(keys: &[&str], settings: &mut Value, each: &mut dyn FnMut(&mut String)) {
    match settings {
        Value::Object(fields) => {
            for (key, value) in fields.iter_mut().filter(|(key, _)| *key != LABELS) {
                match value {
                    Value::String(name) if keys.contains(&key.as_str()) => each(name),
                    value => each_named_under(keys, value, each),
                }
            }
        }
        Value::Array(items) => {
            items.iter_mut().for_each(|item| each_named_under(keys, item, each));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Whether a fork's settings have the value of its parent under a config's key.
fn is_kept(key: &str, settings: &ExperimentSettings, parent: &ExperimentSettings) -> bool {
    match (settings.to_json(), parent.to_json()) {
        (Ok(settings), Ok(parent)) => value_of(key, &settings) == value_of(key, &parent),
        _ => false,
    }
}

/// The value of a config's key (`topic.options[2]`) in settings. They have the keys of a config
/// either themselves or in a group `config`; values elsewhere are not found.
fn value_of<'a>(key: &str, settings: &'a Value) -> Option<&'a Value> {
    let parts = key.split(['.', '[']).map(|part| part.trim_end_matches(']'));
    let pointer: String = parts.map(|part| format!("/{part}")).collect();
    settings.pointer(&pointer).or_else(|| settings.get("config")?.pointer(&pointer))
}

/// Loads a config and checks everything in it.
fn load_and_check(entry: &dyn Registration, file: &ConfigFile<'_>) -> Result<Study, ConfigError> {
    let study = entry.load(file)?;
    // Settings that cannot be run are refused before anything is recorded.
    entry.check(&study.settings.experiment).map_err(|e| e.at(file.path))?;
    let runtime = study.settings.runtime.check(entry.config_keys().model);
    runtime.map_err(|wrong| wrong.at(file.path))?;
    kinds_are_known(entry, &study).map_err(|wrong| wrong.at(file.path))?;
    if study.seed > 1 << 53 {
        return Err(file.wrong("seed", format!("must be at most 2^53, not {}", study.seed)));
    }
    Ok(study)
}

/// The simulated model of each study has its own kinds of malformed answers.
fn kinds_are_known(entry: &dyn Registration, study: &Study) -> Result<(), ConfigProblem> {
    let kinds = entry.player().kinds();
    let named = &study.settings.runtime.model.rates.malformed_kinds;
    match named.keys().find(|kind| !kinds.contains(&kind.as_str())) {
        None => Ok(()),
        Some(kind) => Err(ConfigProblem::new(
            &format!("{}.rates.malformed_kinds.{kind}", entry.config_keys().model),
            format!(
                "there is no kind {kind:?} of malformed answers to {}; the kinds are {}",
                entry.name(),
                kinds.join(", ")
            ),
        )),
    }
}
