//! The studies as a program offers them.

use retold::model::simulated::Player;
use retold::parse::ParserFamily;
use retold::parse::text::VECTOR;
use retold::prompt::{Message, Request, Role};
use retold::run::{AnyExperiment, fold_facts};
use retold_figures::FigureRow;
use retold_study::Registration;
use retold_study::charts::Chart;
use retold_study::config::{ConfigError, ConfigFile, schema_of};
use retold_study::error::{BoxError, StudyError};
use retold_study::phase::steps;
use retold_study::registration::{ConfigKeys, ModelNames, Originals};
use retold_study::settings::ExperimentSettings;
use retold_study::shard::Sharding;
use retold_study::study::Study;
use serde_json::Value;

use crate::charts::charts;
use crate::config::Config;
use crate::figures::{HEADLINE, rows};
use crate::original::config::original_config;
use crate::original::local::{self, LocalSettings, OriginalGames};
use crate::parse::{ACTIONS_JSON, CHAT, CONTRIBUTION, CONTRIBUTION_JSON, REDISTRIBUTION};
use crate::situation::situation_names;
use crate::{NAME, PublicGoods, Settings, SimulatedPlayers, load, original};

/// The original games, each of which is run again by one of the experiments.
const ORIGINALS: Originals = Originals { import: "public-goods", read: original::read };

const PARSERS: &[&ParserFamily] =
    &[&CONTRIBUTION, &CONTRIBUTION_JSON, &CHAT, &REDISTRIBUTION, &ACTIONS_JSON, &VECTOR];

const KEYS: ConfigKeys = ConfigKeys {
    request: &[
        ("model", "llm_model"),
        ("temperature", "llm_temperature"),
        ("max_tokens", "max_tokens"),
    ],
    unwrap: original_config,
    ..ConfigKeys::USUAL
};

/// Public goods games, with their parsers and the original runs.
#[derive(Debug, Clone, Copy)]
pub struct PublicGoodsStudy;

impl Registration for PublicGoodsStudy {
    fn name(&self) -> &'static str {
        NAME
    }

    fn load(&self, file: &ConfigFile<'_>) -> Result<Study, ConfigError> {
        load(file)
    }

    fn config_schema(&self) -> Option<Value> {
        Some(schema_of::<Config>("A config of public goods games"))
    }

    fn example_config(&self) -> Option<&'static str> {
        Some(include_str!("../../../../config/public_goods_small.yaml"))
    }

    fn build(&self, settings: &ExperimentSettings) -> Result<Box<dyn AnyExperiment>, StudyError> {
        Ok(Box::new(PublicGoods::new(settings.read::<Settings>()?.into_owned())?))
    }

    fn check(&self, settings: &ExperimentSettings) -> Result<(), StudyError> {
        PublicGoods::check(settings.read::<Settings>()?.into_owned())
    }

    fn config_keys(&self) -> ConfigKeys {
        KEYS
    }

    fn player(&self) -> Box<dyn Player> {
        Box::new(SimulatedPlayers)
    }

    fn samples(&self, settings: &ExperimentSettings) -> Vec<Request> {
        let Ok(settings) = settings.read::<Settings>() else { return Vec::new() };
        let config = &settings.config;
        let message = || vec![Message::new(Role::User, "?")];
        let chats = (0..config.group_size).map(|agent| config.chat(agent, message()));
        chats.chain(config.embedding("?")).filter_map(Result::ok).collect()
    }

    fn sharding(&self, settings: &ExperimentSettings) -> Sharding {
        let count = settings.read::<Settings>().map_or(0, |settings| settings.config.games);
        Sharding::Into { parts: "games", count: count as usize }
    }

    fn phases(&self, settings: &ExperimentSettings) -> Vec<String> {
        steps("round", settings.read::<Settings>().map_or(0, |own| own.config.game_length))
    }

    fn sizes(&self) -> &'static [&'static str] {
        &["game_length", "games", "group_size"]
    }

    fn model_names(&self) -> ModelNames {
        ModelNames { chat: &["llm_model"], embedding: &["embedding_model"] }
    }

    fn parsers(&self) -> &'static [&'static ParserFamily] {
        PARSERS
    }

    fn output_name(&self, settings: &ExperimentSettings) -> Option<String> {
        settings.text(|own: &Settings| &own.config.experiment_id, "/config/experiment_id")
    }

    fn originals(&self) -> Option<Originals> {
        Some(ORIGINALS)
    }

    fn headline(&self) -> &'static [&'static str] {
        HEADLINE
    }

    fn rows(&self, facts: &[Value]) -> Result<Vec<FigureRow>, BoxError> {
        rows(facts)
    }

    fn situations(&self, facts: &[Value]) -> Result<Vec<String>, BoxError> {
        Ok(situation_names(&fold_facts::<PublicGoods>(facts)?))
    }

    fn charts(
        &self,
        settings: &ExperimentSettings,
        facts: &[Value],
    ) -> Result<Vec<Chart>, BoxError> {
        charts(&settings.read::<Settings>()?.config, facts)
    }

    fn may_have_part(&self, name: &str) -> bool {
        may_have_part(name)
    }
}

/// Public goods games played by another program.
#[derive(Debug, Clone, Copy)]
pub struct OriginalGamesStudy;

impl Registration for OriginalGamesStudy {
    fn name(&self) -> &'static str {
        local::NAME
    }

    fn load(&self, file: &ConfigFile<'_>) -> Result<Study, ConfigError> {
        Err(file.wrong(
            "experiment",
            "public_goods_log has no configs: `retold import public-goods FOLDER` makes its runs from a folder; a \
             game of your own is experiment public_goods",
        ))
    }

    fn build(&self, settings: &ExperimentSettings) -> Result<Box<dyn AnyExperiment>, StudyError> {
        let settings = settings.read::<LocalSettings>()?.into_owned();
        Ok(Box::new(OriginalGames::new(settings)?))
    }

    fn check(&self, settings: &ExperimentSettings) -> Result<(), StudyError> {
        Ok(local::check(&*settings.read::<LocalSettings>()?)?)
    }

    fn headline(&self) -> &'static [&'static str] {
        HEADLINE
    }

    fn rows(&self, facts: &[Value]) -> Result<Vec<FigureRow>, BoxError> {
        rows(facts)
    }

    fn charts(
        &self,
        settings: &ExperimentSettings,
        facts: &[Value],
    ) -> Result<Vec<Chart>, BoxError> {
        charts(&settings.read::<LocalSettings>()?.config, facts)
    }

    fn may_have_part(&self, name: &str) -> bool {
        may_have_part(name)
    }

    /// Never called: its runs have their own answers.
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

/// Situations have up to three parts, as `game1/r01/contribution`; calls have more.
fn may_have_part(name: &str) -> bool {
    name.matches('/').count() < 3
}
