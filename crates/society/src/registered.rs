//! The studies as a program offers them.

use retold::model::simulated::Player;
use retold::parse::ParserFamily;
use retold::run::AnyExperiment;
use retold_study::Registration;
use retold_study::config::{ConfigError, ConfigFile};
use retold_study::error::StudyError;
use retold_study::registration::Originals;
use retold_study::settings::ExperimentSettings;
use retold_study::study::Study;

use crate::parse::ACTION;
use crate::society_log::{self, SocietyLog};
use crate::{NAME, Settings, SimulatedSociety, Society, load};

const PARSERS: &[&ParserFamily] = &[&ACTION];

/// Both experiments tell the same original runs again.
const ORIGINALS: Originals = Originals { import: "society", reenact: society_log::reenact };

/// Societies, with their parser and those that another program has run.
#[derive(Debug, Clone, Copy)]
pub struct Registered;

impl Registration for Registered {
    fn name(&self) -> &'static str {
        NAME
    }

    fn load(&self, file: &ConfigFile<'_>) -> Result<Study, ConfigError> {
        load(file)
    }

    fn build(&self, settings: &ExperimentSettings) -> Result<Box<dyn AnyExperiment>, StudyError> {
        Ok(Box::new(Society::new(settings.typed::<Settings>()?.into_owned())?))
    }

    fn player(&self) -> Box<dyn Player> {
        Box::new(SimulatedSociety)
    }

    fn model_names(&self) -> &'static [&'static str] {
        &["model"]
    }

    fn parsers(&self) -> &'static [&'static ParserFamily] {
        PARSERS
    }

    fn originals(&self) -> Option<Originals> {
        Some(ORIGINALS)
    }
}

/// Societies that another program has run.
#[derive(Debug, Clone, Copy)]
pub struct RegisteredLog;

impl Registration for RegisteredLog {
    fn name(&self) -> &'static str {
        society_log::NAME
    }

    fn load(&self, file: &ConfigFile<'_>) -> Result<Study, ConfigError> {
        Err(file.wrong(
            "experiment",
            "society_log has no configs: `retold import society FILE` makes its runs from a log; a society of \
             your own is experiment society",
        ))
    }

    fn build(&self, settings: &ExperimentSettings) -> Result<Box<dyn AnyExperiment>, StudyError> {
        let settings = settings.typed::<society_log::Settings>()?.into_owned();
        Ok(Box::new(SocietyLog::new(settings)?))
    }

    fn check(&self, settings: &ExperimentSettings) -> Result<(), StudyError> {
        Ok(society_log::check(&*settings.typed::<society_log::Settings>()?)?)
    }

    /// Never asked: its runs have answers of their own.
    fn player(&self) -> Box<dyn Player> {
        Box::new(SimulatedSociety)
    }

    fn parsers(&self) -> &'static [&'static ParserFamily] {
        PARSERS
    }

    fn originals(&self) -> Option<Originals> {
        Some(ORIGINALS)
    }
}
