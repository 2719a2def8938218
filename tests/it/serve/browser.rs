//! The page in a real browser, by mouse and by keyboard, and without barriers.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::json;

use super::{Feeding, RECORDINGS, Served, imported, recording, runs};
use crate::support::cli::Place;

/// Runs a script of tests/browser against a server. A line `feed N` that it prints adds N events to a
/// run, `finish` the rest of them; it is told when they are there.
fn drive(place: &Place, served: &Served, script: &str, feeding: Option<&mut Feeding>) {
    drive_at(place, &format!("http://{}/?token={}", served.host, served.token), script, feeding);
}

/// The same, for pages below any address.
fn drive_at(place: &Place, base: &str, script: &str, feeding: Option<&mut Feeding>) {
    let root = Path::new(env!("RETOLD_ROOT"));
    let packages = root.join("target/browser/node_modules");
    std::os::unix::fs::symlink(packages, place.path("node_modules")).unwrap();
    for name in [script, "browser.mjs"] {
        std::fs::copy(root.join("tests/browser").join(name), place.path(name)).unwrap();
    }
    let mut command = Command::new("node");
    command.arg(script).arg(base).current_dir(place.root());
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let (mut told, mut feeding) = (child.stdin.take().unwrap(), feeding);
    let mut said = String::new();
    for line in BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap) {
        let feeding = feeding.as_deref_mut();
        let fed = match (line.strip_prefix("feed "), feeding) {
            (Some(most), Some(feeding)) => feeding.feed(most.parse().unwrap()),
            (None, Some(feeding)) if line == "finish" => feeding.finish(),
            _ => {
                said.push_str(&line);
                said.push('\n');
                continue;
            }
        };
        writeln!(told, "{fed}").unwrap();
    }
    assert!(child.wait().unwrap().success(), "{said}");
    assert!(said.contains("all is well"), "{said}");
}

/// A log with a run that has failed attempts and changed decisions, and one that is being recorded.
fn scene() -> (Place, Feeding) {
    let place = Place::new();
    place.ok("run small.yaml --quiet --no-outputs --set parser=game24@1 --set samples=20 \
        --set retry.max_retries=9 --set model.rates.rate_limited=0.2");
    let mut feeding = Feeding::new("society_small.jsonl", &place.path("retold.db"));
    feeding.feed(40);
    (place, feeding)
}

#[cfg_attr(
    not(real_browser),
    ignore = "needs the browser and its driver that scripts/test installs"
)]
#[test]
fn a_reader_gets_from_a_failed_call_to_a_live_run_by_mouse() {
    let (place, mut feeding) = scene();
    let served = Served::log(&place, "retold.db");
    drive(&place, &served, "mouse.mjs", Some(&mut feeding));
}

#[cfg_attr(
    not(real_browser),
    ignore = "needs the browser and its driver that scripts/test installs"
)]
#[test]
fn a_reader_gets_from_a_failed_call_to_a_live_run_by_keyboard() {
    let (place, mut feeding) = scene();
    let served = Served::log(&place, "retold.db");
    drive(&place, &served, "keyboard.mjs", Some(&mut feeding));
}

#[cfg_attr(
    not(real_browser),
    ignore = "needs the browser and its driver that scripts/test installs"
)]
#[test]
fn no_page_has_a_barrier_in_light_or_dark() {
    let place = imported();
    place.ok(
        "--log all.db run small.yaml --quiet --no-outputs --set parser=game24@1 --set samples=9",
    );
    place.ok("--log all.db check latest --accept --parser game24@2");
    let served = Served::log(&place, "all.db");
    assert_eq!(runs(&served).len(), 7);
    drive(&place, &served, "barriers.mjs", None);
}

