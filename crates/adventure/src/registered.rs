//! The study as a program offers it.

use std::path::Path;

use retold::model::simulated::Player;
use retold::parse::ParserFamily;
use retold::parse::vote::VOTE;
use retold::run::AnyExperiment;
use retold_study::config::ConfigError;
use retold_study::studies::{Choice, Play, Registration};
use retold_study::study::Study;
use serde_json::Value;

use crate::parse::{CHARACTER, NARRATIVE};
use crate::{Adventure, HUMAN, NAME, SimulatedMaster, fork, is_human, load};

const PARSERS: &[&ParserFamily] = &[&NARRATIVE, &CHARACTER, &VOTE];

/// Adventures, which a person can play, with their parsers.
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
        Ok(Box::new(Adventure::from_settings(settings)?))
    }

    fn player(&self) -> Box<dyn Player> {
        Box::new(SimulatedMaster)
    }

    fn model_names(&self) -> &'static [&'static str] {
        &["model"]
    }

    fn parsers(&self) -> &'static [&'static ParserFamily] {
        PARSERS
    }

    fn play(&self) -> Option<&dyn Play> {
        Some(self)
    }
}

impl Play for Registered {
    fn noun(&self) -> &'static str {
        NAME
    }

    fn settings(&self) -> &'static [&'static str] {
        &["player=human", "games=1"]
    }

    fn is_played(&self, settings: &Value) -> bool {
        is_human(settings)
    }

    fn person(&self) -> &'static str {
        HUMAN
    }

    fn fork(&self, settings: &Value, facts: &[Value], choice: Choice) -> Result<Value, String> {
        fork(settings, facts, choice).map_err(|e| e.to_string())
    }
}
