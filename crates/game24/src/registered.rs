//! The study as a program offers it.

use std::path::Path;

use retold::model::simulated::Player;
use retold::parse::ParserFamily;
use retold::run::AnyExperiment;
use retold_study::config::ConfigError;
use retold_study::studies::Registration;
use retold_study::study::Study;
use serde_json::Value;

use crate::counted::{draw, take_over};
use crate::parse::GAME24;
use crate::{Game24, NAME, SimulatedSolver, check_settings, load};

const PARSERS: &[&ParserFamily] = &[&GAME24];

/// The Game of 24, with its parser.
#[derive(Debug, Clone, Copy)]
pub struct Registered;

impl Registration for Registered {
    fn name(&self) -> &'static str {
        NAME
    }

    fn load(&self, path: &Path, text: &str, overrides: &[String]) -> Result<Study, ConfigError> {
        load(path, text, overrides)
    }

    fn build(&self, settings: &Value) -> Result<Box<dyn AnyExperiment>, String> {
        Ok(Box::new(Game24::from_settings(settings)?))
    }

    fn check(&self, settings: &Value) -> Result<(), String> {
        check_settings(settings)
    }

    fn player(&self) -> Box<dyn Player> {
        Box::new(SimulatedSolver)
    }

    fn model_names(&self) -> &'static [&'static str] {
        &["model"]
    }

    fn parsers(&self) -> &'static [&'static ParserFamily] {
        PARSERS
    }

    fn draw(&self, path: &Path, study: &mut Study) -> Result<(), ConfigError> {
        draw(path, study)
    }

    /// `samples: recorded` stands for the puzzles and numbers that were counted when the run began.
    fn take_over(&self, settings: &mut Value, recorded: &Value) {
        take_over(settings, recorded);
    }

    fn may_have_part(&self, _: &str) -> bool {
        false
    }
}
