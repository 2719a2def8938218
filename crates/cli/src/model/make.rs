//! Creating the model.

use std::sync::Arc;
use std::time::Duration;

use super::ModelArgs;
use super::unnamed::unnamed_answers;
use crate::error::CliError;
use retold::jsonl::JsonlReader;
use retold::model::Answerer;
use retold::model::scripted::{LoadError, ScriptedModel};
use retold::model::simulated::{Misbehaviour, SimulatedModel};
use retold::run::Mode;
use retold_study::config::{AnswersFile, ModelConfig, ModelKind, Rates, Runtime};
use retold_study::studies::Studies;

impl ModelArgs {
    /// Creates the model.
    pub(crate) fn make(
        &self,
        studies: &Studies,
        experiment: &str,
        seed: u64,
        runtime: &Runtime,
        mode: Mode,
    ) -> Result<Answerer, CliError> {
        let ModelConfig { kind, rates, latency_ms, .. } = &runtime.model;
        match kind {
            ModelKind::Simulated => {
                let Rates {
                    malformed,
                    malformed_kinds,
                    truncated,
                    rate_limited,
                    server_error,
                    failure,
                } = rates.clone();
                let latency =
                    Duration::try_from_secs_f64(latency_ms / 1000.0).unwrap_or(Duration::ZERO);
                let rates = Misbehaviour {
                    malformed,
                    malformed_kinds,
                    truncated,
                    rate_limited,
                    server_error,
                    failure,
                    latency,
                };
                let player = studies.player(experiment);
                let player = player.map_err(|e| CliError::usage(e.to_string()))?;
                Ok(Arc::new(SimulatedModel::new(seed, rates, player)))
            }
            ModelKind::Scripted => Ok(self.scripted_model(runtime, mode)?),
            ModelKind::Server(api) => self.servers(runtime, *api),
        }
    }

    /// The answers in the given file.
    pub(crate) fn scripted_model(
        &self,
        runtime: &Runtime,
        mode: Mode,
    ) -> Result<Arc<ScriptedModel>, CliError> {
        let answers = &runtime.model.answers;
        let path = match answers {
            None => return Err(CliError::usage("a scripted model needs --answers FILE")),
            Some(AnswersFile::Recorded(path)) => return Err(unnamed_answers(path)),
            Some(AnswersFile::Named(path)) => path,
        };
        let lines = JsonlReader::open(path)?;
        let name = lines.path().display().to_string();
        let scripted = ScriptedModel::from_lines(name.clone(), lines).map_err(|e| match e {
            LoadError::Read(e) => e.into(),
            line => CliError::usage(format!("{name}, {line}")),
        })?;
        // A run without answers would stop at its first question and stay unfinished.
        if scripted.is_empty() {
            return Err(CliError::usage(format!("{name} has no answers"))
                .hint("give an exchanges file: JSON Lines of {\"request\":..,\"response\":..}"));
        }
        // There is no way to know which of them an interrupted run has used, and none may be used
        // twice.
        if mode == Mode::Resume && scripted.unaddressed_count() > 0 {
            return Err(CliError::usage(format!(
                "{name} has answers without \"call\", which are used in file order: such a run \
                 cannot be resumed"
            ))
            .hint("give each line its \"call\", or record a new run"));
        }
        Ok(Arc::new(scripted))
    }
}
