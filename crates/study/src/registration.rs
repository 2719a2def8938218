//! A study as a program offers it.

use retold::model::simulated::Player;
use retold::parse::ParserFamily;
use retold::run::{AnyExperiment, Journal, RunRecord};
use serde_json::Value;

use crate::config::{ConfigError, ConfigFile};
use crate::error::{BoxError, StudyError};
use crate::original::ReadOriginal;
use crate::settings::ExperimentSettings;
use crate::study::{SettingsOf, Stored, Study};

/// A study as a program offers it: all that commands need to know of it.
pub trait Registration: Sync {
    /// The experiment's name, which its runs are recorded under.
    fn name(&self) -> &'static str;

    /// Reads a config file. What it resolves to is [checked](Self::check) by the caller.
    ///
    /// # Errors
    /// [`ConfigError`] with file, line or key.
    fn load(&self, file: &ConfigFile<'_>) -> Result<Study, ConfigError>;

    /// The experiment with these settings.
    ///
    /// # Errors
    /// What in the settings cannot be executed.
    fn build(&self, settings: &ExperimentSettings) -> Result<Box<dyn AnyExperiment>, StudyError>;

    /// Checks the settings of a new run: of a config, before anything is recorded, and of a fork. A study overrides
    /// this if new runs must keep to more than what can be built.
    ///
    /// # Errors
    /// The first value that makes no sense.
    fn check(&self, settings: &ExperimentSettings) -> Result<(), StudyError> {
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

    /// The name of its output folder, if it has one: of settings that may lack what is drawn when a run begins.
    fn output_name(&self, settings: &ExperimentSettings) -> Option<String> {
        self.build(settings).ok()?.output_name_any()
    }

    /// What it says of a run while that goes on, if it does; `output_name` is the name of the run's folder.
    fn journal(&self, output_name: &str) -> Option<Box<dyn Journal>> {
        let _ = output_name;
        None
    }

    /// The parsers that its runs were ever decided by.
    fn parsers(&self) -> &'static [&'static ParserFamily];

    /// How original runs of another program are imported, if it knows any.
    fn originals(&self) -> Option<Originals> {
        None
    }

    /// Draws what it needs from outside its config (a pool, a URL) into the settings, once it is known who answers.
    ///
    /// # Errors
    /// [`ConfigError`] with file and key.
    fn draw(&self, file: &ConfigFile<'_>, study: &mut Study) -> Result<(), ConfigError> {
        let _ = (file, study);
        Ok(())
    }

    /// Puts into recorded settings what another run of them drew when it began.
    fn take_over(&self, settings: &mut Value, recorded: &Value) {
        let _ = (settings, recorded);
    }

    /// Whether a run with these recorded settings leaves anything for later ones.
    fn stores(&self, settings: &Value) -> bool {
        let _ = settings;
        false
    }

    /// Stores what a run has left for later ones. To do it again changes nothing. `settings` says whose they are: a
    /// file that only a recording names is not written.
    ///
    /// # Errors
    /// What cannot be read or written.
    fn store(&self, record: &RunRecord<'_>, settings: SettingsOf) -> Result<Stored, BoxError> {
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

/// How original runs of another program are imported.
#[derive(Debug, Clone, Copy)]
pub struct Originals {
    /// What `import` calls them. Which experiment executes one is decided by its files.
    pub import: &'static str,
    /// Reads one.
    pub read: ReadOriginal,
}

/// A study that a person can take part in, at the terminal.
pub trait Play {
    /// What is played: a noun, such as `adventure`.
    fn noun(&self) -> &'static str;

    /// What is set in a config so that a person plays, whatever it says.
    fn settings(&self) -> &'static [&'static str];

    /// Whether settings need a person.
    fn is_played(&self, settings: &ExperimentSettings) -> bool;

    /// The name of the model in requests that the person answers.
    fn person(&self) -> &'static str;

    /// The settings of a game that goes another way from a turn on.
    ///
    /// # Errors
    /// Why it cannot.
    fn fork(
        &self,
        settings: &ExperimentSettings,
        facts: &[Value],
        choice: Choice,
    ) -> Result<ExperimentSettings, BoxError>;
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
