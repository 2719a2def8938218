//! A study with simulated answers, in memory: what a run of it would ask.

use std::sync::Arc;
use std::time::Duration;

use crate::error::CliError;
use crate::global::Global;
use crate::model::ModelArgs;
use crate::run_id::new_run_id;
use crate::runs::first_event::first_event;
use crate::runs::person::with_person;
use crate::runs::session::{self, StudyExecution};
use crate::select::RunSelection;
use retold::content::Content;
use retold::log::{Log, MemoryBackend, RunEvents};
use retold::model::{EMBEDDINGS_TOGETHER, Limits};
use retold::run::{Finish, Mode};
use retold_study::config::{ModelKind, Rates};
use retold_study::study::Study;

/// A run with simulated answers.
pub(crate) struct SimulatedRun {
    pub(crate) selected: RunSelection,
    /// How many requests a server gets: embeddings are sent together.
    pub(crate) requests: u64,
    pub(crate) answers: u64,
}

/// Lets the simulated model answer in a study, at once and without failures of its server.
pub(crate) fn with_simulated_model(study: &mut Study, global: &Global) {
    let runtime = &mut study.settings.runtime;
    let before = std::mem::replace(&mut runtime.model.kind, ModelKind::Simulated);
    // A plan need not take the time that a run takes, and costs nothing.
    runtime.model.latency_ms = 0.0;
    let Rates { malformed, malformed_kinds, truncated, .. } =
        std::mem::take(&mut runtime.model.rates);
    runtime.model.rates = Rates {
        malformed,
        malformed_kinds,
        truncated,
        rate_limited: 0.0,
        server_error: 0.0,
        failure: 0.0,
    };
    let concurrency = runtime.limits.concurrency;
    runtime.limits = Limits { concurrency, ..Limits::default() };
    global.studies.pace(&study.experiment, &mut study.settings, before);
}

/// Runs a study [with a simulated model](with_simulated_model). `None` if that takes longer than it may.
pub(crate) fn simulate(
    study: Study,
    longest: Option<Duration>,
    global: &Global,
) -> Result<Option<SimulatedRun>, CliError> {
    let (experiment, seed) = (study.experiment.clone(), study.seed);
    let runtime = &study.settings.runtime;
    let model =
        ModelArgs::default().make(global.studies, &experiment, seed, runtime, Mode::Record)?;
    let settings = &study.settings.experiment;
    let model = with_person(global.studies, model, None, &experiment, settings)?;
    let log = Log::new(Arc::new(MemoryBackend::with_name("the plan".to_owned())));
    let run = new_run_id()?;
    let started = first_event(&study, model.as_ref())?;
    let session = StudyExecution {
        model: Some(model),
        ..StudyExecution::new(log.clone(), run, Mode::Record, started, study.settings)
    };
    let ended = match longest {
        None => session::go(session, global)?,
        Some(longest) => match session::go_within(session, longest, global)? {
            Some(ended) => ended,
            None => return Ok(None),
        },
    };
    match ended.finish {
        Finish::Stopped(stop) => Err(stop.into()),
        _ => SimulatedRun::new(RunSelection { log, run }).map(Some),
    }
}

impl SimulatedRun {
    fn new(selected: RunSelection) -> Result<Self, CliError> {
        let RunSelection { log, run } = &selected;
        let (mut texts, mut vectors) = (0, 0_u64);
        let (mut reader, mut events) = (log.reader()?, RunEvents::new(*run));
        while let Some(event) = events.next(reader.as_mut())? {
            match event.content {
                _ if !event.is_received() => {}
                Some(Content::Vector(_)) => vectors += 1,
                _ => texts += 1,
            }
        }
        let requests = texts + vectors.div_ceil(EMBEDDINGS_TOGETHER as u64);
        drop(reader);
        Ok(SimulatedRun { requests, answers: texts + vectors, selected })
    }
}
