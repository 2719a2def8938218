//! Two processes that write one run: one goes on, the other says who does.

use std::process::{Command, Stdio};
use std::time::Duration;

use super::lab::Lab;
use crate::support::cli::{Place, Said};

/// The model takes so long to answer that the first writer is not done when the second begins.
fn one_goes_on(lab: &Lab, latency_ms: u32) {
    one_goes_on_as(lab, latency_ms, |_| {});
}

/// The same with another environment of the first writer.
fn one_goes_on_as(lab: &Lab, latency_ms: u32, change: impl FnOnce(&mut Command)) {
    let config = concat!(env!("RETOLD_ROOT"), "/config/public_goods_small.yaml");
    let study = format!("run {config} --quiet --no-outputs --set model.latency_ms={latency_ms}");
    let mut first = lab.command();
    first
        .args(study.split_whitespace())
        .arg("--json")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    change(&mut first);
    let first = first.spawn().unwrap();
    while !lab.run("log --json").out.contains("\"run\":") {
        std::thread::sleep(Duration::from_millis(50));
    }
    // Somebody takes the run for dead, which it is not.
    let second = lab.run("run --resume latest --quiet --no-outputs");
    let first = Said::new(first.wait_with_output().unwrap());
    assert_eq!(first.code, 0, "{}{}", first.out, first.err);
    assert_eq!(second.code, 3, "{}{}", second.out, second.err);
    assert!(second.err.contains("is being written by another process (process "), "{}", second.err);
    let verified = lab.json("verify");
    assert_eq!(verified["problems"], serde_json::json!([]), "{verified}");
    assert!(lab.ok("replay latest --quiet").contains("identical"));
    let ended: serde_json::Value = serde_json::from_str(&first.out).unwrap();
    let (alone, _) = Place::new().json(&study);
    assert_eq!(ended["outcome_digest"], alone["outcome_digest"], "{ended}");
}

#[test]
fn in_a_folder() {
    one_goes_on(&Lab::folder(), 100);
}

/// Its events are older than the process that writes them, by the clock of whoever comes second.
#[cfg(target_os = "linux")]
#[test]
fn in_a_folder_by_a_clock_that_was_set_back() {
    let lab = Lab::folder();
    let clock = lab.place.path("clock.so");
    let source = concat!(env!("RETOLD_ROOT"), "/tests/it/support/clock.c");
    let mut built = Command::new("cc");
    built.args(["-shared", "-fPIC", "-O1", "-o"]).arg(&clock).arg(source);
    assert!(built.status().expect("this test needs a C compiler").success());
    one_goes_on_as(&lab, 100, |first| {
        first.env("LD_PRELOAD", &clock).env("CLOCK_BEHIND", "30");
    });
}

#[test]
#[cfg_attr(not(real_clients), ignore = "scripts/test installs moto")]
fn in_a_bucket() {
    one_goes_on(&Lab::bucket(), 100);
}

#[test]
#[cfg_attr(not(real_clients), ignore = "scripts/test installs moto")]
fn in_a_bucket_on_a_bad_day() {
    let lab = Lab::troubled(3);
    one_goes_on(&lab, 600);
    lab.has_met_every_mishap();
}

/// Several machines begin runs in one log at the same moment: the ledger has all of them, and each ends as alone.
fn all_are_there(lab: &Lab) {
    let study = |seed: u32| format!("run small.yaml --quiet --json --set seed={seed}");
    let processes: Vec<_> = (1..=6)
        .map(|seed| {
            let mut command = lab.command();
            command.args(study(seed).split_whitespace()).stdout(Stdio::piped());
            (seed, command.stderr(Stdio::piped()).spawn().unwrap())
        })
        .collect();
    for (seed, process) in processes {
        let said = Said::new(process.wait_with_output().unwrap());
        assert_eq!(said.code, 0, "{}{}", said.out, said.err);
        let ended: serde_json::Value = serde_json::from_str(&said.out).unwrap();
        let (alone, _) =
            lab.place.json(&format!("{} --log alone.db", study(seed).replace(" --json", "")));
        assert_eq!(ended["outcome_digest"], alone["outcome_digest"], "{seed}");
    }
    let listed = lab.json("log");
    let runs = listed["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 6, "{listed}");
    assert!(runs.iter().all(|run| run["outcome"] == "finished"), "{listed}");
    let verified = lab.json("verify");
    assert_eq!(verified["problems"], serde_json::json!([]), "{verified}");
}

#[test]
fn runs_that_begin_at_once_in_a_folder_are_all_there() {
    all_are_there(&Lab::folder());
}

#[test]
#[cfg_attr(not(real_clients), ignore = "scripts/test installs moto")]
fn runs_that_begin_at_once_in_a_bucket_are_all_there() {
    all_are_there(&Lab::bucket());
}

#[test]
#[cfg_attr(not(real_clients), ignore = "scripts/test installs moto")]
fn runs_that_begin_at_once_in_a_bucket_are_all_there_on_a_bad_day() {
    let lab = Lab::troubled(4);
    all_are_there(&lab);
    lab.has_met_every_mishap();
}
