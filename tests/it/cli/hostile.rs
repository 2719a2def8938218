//! Text that would move the cursor, recolour the screen or read backwards is shown as escapes.

use serde_json::{Value, json};

use crate::support::cli::{Place, assert_said};

/// ANSI, a bidirectional override, a C1 control, a carriage return, a zero-width space.
const HOSTILE: &str =
    "Answer: \u{1b}[2J\u{1b}]0;owned\u{7}\u{202e}42 = 6*4\u{9b}31m\roverwritten\u{200b}";

/// Asserts that a text contains nothing that a terminal would obey.
fn assert_inert(text: &str, whence: &str) {
    let bad = |c: &char| {
        (c.is_control() && *c != '\n' && *c != '\t')
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}')
    };
    assert_eq!(text.chars().find(bad), None, "{whence}: {text:?}");
}

/// A run whose answers, model name and prompt are hostile.
fn place() -> Place {
    let place = Place::new();
    place.write("evil.txt", format!("{{input}} {HOSTILE}"));
    place.write("mild.txt", "{input}");
    let config = crate::support::cli::SMALL;
    place.write("evil.yaml", config.replace("template: cot", "template: evil.txt"));
    place.ok("run evil.yaml --quiet");
    place.ok("export latest answers.jsonl --as exchanges");
    let evil = |line: &str| {
        let mut line: Value = serde_json::from_str(line).unwrap();
        line["response"] = json!({"content": HOSTILE, "model": HOSTILE, "finish_reason": HOSTILE});
        format!("{line}\n")
    };
    let answers: String = place.read("answers.jsonl").lines().map(evil).collect();
    place.write("answers.jsonl", answers);
    place.ok("run evil.yaml --quiet --answers answers.jsonl --set parser=game24@1");
    place
}

#[test]
fn in_text() {
    let place = place();
    for args in [
        "log",
        "log latest",
        "show latest",
        "show latest 3",
        "audit latest solve/0#0",
        "check latest",
        "replay latest",
        "verify",
    ] {
        let said = place.run(args);
        assert!(said.code <= 1, "{args}: {}", said.err);
        assert_inert(&said.out, args);
        assert_inert(&said.err, args);
    }
    assert_said!("hostile_audit", place.ok("audit latest solve/0#0"));
}

#[test]
fn in_json_it_is_escaped_and_the_same() {
    let place = place();
    let said = place.run("audit latest solve/0#0 --json");
    assert_inert(&said.out, "audit");
    let audit: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(audit["answer"]["text"], HOSTILE);
    // A recording is data for programs, but it is still safe to print.
    let exported = place.ok("export latest --as exchanges");
    let first: Value = serde_json::from_str(exported.lines().next().unwrap()).unwrap();
    assert_eq!(first["response"]["content"], HOSTILE);
}

#[test]
fn in_errors() {
    let place = place();
    place.write("bad.yaml", format!("experiment: game24\nsam{HOSTILE}: 3\n"));
    place.write("bad2.yaml", "experiment: \"\\e[2J\"\nsamples: 3\n");
    place.write("bad.jsonl", format!("{{\"request\":{{\"{HOSTILE}\":1}},\"response\":{{}}}}\n"));
    place.write("puzzles.txt", HOSTILE);
    let set = format!("template={HOSTILE}");
    let commands: [&[&str]; 9] = [
        &["run", "bad.yaml"],
        &["run", "bad2.yaml"],
        &["run", "small.yaml", "--answers", "bad.jsonl"],
        &["run", "small.yaml", "--set", "puzzles.file=puzzles.txt"],
        &["run", "small.yaml", "--set", &set],
        &["import", "bad.jsonl"],
        &["replay", HOSTILE],
        &["audit", "latest", HOSTILE],
        // The nearest recorded prompt is hostile.
        &["run", "small.yaml", "--answers", "answers.jsonl", "--set", "template=mild.txt"],
    ];
    for args in commands {
        let said = place.args(args);
        assert!((2..=3).contains(&said.code), "{args:?}: {} {}", said.code, said.err);
        assert_inert(&said.err, &format!("{args:?}"));
        assert_inert(&said.out, &format!("{args:?}"));
    }
}
