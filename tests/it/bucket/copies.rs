//! Runs that are copied from one store to another are the same there.

use serde_json::{Value, json};

use super::lab::Lab;

/// The runs of a log, with their heads.
fn heads(lab: &Lab, log: &str) -> Vec<(Value, Value)> {
    let listed = lab.json(&format!("log --log {log}"));
    let runs = listed["runs"].as_array().unwrap();
    runs.iter().map(|run| (run["run"].clone(), run["head"].clone())).collect()
}

fn runs_are_the_same_everywhere(lab: &Lab) {
    for seed in [1, 2] {
        lab.ok(&format!("run small.yaml --quiet --log retold.db --set seed={seed}"));
    }
    let there = lab.ok(&format!("copy --from retold.db --to {}", lab.log));
    assert!(there.contains("2 runs, of which 2 had something new"), "{there}");
    assert_eq!(heads(lab, "retold.db"), heads(lab, &lab.log));
    // And back, into a log that has nothing yet.
    lab.ok("copy --to again.db");
    assert_eq!(heads(lab, "retold.db"), heads(lab, "again.db"));
    for log in ["retold.db", &lab.log, "again.db"] {
        let verified = lab.json(&format!("verify --log {log}"));
        assert_eq!(verified["problems"], json!([]), "{log}: {verified}");
    }
    // The same again does nothing; a third run is the only one that is new.
    let again = lab.ok(&format!("copy latest --from retold.db --to {}", lab.log));
    assert!(again.contains("all of it was already there"), "{again}");
    lab.ok("run small.yaml --quiet --log retold.db --set seed=3");
    let later = lab.json(&format!("copy --from retold.db --to {}", lab.log));
    let added: Vec<u64> = later["runs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|run| run["events"].as_u64().unwrap())
        .collect();
    assert!(matches!(added[..], [0, 0, new] if new > 0), "{later}");
    assert_eq!(heads(lab, "retold.db"), heads(lab, &lab.log));
}

#[test]
fn in_a_folder() {
    runs_are_the_same_everywhere(&Lab::folder());
}

#[test]
#[cfg_attr(not(real_clients), ignore = "scripts/test installs moto")]
fn in_a_bucket() {
    runs_are_the_same_everywhere(&Lab::bucket());
}

#[test]
fn what_is_left_of_a_damaged_run_is_copied() {
    let lab = Lab::folder();
    lab.ok("run small.yaml --quiet --no-outputs");
    let runs = lab.place.path("lab/runs");
    let run = std::fs::read_dir(runs).unwrap().next().unwrap().unwrap().path();
    let mut segments: Vec<_> =
        std::fs::read_dir(run).unwrap().map(|entry| entry.unwrap().path()).collect();
    segments.sort();
    std::fs::remove_file(&segments[1]).unwrap();
    let said = lab.run("copy --to other.db");
    assert_eq!(said.code, 1, "{}{}", said.out, said.err);
    assert!(said.out.contains("is missing"), "{}", said.out);
    assert!(said.out.contains("is a new run, "), "{}", said.out);
    // The log that is damaged is the one that is copied from, wherever it is named.
    let said = lab.place.run(&format!("copy nothing --from {} --to other.db", lab.log));
    assert!(said.err.contains(&format!("`retold --log {} log` lists", lab.log)), "{}", said.err);
    assert_eq!(heads(&lab, "other.db").len(), 1);
}

#[test]
fn a_log_is_not_copied_to_itself() {
    let lab = Lab::folder();
    lab.ok("run small.yaml --quiet --no-outputs");
    for to in [lab.log.clone(), "retold.db".to_owned()] {
        let said = lab.run(&format!("copy --from {to} --to {to}"));
        assert_eq!(said.code, 2, "{}", said.err);
        assert!(said.err.contains("is the log that runs are copied from"), "{}", said.err);
    }
}
