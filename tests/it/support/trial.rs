//! Executes experiments over a log and a model, with settings that suit tests.

use std::sync::Arc;

use retold::event::RunStarted;
use retold::id::{OutcomeDigest, RunId};
use retold::log::{Log, MemoryBackend};
use retold::model::{Answerer, Limits, RetryPolicy, Throttle};
use retold::run::{AnyExperiment, ExecutionResult, Finish, Mode, Setup, Signal, Stop, execute};
use serde_json::json;

/// One run in one log, executed again and again.
pub(crate) struct Trial {
    pub(crate) log: Log,
    pub(crate) run: RunId,
    pub(crate) model: Option<Answerer>,
    pub(crate) retry: RetryPolicy,
    pub(crate) limits: Limits,
    pub(crate) signal: Signal,
}

impl Trial {
    /// A run of a log.
    pub(crate) fn new(log: &Log, run: u8, model: Answerer) -> Self {
        let retry = RetryPolicy { base_seconds: 0.001, ..RetryPolicy::default() };
        let limits = Limits { concurrency: 16, ..Limits::default() };
        let (run, signal) = (RunId([run; 8]), Signal::default());
        Trial { log: log.clone(), run, model: Some(model), retry, limits, signal }
    }

    /// A run of a fresh log in memory.
    pub(crate) fn in_memory(model: Answerer) -> Self {
        Trial::new(&memory(), 1, model)
    }

    /// The same run with another model.
    pub(crate) fn with_model(&self, model: Answerer) -> Self {
        Trial {
            limits: self.limits,
            retry: self.retry,
            ..Trial::new(&self.log, self.run.0[0], model)
        }
    }

    /// Executes an experiment.
    pub(crate) async fn go(&self, mode: Mode, experiment: &dyn AnyExperiment) -> ExecutionResult {
        execute(experiment, self.setup(mode)).await.unwrap()
    }

    /// What an execution needs.
    pub(crate) fn setup(&self, mode: Mode) -> Setup {
        let info = json!({"kind": "test", "simulated": true});
        Setup {
            log: self.log.clone(),
            run: self.run,
            mode,
            started: RunStarted {
                program: "retold test".to_owned(),
                ..RunStarted::new("test", 7, json!({"experiment": {}}), info)
            },
            model: self.model.clone().filter(|_| mode != Mode::Replay),
            retry: self.retry,
            throttle: Throttle::new(&self.limits).unwrap(),
            prices: retold::model::Prices::default(),
            shared_budget: None,
            holds: false,
            until: None,
            shards_end: None,
            settings_added: serde_json::Value::Null,
            rehearsal: retold::run::DryRunSettings::default(),
            signal: self.signal.clone(),
            on_progress: Box::new(|_| {}),
            look: Box::new(|| None),
            follow: Box::new(|_| {}),
        }
    }

    /// Records a run to its end and returns its outcome digest.
    pub(crate) async fn record(&self, experiment: &dyn AnyExperiment) -> OutcomeDigest {
        let ended = self.go(Mode::Record, experiment).await;
        assert!(matches!(ended.finish, Finish::Finished), "{:?}", ended.finish);
        ended.outcome_digest
    }

    /// Replays a run to its end, without a model, and returns its outcome digest.
    pub(crate) async fn replay(&self, experiment: &dyn AnyExperiment) -> OutcomeDigest {
        let ended = self.go(Mode::Replay, experiment).await;
        assert!(matches!(ended.finish, Finish::Finished), "{:?}", ended.finish);
        assert_eq!((ended.progress.model_calls, ended.progress.live), (0, 0));
        ended.outcome_digest
    }
}

/// A fresh log in memory.
pub(crate) fn memory() -> Log {
    Log::new(Arc::new(MemoryBackend::new()))
}

/// Why an execution stopped.
pub(crate) fn stop_of(ended: ExecutionResult) -> Stop {
    match ended.finish {
        Finish::Stopped(stop) => stop,
        other => panic!("it did not stop: {other:?}"),
    }
}
