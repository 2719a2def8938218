//! Settings that say how to ask and not what may change while a run goes on; hints that name them are typed as printed; and
//! what is shown of settings is what was used.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::cli::{Place, Said};
use crate::support::server::{Received, Reply, Server};
use crate::support::studies::{STUDIES, answers};

/// The events of a kind in the last run.
fn events(place: &Place, kind: &str) -> Vec<Value> {
    let (log, _) = place.json("log latest");
    let events = log["events"].as_array().unwrap();
    events.iter().filter(|event| event["kind"] == kind).map(|event| event["body"].clone()).collect()
}

/// What stderr has, with the trace.
fn traced(place: &Place, args: &str) -> (Said, String) {
    let output = place.command().args(args.split_whitespace()).output().unwrap();
    let err = String::from_utf8(output.stderr.clone()).unwrap();
    (Said::new(output), err)
}

/// The command in backquotes that has this in it, as it is to be typed after `retold`.
fn hinted(text: &str, has: &str) -> String {
    let mut quoted = text.split('`').skip(1).step_by(2);
    let command = quoted.find(|command| command.contains(has));
    let command = command.unwrap_or_else(|| panic!("no command with {has}:\n{text}"));
    command.strip_prefix("retold ").unwrap().to_owned()
}

/// The settings of the last run by what the log table of runs has: those that are shown.
fn shown(place: &Place) -> Value {
    let said = place.run("table latest --table runs --as jsonl");
    assert_eq!(said.code, 0, "{}", said.err);
    let row: Value = serde_json::from_str(said.out.lines().next().unwrap()).unwrap();
    match &row["settings"] {
        Value::String(text) => serde_json::from_str(text).unwrap(),
        settings => settings.clone(),
    }
}

#[test]
fn how_every_study_asks_may_change_when_it_is_resumed_and_forked() {
    for study in STUDIES {
        let (place, server) = (Place::new(), Server::handler(answers(study.name)));
        let at = format!("--base-url {}", server.base_url());
        let begun = place.run(&format!("{} {at} --max-tokens 30", study.run()));
        assert_eq!(begun.code, 4, "{}: {}{}", study.name, begun.out, begun.err);
        let name = place.json("log").0["runs"][0]["name"].clone();
        let mut changes = vec![
            ("limits.timeout_seconds=900", "/runtime/limits/timeout_seconds", json!(900)),
            ("limits.concurrency=3", "/runtime/limits/concurrency", json!(3)),
            ("limits.per_minute=90000", "/runtime/limits/per_minute", json!(90000)),
            (
                "config.limits.max_connection_failures=7",
                "/runtime/limits/max_connection_failures",
                json!(7),
            ),
        ];
        changes.extend(match study.name {
            "deliberation" => [
                ("api_sleep_seconds=0.001", "/experiment/config/api_sleep_seconds", json!(0.001)),
                ("max_api_retries=9", "/runtime/retry/max_retries", json!(9)),
                ("api_retry_base_seconds=0.02", "/runtime/retry/base_seconds", json!(0.02)),
            ],
            _ => [
                ("retry.max_retries=9", "/runtime/retry/max_retries", json!(9)),
                ("retry.base_seconds=0.02", "/runtime/retry/base_seconds", json!(0.02)),
                ("retry=fixed", "/runtime/retry/rule", json!("fixed")),
            ],
        });
        let sets: String = changes.iter().map(|(set, ..)| format!(" --set {set}")).collect();
        let resume = format!("run --resume latest --quiet --max-tokens 100000000 {at}{sets}");
        let said = place.run(&resume);
        assert_eq!(said.code, 0, "{}: {}{}", study.name, said.out, said.err);
        let patch = &events(&place, "RunResumed")[0]["settings"];
        let settings = shown(&place);
        for (set, pointer, due) in &changes {
            assert_eq!(settings.pointer(pointer), Some(due), "{} {set}: {settings}", study.name);
            assert_eq!(patch.pointer(pointer), Some(due), "{} {set}: {patch}", study.name);
        }
        assert_eq!(
            place.json("log").0["runs"][0]["name"],
            name,
            "{}: it keeps its name",
            study.name
        );
        place.ok("replay latest");
        // A fork begins with what its parent had last, and takes other changes.
        let fork = format!("fork latest --quiet --at 2 {at} --set limits.timeout_seconds=1200");
        place.ok(&fork);
        let settings = shown(&place);
        let limits = &settings["runtime"]["limits"];
        assert_eq!((&limits["timeout_seconds"], &limits["concurrency"]), (&json!(1200), &json!(3)));
        // What is asked may not change, and the hint works.
        let what = if study.name == "deliberation" {
            "topic.description=Parks"
        } else {
            "request.temperature=0.1"
        };
        let what = if study.name == "public_goods" { "llm_temperature=0.1" } else { what };
        let refused = place.run(&format!("run --resume latest {at} --set {what}"));
        assert_eq!(refused.code, 2, "{}: {}{}", study.name, refused.out, refused.err);
        place.ok(&format!("{} --quiet {at}", hinted(&refused.err, "fork")));
    }
}

