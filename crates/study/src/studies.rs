//! The studies of a program: from a config to an experiment, and from a recorded run back to one.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use retold::inert::inert;
use retold::model::simulated::Player;
use retold::parse::registry::TwoParsers;
use retold::parse::{ParserFamily, Parsers};
use retold::run::{AnyExperiment, Journal, RunRecord};
use serde::de::IgnoredAny;
use serde_json::Value;

use crate::config::{ConfigError, Head, load, located, read_text, with_overrides};
use crate::reenact::{Reenact, ReenactError, Reenactment};
use crate::study::{SettingsOf, Stored, Study};

/// A study as a program offers it: all that commands need to know of it.
pub trait Registration: Sync {
    /// The experiment's name, which its runs are recorded under.
    fn name(&self) -> &'static str;

    /// Reads a config file. `overrides` are `KEY=VALUE`.
    ///
    /// # Errors
    /// [`ConfigError`] with file, line or key.
    fn load(&self, path: &Path, text: &str, overrides: &[String]) -> Result<Study, ConfigError>;

    /// The experiment of recorded settings.
    ///
    /// # Errors
    /// What of the settings does not fit.
    fn build(&self, settings: &Value) -> Result<Box<dyn AnyExperiment>, String>;

    /// Checks settings as [`load`](Self::load) checks a config, where that is more than to build of them.
    ///
    /// # Errors
    /// What of the settings makes no sense.
    fn check(&self, settings: &Value) -> Result<(), String> {
        self.build(settings).map(drop)
    }

    /// Who plays it for the simulated model.
    fn player(&self) -> Box<dyn Player>;

    /// Where its config says who answers.
    fn model_key(&self) -> &'static str {
        "model"
    }

    /// The keys under which its settings name the models that are asked, wherever in them. If there are any, an
    /// endpoint for another model is refused; without any, a run says at its end which endpoints were never asked.
    fn model_names(&self) -> &'static [&'static str] {
        &[]
    }

    /// Keys by which a config is recognised that does not name its experiment: those of a document's own format.
    /// Two of them are enough, so that a missing one is reported as such.
    fn known_by(&self) -> &'static [&'static str] {
        &[]
    }

    /// The name of its output folder, of settings that may lack what is drawn when a run begins.
    fn output_name(&self, settings: &Value) -> Option<String> {
        self.build(settings).ok()?.output_name_any()
    }

    /// What it says of a run while that goes on, if it does; `output_name` is the name of the run's folder.
    fn journal(&self, output_name: &str) -> Option<Box<dyn Journal>> {
        let _ = output_name;
        None
    }

    /// The parsers that its runs were ever decided by.
    fn parsers(&self) -> &'static [&'static ParserFamily];

    /// Original runs of another program, told again by this study; none unless it knows such.
    fn originals(&self) -> Option<Originals> {
        None
    }

    /// Draws what it needs from outside its config (a pool, a URL) into the settings, once it is known who answers.
    ///
    /// # Errors
    /// [`ConfigError`] with file and key.
    fn draw(&self, path: &Path, study: &mut Study) -> Result<(), ConfigError> {
        let _ = (path, study);
        Ok(())
    }

    /// Puts into settings what a run of them drew when it began.
    fn take_over(&self, settings: &mut Value, recorded: &Value) {
        let _ = (settings, recorded);
    }

    /// Whether a run with these settings leaves anything for later ones.
    fn stores(&self, settings: &Value) -> bool {
        let _ = settings;
        false
    }

    /// Stores what a run has left for later ones. To do it again changes nothing. `settings` says whose they are: a
    /// file that only a recording names is not written.
    ///
    /// # Errors
    /// What cannot be read or written, in words.
    fn store(&self, record: &RunRecord<'_>, settings: SettingsOf) -> Result<Stored, String> {
        let _ = (record, settings);
        Ok(Stored::Nothing)
    }

    /// Whether there may be a part of this name to tell of: asked before a long run is folded to see. Parts are a name,
    /// or a group and a name in it.
    fn may_have_part(&self, name: &str) -> bool {
        name.matches('/').count() < 2
    }

    /// How a person takes part; none if nobody can.
    fn play(&self) -> Option<&dyn Play> {
        None
    }
}

