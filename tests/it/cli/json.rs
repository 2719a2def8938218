//! `--json`: exactly one object, with the keys that other programs rely on.

use rusqlite::Connection;
use serde_json::Value;

use crate::support::cli::Place;
use crate::support::forged::with_settings;

const RUN: &[&str] = &[
    "run", "experiment", "outcome", "exchanges", "model_calls", "decisions", "outcome_digest",
    "seconds",
];
const REPLAY: &[&str] =
    &["run", "identical", "exchanges", "model_calls", "outcome_digest", "divergence", "seconds"];
const CHECK: &[&str] = &[
    "run", "parser_from", "parser_to", "decisions", "flips", "changed", "flipped", "altered",
    "by_method",
];
const VERIFY: &[&str] = &["run", "ok", "events", "head", "problem"];

#[track_caller]
fn keys(object: &Value, keys: &[&str]) {
    for key in keys {
        assert!(object.get(key).is_some(), "{key} is missing: {object}");
    }
}

#[test]
fn of_a_run_that_went_well() {
    let place = Place::new();
    let (run, code) = place.json("run small.yaml");
    keys(&run, RUN);
    assert_eq!((code, &run["outcome"], &run["exchanges"]), (0, &"finished".into(), &6.into()));
    let (resumed, code) = place.json("run --resume latest");
    keys(&resumed, RUN);
    assert_eq!((code, &resumed["model_calls"]), (0, &0.into()));
    let (replayed, code) = place.json("replay latest");
    keys(&replayed, REPLAY);
    assert_eq!(
        (code, &replayed["identical"], &replayed["divergence"]),
        (0, &true.into(), &Value::Null)
    );
    assert_eq!(replayed["outcome_digest"], run["outcome_digest"]);
    let (checked, code) = place.json("check latest --parser game24@2");
    keys(&checked, CHECK);
    assert_eq!((code, &checked["flips"]), (0, &0.into()));
    let (verified, code) = place.json("verify");
    keys(&verified, VERIFY);
    assert_eq!((code, &verified["ok"], &verified["problem"]), (0, &true.into(), &Value::Null));
    assert_eq!(verified["run"], run["run"]);
    for args in ["log", "log latest", "show latest", "show latest 3", "audit latest solve/0#0"] {
        assert!(place.json(args).0.is_object(), "{args}");
    }
    let prompt = place.json("audit latest solve/0#0").0["prompt_hash"].as_str().unwrap().to_owned();
    keys(&place.json(&format!("show {prompt}")).0, &["prompt_hash", "request"]);
    keys(&place.json("export latest x.jsonl").0, &["run", "file", "lines", "events"]);
    keys(&place.json("import x.jsonl").0, &["run", "events", "known"]);
}

#[test]
fn of_flips() {
    let place = Place::new();
    place.ok("run small.yaml --quiet --set parser=game24@1 --set samples=20");
    let (checked, code) = place.json("check latest");
    keys(&checked, CHECK);
    assert_eq!(code, 1, "{checked}");
    assert_eq!(
        checked["flips"].as_u64().unwrap(),
        checked["flipped"].as_array().unwrap().len() as u64
    );
    assert_eq!(checked["changed"]["value"], checked["flips"]);
}

#[test]
fn of_a_damaged_log() {
    let place = Place::with_run();
    let db = Connection::open(place.path("retold.db")).unwrap();
    db.execute_batch(
        "DROP TRIGGER events_no_update;
         UPDATE events SET time = time + 1 WHERE id & 4294967295 = 5",
    )
    .unwrap();
    drop(db);
    let (verified, code) = place.json("verify");
    keys(&verified, VERIFY);
    assert_eq!((code, &verified["ok"]), (1, &false.into()), "{verified}");
    assert!(verified["problem"].as_str().unwrap().contains("seq 5"), "{verified}");
    place.write("broken.jsonl", "{\"recording\":\"retold\",\"format\":1}\n");
    let (verified, code) = place.json("verify broken.jsonl");
    keys(&verified, VERIFY);
    assert_eq!((code, &verified["ok"]), (1, &false.into()), "{verified}");
}

#[test]
fn of_a_replay_that_diverges() {
    // A recording with the same answers and another prompt template, in which every hash is
    // correct.
    let place = Place::with_run();
    place.ok("export latest run.jsonl");
    let recording = std::fs::read_to_string(place.path("run.jsonl")).unwrap();
    let changed = with_settings(&recording, |settings| {
        let text = settings.to_string();
        assert!(text.contains("Input: {input}"), "{text}");
        *settings = text.replace("Input: {input}", "Numbers: {input}").parse().unwrap();
    });
    place.write("changed.jsonl", changed);
    let (replayed, code) = place.json("replay changed.jsonl");
    keys(&replayed, REPLAY);
    assert_eq!((code, &replayed["identical"]), (1, &false.into()), "{replayed}");
    assert!(replayed["divergence"]["what"].as_str().unwrap().contains("solve/0"), "{replayed}");
    assert_eq!(replayed["model_calls"], 0);
    let said = place.run("replay changed.jsonl");
    assert_eq!(said.code, 1);
    crate::support::cli::assert_said!(
        "json_divergence",
        place.shown("replay changed.jsonl", &said)
    );
}

#[test]
fn of_an_error() {
    let place = Place::with_run();
    for (args, code, said) in [
        ("show deadbeef", 2, "there is no run deadbeef in retold.db"),
        ("replay none.jsonl", 3, "none.jsonl: cannot open it"),
        ("log --log none.db", 3, "none.db"),
        ("check latest --parser chess", 2, "there is no parser \"chess\""),
        ("run none.yaml", 3, "none.yaml"),
        ("diff", 2, "the following required arguments were not provided"),
        ("frobnicate", 2, "unrecognized subcommand 'frobnicate'"),
        ("log --most x", 2, "invalid value 'x' for '--most <N>'"),
    ] {
        let (object, found) = place.json(args);
        assert_eq!(
            (found, &object["error"]["exit_code"]),
            (code, &code.into()),
            "{args}: {object}"
        );
        let message = object["error"]["message"].as_str().unwrap();
        assert!(message.contains(said), "{args}: {message}");
        assert!(object["error"]["hints"].is_array());
        // Human readers find it on stderr, as usual.
        let error = place.run(&format!("{args} --json")).err;
        assert!(error.starts_with("error: ") && error.contains(said), "{args}: {error}");
    }
}

/// A list that is cut says so, and from where to continue.
#[test]
fn of_a_part_of_a_log() {
    let place = Place::with_run();
    let (whole, _) = place.json("log latest");
    let all = whole["events"].as_array().unwrap();
    assert_eq!((&whole["more"], &whole["next"]), (&false.into(), &Value::Null));
    let (mut after, mut seen) = (0, Vec::new());
    loop {
        let (part, _) = place.json(&format!("log latest --most 5 --after {after}"));
        seen.extend(part["events"].as_array().unwrap().iter().cloned());
        let Some(next) = part["next"].as_u64() else {
            assert_eq!(part["more"], false);
            break;
        };
        assert_eq!(part["more"], true);
        after = next;
    }
    assert_eq!(&seen, all);
    let n = all.len();
    assert!(!place.ok(&format!("log latest --most {n}")).contains("more events"));
    let cut = place.ok(&format!("log latest --most {}", n - 1));
    assert!(cut.ends_with(&format!("more events follow: --after {}\n", n - 1)), "{cut}");
}
