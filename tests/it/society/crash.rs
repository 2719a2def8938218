//! A society that is killed (SIGKILL) goes on as if nothing had happened.

use std::time::Duration;

use retold::id::OutcomeDigest;
use retold::model::simulated::Misbehaviour;
use retold::run::{Finish, Mode, RunRecord};

use super::support::{model, society, trouble};
use crate::support::block_on;
use crate::support::child;
use crate::support::logs::{Folder, assert_sound, open};
use crate::support::trial::Trial;

/// Long enough for several kills, short enough for a slow machine.
const DAYS: &str = "days=8";

fn trial(path: &std::path::Path) -> Trial {
    let slow = Misbehaviour { latency: Duration::from_millis(4), ..trouble() };
    Trial::new(&open(path), 1, model(slow))
}

/// What the process to be killed does.
#[test]
fn child() {
    let Some(path) = child::task() else { return };
    let trial = trial(std::path::Path::new(&path));
    let begun = !trial.log.reader().unwrap().runs().unwrap().is_empty();
    let mode = if begun { Mode::Resume } else { Mode::Record };
    child::say("begins");
    let ended = block_on(trial.go(mode, society("society.yaml", &[DAYS]).as_ref()));
    child::say(&format!("ended {}", ended.outcome_digest));
}

#[test]
fn a_killed_society_goes_on() {
    let undisturbed = Trial::in_memory(model(trouble()));
    let experiment = society("society.yaml", &[DAYS]);
    let expected: OutcomeDigest = block_on(undisturbed.record(experiment.as_ref()));
    let folder = Folder::new();
    let said = folder.path().with_extension("said");
    let mut reached = vec![0];
    for target in [90, 250, 420] {
        let mut process =
            child::start("society::crash::child", folder.path().to_str().unwrap(), &said);
        process.hear("begins");
        // Killed after so many answers, not after a time: machines are fast and slow by turns.
        for _ in 0..60_000 {
            if answers(&folder) >= target {
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
    let trial = trial(&folder.path());
    let ended = block_on(trial.go(Mode::Resume, experiment.as_ref()));
    assert!(matches!(ended.finish, Finish::Finished), "{:?}", ended.finish);
    assert_eq!(ended.outcome_digest, expected);
    let again = ended.progress.exchanges - ended.progress.live;
    assert_eq!(again, reached[3], "nothing recorded is asked again");
    assert_eq!(block_on(trial.replay(experiment.as_ref())), expected);
    assert_sound(&trial.log);
}

/// How many answers the log holds of the run.
fn answers(folder: &Folder) -> u64 {
    let log = folder.log();
    let mut reader = log.reader().unwrap();
    let Some(run) = reader.runs().unwrap().first().map(|head| head.run) else { return 0 };
    // While another process begins the run, there is nothing to count.
    RunRecord::read(reader.as_mut(), run).map_or(0, |record| record.answers)
}
