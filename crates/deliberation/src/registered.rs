//! The study as a program offers it.

use std::path::Path;

use retold::model::simulated::Player;
use retold::parse::ParserFamily;
use retold::parse::text::{FREE_TEXT, MODERATOR, VECTOR};
use retold::parse::vote::VOTE;
use retold::run::{AnyExperiment, Journal, RunRecord};
use retold_study::config::ConfigError;
use retold_study::studies::{Originals, Registration};
use retold_study::study::{SettingsOf, Stored, Study};
use serde_json::Value;

use crate::parse::DEMOGRAPHICS;
use crate::{
    Deliberation, KNOWN_BY, NAME, SimulatedDeliberation, check_settings, journal, load, personas,
    reenact,
};

const PARSERS: &[&ParserFamily] = &[&VOTE, &DEMOGRAPHICS, &FREE_TEXT, &MODERATOR, &VECTOR];

/// Deliberations, with their parsers, their pool of personas and the original runs.
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
        Ok(Box::new(Deliberation::from_settings(settings)?))
    }

    fn check(&self, settings: &Value) -> Result<(), String> {
        check_settings(settings)
    }

    fn player(&self) -> Box<dyn Player> {
        Box::new(SimulatedDeliberation)
    }

    fn model_names(&self) -> &'static [&'static str] {
        &["model", "embedding_model"]
    }

    fn parsers(&self) -> &'static [&'static ParserFamily] {
        PARSERS
    }

    fn model_key(&self) -> &'static str {
        "provider"
    }

    fn known_by(&self) -> &'static [&'static str] {
        KNOWN_BY
    }

    fn output_name(&self, settings: &Value) -> Option<String> {
        settings.pointer("/config/pilot_id").and_then(Value::as_str).map(str::to_owned)
    }

    fn journal(&self, output_name: &str) -> Option<Box<dyn Journal>> {
        Some(journal(output_name))
    }

    fn originals(&self) -> Option<Originals> {
        Some(Originals { import: "deliberation", reenact })
    }

    fn draw(&self, path: &Path, study: &mut Study) -> Result<(), ConfigError> {
        personas::draw(path, study)
    }

    fn take_over(&self, settings: &mut Value, recorded: &Value) {
        personas::take_over(settings, recorded);
    }

    fn stores(&self, settings: &Value) -> bool {
        !settings["pool"].is_null()
    }

    fn store(&self, record: &RunRecord<'_>, settings: SettingsOf) -> Result<Stored, String> {
        personas::store(record, settings)
    }
}