/// How original runs of another program are taken in.
#[derive(Debug, Clone, Copy)]
pub struct Originals {
    /// What `import` calls them. Which experiment tells one again is seen in its files only.
    pub import: &'static str,
    /// Reads one.
    pub reenact: Reenact,
}

/// A study that a person can take part in, at the terminal.
pub trait Play {
    /// What is played: a noun, such as `adventure`.
    fn noun(&self) -> &'static str;

    /// What is set in a config so that a person plays, whatever it says.
    fn settings(&self) -> &'static [&'static str];

    /// Whether recorded settings need a person.
    fn is_played(&self, settings: &Value) -> bool;

    /// The name of the model in requests that the person answers.
    fn person(&self) -> &'static str;

    /// The settings of a game that goes another way from a turn on.
    ///
    /// # Errors
    /// Why it cannot, in words.
    fn fork(&self, settings: &Value, facts: &[Value], choice: Choice) -> Result<Value, String>;
}

/// A choice to be made otherwise, all from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Choice {
    /// The game.
    pub game: u32,
    /// The turn.
    pub turn: u32,
    /// The option to take there.
    pub choose: u32,
}

/// Where settings have their [edition](crate::edition::Edition).
const EDITION: &str = "edition";

/// Why a recorded run cannot be executed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RegistryError {
    /// No experiment of that name.
    #[error("there is no experiment {name:?}; the experiments are {known}")]
    Unknown {
        /// The name.
        name: String,
        /// The names there are.
        known: String,
    },
    /// The recorded settings do not fit.
    #[error("the recorded settings of experiment {name} do not fit: {reason}")]
    BadSettings {
        /// The experiment.
        name: String,
        /// What is wrong.
        reason: String,
    },
}

