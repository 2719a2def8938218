//! The study as a program offers it.

use std::path::Path;

use retold::model::simulated::Player;
use retold::parse::ParserFamily;
use retold::parse::text::VECTOR;
use retold::run::AnyExperiment;
use retold_study::config::ConfigError;
use retold_study::studies::{Originals, Registration};
use retold_study::study::Study;
use serde_json::Value;

use crate::parse::{ACTIONS_JSON, CHAT, CONTRIBUTION, CONTRIBUTION_JSON, REDISTRIBUTION};
use crate::public_goods_log::{self, PublicGoodsLog};
use crate::{NAME, PublicGoods, SimulatedPlayers, check_settings, load};

/// Both experiments tell the same original runs again: which of them does is seen in the files.
const ORIGINALS: Originals =
    Originals { import: "public-goods", reenact: public_goods_log::reenact };

const PARSERS: &[&ParserFamily] =
    &[&CONTRIBUTION, &CONTRIBUTION_JSON, &CHAT, &REDISTRIBUTION, &ACTIONS_JSON, &VECTOR];

/// Public goods games, with their parsers and the original runs.
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
        Ok(Box::new(PublicGoods::from_settings(settings)?))
    }

    fn check(&self, settings: &Value) -> Result<(), String> {
        check_settings(settings)
    }

    fn player(&self) -> Box<dyn Player> {
        Box::new(SimulatedPlayers)
    }

    fn model_names(&self) -> &'static [&'static str] {
        &["llm_model", "embedding_model"]
    }

    fn parsers(&self) -> &'static [&'static ParserFamily] {
        PARSERS
    }

    fn output_name(&self, settings: &Value) -> Option<String> {
        settings.pointer("/config/experiment_id").and_then(Value::as_str).map(str::to_owned)
    }

    fn originals(&self) -> Option<Originals> {
        Some(ORIGINALS)
    }
}

/// Public goods games that another program has played.
#[derive(Debug, Clone, Copy)]
pub struct RegisteredLog;

impl Registration for RegisteredLog {
    fn name(&self) -> &'static str {
        public_goods_log::NAME
    }

    fn load(&self, path: &Path, text: &str, overrides: &[String]) -> Result<Study, ConfigError> {
        public_goods_log::load(path, text, overrides)
    }

    fn build(&self, settings: &Value) -> Result<Box<dyn AnyExperiment>, String> {
        Ok(Box::new(PublicGoodsLog::from_settings(settings)?))
    }

    fn check(&self, settings: &Value) -> Result<(), String> {
        public_goods_log::check_settings(settings)
    }

    /// Never asked: its runs have answers of their own.
    fn player(&self) -> Box<dyn Player> {
        Box::new(SimulatedPlayers)
    }

    fn parsers(&self) -> &'static [&'static ParserFamily] {
        PARSERS
    }

    fn originals(&self) -> Option<Originals> {
        Some(ORIGINALS)
    }
}
