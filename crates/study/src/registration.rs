//! A study as a program offers it.

use retold::model::simulated::Player;
use retold::parse::ParserFamily;
use retold::prompt::Request;
use retold::run::{AnyExperiment, Journal, RunRecord};
use serde_json::Value;

use crate::charts::Chart;
use crate::config::{ConfigError, ConfigFile, ModelKind, Runtime};
use crate::error::{BoxError, StudyError};
use crate::original::ReadOriginal;
use crate::settings::ExperimentSettings;
use crate::shard::Sharding;
use crate::study::{SettingsOf, StoreResult, Study};
use retold_figures::FigureRow;

/// The keys under which settings name models, anywhere in them.
#[derive(Debug, Clone, Copy, Default)]
pub struct ModelNames {
    /// Of models that answer in text.
    pub chat: &'static [&'static str],
    /// Of models that answer with vectors.
    pub embedding: &'static [&'static str],
}

/// The keys of a study's config, where a document has spelled them in its own way.
#[derive(Debug, Clone, Copy)]
pub struct ConfigKeys {
    /// The key for the model that answers.
    pub model: &'static str,
    /// The key for the seed of all random choices.
    pub seed: &'static str,
    /// The keys that say how to ask and not what, besides flags: they may change when a run is continued or
    /// forked. That of the model, `limits` and `retry` are in the run's runtime; its settings have others under `config`.
    pub asking: &'static [&'static str],
    /// Keys of the group `request`, as all studies spell them, each with the key that stands for it: `model`
    /// with `llm_model`, for example.
    pub request: &'static [(&'static str, &'static str)],
    /// Keys by which a config is recognised that does not name its experiment. Two of them suffice, so that a missing key
    /// can be reported.
    pub known_by: &'static [&'static str],
    /// The text of a config in a file in which the document's own program wrote it down with other things; `None` for any
    /// other text.
    pub unwrap: fn(&str) -> Option<String>,
}

impl ConfigKeys {
    /// The keys of a study that has none of its own.
    pub const USUAL: ConfigKeys = ConfigKeys {
        model: "model",
        seed: "seed",
        asking: &["model", "limits", "retry"],
        request: &[],
        known_by: &[],
        unwrap: |_| None,
    };
}

