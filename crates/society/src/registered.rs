//! The study as a program offers it.

use std::path::Path;

use retold::model::simulated::Player;
use retold::parse::ParserFamily;
use retold::run::AnyExperiment;
use retold_study::config::ConfigError;
use retold_study::studies::{Originals, Registration};
use retold_study::study::Study;
use serde_json::Value;

use crate::parse::ACTION;
use crate::society_log::{self, SocietyLog};
use crate::{NAME, SimulatedSociety, Society, check_settings, load};

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

    fn load(&self, path: &Path, text: &str, overrides: &[String]) -> Result<Study, ConfigError> {
        load(path, text, overrides)
    }

    fn build(&self, settings: &Value) -> Result<Box<dyn AnyExperiment>, String> {
        Ok(Box::new(Society::from_settings(settings)?))
    }

    fn check(&self, settings: &Value) -> Result<(), String> {
        check_settings(settings)
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

    fn load(&self, path: &Path, text: &str, overrides: &[String]) -> Result<Study, ConfigError> {
        society_log::load(path, text, overrides)
    }

    fn build(&self, settings: &Value) -> Result<Box<dyn AnyExperiment>, String> {
        Ok(Box::new(SocietyLog::from_settings(settings)?))
    }

    fn check(&self, settings: &Value) -> Result<(), String> {
        society_log::check_settings(settings)
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
