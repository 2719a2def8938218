//! `retold log RUN`: which events it lists.

use std::process::Stdio;

use serde_json::Value;

use crate::serve::Served;
use crate::support::cases::fixtures;
use crate::support::cli::{Place, assert_said};

/// A place where the original run of `fixtures/originals/pilot_small` was run again.
fn deliberation() -> Place {
    let place = Place::new();
    let original = fixtures("originals/pilot_small");
    place.ok(&format!("import deliberation {} --quiet", original.display()));
    place
}

fn listed(place: &Place, args: &str) -> Vec<Value> {
    let (log, code) = place.json(&format!("log latest --most 100000 {args}"));
    assert_eq!(code, 0, "{log}");
    assert_eq!(log["more"], false);
    log["events"].as_array().unwrap().clone()
}

#[test]
fn a_filter_lists_what_meets_all_of_it() {
    let place = deliberation();
    let all = listed(&place, "");
    let kind = |kind: &str| all.iter().filter(|event| event["kind"] == kind).count();
    let decisions = listed(&place, "--kind DecisionMade");
    assert_eq!(decisions.len(), kind("DecisionMade"));
    let both = listed(&place, "--kind DecisionMade --kind Occurred");
    assert_eq!(both.len(), kind("DecisionMade") + kind("Occurred"));

    // What belongs to a participant is found without an index, by following causes.
    let at = |seq: &Value| all.iter().find(|event| event["seq"] == *seq).unwrap();
    let call_of = |event: &Value| {
        let mut event = event.clone();
        while event["call"].is_null() && !event["cause"].is_null() {
            event = at(&event["cause"]).clone();
        }
        event["call"].as_str().unwrap_or_default().to_owned()
    };
    let theirs = |event: &&Value| call_of(event).split('/').any(|part| part == "p_0008");
    let decided = listed(&place, "--call p_0008 --kind DecisionMade");
    let due: Vec<&Value> = decisions.iter().filter(theirs).collect();
    assert!(due.len() > 2);
    assert_eq!(decided.iter().collect::<Vec<_>>(), due);
    // It does not matter where the list begins.
    let middle = due[due.len() / 2]["seq"].as_u64().unwrap() - 1;
    let later = listed(&place, &format!("--call p_0008 --kind DecisionMade --after {middle}"));
    assert_eq!(later.iter().collect::<Vec<_>>(), due[due.len() / 2..]);
    // The parts may be in any order, and all have to be there.
    let one = listed(&place, "--call p_0008/final_vote");
    assert_eq!(one, listed(&place, "--call final_vote/p_0008"));
    assert!(one.iter().any(|event| event["kind"] == "Occurred"), "the fact that follows: {one:?}");
    assert!(listed(&place, "--call p_0008/p_0008").is_empty());

    let method = decisions[0]["content"].as_str().unwrap();
    let by: Value = serde_json::from_str(method).unwrap();
    let by_method = listed(&place, &format!("--method {}", by["method"].as_str().unwrap()));
    let same = decisions
        .iter()
        .filter(|d| d["content"].as_str().unwrap().contains(&by["method"].to_string()));
    assert_eq!(by_method.len(), same.count());
}