#[cfg_attr(
    not(real_browser),
    ignore = "needs the browser and its driver that scripts/test installs"
)]
#[test]
fn reports_open_from_disk_without_a_network() {
    let place = Place::new();
    for name in RECORDINGS {
        place.ok(&format!("report {} -o {name}.html", recording(name)));
    }
    // A program's run.
    let log = format!("{}/fixtures/logs/program.db", env!("RETOLD_ROOT"));
    std::fs::copy(log, place.path("program.db")).unwrap();
    place.ok("--log program.db report latest -o program.html");
    place.ok("run small.yaml --quiet --no-outputs --set samples=9");
    place.ok("export latest parent.jsonl");
    place.ok("fork latest --set parser=game24@1 --quiet");
    let game = format!("{}/recordings/game24_small.jsonl", env!("RETOLD_ROOT"));
    place.ok(&format!("report latest {game} -o two.html"));
    place.ok("report latest --texts -o texts.html");
    place.ok(&format!("report latest parent.jsonl {game} -o several.html"));
    drive_at(&place, &format!("file://{}", place.root().display()), "report.mjs", None);
}

#[cfg_attr(
    not(real_browser),
    ignore = "needs the browser and its driver that scripts/test installs"
)]
#[test]
fn no_page_is_wider_than_a_telephone() {
    let place = imported();
    place.ok(
        "--log all.db run small.yaml --quiet --no-outputs --set parser=game24@1 --set samples=9",
    );
    place.ok("--log all.db check latest --accept --parser game24@2");
    let served = Served::log(&place, "all.db");
    drive(&place, &served, "narrow.mjs", None);
}

/// The answers of eight people before and after they read an argument, some of which say neither yes nor no.
fn exchanges(question: &str) -> String {
    let line = |(n, phase): (usize, &str)| {
        let argument =
            if phase == "after" { "Read this first: A library is for all. " } else { "" };
        let answer = match (n % 4, phase) {
            (3, "before") => "I would rather not say.",
            (_, "before") => "My vote: no",
            (0, _) => "My vote: no",
            _ => "My vote: yes",
        };
        json!({
            "call": format!("{phase}/p{n}"),
            "request": {"model": "gpt-4o-mini", "messages": [
                {"role": "system", "content": format!("You are person {n} of a small town, and say what you think.")},
                {"role": "user", "content": format!("{argument}{question}")},
            ]},
            "response": {
                "model": "gpt-4o-mini",
                "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": answer}}],
                "usage": {"prompt_tokens": 40, "completion_tokens": 5, "total_tokens": 45},
            },
            "label": {
                "participant": format!("p{n}"), "phase": phase,
                "condition": if n < 4 { "control" } else { "story" },
            },
        })
        .to_string()
    };
    let calls = ["before", "after"].into_iter().flat_map(|phase| (0..8).map(move |n| (n, phase)));
    calls.map(line).collect::<Vec<_>>().join("\n")
}

#[cfg_attr(
    not(real_browser),
    ignore = "needs the browser and its driver that scripts/test installs"
)]
#[test]
fn five_questions_are_answered_in_three_clicks() {
    let place = Place::new();
    let config = Path::new(env!("RETOLD_ROOT")).join("config/deliberation_small.yaml");
    let text = std::fs::read_to_string(config).unwrap();
    let text = text.replace("participants_per_condition: 10\n", "participants_per_condition: 3\n");
    let text = format!("{text}  rates:\n    malformed: 0.3\n");
    place.write("first.yaml", text.replace("budgeting_small", "first"));
    let second = text.replace("budgeting_small", "second");
    place.write("second.yaml", second.replace("receive the funding", "receive the money"));
    place.write(
        "vote.yaml",
        "decisions:\n  vote:\n    - strategies:\n        - {regex: '(?im)^my vote:(.*)', one_of: [yes, no]}\n",
    );
    for name in ["first", "second"] {
        place.ok(&format!("run {name}.yaml --quiet --no-outputs"));
    }
    for (name, question) in [
        ("a", "Shall the town pay for a library?"),
        ("b", "Shall the town give money for a library?"),
    ] {
        place.write(&format!("{name}.jsonl"), exchanges(question));
        place.ok(&format!("import {name}.jsonl"));
        place.ok("check latest --accept --parsers vote.yaml");
    }
    let served = Served::log(&place, "retold.db");
    drive(&place, &served, "questions.mjs", None);
}
