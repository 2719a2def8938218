//! The study as a program offers it.

use retold::model::simulated::Player;
use retold::parse::ParserFamily;
use retold::prompt::Request;
use retold::run::AnyExperiment;
use retold_study::Registration;
use retold_study::config::{ConfigError, ConfigFile, schema_of};
use retold_study::error::StudyError;
use retold_study::registration::ModelNames;
use retold_study::settings::ExperimentSettings;
use retold_study::study::Study;

use serde_json::Value;

use crate::config::JudgeConfig;
use crate::{Judge, JudgeSettings, NAME, SimulatedJudge, load};

/// A judge of recorded answers. Its parsers are written down in its settings.
#[derive(Debug, Clone, Copy)]
pub struct JudgeStudy;

impl Registration for JudgeStudy {
    fn name(&self) -> &'static str {
        NAME
    }

    fn load(&self, file: &ConfigFile<'_>) -> Result<Study, ConfigError> {
        load(file)
    }

    fn config_schema(&self) -> Option<Value> {
        Some(schema_of::<JudgeConfig>("A config of a judge"))
    }

    fn build(&self, settings: &ExperimentSettings) -> Result<Box<dyn AnyExperiment>, StudyError> {
        Ok(Box::new(Judge::new(settings.read::<JudgeSettings>()?.into_owned())?))
    }

    fn check(&self, settings: &ExperimentSettings) -> Result<(), StudyError> {
        Judge::for_new_run(settings.read::<JudgeSettings>()?.into_owned()).map(drop)
    }

    /// The answers come from the run that is judged.
    fn draw(&self, file: &ConfigFile<'_>, study: &mut Study) -> Result<(), ConfigError> {
        let settings = study.settings.experiment.read::<JudgeSettings>();
        match settings.is_ok_and(|settings| settings.of.is_some()) {
            true => Ok(()),
            false => Err(file.wrong(
                "experiment",
                "a judge needs a run whose answers it judges: `retold score judge RUN --config FILE`",
            )),
        }
    }

    fn player(&self) -> Box<dyn Player> {
        Box::new(SimulatedJudge)
    }

    fn samples(&self, settings: &ExperimentSettings) -> Vec<Request> {
        let Ok(settings) = settings.read::<JudgeSettings>() else { return Vec::new() };
        settings.request.sample().into_iter().collect()
    }

    fn model_names(&self) -> ModelNames {
        ModelNames { chat: &["model"], embedding: &[] }
    }

    fn parsers(&self) -> &'static [&'static ParserFamily] {
        &[]
    }
}