/// Too slow for its first requests.
fn slow_at_first(slow: usize) -> Server {
    let mut left = slow;
    Server::handler(move |_: &Received| {
        let reply = Reply::chat("Answer: (1 - 1) + 4 * 6 = 24");
        match left {
            0 => reply,
            _ => {
                left -= 1;
                reply.slow_start(Duration::from_secs(3))
            }
        }
    })
}

#[test]
fn a_dropped_attempt_is_said_with_the_command_that_waits_longer() {
    let (place, server) = (Place::new(), slow_at_first(2));
    let args = format!(
        "run small.yaml --quiet --max-tokens 14 --set limits.timeout_seconds=0.5 --base-url {}",
        server.base_url()
    );
    let (said, err) = traced(&place, &args);
    assert_eq!(said.code, 4, "{err}");
    let dropped = err.lines().filter(|line| line.contains(" is dropped, and the next begins in "));
    assert_eq!(dropped.count(), 2, "each when it happens, also with --quiet\n{err}");
    assert!(err.contains("within 0.5 s; attempt 1 is dropped"), "{err}");
    assert_eq!(events(&place, "AttemptFailed").len(), 2);
    let longer = hinted(&err, "--set limits.timeout_seconds=1");
    assert!(longer.starts_with("run --resume "), "{longer}");
    place.ok(&format!("{longer} --max-tokens 100000"));
    assert_eq!(shown(&place)["runtime"]["limits"]["timeout_seconds"], 1);
}

#[test]
fn calls_that_came_to_nothing_in_time_are_asked_again_by_the_hint() {
    let (place, server) = (Place::new(), slow_at_first(1));
    let args = format!(
        "run small.yaml --set limits.timeout_seconds=0.5 --set retry.max_retries=0 --base-url {}",
        server.base_url()
    );
    let said = place.run(&args);
    assert!(said.err.contains("1 of 6 calls failed"), "{}", said.err);
    let again = hinted(&said.err, "fork");
    assert!(again.contains("--retry-failed"), "{again}");
    let (ended, code) = place.json(&format!("{again} --quiet"));
    assert_eq!((code, &ended["failed_calls"]), (0, &json!(0)), "{ended}");
    assert_eq!(shown(&place)["runtime"]["limits"]["timeout_seconds"], 1, "{again}");
}

#[test]
fn a_resumed_run_stays_with_its_server_unless_the_command_names_another() {
    let place = Place::new();
    let reply = |_: &Received| Reply::chat("Answer: (1 - 1) + 4 * 6 = 24");
    let (first, other) = (Server::handler(reply), Server::handler(reply));
    let (at_first, at_other) = (first.base_url(), other.base_url());
    let config = |url: &str| {
        let text = crate::support::cli::SMALL.to_owned();
        place.write("at.yaml", format!("{text}model:\n  kind: openai\n  base_url: {url}\n"));
    };
    let run = |args: &str, variable: Option<&str>| {
        let mut command = place.command();
        command.args(args.split_whitespace());
        variable.map(|url| command.env("OPENAI_BASE_URL", url));
        Said::ended(&mut command)
    };
    // By a variable; then it is set to another server, and then to none.
    let begun = run("run small.yaml --quiet --model openai --max-tokens 14", Some(&at_first));
    assert_eq!(begun.code, 4, "{}", begun.err);
    for resume in ["run --resume latest", "run small.yaml --resume"] {
        for variable in [Some(at_other.as_str()), None] {
            let said = run(&format!("{resume} --max-tokens 99999"), variable);
            assert_eq!(said.code, 2, "{resume} {variable:?}: {}", said.err);
            assert!(said.err.contains(&format!("recorded from {at_first}")), "{}", said.err);
        }
    }
    let said = run("run small.yaml --resume --max-tokens 21", Some(&at_first));
    assert_eq!(said.code, 4, "the model is that of the run, not of the config: {}", said.err);
    // By the config, which names another one since.
    config(&at_other);
    let said = run("run at.yaml --resume --max-tokens 99999", None);
    assert_eq!(said.code, 2, "{}", said.err);
    assert_eq!(other.received().len(), 0);
    config(&at_first);
    let said = run("run at.yaml --resume --max-tokens 28", Some(&at_other));
    assert_eq!((said.code, other.received().len()), (4, 0), "{}", said.err);
    // In the command itself.
    let named = format!("run --resume latest --max-tokens 35 --set model.base_url={at_other}");
    let said = run(&named, Some(&at_first));
    assert_eq!((said.code, other.received().len()), (4, 1), "{}", said.err);
    let said = run(&format!("run at.yaml --resume --max-tokens 99999 --base-url {at_first}"), None);
    assert_eq!(
        (said.code, first.received().len() + other.received().len()),
        (0, 6),
        "{}",
        said.err
    );
    let patches = events(&place, "RunResumed");
    let urls: Vec<&Value> = patches
        .iter()
        .filter_map(|resumed| resumed["settings"].pointer("/runtime/model/base_url"))
        .collect();
    assert_eq!(urls, [&json!(at_other), &json!(at_first)], "changes are events: {patches:?}");
}

