//! Sixteen processes that record the shards of a study into one log at once. Half of them are killed and resumed.

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use super::lab::Lab;
use crate::support::cli::Place;
use crate::support::server::Server;
use crate::support::studies::answers;
use crate::support::waiting::asked_participants;

const SHARDS: usize = 16;

/// How many calls of a process are under way at once, and so may be asked again after it was killed.
const AT_ONCE: usize = 2;

/// A study, and how it is made small and quick.
struct Study {
    experiment: &'static str,
    config: &'static str,
    flags: String,
}

fn game24() -> Study {
    let flags = "--set puzzles.rows=0..32 --set samples=2".to_owned();
    Study { experiment: "game24", config: "game24.yaml", flags }
}

/// With four participants in each condition, unless somebody asks for more.
fn deliberation() -> Study {
    let participants = asked_participants().unwrap_or(4);
    let flags =
        format!("--set participants_per_condition={participants} --set api_sleep_seconds=0");
    Study { experiment: "deliberation", config: "deliberation_small.yaml", flags }
}

/// A model that takes some time.
fn model(study: &Study) -> Server {
    let answer = answers(study.experiment);
    Server::handler(move |received| answer(received).slow_start(Duration::from_millis(60)))
}

fn command(study: &Study, server: &Server, at_once: usize) -> String {
    let Study { config, flags, .. } = study;
    let (root, url) = (env!("RETOLD_ROOT"), server.base_url());
    format!(
        "run {root}/config/{config} --quiet --no-outputs --base-url {url} --concurrency {at_once} {flags}"
    )
}

/// What a process printed, if it was not killed.
fn printed(process: Child) -> Option<Value> {
    let output = process.wait_with_output().unwrap();
    output.status.code()?;
    serde_json::from_slice(&output.stdout).ok()
}

fn spawn(mut command: Command, args: &str) -> Child {
    command.args(args.split_whitespace()).arg("--json");
    command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
}

fn is_merged_to_a_single_run(lab: &Lab, study: &Study) {
    let alone = model(study);
    let (single, code) = Place::new().json(&command(study, &alone, SHARDS));
    assert_eq!((code, &single["outcome"]), (0, &"finished".into()), "{single}");
    let server = model(study);
    let record = command(study, &server, AT_ONCE);
    let shard = |n: usize| format!("{record} --shard {}/{SHARDS}", n + 1);
    let mut processes: Vec<Child> = (0..SHARDS).map(|n| spawn(lab.command(), &shard(n))).collect();
    // In the middle, as far as one can say of sixteen processes.
    let half = SHARDS * AT_ONCE;
    for _ in 0..3000 {
        if server.received().len() >= half {
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    for process in processes.iter_mut().step_by(2) {
        let _ = process.kill();
    }
    let ended: Vec<Option<Value>> = processes.into_iter().map(printed).collect();
    let killed: Vec<usize> = (0..SHARDS).filter(|n| ended[*n].is_none()).collect();
    assert!(killed.len() >= SHARDS / 4, "{killed:?} were killed");
    // Those of which the log has something go on; the others had not begun.
    let begun = lab.ok("log");
    let resumed: Vec<Child> = killed
        .iter()
        .map(|n| {
            let is_begun = begun.contains(&format!("-{}of{SHARDS} ", n + 1));
            let resume = if is_begun { " --resume" } else { "" };
            spawn(lab.command(), &format!("{}{resume}", shard(*n)))
        })
        .collect();
    let survived = ended.into_iter().flatten();
    for ended in survived.chain(resumed.into_iter().filter_map(printed)) {
        assert_eq!(ended["error"], Value::Null, "{ended}");
    }
    let runs = lab.json("log");
    let runs: Vec<&str> =
        runs["runs"].as_array().unwrap().iter().map(|run| run["run"].as_str().unwrap()).collect();
    assert_eq!(runs.len(), SHARDS);
    let mut merged = lab.json(&format!("run --merge {} --quiet --no-outputs", runs.join(" ")));
    assert_eq!(merged["error"], Value::Null, "{merged}");
    if merged["outcome"] != "finished" {
        merged = lab.json(&format!("run --resume latest --quiet --base-url {}", server.base_url()));
    }
    assert_eq!(merged["outcome_digest"], single["outcome_digest"], "{merged}");
    let (asked, due) = (server.received().len(), alone.received().len());
    let in_flight = killed.len() * AT_ONCE;
    assert!(
        (due..=due + in_flight).contains(&asked),
        "{asked} requests, of which {due} were due and at most {in_flight} in flight"
    );
    assert!(lab.ok("replay latest --quiet").contains("identical"));
    assert_eq!(lab.json("verify")["problems"], serde_json::json!([]));
}

#[test]
fn of_game24_in_a_folder() {
    is_merged_to_a_single_run(&Lab::folder(), &game24());
}

#[test]
fn of_a_deliberation_in_a_folder() {
    is_merged_to_a_single_run(&Lab::folder(), &deliberation());
}

#[test]
#[cfg_attr(not(real_clients), ignore = "scripts/test installs moto")]
fn of_game24_in_a_bucket_on_a_bad_day() {
    let lab = Lab::troubled(5);
    is_merged_to_a_single_run(&lab, &game24());
    lab.has_met_every_mishap();
}
