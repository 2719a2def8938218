//! A config as the command line names it, and the seed of a run whose config names none.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde_json::Value;

use crate::error::CliError;
use crate::model::ModelArgs;
use crate::run_id::random_seed;
use crate::runs::settings::{as_json, as_recorded, differing};
use retold::event::RunStarted;
use retold_study::shard::Shard;
use retold_study::studies::Studies;
use retold_study::study::Study;

/// A config as the command line names it.
#[derive(Debug, Clone)]
pub(crate) struct NamedConfig {
    /// The file.
    pub(crate) path: PathBuf,
    /// The experiment, if the file does not name it.
    pub(crate) experiment: Option<String>,
    /// The changes from flags: `KEY=VALUE`.
    pub(crate) settings: Vec<String>,
    /// Which part of the study is recorded; `None` for all of it.
    pub(crate) shard: Option<Shard>,
    /// The flags that name its model, and whether it may choose files and where keys are sent.
    pub(crate) model: ModelArgs,
}

impl NamedConfig {
    /// Loads the study. If the config names no seed, one is drawn.
    pub(crate) fn study(&self, studies: &Studies) -> Result<Study, CliError> {
        self.with_seed(studies, random_seed()?)
    }

    /// The same with this seed if it names none.
    pub(crate) fn with_seed(&self, studies: &Studies, seed: u64) -> Result<Study, CliError> {
        let NamedConfig { path, experiment, settings, shard, model } = self;
        let mut study = studies.study(path, experiment.as_deref(), settings, seed, model.trust)?;
        model.name(studies, &study.experiment, &mut study.settings, &BTreeSet::new())?;
        if let Some(shard) = shard {
            studies.shard(&mut study, *shard)?;
        }
        Ok(study)
    }

    /// The study with the seed of a run, unless the config names another: it may be that of the run.
    pub(crate) fn as_of(
        &self,
        studies: &Studies,
        study: &Study,
        started: &RunStarted,
    ) -> Result<Study, CliError> {
        match study.seed_is_drawn && started.experiment == study.experiment {
            true => self.with_seed(studies, started.seed),
            false => Ok(study.clone()),
        }
    }
}

/// The setting of a run whose seed nobody chose.
const SEED_IS_DRAWN: &str = "seed_is_drawn";

/// Adds to a run's settings that its seed was drawn, if it was: a resume says so again.
pub(crate) fn remember_drawn_seed(study: &Study, settings: &mut Value) {
    if let Some(settings) = settings.as_object_mut().filter(|_| study.seed_is_drawn) {
        settings.insert(SEED_IS_DRAWN.to_owned(), true.into());
    }
}

/// The seed of a run, if nobody chose it.
pub(crate) fn drawn_seed_of(started: &RunStarted) -> Option<u64> {
    (started.settings[SEED_IS_DRAWN] == true).then_some(started.seed)
}

/// The note about a seed that nobody chose.
pub(crate) fn drawn_seed(seed: u64) -> String {
    format!("seed {seed}, drawn at random: the config names none\n")
}

/// Whether a run was started by a study.
pub(crate) fn is_of(
    studies: &Studies,
    study: &Study,
    started: &RunStarted,
) -> Result<bool, CliError> {
    let recorded = &started.settings["experiment"];
    Ok(asks_otherwise(studies, study, recorded)?.is_none() && started.seed == study.seed)
}

/// The keys in which a study asks something else than recorded settings, if it does.
pub(crate) fn asks_otherwise(
    studies: &Studies,
    study: &Study,
    recorded: &Value,
) -> Result<Option<String>, CliError> {
    let mut now: Value = as_json(&study.settings.experiment)?;
    studies.take_over(&study.experiment, &mut now, recorded);
    Ok(asked_otherwise(studies, &study.experiment, &now, recorded))
}

/// The keys in which two settings of an experiment ask something else, if they do.
pub(crate) fn asked_otherwise(
    studies: &Studies,
    experiment: &str,
    now: &Value,
    recorded: &Value,
) -> Option<String> {
    let (mut now, mut recorded) = (as_recorded(now), recorded.clone());
    for settings in [&mut now, &mut recorded] {
        studies.without_asking(experiment, settings);
    }
    (now != recorded).then(|| differing(&recorded, &now))
}
