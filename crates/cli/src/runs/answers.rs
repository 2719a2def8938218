//! Whether a file of answers is one for a run, found out before the run begins.

use std::sync::{Arc, Mutex, PoisonError};

use futures::future::BoxFuture;

use crate::error::CliError;
use crate::global::Global;
use crate::run_id::new_run_id;
use crate::runtime;
use retold::event::RunStarted;
use retold::log::{Log, MemoryBackend};
use retold::model::{Ask, Failure, FailureKind, Model, ModelInfo, Response, ScriptedModel};
use retold::run::{Setup, execute};
use retold_study::study::StudySettings;

/// The questions that the run begins with, looked up in the file.
#[derive(Default)]
struct OpeningQuestions {
    /// Whether the file has an answer to one of them.
    is_answered: bool,
    /// Why the file has no answer to the first.
    miss: Option<String>,
}

/// Answers nothing, and looks up whether the file would.
struct LooksUp {
    answers: Arc<ScriptedModel>,
    begun: Mutex<OpeningQuestions>,
}

impl Model for LooksUp {
    fn info(&self) -> ModelInfo {
        self.answers.info()
    }

    fn answer<'a>(&'a self, ask: Ask<'a>) -> BoxFuture<'a, Result<Response, Failure>> {
        let mut begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner);
        match self.answers.miss(&ask) {
            None => begun.is_answered = true,
            Some(miss) => drop(begun.miss.get_or_insert(miss)),
        }
        // It stops the run.
        let failure = Failure::new(FailureKind::NoAnswer, "nothing is asked yet");
        Box::pin(async move { Err(failure) })
    }
}

/// Makes sure that a file has an answer to a question that the run begins with. Otherwise the run
/// would stop there, and be left unfinished without an answer. The beginning is executed in a log
/// of its own.
///
/// # Errors
/// The file has no answer to any of them.
pub(crate) fn begin_a_run(
    answers: &Arc<ScriptedModel>,
    started: &RunStarted,
    settings: &StudySettings,
    global: &Global,
) -> Result<(), CliError> {
    let experiment = global.studies.build(&started.experiment, &settings.experiment);
    let experiment = experiment.map_err(|e| CliError::usage(e.to_string()))?;
    let model = Arc::new(LooksUp { answers: answers.clone(), begun: Mutex::default() });
    let log = Log::new(Arc::new(MemoryBackend::new()));
    let mut setup = Setup::record(&log, new_run_id()?, &started.experiment, model.clone());
    setup.started = started.clone();
    let tokio = runtime::of_this_thread()?;
    tokio.block_on(execute(experiment.as_ref(), setup))?;
    let begun = model.begun.lock().unwrap_or_else(PoisonError::into_inner);
    match &begun.miss {
        Some(miss) if !begun.is_answered => {
            Err(CliError::usage(miss)
                .hint("nothing was recorded: the run would begin with this call"))
        }
        _ => Ok(()),
    }
}
