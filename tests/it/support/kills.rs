//! An experiment that is killed (SIGKILL) at several moments continues as if nothing had happened.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use retold::id::OutcomeDigest;
use retold::model::simulated::{Misbehaviour, SimulatedModel};
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
    fn trial(&self, path: &Path) -> Trial {
        let slow = Misbehaviour { latency: Duration::from_millis(4), ..self.trouble.clone() };
        Trial::new(&open(path), 1, Arc::new((self.model)(slow)))
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
            let mut process = child::start(self.child, folder.path().to_str().unwrap(), &said);
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
        let trial = self.trial(&folder.path());
        let ended = block_on(trial.go(Mode::Resume, self.experiment.as_ref()));
        assert!(matches!(ended.finish, Finish::Finished), "{:?}", ended.finish);
        assert_eq!(ended.outcome_digest, expected);
        let again = ended.progress.exchanges - ended.progress.live;
        assert_eq!(Some(&again), reached.last(), "nothing recorded is asked again");
        assert_eq!(block_on(trial.replay(self.experiment.as_ref())), expected);
        assert_sound(&trial.log);
    }
}

/// What the process to be killed does.
pub(crate) fn begin(killed: &Killed, path: &Path) {
    let trial = killed.trial(path);
    let begun = !trial.log.reader().unwrap().runs().unwrap().is_empty();
    let mode = if begun { Mode::Resume } else { Mode::Record };
    child::say("begins");
    let ended = block_on(trial.go(mode, killed.experiment.as_ref()));
    child::say(&format!("ended {}", ended.outcome_digest));
}

/// How many answers of the run are in the log.
fn answers(folder: &Folder) -> u64 {
    let log = folder.log();
    let mut reader = log.reader().unwrap();
    let Some(run) = reader.runs().unwrap().first().map(|head| head.run) else { return 0 };
    // While another process begins the run, there is nothing to count.
    RunRecord::read(reader.as_mut(), run).map_or(0, |record| record.answers)
}