/// Stores the data that a run leaves for later runs. Doing this again changes nothing. The settings say whose they are: a
/// file that only a recording names is not written.
pub type StoreRun = fn(&RunRecord<'_>, SettingsOf) -> Result<StoreResult, BoxError>;

/// A study as a program offers it: everything that commands need to know about it.
pub trait Registration: Sync {
    /// The experiment's name, under which its runs are recorded.
    fn name(&self) -> &'static str;

    /// Reads a config file. The caller [checks](Self::check) the resulting settings.
    ///
    /// # Errors
    /// [`ConfigError`] with file, line or key.
    fn load(&self, file: &ConfigFile<'_>) -> Result<Study, ConfigError>;

    /// The JSON Schema of its config file ([`schema_of`](crate::config::schema_of)); `None` if its author wrote none.
    fn config_schema(&self) -> Option<Value> {
        None
    }

    /// A config to begin with, with comments; `None` if there is none.
    fn example_config(&self) -> Option<&'static str> {
        None
    }

    /// The experiment with these settings.
    ///
    /// # Errors
    /// The setting with which it cannot be run.
    fn build(&self, settings: &ExperimentSettings) -> Result<Box<dyn AnyExperiment>, StudyError>;

    /// Checks the settings of a new run, from a config before anything is recorded, or of a fork. A
    /// study overrides this if new runs must satisfy more than is needed for building the
    /// experiment.
    ///
    /// # Errors
    /// The first invalid value.
    fn check(&self, settings: &ExperimentSettings) -> Result<(), StudyError> {
        self.build(settings).map(drop)
    }

    /// The keys of its config, where they are not those of other studies.
    fn config_keys(&self) -> ConfigKeys {
        ConfigKeys::USUAL
    }

    /// Plays it for the simulated model.
    fn player(&self) -> Box<dyn Player>;

    /// Sets how fast to ask and when to try again, where that follows from the experiment's settings
    /// and the kind of model. Called when all settings are known, flags included, for new runs and
    /// for recorded ones that continue; `before` is the kind without the flags.
    fn pace(&self, settings: &ExperimentSettings, runtime: &mut Runtime, before: ModelKind) {
        let _ = (settings, runtime, before);
    }

    /// A request of each kind that a run with these settings makes, with any text: a model that
    /// could not be asked one of them is refused before the first call.
    fn samples(&self, settings: &ExperimentSettings) -> Vec<Request> {
        let _ = settings;
        Vec::new()
    }

    /// The keys under which its settings name the models to ask, anywhere in them. If there are
    /// any, endpoints for other models are refused; otherwise a run reports at its end which
    /// endpoints were never used.
    fn model_names(&self) -> ModelNames {
        ModelNames::default()
    }

    /// The keys under which its settings say how many there are: participants, rounds, samples. A run with other values than
    /// were planned has another n.
    fn sizes(&self) -> &'static [&'static str] {
        &[]
    }

    /// The name of its output folder, if it has one. The settings may lack the values that are
    /// drawn when a run begins.
    fn output_name(&self, settings: &ExperimentSettings) -> Option<String> {
        self.build(settings).ok()?.output_name_any()
    }

    /// Its journal of a run in progress, if it has one. The settings may lack the values that are drawn when a run begins.
    fn journal(&self, settings: &ExperimentSettings) -> Option<Box<dyn Journal>> {
        let _ = settings;
        None
    }

    /// All parsers that have ever decided in its runs.
    fn parsers(&self) -> &'static [&'static ParserFamily];

    /// How original runs of another program are imported, if it supports any.
    fn originals(&self) -> Option<Originals> {
        None
    }

    /// Draws the data that the study needs from outside its config (a pool, a URL) into the
    /// settings, once the model is known.
    ///
    /// # Errors
    /// [`ConfigError`] with file and key.
    fn draw(&self, file: &ConfigFile<'_>, study: &mut Study) -> Result<(), ConfigError> {
        let _ = (file, study);
        Ok(())
    }

    /// Copies what another run with the same settings drew at its start into recorded settings.
    fn take_over(&self, settings: &mut Value, recorded: &Value) {
        let _ = (settings, recorded);
    }

    /// The function that stores the data that a run with these recorded settings leaves for later runs; `None` if it leaves
    /// nothing.
    fn store(&self, settings: &Value) -> Option<StoreRun> {
        let _ = settings;
        None
    }

    /// Whether a run with these settings can be divided into shards, whose [`Shard`](crate::shard::Shard) is in the settings
    /// under [`SHARD`](crate::shard::SHARD). By default it cannot.
    fn sharding(&self, settings: &ExperimentSettings) -> Sharding {
        let _ = settings;
        Sharding::Not { because: "the study does not say which of its parts are independent" }
    }

    /// The names of the marks after which a run with these settings can stop, in order. By default there are none.
    fn phases(&self, settings: &ExperimentSettings) -> Vec<String> {
        let _ = settings;
        Vec::new()
    }

    /// The label over which its draws are independent, where it is none of
    /// [`CLUSTERS`](retold::event::CLUSTERS): whatever its prompts were made from, what happens to one value of the label
    /// says nothing about another.
    fn independent_by(&self) -> Option<&'static str> {
        None
    }

    /// The figures that its runs lead with, as people write them down, of the rows that it makes of its facts. By default
    /// there are none, and its runs lead with what their decisions suggest.
    fn headline(&self) -> &'static [&'static str] {
        &[]
    }

    /// The rows of its own tables, of a run with these recorded facts: figures name their fields. By default none.
    ///
    /// # Errors
    /// The fact that is from another release.
    fn rows(&self, facts: &[Value]) -> Result<Vec<FigureRow>, BoxError> {
        let _ = facts;
        Ok(Vec::new())
    }

    /// The names of the situations of a run with these recorded facts, each of which has a
    /// [story](retold::run::Experiment::story). By default none.
    ///
    /// # Errors
    /// The fact that is from another release.
    fn situations(&self, _facts: &[Value]) -> Result<Vec<String>, BoxError> {
        Ok(Vec::new())
    }

    /// The plots of a report on a run with these recorded facts. By default none.
    ///
    /// # Errors
    /// The settings or the fact that are from another release.
    fn charts(
        &self,
        settings: &ExperimentSettings,
        facts: &[Value],
    ) -> Result<Vec<Chart>, BoxError> {
        let _ = (settings, facts);
        Ok(Vec::new())
    }

    /// Whether there may be a part with this name: checked before a long run is folded to find out.
    /// Parts are a name, or a group and a name in it.
    fn may_have_part(&self, name: &str) -> bool {
        name.matches('/').count() < 2
    }

    /// How a person takes part; `None` if nobody can.
    fn play(&self) -> Option<&'static dyn Play> {
        None
    }
}

/// How original runs of another program are imported.
#[derive(Debug, Clone, Copy)]
pub struct Originals {
    /// The name for `import`. Its files determine which experiment runs it again.
    pub import: &'static str,
    /// Reads an original run.
    pub read: ReadOriginal,
}

/// A study that a person can take part in, at the terminal.
pub trait Play: Sync {
    /// Settings that make a person play, regardless of the config.
    fn settings(&self) -> &'static [&'static str];

    /// True if the settings need a person.
    fn is_played(&self, settings: &ExperimentSettings) -> bool;

    /// The model name in the requests that the person answers.
    fn person(&self) -> &'static str;

    /// The settings of a game that differs from the recorded one from some turn on.
    ///
    /// # Errors
    /// Why that is not possible.
    fn fork(
        &self,
        settings: &ExperimentSettings,
        facts: &[Value],
        choice: Choice,
    ) -> Result<ExperimentSettings, BoxError>;
}

/// A choice to be made differently; all numbers are from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Choice {
    /// The game.
    pub game: u32,
    /// The turn.
    pub turn: u32,
    /// The option to take there.
    pub choose: u32,
}