#[test]
fn failed_calls_models_and_times() {
    let place = Place::new();
    let config = concat!(env!("RETOLD_ROOT"), "/config/society_small.yaml");
    let (run, _) = place.json(&format!("run {config} --set model.rates.failure=0.1"));
    let failed = listed(&place, "--failed");
    assert!(failed.iter().all(|event| event["kind"] == "AttemptFailed"), "{failed:?}");
    let given_up = failed.iter().filter(|event| event["body"]["final"] == true).count();
    assert!(given_up > 3);
    assert_eq!(run["report"]["did"]["unanswered"], given_up);
    let answers = listed(&place, "--kind ResponseReceived");
    let since = answers[answers.len() / 2]["time"].as_str().unwrap();
    let recent = listed(&place, &format!("--kind ResponseReceived --since {since}"));
    assert!(recent.iter().all(|event| event["time"].as_str().unwrap() >= since));
    assert!(recent.len() >= answers.len() / 2, "{} of {}", recent.len(), answers.len());

    let place = Place::new();
    let exchange = |model: &str| {
        format!(
            r#"{{"call":"q/{model}","request":{{"model":"m","messages":[]}},"response":{{"content":"4","model":"{model}"}}}}"#
        )
    };
    place.write("answers.jsonl", format!("{}\n{}\n", exchange("m-1"), exchange("m-2")));
    place.ok("import answers.jsonl");
    let answers = listed(&place, "--model m-2");
    assert_eq!(answers.len(), 1);
    assert_eq!(answers[0]["body"]["model"], "m-2");

    let place = Place::with_run();
    let said = place.session(&[
        "log latest --model nobody",
        "log latest --failed",
        "log latest --kind Decisionmade",
        "log latest --since 1999-01-01 --kind RunStarted --json",
        "log latest --since 2999-01-01T00:00:00Z",
        "log latest --since yesterday",
        "log --failed",
        "log latest --call a//b",
        "log latest --follow --most 3",
    ]);
    let seconds = regex::Regex::new("[0-9a-f]{64}").unwrap();
    assert_said!("listing", seconds.replace_all(&said, "[hash]").as_ref());
}

#[test]
fn a_misspelt_filter_says_what_there_is() {
    let place = Place::with_run();
    for (options, given, has) in [
        ("--kind Decisionmade", "Decisionmade", "DecisionMade"),
        ("--kind DecisionMade --kind Ocurred", "Ocurred", "Occurred"),
        ("--method answer_lines", "answer_lines", "answer_line"),
        // The model that the requests name; a simulated one reports no name.
        ("--model \u{202e}gpt", "\\u{202e}gpt", "gpt-4"),
        ("--call solve/9", "9", "1"),
        ("--call slove", "slove", "solve"),
    ] {
        let text = place.ok(&format!("log latest {options}"));
        let line = text.lines().last().unwrap();
        let (before, after) = line.split_once("; the run has ").unwrap();
        assert!(before.ends_with(given), "{text}");
        assert!(after.split(", ").any(|one| one == has), "{text}");
        let (json, code) = place.json(&format!("log latest {options}"));
        assert_eq!((code, json["never"].as_array().unwrap().len()), (0, 1), "{json}");
    }
    // Each part is there, but no call has both.
    let text = place.ok("log latest --call 0/1");
    assert_eq!(text, "no event matches --call 0/1; the run has 0, 1, solve\n");
    // What the run has is not misspelt, even if no event has all of it.
    let text = place.ok("log latest --kind RunStarted --method answer_line");
    assert_eq!(text, "no event matches\n");
}

/// `stats` and reports have the names of requests, and answers those that servers report: a filter
/// takes either, in the terminal and on the page.
#[test]
fn a_model_is_named_as_in_the_request_or_as_the_server_reports_it() {
    let place = Place::new();
    let logs = std::path::Path::new(env!("RETOLD_ROOT")).join("fixtures/logs");
    std::fs::copy(logs.join("program.db"), place.path("retold.db")).unwrap();
    let listed = |filter: &str| {
        let found = place.json(&format!("log latest --model {filter}")).0;
        let seqs = found["events"].as_array().unwrap().iter().map(|e| e["seq"].as_u64().unwrap());
        seqs.collect::<Vec<u64>>()
    };
    let stats = place.json("stats latest").0;
    let asked = listed("m");
    assert_eq!(asked.len(), 4, "the answers to requests for m");
    assert_eq!(stats["models"]["m"]["calls"]["answered"], asked.len());
    let reported = stats["models"]["m"]["reported_as"].clone();
    assert_eq!(reported, serde_json::json!({"m-1": 1, "test-model-1": 3}));
    let mut both = [listed("m-1"), listed("test-model-1")].concat();
    both.sort_unstable();
    assert_eq!(both, asked);
    let served = Served::log(&place, "retold.db");
    let page = served.json("/run/latest?model=m");
    let rows = page["rows"].as_array().unwrap();
    let seqs: Vec<u64> = rows.iter().map(|row| row["seq"].as_u64().unwrap()).collect();
    assert_eq!(seqs, asked);
    assert_eq!(page["matching"], asked.len());
    let choices = page["models"].as_array().unwrap().iter();
    let choices: Vec<(&str, u64)> = choices
        .map(|choice| (choice["value"].as_str().unwrap(), choice["count"].as_u64().unwrap()))
        .collect();
    assert_eq!(choices, [("m", 4), ("test-model-1", 3), ("m-1", 1)]);
}