/// Why studies cannot be in one program.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Clash {
    /// Two of them have one name.
    #[error("two studies are named {0:?}")]
    Name(&'static str),
    /// Two of their parsers have one name.
    #[error(transparent)]
    Parser(#[from] TwoParsers),
}

/// The studies of a program, and their parsers.
pub struct Studies {
    all: Vec<&'static dyn Registration>,
    parsers: Parsers,
}

impl Studies {
    /// The studies of a program. Their parsers are listed in this order.
    ///
    /// # Errors
    /// [`Clash`] if two of them, or of their parsers, have one name.
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

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &'static dyn Registration> {
        self.all.iter().copied()
    }

    /// The parsers of all of them.
    pub fn parsers(&self) -> &Parsers {
        &self.parsers
    }

    /// The study of a name, if there is one.
    pub fn find(&self, name: &str) -> Option<&'static dyn Registration> {
        self.iter().find(|study| study.name() == name)
    }

    /// The study of a name.
    ///
    /// # Errors
    /// [`RegistryError::Unknown`].
    pub fn get(&self, name: &str) -> Result<&'static dyn Registration, RegistryError> {
        self.find(name).ok_or_else(|| {
            let mut known: Vec<&str> = self.iter().map(|study| study.name()).collect();
            known.sort_unstable();
            RegistryError::Unknown { name: name.to_owned(), known: known.join(", ") }
        })
    }

    /// Reads a config file. `experiment` overrides the name in it; a file without a name is recognised by its keys if
    /// it is in a document's own format. `overrides` are `KEY=VALUE`.
    ///
    /// # Errors
    /// [`ConfigError`] with file and line.
    pub fn study(
        &self,
        path: &Path,
        experiment: Option<&str>,
        overrides: &[String],
    ) -> Result<Study, ConfigError> {
        let text = read_text(path)?;
        let value = |key: &str, message: String| ConfigError::Value {
            path: path.display().to_string(),
            key: key.to_owned(),
            message,
        };
        let named = match experiment {
            Some(name) => name.to_owned(),
            None => load::<Head>(path, &text)?
                .experiment
                .or_else(|| self.recognised(path, &text))
                .ok_or_else(|| {
                    // A key that is nowhere is missing from the top.
                    let first = text.lines().next().unwrap_or_default();
                    ConfigError::Invalid {
                        path: path.display().to_string(),
                        line: 1,
                        column: 1,
                        message:
                            "the key \"experiment\" is missing: name it, here or with --experiment"
                                .to_owned(),
                        snippet: format!("   1 | {}", inert(first, 120)),
                    }
                })?,
        };
        let entry = self.get(&named).map_err(|e| value("experiment", e.to_string()));
        if experiment.is_some() {
            // The name is not from the file.
            entry.clone()?;
        }
        let checked = entry.and_then(|entry| {
            let study = entry.load(path, &text, overrides)?;
            study.settings.runtime.check(&path.display().to_string())?;
            kinds_are_known(entry, &study).map_err(|(key, message)| value(&key, message))?;
            if study.seed > 1 << 53 {
                return Err(value("seed", format!("at most 2^53, not {}", study.seed)));
            }
            let given: Value = with_overrides(load(path, &text)?, overrides)?;
            Ok((entry.model_key(), given, study))
        });
        let (group, given, mut study) =
            checked.map_err(|error| located(error, path, &text, overrides))?;
        // Without the line: what is wrong may be a key that stands there.
        let named = study.settings.runtime.model.named_by_config(path, &given[group]);
        named.map_err(|(key, message)| value(&format!("{group}.{key}"), message))?;
        Ok(study)
    }

    /// The experiment whose document has configs with these keys, if it is exactly one.
    fn recognised(&self, path: &Path, text: &str) -> Option<String> {
        let keys: BTreeMap<String, IgnoredAny> = load(path, text).ok()?;
        let has_two = |study: &&'static dyn Registration| {
            study.known_by().iter().filter(|key| keys.contains_key(**key)).count() >= 2
        };
        let mut found = self.iter().filter(has_two);
        found.next().filter(|_| found.next().is_none()).map(|study| study.name().to_owned())
    }

    /// Puts what a run drew from outside its config when it began into the settings of the same config, so that the
    /// two can be compared: it is not drawn again.
    pub fn take_over(&self, experiment: &str, settings: &mut Value, recorded: &Value) {
        // A run that an earlier release began goes on by the rules of its edition.
        if let Some(settings) = settings.as_object_mut().filter(|now| now.contains_key(EDITION)) {
            settings.remove(EDITION);
            let edition = recorded.get(EDITION);
            settings.extend(edition.map(|edition| (EDITION.to_owned(), edition.clone())));
        }
        if let Some(study) = self.find(experiment) {
            study.take_over(settings, recorded);
        }
    }

    /// The name of the folder that a run with these settings writes, if they give it one. What is drawn when a run
    /// begins need not be in them yet.
    ///
    /// # Errors
    /// [`RegistryError::Unknown`].
    pub fn output_name(
        &self,
        experiment: &str,
        settings: &Value,
    ) -> Result<Option<String>, RegistryError> {
        Ok(self.get(experiment)?.output_name(settings))
    }

    /// What an experiment says of a run while that goes on, if it does; `output_name` is the name of the run's folder.
    ///
    /// # Errors
    /// [`RegistryError::Unknown`].
    pub fn journal(
        &self,
        experiment: &str,
        output_name: &str,
    ) -> Result<Option<Box<dyn Journal>>, RegistryError> {
        Ok(self.get(experiment)?.journal(output_name))
    }

    /// Draws what a study needs from outside its config (a pool, a URL) into its settings, once it is known who
    /// answers. Most studies need nothing.
    ///
    /// # Errors
    /// [`ConfigError`] with file and line.
    pub fn supply(
        &self,
        path: &Path,
        study: &mut Study,
        overrides: &[String],
    ) -> Result<(), ConfigError> {
        let Some(entry) = self.find(&study.experiment) else { return Ok(()) };
        let drawn = entry.draw(path, study);
        drawn.or_else(|error| Err(located(error, path, &read_text(path)?, overrides)))
    }

    /// The experiment of recorded settings.
    ///
    /// # Errors
    /// [`RegistryError`]: not known to this program, or settings of another release.
    pub fn build(
        &self,
        name: &str,
        settings: &Value,
    ) -> Result<Box<dyn AnyExperiment>, RegistryError> {
        self.get(name)?
            .build(settings)
            .map_err(|reason| RegistryError::BadSettings { name: name.to_owned(), reason })
    }

    /// Checks the settings of a fork as a config is checked. What is wrong with its parent's, too, passes:
    /// original runs may have what a config may not.
    ///
    /// # Errors
    /// [`RegistryError`]: not known to this program, or a value that makes no sense.
    pub fn check_fork(
        &self,
        name: &str,
        settings: &Value,
        parent: &Value,
    ) -> Result<(), RegistryError> {
        let study = self.get(name)?;
        let Err(reason) = study.check(settings) else { return Ok(()) };
        match study.check(parent) {
            Err(before) if before == reason => Ok(()),
            _ => Err(RegistryError::BadSettings { name: name.to_owned(), reason }),
        }
    }

    /// The models that an experiment with these settings may ask; `None` if it does not say where they are named.
    pub fn models(&self, experiment: &str, settings: &Value) -> Option<BTreeSet<String>> {
        let keys = self.find(experiment)?.model_names();
        let mut models = BTreeSet::new();
        named_under(keys, settings, &mut models);
        (!keys.is_empty()).then_some(models)
    }

    /// Who plays an experiment for the simulated model.
    ///
    /// # Errors
    /// [`RegistryError::Unknown`].
    pub fn player(&self, name: &str) -> Result<Box<dyn Player>, RegistryError> {
        Ok(self.get(name)?.player())
    }

    /// Whether something is the name of an experiment that knows original runs of other programs.
    pub fn knows_originals(&self, name: &str) -> bool {
        self.find(&name.replace('-', "_")).is_some_and(|study| study.originals().is_some())
    }

    /// What `import` calls the original runs that an experiment tells again; its own name if there are none.
    pub fn import_name<'n>(&self, experiment: &'n str) -> &'n str {
        let originals = self.find(experiment).and_then(|study| study.originals());
        originals.map_or(experiment, |originals| originals.import)
    }

    /// Reads an original run of another program, to be executed again by an experiment; `None` if the
    /// experiment knows no such runs.
    ///
    /// # Errors
    /// [`RegistryError::Unknown`], or what is wrong with the files.
    pub fn reenact(
        &self,
        name: &str,
        path: &Path,
    ) -> Result<Option<Result<Reenactment, ReenactError>>, RegistryError> {
        // `public-goods` is easier to type than `public_goods`.
        let originals = self.get(&name.replace('-', "_"))?.originals();
        Ok(originals.map(|originals| (originals.reenact)(path)))
    }
}

/// Collects the texts that stand under some keys, at any depth.
fn named_under(keys: &[&str], settings: &Value, found: &mut BTreeSet<String>) {
    match settings {
        Value::Object(fields) => {
            for (key, value) in fields {
                match value {
                    Value::String(name) if keys.contains(&key.as_str()) => {
                        found.insert(name.clone());
                    }
                    value => named_under(keys, value, found),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| named_under(keys, item, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// The simulated model of each study knows its own kinds of malformed answers.
fn kinds_are_known(entry: &dyn Registration, study: &Study) -> Result<(), (String, String)> {
    let kinds = entry.player().kinds();
    let named = &study.settings.runtime.model.rates.malformed_kinds;
    match named.keys().find(|kind| !kinds.contains(&kind.as_str())) {
        None => Ok(()),
        Some(kind) => Err((
            format!("{}.rates.malformed_kinds.{kind}", entry.model_key()),
            format!(
                "there is no kind {kind:?} of malformed answers to {}; the kinds are {}",
                entry.name(),
                kinds.join(", ")
            ),
        )),
    }
}
