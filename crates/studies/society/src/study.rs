//! The studies as a program offers them.

use retold::model::simulated::Player;
use retold::parse::ParserFamily;
use retold::prompt::Request;
use retold::run::{AnyExperiment, fold_facts};
use retold_figures::FigureRow;
use retold_study::Registration;
use retold_study::charts::Chart;
use retold_study::config::{ConfigError, ConfigFile, RequestConfig, schema_of};
use retold_study::error::{BoxError, StudyError};
use retold_study::phase::steps;
use retold_study::registration::{ModelNames, Originals};
use retold_study::settings::ExperimentSettings;
use retold_study::shard::Sharding;
use retold_study::study::Study;
use serde_json::Value;

use crate::charts::charts;
use crate::config::Config;
use crate::figures::{HEADLINE, rows};
use crate::original::{self, OriginalSettings, OriginalSociety};
use crate::parse::ACTION;
use crate::{NAME, Settings, SimulatedSociety, Society, load};

const PARSERS: &[&ParserFamily] = &[&ACTION];

/// The original societies; both experiments import the same ones.
const ORIGINALS: Originals = Originals { import: "society", read: original::read };

/// Societies, with their parser and those run by another program.
#[derive(Debug, Clone, Copy)]
pub struct SocietyStudy;

impl Registration for SocietyStudy {
    fn name(&self) -> &'static str {
        NAME
    }

    fn load(&self, file: &ConfigFile<'_>) -> Result<Study, ConfigError> {
        load(file)
    }

    fn config_schema(&self) -> Option<Value> {
        Some(schema_of::<Config>("A config of a society"))
    }

    fn example_config(&self) -> Option<&'static str> {
        Some(include_str!("../../../../config/society_small.yaml"))
    }

    fn build(&self, settings: &ExperimentSettings) -> Result<Box<dyn AnyExperiment>, StudyError> {
        Ok(Box::new(Society::new(settings.read::<Settings>()?.into_owned())?))
    }

    fn player(&self) -> Box<dyn Player> {
        Box::new(SimulatedSociety)
    }

    fn samples(&self, settings: &ExperimentSettings) -> Vec<Request> {
        let Ok(settings) = settings.read::<Settings>() else { return Vec::new() };
        let models = settings.models.iter().map(|share| share.model.clone());
        let requests = models.map(|model| RequestConfig { model, ..settings.request.clone() });
        requests.filter_map(|request| request.sample()).collect()
    }

    fn sharding(&self, _: &ExperimentSettings) -> Sharding {
        Sharding::Not {
            because: "what an agent does changes what the others are asked the next day",
        }
    }

    fn phases(&self, settings: &ExperimentSettings) -> Vec<String> {
        steps("day", settings.read::<Settings>().map_or(0, |settings| settings.days))
    }

    fn sizes(&self) -> &'static [&'static str] {
        &["agents", "days"]
    }

    fn model_names(&self) -> ModelNames {
        ModelNames { chat: &["model"], embedding: &[] }
    }

    fn parsers(&self) -> &'static [&'static ParserFamily] {
        PARSERS
    }

    fn originals(&self) -> Option<Originals> {
        Some(ORIGINALS)
    }

    fn charts(&self, _: &ExperimentSettings, facts: &[Value]) -> Result<Vec<Chart>, BoxError> {
        Ok(charts(&fold_facts::<Society>(facts)?))
    }

    fn headline(&self) -> &'static [&'static str] {
        HEADLINE
    }

    fn rows(&self, facts: &[Value]) -> Result<Vec<FigureRow>, BoxError> {
        Ok(rows(&fold_facts::<Society>(facts)?))
    }
}

/// Societies run by another program.
#[derive(Debug, Clone, Copy)]
pub struct OriginalSocietiesStudy;

impl Registration for OriginalSocietiesStudy {
    fn name(&self) -> &'static str {
        original::NAME
    }

    fn load(&self, file: &ConfigFile<'_>) -> Result<Study, ConfigError> {
        Err(file.wrong(
            "experiment",
            "society_log has no configs: `retold import society FILE` makes its runs from a log; a society of \
             your own is experiment society",
        ))
    }

    fn build(&self, settings: &ExperimentSettings) -> Result<Box<dyn AnyExperiment>, StudyError> {
        let settings = settings.read::<OriginalSettings>()?.into_owned();
        Ok(Box::new(OriginalSociety::new(settings)?))
    }

    fn check(&self, settings: &ExperimentSettings) -> Result<(), StudyError> {
        Ok(original::check(&*settings.read::<OriginalSettings>()?)?)
    }

    /// Never called: its runs have their own answers.
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