#[test]
fn a_list_that_ends_early_says_where_it_goes_on() {
    let place = Place::with_run();
    let (all, _) = place.json("log latest");
    let end = all["events"].as_array().unwrap().len();
    assert_eq!(all["end"], end);
    let text = place.ok("log latest --at 9 --most 3");
    assert!(text.contains("\nmore events follow: --at 9 --after 3\n"), "{text}");
    // It goes on where that says, up to the same event.
    let text = place.ok("log latest --at 9 --after 3");
    let seqs = |text: &str| {
        let first = text.lines().map_while(|line| line.split_whitespace().next()?.parse().ok());
        first.collect::<Vec<usize>>()
    };
    assert_eq!(seqs(&text), (4..=9).collect::<Vec<usize>>(), "{text}");
    let beyond = place.ok("log latest --after 1000");
    assert_eq!(beyond, format!("no event is after 1000: the run has {end} events\n"));
    let beyond = place.ok("log latest --at 9 --after 9");
    assert!(beyond.starts_with("no event is after 9: the run has 9 events up to there\n"));
}

#[test]
fn following_ends_with_the_run_wherever_it_begins() {
    let place = Place::with_run();
    assert_eq!(place.ok("log latest --follow --after 1000"), "");
    place.ok("export latest run.jsonl");
    assert_eq!(place.ok("log run.jsonl --follow"), place.ok("log run.jsonl"));
}

/// A run that stopped before its end.
#[test]
fn a_follower_says_when_nobody_writes_any_more() {
    use std::io::{BufRead, BufReader};
    let place = Place::new();
    let stopped = place.run("--log other.db run small.yaml --quiet --max-tokens 300");
    assert_eq!(stopped.code, 4, "{}", stopped.err);
    let mut follower = place.command();
    follower.args(["--log", "other.db", "log", "latest", "--follow"]);
    let mut follower = follower.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut said = String::new();
    BufReader::new(follower.stderr.take().unwrap()).read_line(&mut said).unwrap();
    assert!(said.contains("nobody is writing run"), "{said}");
    assert!(said.contains("--log other.db run --resume"), "{said}");
    // It ends once the run has been abandoned.
    place.ok("--log other.db run --abandon latest");
    assert!(follower.wait().unwrap().success());
}

#[test]
fn a_run_is_followed_to_its_end() {
    let place = Place::with_run();
    let all = place.ok("log latest");
    assert_eq!(place.ok("log latest --follow"), all);
    // While one is recorded, too: the follower begins as soon as there is a run.
    let place = Place::new();
    let mut recording = place.command();
    let run = ["run", "small.yaml", "--quiet"];
    let mut recording = recording.args(run).stdout(Stdio::null()).spawn().unwrap();
    let mut has_ended = false;
    while place.run("log latest").code != 0 {
        assert!(!has_ended, "it ends with a run in the log");
        has_ended = recording.try_wait().unwrap().is_some();
    }
    let json = place.ok("log latest --follow --json --kind DecisionMade");
    assert!(recording.wait().unwrap().success());
    assert_eq!(json.lines().count(), 6);
    for line in json.lines() {
        let event: Value = serde_json::from_str(line).unwrap();
        assert_eq!(event["kind"], "DecisionMade");
    }
}
