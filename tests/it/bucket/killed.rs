//! A study that is killed at several moments and resumed ends as an undisturbed one.

use std::process::Stdio;
use std::time::Duration;

use super::lab::Lab;
use crate::support::cli::Place;

/// Slow enough that a process dies in the middle.
fn study() -> String {
    let config = concat!(env!("RETOLD_ROOT"), "/config/public_goods_small.yaml");
    format!("run {config} --quiet --no-outputs --set game_length=3 --set model.latency_ms=15")
}

fn is_resumed_to_the_same_end(lab: &Lab) {
    let (whole, code) = Place::new().json(&study());
    assert_eq!((code, &whole["outcome"]), (0, &"finished".into()), "{whole}");
    let mut killed = 0;
    let mut command = study();
    let mut ended = serde_json::Value::Null;
    for milliseconds in [150, 250, 350, 450, 700, 60_000] {
        let mut process = lab.command();
        process.args(command.split_whitespace()).arg("--json").stderr(Stdio::null());
        let mut process = process.stdout(Stdio::piped()).spawn().unwrap();
        for _ in 0..milliseconds / 10 {
            if process.try_wait().unwrap().is_some() {
                break;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        let _ = process.kill();
        let output = process.wait_with_output().unwrap();
        if output.status.success() {
            ended = serde_json::from_slice(&output.stdout).unwrap();
            break;
        }
        killed += u32::from(output.status.code().is_none());
        // It may have died before its first event was in the store: then there is no run to resume.
        let runs = lab.run("log --json");
        if runs.code == 0 && runs.out.contains("\"run\":") {
            let shown = lab.ok("show latest");
            let is_named = shown.contains(" wrote its last events, and has ended\n");
            assert_eq!(is_named, shown.contains("unfinished: "), "{shown}");
            command = "run --resume latest --quiet --no-outputs".to_owned();
        }
    }
    assert!(killed > 1, "{killed} were killed");
    assert_eq!(ended["outcome_digest"], whole["outcome_digest"], "{ended}");
    let verified = lab.json("verify");
    assert_eq!(verified["problems"], serde_json::json!([]), "{verified}");
    assert!(lab.ok("replay latest --quiet").contains("identical"));
}

#[test]
fn in_a_folder() {
    is_resumed_to_the_same_end(&Lab::folder());
}

#[test]
#[cfg_attr(not(real_clients), ignore = "scripts/test installs moto")]
fn in_a_bucket() {
    is_resumed_to_the_same_end(&Lab::bucket());
}

#[test]
#[cfg_attr(not(real_clients), ignore = "scripts/test installs moto")]
fn in_a_bucket_on_a_bad_day() {
    let lab = Lab::troubled(2);
    is_resumed_to_the_same_end(&lab);
    lab.has_met_every_mishap();
}
