//! An experiment that is killed (SIGKILL) at several moments continues as if nothing had happened.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use retold::id::OutcomeDigest;
use retold::model::simulated::{Misbehaviour, SimulatedModel};
use retold::model::{Answerer, Ask, Failure, Model, ModelInfo, Response};
use retold::run::{AnyExperiment, Finish, Mode, RunRecord};

use super::block_on;
use super::child;
use super::logs::{Folder, assert_sound, open};
use super::trial::Trial;

/// What is killed, and when.
pub(crate) struct Killed {
    pub(crate) experiment: Box<dyn AnyExperiment>,
    pub(crate) model: fn(Misbehaviour) -> SimulatedModel,
    pub(crate) trouble: Misbehaviour,
    /// The test that is the process to be killed: it calls [`begin`].
    pub(crate) child: &'static str,
    /// After how many answers. A moment is a number of answers, not a time, because the speed of
    /// machines varies.
    pub(crate) targets: &'static [u64],
}

impl Killed {
    fn slow_model(&self) -> Answerer {
        let latency = Duration::from_millis(4);
        Arc::new((self.model)(Misbehaviour { latency, ..self.trouble.clone() }))
    }

    /// Kills it at every target, each time continuing the run where the last process ended, and
    /// then lets it finish: nothing recorded is asked again, and the outcome is that of an
    /// undisturbed run.
    pub(crate) fn continues(&self) {
        let undisturbed = Trial::in_memory(Arc::new((self.model)(self.trouble.clone())));
        let expected: OutcomeDigest = block_on(undisturbed.record(self.experiment.as_ref()));
        let folder = Folder::new();
        let said = folder.path().with_extension("said");
        let mut reached = vec![0];
        for target in self.targets {
            let answers_to_come = target + OVERSHOOT - reached.last().unwrap();
            let task = format!("{answers_to_come} {}", folder.path().display());
            let mut process = child::start(self.child, &task, &said);
            process.hear("begins");
            for _ in 0..60_000 {
                if answers(&folder) >= *target {
                    break;
                }
                std::thread::sleep(Duration::from_millis(2));
            }
            process.kill();
            assert!(!process.said().iter().any(|line| line.starts_with("ended")));
            assert_sound(&folder.log());
            reached.push(answers(&folder));
        }
        assert!(reached.is_sorted_by(|a, b| a < b), "each went on where the last was: {reached:?}");
        let trial = Trial::new(&open(&folder.path()), 1, self.slow_model());
        let ended = block_on(trial.go(Mode::Resume, self.experiment.as_ref()));
        assert!(matches!(ended.finish, Finish::Finished), "{:?}", ended.finish);
        assert_eq!(ended.outcome_digest, expected);
        let before = answers(&folder) - ended.progress.live;
        assert_eq!(Some(&before), reached.last(), "nothing recorded is asked again");
        assert_eq!(block_on(trial.replay(self.experiment.as_ref())), expected);
        assert_sound(&trial.log);
    }
}

/// How many answers after a target a process gives at most, so that it cannot end before it is
/// killed, however slow this machine is.
const OVERSHOOT: u64 = 20;

/// Answers so many calls as its model does, and leaves all others waiting.
struct Capped {
    model: Answerer,
    answers_to_come: AtomicU64,
}

impl Model for Capped {
    fn info(&self) -> ModelInfo {
        self.model.info()
    }

    fn answer<'a>(&'a self, ask: Ask<'a>) -> BoxFuture<'a, Result<Response, Failure>> {
        async move {
            let result = self.model.answer(ask).await;
            let left = |answers: u64| answers.checked_sub(1);
            if result.is_ok()
                && self
                    .answers_to_come
                    .fetch_update(Ordering::SeqCst, Ordering::SeqCst, left)
                    .is_err()
            {
                std::future::pending::<()>().await;
            }
            result
        }
        .boxed()
    }
}

/// What the process to be killed does, with the task that it was started for.
pub(crate) fn begin(killed: &Killed, task: &str) {
    let (answers_to_come, path) = task.split_once(' ').unwrap();
    let answers_to_come = AtomicU64::new(answers_to_come.parse().unwrap());
    let capped = Capped { model: killed.slow_model(), answers_to_come };
    let trial = Trial::new(&open(path.as_ref()), 1, Arc::new(capped));
    let begun = !trial.log.reader().unwrap().runs().unwrap().is_empty();
    let mode = if begun { Mode::Resume } else { Mode::Record };
    child::say("begins");
    let ended = block_on(trial.go(mode, killed.experiment.as_ref()));
    child::say(&format!("ended {}", ended.outcome_digest));
}

/// How many answers that a model gave to the run are in the log.
fn answers(folder: &Folder) -> u64 {
    let log = folder.log();
    let mut reader = log.reader().unwrap();
    let Some(run) = reader.runs().unwrap().first().map(|head| head.run) else { return 0 };
    // While another process begins the run, there is nothing to count.
    RunRecord::read(reader.as_mut(), run).map_or(0, |record| record.answers - record.reused)
}
