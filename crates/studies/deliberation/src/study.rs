//! The study as a program offers it.

use retold::model::simulated::Player;
use retold::parse::ParserFamily;
use retold::parse::text::{FREE_TEXT, MODERATOR, VECTOR};
use retold::parse::vote::VOTE;
use retold::prompt::{Message, Request, Role};
use retold::run::{AnyExperiment, Journal};
use retold_figures::FigureRow;
use retold_study::Registration;
use retold_study::charts::Chart;
use retold_study::config::{ConfigError, ConfigFile, ModelKind, Runtime, schema_of};
use retold_study::error::{BoxError, StudyError};
use retold_study::registration::{ConfigKeys, ModelNames, Originals, StoreRun};
use retold_study::settings::ExperimentSettings;
use retold_study::shard::Sharding;
use retold_study::study::Study;
use serde_json::Value;

use crate::charts::charts;
use crate::config::Config;
use crate::figures::{HEADLINE, rows};
use crate::load::pace;
use crate::parse::DEMOGRAPHICS;
use crate::tryout::check_settings;
use crate::{
    Deliberation, KNOWN_BY, NAME, Settings, SimulatedDeliberation, journal, load, original,
    personas,
};

const PARSERS: &[&ParserFamily] = &[&VOTE, &DEMOGRAPHICS, &FREE_TEXT, &MODERATOR, &VECTOR];

const KEYS: ConfigKeys = ConfigKeys {
    model: "provider",
    seed: "random_seed",
    asking: &[
        "provider",
        "limits",
        "api_sleep_seconds",
        "max_api_retries",
        "api_retry_base_seconds",
    ],
    request: &[("model", "model"), ("temperature", "temperature"), ("max_tokens", "max_tokens")],
    known_by: KNOWN_BY,
    ..ConfigKeys::USUAL
};

/// Deliberations, with their parsers, their pool of personas and the original runs.
#[derive(Debug, Clone, Copy)]
pub struct DeliberationStudy;

impl Registration for DeliberationStudy {
    fn name(&self) -> &'static str {
        NAME
    }

    fn load(&self, file: &ConfigFile<'_>) -> Result<Study, ConfigError> {
        load(file)
    }

    fn config_schema(&self) -> Option<Value> {
        Some(schema_of::<Config>("A config of a deliberation"))
    }

    fn example_config(&self) -> Option<&'static str> {
        Some(include_str!("../../../../config/deliberation_small.yaml"))
    }

    fn build(&self, settings: &ExperimentSettings) -> Result<Box<dyn AnyExperiment>, StudyError> {
        Ok(Box::new(Deliberation::new(settings.read::<Settings>()?.into_owned())?))
    }

    fn check(&self, settings: &ExperimentSettings) -> Result<(), StudyError> {
        check_settings(settings.read::<Settings>()?.as_ref())
    }

    fn config_keys(&self) -> ConfigKeys {
        KEYS
    }

    fn player(&self) -> Box<dyn Player> {
        Box::new(SimulatedDeliberation)
    }

    fn pace(&self, settings: &ExperimentSettings, runtime: &mut Runtime, before: ModelKind) {
        // Building the experiment reports settings that cannot be read.
        if let Ok(settings) = settings.read::<Settings>() {
            pace(&settings.config, runtime, before);
        }
    }

    fn samples(&self, settings: &ExperimentSettings) -> Vec<Request> {
        let Ok(settings) = settings.read::<Settings>() else { return Vec::new() };
        let single = settings.config.chat(vec![Message::new(Role::User, "?")]);
        [single, settings.config.embedding("?")].into_iter().filter_map(Result::ok).collect()
    }

    fn sharding(&self, settings: &ExperimentSettings) -> Sharding {
        match settings.read::<Settings>() {
            Ok(settings) if settings.config.use_persona_storage => Sharding::Not {
                because: "every run adds to its pool of personas, so each shard would find another one \
                          (use_persona_storage: false does without it)",
            },
            settings => {
                let count = settings.map_or(0, |settings| settings.config.participants());
                Sharding::Into { parts: "participants", count }
            }
        }
    }

    /// A shard has neither the phases after the clarification nor phase 2, in which all votes are counted.
    fn phases(&self, settings: &ExperimentSettings) -> Vec<String> {
        let is_shard = settings.shard().is_some();
        let phases = (0..=7).filter(|phase| !is_shard || [0, 1, 3].contains(phase));
        phases.map(|phase| format!("phase_{phase}")).collect()
    }

    fn sizes(&self) -> &'static [&'static str] {
        &["participants_per_condition", "personas"]
    }

    fn model_names(&self) -> ModelNames {
        ModelNames { chat: &["model"], embedding: &["embedding_model"] }
    }

    fn parsers(&self) -> &'static [&'static ParserFamily] {
        PARSERS
    }

    fn output_name(&self, settings: &ExperimentSettings) -> Option<String> {
        settings.text(|own: &Settings| &own.config.pilot_id, "/config/pilot_id")
    }

    fn journal(&self, settings: &ExperimentSettings) -> Option<Box<dyn Journal>> {
        let settings = settings.read::<Settings>().ok()?;
        let Config { pilot_id, topic, .. } = &settings.config;
        Some(journal(pilot_id, &topic.options))
    }

    fn originals(&self) -> Option<Originals> {
        Some(Originals { import: "deliberation", read: original::read })
    }

    fn charts(&self, _: &ExperimentSettings, facts: &[Value]) -> Result<Vec<Chart>, BoxError> {
        charts(facts)
    }

    /// The answers of others change the texts that a participant reads, but each draws an answer of their own.
    fn independent_by(&self) -> Option<&'static str> {
        Some("participant")
    }

    fn headline(&self) -> &'static [&'static str] {
        HEADLINE
    }

    fn rows(&self, facts: &[Value]) -> Result<Vec<FigureRow>, BoxError> {
        rows(facts)
    }

    fn draw(&self, file: &ConfigFile<'_>, study: &mut Study) -> Result<(), ConfigError> {
        personas::draw(file, study)
    }

    fn take_over(&self, settings: &mut Value, recorded: &Value) {
        personas::take_over(settings, recorded);
    }

    fn store(&self, settings: &Value) -> Option<StoreRun> {
        (!settings["pool"].is_null()).then_some(personas::store)
    }
}
