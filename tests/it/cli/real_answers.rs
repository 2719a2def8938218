//! The main use on 20,000 real answers, with the real program: recorded, replayed without a
//! network, exported, re-parsed.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::support::cli::{Place, Said, assert_said, without_seqs};
use crate::support::{data, shared_data};

/// A folder with a run of one answers file.
fn record(style: &str, parser: &str) -> (Place, Value) {
    let place = Place::new();
    let answers = shared_data(&format!("game24/gpt-4_{style}.exchanges.jsonl.gz"));
    let config = Path::new(env!("RETOLD_ROOT")).join("config/game24.yaml");
    let set = [format!("template={style}"), format!("parser={parser}")];
    let said = place.args(&[
        "run",
        config.to_str().unwrap(),
        "--json",
        "--answers",
        answers.to_str().unwrap(),
        "--set",
        &set[0],
        "--set",
        &set[1],
    ]);
    assert_eq!(said.code, 0, "{}", said.err);
    let run: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!((&run["exchanges"], &run["decisions"]), (&10_000.into(), &10_000.into()));
    (place, run)
}

/// Runs a command without any network, not even loopback.
fn without_network(place: &Place, args: &[&str]) -> Value {
    let mut probe = Command::new("/usr/bin/unshare");
    let allowed = probe.args(["-n", "true"]).output();
    assert!(
        allowed.as_ref().is_ok_and(|o| o.status.success()),
        "this test needs `unshare -n` (util-linux, run as root or with user namespaces): {allowed:?}"
    );
    let mut command = Command::new("/usr/bin/unshare");
    command.args(["-n", env!("CARGO_BIN_EXE_retold")]).args(args).arg("--json");
    place.shut_off(&mut command);
    let said = Said::ended(&mut command);
    assert_eq!(said.code, 0, "{args:?}: {}{}", said.out, said.err);
    serde_json::from_str(&said.out).unwrap()
}

fn addresses(rows: impl Iterator<Item = Value>) -> BTreeMap<(String, u64), String> {
    let address =
        |row: &Value| (row["call"].as_str().unwrap().to_owned(), row["sample"].as_u64().unwrap());
    rows.map(|row| (address(&row), row["response"]["content"].as_str().unwrap().to_owned()))
        .collect()
}

fn the_main_job(style: &str) {
    let (place, run) = record(style, "game24@2");
    let same = |replayed: &Value| {
        assert_eq!(replayed["identical"], true, "{replayed}");
        assert_eq!((&replayed["model_calls"], &replayed["exchanges"]), (&0.into(), &10_000.into()));
        assert_eq!(replayed["outcome_digest"], run["outcome_digest"]);
    };
    same(&without_network(&place, &["replay", "latest"]));
    let elsewhere = Place::new();
    for name in ["run.jsonl", "run.jsonl.gz", "run.jsonl.zst"] {
        place.ok(&format!("export latest {name}"));
        std::fs::rename(place.path(name), elsewhere.path(name)).unwrap();
        same(&without_network(&elsewhere, &["replay", name]));
    }
    // All hundred samples of a prompt are kept apart: each address has its answer of the file.
    let recorded = place.ok("export latest --as exchanges");
    let recorded = addresses(recorded.lines().map(|line| serde_json::from_str(line).unwrap()));
    let given = addresses(data::rows("game24", &format!("gpt-4_{style}.exchanges.jsonl.gz")));
    assert_eq!(given.len(), 10_000);
    assert!(recorded == given, "an answer is at another address than in the file");
    assert_eq!(place.json("verify").1, 0);
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared, which is not part of the repository")]
fn the_main_job_on_real_answers_cot() {
    the_main_job("cot");
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared, which is not part of the repository")]
fn the_main_job_on_real_answers_standard() {
    the_main_job("standard");
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared, which is not part of the repository")]
fn a_check_of_real_answers() {
    for style in ["cot", "standard"] {
        let (place, _) = record(style, "game24@1");
        let said = place.run("check latest --most 5");
        assert_eq!(said.code, 1, "{}", said.err);
        let shown = without_seqs(&said.out);
        match style {
            "cot" => assert_said!("check_cot", shown),
            _ => assert_said!("check_standard", shown),
        }
        let (checked, _) = place.json("check latest");
        assert_eq!(checked["decisions"], 10_000);
    }
}