#[test]
fn a_config_that_is_edited_counts_where_it_says_something_new() {
    let place = Place::new();
    let server = Server::handler(answers("deliberation"));
    let at = format!("--base-url {}", server.base_url());
    let study = &STUDIES[1];
    let begun = place.run(&format!("{} {at} --max-tokens 30", study.run()));
    assert_eq!(begun.code, 4, "{}", begun.err);
    let resume = study.run().replace("api_sleep_seconds=0", "api_sleep_seconds=0.002");
    let said = place.run(&format!("{resume} --resume {at} --max-tokens 99999999"));
    assert_eq!(said.code, 0, "{}", said.err);
    let settings = shown(&place);
    assert_eq!(settings["experiment"]["config"]["api_sleep_seconds"], 0.002);
    assert_eq!(settings["runtime"]["limits"]["min_interval_seconds"], 0.002);
    assert_eq!(settings["runtime"]["limits"]["max_tokens"], 99_999_999, "the flag, not the config");
    // Its outputs have what was used, and are the same whenever they are made.
    place.ok("export latest out --as outputs");
    assert!(place.read("out/config.yaml").contains("api_sleep_seconds: 0.002"));
    place.ok("replay latest --outputs");
}

#[test]
fn a_pause_is_left_alone_by_a_time_out() {
    let place = Place::new();
    let server = Server::handler(answers("deliberation"));
    let run = STUDIES[1].run().replace("api_sleep_seconds=0", "api_sleep_seconds=0.003");
    let at = format!("--base-url {}", server.base_url());
    place.ok(&format!("{run} {at} --set limits.timeout_seconds=900"));
    let limits = shown(&place)["runtime"]["limits"].clone();
    assert_eq!(
        (&limits["timeout_seconds"], &limits["min_interval_seconds"]),
        (&json!(900), &json!(0.003))
    );
}

#[test]
fn settings_that_are_shown_are_those_that_were_used() {
    for study in STUDIES {
        let (place, server) = (Place::new(), Server::handler(answers(study.name)));
        let at = format!("--base-url {}", server.base_url());
        let run = format!("{} --model openai {at} --concurrency 5", study.run());
        place.ok(&run);
        let export = place.ok("export latest");
        assert!(!export.contains("\"kind\\\":\\\"simulated"), "{}: recorded settings", study.name);
        place.ok("report latest -o report.html");
        let report = place.read("report.html");
        let settings = report.split("<summary>Settings</summary>").nth(1).unwrap();
        let settings = settings.split("</pre>").next().unwrap();
        for wrong in ["simulated", "api.openai.com"] {
            assert!(!settings.contains(wrong), "{}: {settings}", study.name);
        }
        assert!(settings.contains(&server.base_url()), "{}: {settings}", study.name);
        if study.name == "public_goods" {
            place.ok("export latest out --as outputs");
            let config: Value = serde_json::from_str(&place.read("out/config.json")).unwrap();
            let config = &config["config"];
            assert_eq!(config["model"]["kind"], "openai", "{config}");
            assert_eq!(config["model"]["base_url"], server.base_url());
            assert_eq!(config["limits"]["concurrency"], 5);
            assert_eq!(config["retry"]["base_seconds"], 0.01);
            // It is a config for the same game, at the same server.
            place.ok("run out/config.json --new --no-outputs --quiet");
        }
    }
}
