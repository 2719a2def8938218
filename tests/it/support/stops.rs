//! Runs that are stopped midway.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::support::program::{build, import_original};
use futures::future::BoxFuture;
use retold::id::RunId;
use retold::model::{Answerer, Ask, Failure, Model, ModelInfo, Response};
use retold::run::{Finish, Setup, Signal, Stop, execute};
use retold_study::original::Original;

use super::block_on;
use super::cli::Place;
use super::logs::open;

/// Answers like another model, and asks the run to stop after a number of answers.
pub(crate) struct StopsAfter {
    pub(crate) inner: Answerer,
    pub(crate) left: AtomicUsize,
    pub(crate) signal: Signal,
}

impl Model for StopsAfter {
    fn info(&self) -> ModelInfo {
        self.inner.info()
    }

    fn answer<'a>(&'a self, ask: Ask<'a>) -> BoxFuture<'a, Result<Response, Failure>> {
        if self.left.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.signal.stop();
        }
        self.inner.answer(ask)
    }
}

/// Executes an original run into the log of a place, and stops after some answers.
pub(crate) fn stopped_import(place: &Place, import: &str, folder: &str, answers: usize) {
    let Original { study, model, .. } =
        import_original(import, &place.path(folder)).unwrap().unwrap().unwrap();
    let experiment = build(&study.experiment, &study.settings.experiment).unwrap();
    let log = open(&place.path("retold.db"));
    let signal = Signal::default();
    let left = AtomicUsize::new(answers);
    let model = Arc::new(StopsAfter { inner: model, left, signal: signal.clone() });
    let setup = Setup::record(&log, RunId([7; 8]), &study.experiment, model);
    let setup = setup.seed(study.seed).settings(serde_json::to_value(&study.settings).unwrap());
    let ended = block_on(execute(experiment.as_ref(), Setup { signal, ..setup })).unwrap();
    assert!(matches!(ended.finish, Finish::Stopped(Stop::Interrupted)), "{:?}", ended.finish);
}
