//! Runs that are compacted, and whose segments are then removed by a rule of the store.

use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};

use super::lab::Lab;

const STUDY: &str = concat!("run ", env!("RETOLD_ROOT"), "/config/public_goods_small.yaml");

/// Removes all segments, as a rule of the store does some day.
fn expire(lab: &Lab) {
    let segments = lab.objects().into_iter().filter(|name| name.starts_with("runs/"));
    let count = segments.map(|name| lab.remove(&name)).count();
    assert!(count > 0);
}

/// What a person asks about a run.
fn said_of(lab: &Lab, run: &str) -> [String; 4] {
    let verified = lab.json("verify");
    assert_eq!(verified["problems"], json!([]), "{verified}");
    let asked = (1..20).map(|seq| lab.json(&format!("show {run} {seq}")));
    let prompt =
        asked.filter_map(|event| Some(event["prompt"].as_str()?.to_owned())).next().unwrap();
    assert!(lab.ok(&format!("replay {run} --quiet")).contains("identical"));
    // With an index, fewer events are read, and so fewer are checked.
    let audited = lab.ok(&format!("audit {run} game1/r01/agent_0/chat#0"));
    let (audited, _) = audited.split_once("checked: ").unwrap();
    [
        lab.ok(&format!("show {run}")),
        audited.to_owned(),
        lab.ok(&format!("show {prompt} --canonical")),
        lab.ok(&format!("export {run} -")),
    ]
}

fn a_run_is_the_same_afterwards(lab: &Lab) {
    lab.ok(&format!("{STUDY} --quiet --no-outputs"));
    let run = lab.json("log")["runs"][0]["run"].as_str().unwrap().to_owned();
    let before = said_of(lab, &run);
    let compacted = lab.json("copy --compact");
    assert_eq!(compacted["compacted"], 1, "{compacted}");
    assert!(compacted["runs"][0]["segments"].as_u64().unwrap() > 5, "{compacted}");
    assert_eq!(compacted["runs"][0]["objects"], 1, "{compacted}");
    assert_eq!(lab.ok("copy --compact"), "0 runs compacted; 1 run compacted before\n");
    assert_eq!(said_of(lab, &run), before);
    expire(lab);
    assert_eq!(said_of(lab, &run), before);
    lab.ok(&format!("copy {run} --to copy.db"));
    let head = |log: &str| lab.json(&format!("log{log}"))["runs"][0]["head"].clone();
    assert_eq!(head(" --log copy.db"), head(""));
    // A finished run that is resumed is replayed, and stays as it is.
    let before = lab.json("log");
    lab.ok(&format!("run --resume {run} --quiet --no-outputs"));
    assert_eq!(lab.json("log")["runs"], before["runs"]);
    lab.ok(&format!("{STUDY} --quiet --no-outputs --set seed=7"));
    assert!(lab.ok("copy --compact latest").ends_with("1 run compacted\n"));
    assert_eq!(lab.json("verify")["problems"], json!([]));
}

#[test]
fn in_a_folder() {
    a_run_is_the_same_afterwards(&Lab::folder());
}

#[test]
#[cfg_attr(not(real_clients), ignore = "scripts/test installs moto")]
fn in_a_bucket() {
    a_run_is_the_same_afterwards(&Lab::bucket());
}

#[test]
#[cfg_attr(not(real_clients), ignore = "scripts/test installs moto")]
fn in_a_bucket_whose_store_fails_now_and_then() {
    let lab = Lab::troubled(7);
    a_run_is_the_same_afterwards(&lab);
    lab.has_met_every_mishap();
}

/// A file with the exchanges of a run.
pub(super) fn exchanges(count: u32) -> String {
    let line = |n: u32| {
        let asked = format!("What does participant {n} think of {}?", n * 31);
        json!({
            "call": format!("vote/p_{n:05}"),
            "request": {"model": "m", "messages": [{"role": "user", "content": asked}]},
            "response": {"content": format!("Participant {n} thinks that it is {}.", n * 17)},
        })
    };
    (0..count).map(|n| format!("{}\n", line(n))).collect()
}

