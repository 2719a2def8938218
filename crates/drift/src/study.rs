//! The study as a program offers it.

use retold::model::simulated::{Dice, Player};
use retold::parse::ParserFamily;
use retold::prompt::Request;
use retold::run::AnyExperiment;
use retold_study::Registration;
use retold_study::config::{ConfigError, ConfigFile};
use retold_study::error::StudyError;
use retold_study::registration::ModelNames;
use retold_study::settings::ExperimentSettings;
use retold_study::study::Study;

use crate::NAME;
use crate::experiment::Drift;
use crate::settings::DriftSettings;

/// Recorded prompts that are asked again. It has no config: a command draws its answers.
#[derive(Debug, Clone, Copy)]
pub struct DriftStudy;

impl Registration for DriftStudy {
    fn name(&self) -> &'static str {
        NAME
    }

    fn load(&self, file: &ConfigFile<'_>) -> Result<Study, ConfigError> {
        Err(file.wrong(
            "experiment",
            "recorded prompts are asked again by a command, not by a config: `retold check RUN --ask-again`",
        ))
    }

    fn build(&self, settings: &ExperimentSettings) -> Result<Box<dyn AnyExperiment>, StudyError> {
        Ok(Box::new(Drift::new(settings.read::<DriftSettings>()?.into_owned())?))
    }

    fn player(&self) -> Box<dyn Player> {
        Box::new(|_: &Request, dice: &mut Dice| format!("made-up answer {}", dice.below(2)))
    }

    /// The first request; the others are to the same API.
    fn samples(&self, settings: &ExperimentSettings) -> Vec<Request> {
        let Ok(settings) = settings.read::<DriftSettings>() else { return Vec::new() };
        let first = settings.answers.first();
        first.and_then(|drawn| Request::from_canonical(&drawn.request).ok()).into_iter().collect()
    }

    fn model_names(&self) -> ModelNames {
        ModelNames { chat: &[], embedding: &[] }
    }

    /// All text is kept as it is: what decides about it later is what decided about the recorded answer.
    fn parsers(&self) -> &'static [&'static ParserFamily] {
        &[]
    }
}
