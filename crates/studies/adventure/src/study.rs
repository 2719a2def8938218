//! The study as a program offers it.

use retold::model::simulated::Player;
use retold::parse::ParserFamily;
use retold::parse::vote::VOTE;
use retold::prompt::Request;
use retold::run::AnyExperiment;
use retold_figures::FigureRow;
use retold_study::Registration;
use retold_study::charts::Chart;
use retold_study::config::{ConfigError, ConfigFile, RequestConfig, schema_of};
use retold_study::error::{BoxError, StudyError};
use retold_study::phase::steps;
use retold_study::registration::{Choice, ModelNames, Play};
use retold_study::settings::ExperimentSettings;
use retold_study::shard::Sharding;
use retold_study::study::Study;
use serde_json::Value;

use crate::charts::charts;
use crate::config::Config;
use crate::figures::{HEADLINE, rows};
use crate::parse::{CHARACTER, NARRATIVE};
use crate::{Adventure, HUMAN, NAME, Policy, Settings, SimulatedMaster, fork, load};

const PARSERS: &[&ParserFamily] = &[&NARRATIVE, &CHARACTER, &VOTE];

/// Adventures, which can be played by a person, with their parsers.
#[derive(Debug, Clone, Copy)]
pub struct AdventureStudy;

impl Registration for AdventureStudy {
    fn name(&self) -> &'static str {
        NAME
    }

    fn load(&self, file: &ConfigFile<'_>) -> Result<Study, ConfigError> {
        load(file)
    }

    fn config_schema(&self) -> Option<Value> {
        Some(schema_of::<Config>("A config of an adventure"))
    }

    fn example_config(&self) -> Option<&'static str> {
        Some(include_str!("../../../../config/adventure.yaml"))
    }

    fn build(&self, settings: &ExperimentSettings) -> Result<Box<dyn AnyExperiment>, StudyError> {
        Ok(Box::new(Adventure::new(settings.read::<Settings>()?.into_owned())?))
    }

    fn player(&self) -> Box<dyn Player> {
        Box::new(SimulatedMaster)
    }

    fn samples(&self, settings: &ExperimentSettings) -> Vec<Request> {
        let Ok(settings) = settings.read::<Settings>() else { return Vec::new() };
        let Config { request, player_request, player, .. } = &settings.config;
        let plays = (*player == Policy::Model).then_some(player_request.as_ref()).flatten();
        [Some(request), plays].into_iter().flatten().filter_map(RequestConfig::sample).collect()
    }

    fn sharding(&self, settings: &ExperimentSettings) -> Sharding {
        let count = settings.read::<Settings>().map_or(0, |settings| settings.config.games);
        Sharding::Into { parts: "games", count: count as usize }
    }

    fn phases(&self, settings: &ExperimentSettings) -> Vec<String> {
        steps("turn", settings.read::<Settings>().map_or(0, |settings| settings.config.turns))
    }

    fn sizes(&self) -> &'static [&'static str] {
        &["games", "turns"]
    }

    fn model_names(&self) -> ModelNames {
        ModelNames { chat: &["model"], embedding: &[] }
    }

    fn parsers(&self) -> &'static [&'static ParserFamily] {
        PARSERS
    }

    fn headline(&self) -> &'static [&'static str] {
        HEADLINE
    }

    fn rows(&self, facts: &[Value]) -> Result<Vec<FigureRow>, BoxError> {
        rows(facts)
    }

    fn charts(&self, _: &ExperimentSettings, facts: &[Value]) -> Result<Vec<Chart>, BoxError> {
        charts(facts)
    }

    fn play(&self) -> Option<&'static dyn Play> {
        Some(&AdventureStudy)
    }
}

impl Play for AdventureStudy {
    fn settings(&self) -> &'static [&'static str] {
        &["player=human", "games=1"]
    }

    fn is_played(&self, settings: &ExperimentSettings) -> bool {
        settings.read::<Settings>().is_ok_and(|s| s.config.player == Policy::Human)
    }

    fn person(&self) -> &'static str {
        HUMAN
    }

    fn fork(
        &self,
        settings: &ExperimentSettings,
        facts: &[Value],
        choice: Choice,
    ) -> Result<ExperimentSettings, BoxError> {
        Ok(ExperimentSettings::new(fork(settings, facts, choice)?))
    }
}