#[test]
fn a_compaction_that_is_killed_is_continued() {
    let lab = Lab::folder();
    lab.place.write("exchanges.jsonl", exchanges(20_000));
    lab.ok("import exchanges.jsonl");
    let mut killed = 0;
    for milliseconds in (0..12).map(|n| 40 << (n / 2)) {
        let mut process =
            lab.command().args(["copy", "--compact"]).stdout(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(milliseconds));
        let _ = process.kill();
        killed += u32::from(process.wait().unwrap().code().is_none());
    }
    assert!(killed > 3, "{killed} were killed");
    lab.ok("copy --compact");
    assert_eq!(lab.ok("copy --compact"), "0 runs compacted; 1 run compacted before\n");
    expire(&lab);
    let shown: Value = lab.json("show latest vote/p_12345");
    assert!(shown.to_string().contains("Participant 12345 thinks"), "{shown}");
    assert_eq!(lab.json("verify")["problems"], json!([]));
}

#[test]
fn what_to_do_about_a_part_that_was_lost_or_changed_is_said() {
    let lab = Lab::folder();
    lab.ok(&format!("{STUDY} --quiet --no-outputs"));
    lab.ok("copy --compact");
    let part = lab
        .objects()
        .into_iter()
        .find(|name| name.contains("compacted/") && name.ends_with(".zst"));
    let part = part.unwrap();
    let folder = part.rsplit_once('/').unwrap().0.to_owned();
    for change in [None, Some(b"x".to_vec())] {
        match change {
            None => lab.remove(&part),
            Some(bytes) => lab.put(&part, bytes),
        }
        let said = lab.run("show latest");
        assert_eq!(said.code, 1, "{}{}", said.out, said.err);
        let hint = format!("are still there, delete {folder}: the run is read from them again");
        assert!(said.err.contains(&hint), "{}", said.err);
        for object in lab.objects().into_iter().filter(|name| name.starts_with(&folder)) {
            lab.remove(&object);
        }
        assert_eq!(lab.json("verify")["problems"], json!([]));
        assert!(lab.ok("copy --compact").ends_with("1 run compacted\n"));
        assert_eq!(lab.json("verify")["problems"], json!([]));
    }
}

#[test]
fn what_cannot_be_compacted_is_said() {
    let lab = Lab::folder();
    let said = lab.run("copy --compact --log retold.db");
    assert_eq!(said.code, 2, "{}", said.err);
    assert!(said.err.contains("retold.db is a file, in which there is nothing to compact"));
    let study = format!("{STUDY} --quiet --no-outputs --set model.latency_ms=100");
    let mut process = lab.command();
    let mut process = process.args(study.split_whitespace()).stdout(Stdio::null()).spawn().unwrap();
    while !lab.run("log --json").out.contains("\"run\":") {
        std::thread::sleep(Duration::from_millis(50));
    }
    process.kill().unwrap();
    process.wait().unwrap();
    assert_eq!(lab.ok("copy --compact"), "0 runs compacted; 1 run not ended yet\n");
    let said = lab.run("copy --compact latest");
    assert_eq!(said.code, 2, "{}", said.err);
    assert!(said.err.contains("has not ended, so more will be added to it"), "{}", said.err);
}

#[test]
fn a_damaged_run_is_named_and_the_others_are_compacted() {
    let lab = Lab::folder();
    for seed in [1, 2] {
        lab.ok(&format!("run small.yaml --quiet --no-outputs --set seed={seed}"));
    }
    let listed = lab.json("log");
    let run = listed["runs"][0]["run"].as_str().unwrap();
    let segments = lab.objects().into_iter().filter(|name| name.contains(run));
    lab.put(&segments.collect::<Vec<_>>()[1], b"x".to_vec());
    let said = lab.run("copy --compact");
    assert_eq!(said.code, 1, "{}{}", said.out, said.err);
    assert!(said.out.ends_with("1 run compacted\n"), "{}", said.out);
    assert!(said.err.contains(&format!("run {run}")), "{}", said.err);
    assert!(said.err.contains("was changed: it is cut off"), "{}", said.err);
}
