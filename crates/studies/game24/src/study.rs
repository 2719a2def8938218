//! The study as a program offers it.

use retold::model::simulated::Player;
use retold::parse::ParserFamily;
use retold::prompt::Request;
use retold::run::AnyExperiment;
use retold_figures::FigureRow;
use retold_study::Registration;
use retold_study::charts::Chart;
use retold_study::config::{ConfigError, ConfigFile, schema_of};
use retold_study::error::{BoxError, StudyError};
use retold_study::registration::ModelNames;
use retold_study::settings::ExperimentSettings;
use retold_study::shard::Sharding;
use retold_study::study::Study;
use serde_json::Value;

use crate::charts::charts;
use crate::config::Config;
use crate::counted::{draw, take_over};
use crate::figures::{HEADLINE, rows};
use crate::parse::GAME24;
use crate::{Game24, NAME, Settings, SimulatedSolver, load};

const PARSERS: &[&ParserFamily] = &[&GAME24];

/// The Game of 24, with its parser.
#[derive(Debug, Clone, Copy)]
pub struct Game24Study;

impl Registration for Game24Study {
    fn name(&self) -> &'static str {
        NAME
    }

    fn load(&self, file: &ConfigFile<'_>) -> Result<Study, ConfigError> {
        load(file)
    }

    fn config_schema(&self) -> Option<Value> {
        Some(schema_of::<Config>("A config of the Game of 24"))
    }

    fn example_config(&self) -> Option<&'static str> {
        Some(include_str!("../../../../config/game24.yaml"))
    }

    fn build(&self, settings: &ExperimentSettings) -> Result<Box<dyn AnyExperiment>, StudyError> {
        let settings = settings.read::<Settings>()?.into_owned();
        Ok(Box::new(Game24::new(settings)?))
    }

    fn check(&self, settings: &ExperimentSettings) -> Result<(), StudyError> {
        Game24::try_out(settings.read::<Settings>()?.into_owned()).map(drop)
    }

    fn player(&self) -> Box<dyn Player> {
        Box::new(SimulatedSolver)
    }

    fn samples(&self, settings: &ExperimentSettings) -> Vec<Request> {
        let Ok(settings) = settings.read::<Settings>() else { return Vec::new() };
        settings.request.sample().into_iter().collect()
    }

    fn sharding(&self, settings: &ExperimentSettings) -> Sharding {
        let count = settings.read::<Settings>().map_or(0, |settings| settings.puzzles.len());
        Sharding::Into { parts: "puzzles", count }
    }

    fn sizes(&self) -> &'static [&'static str] {
        &["puzzles", "samples"]
    }

    fn model_names(&self) -> ModelNames {
        ModelNames { chat: &["model"], embedding: &[] }
    }

    fn parsers(&self) -> &'static [&'static ParserFamily] {
        PARSERS
    }

    fn draw(&self, file: &ConfigFile<'_>, study: &mut Study) -> Result<(), ConfigError> {
        draw(file, study)
    }

    /// `samples: recorded` means the puzzles and numbers that were counted when the run began.
    fn take_over(&self, settings: &mut Value, recorded: &Value) {
        take_over(settings, recorded);
    }

    fn charts(&self, _: &ExperimentSettings, facts: &[Value]) -> Result<Vec<Chart>, BoxError> {
        charts(facts)
    }

    fn headline(&self) -> &'static [&'static str] {
        HEADLINE
    }

    fn rows(&self, facts: &[Value]) -> Result<Vec<FigureRow>, BoxError> {
        rows(facts)
    }

    fn may_have_part(&self, _: &str) -> bool {
        false
    }
}
