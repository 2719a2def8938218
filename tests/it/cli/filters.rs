//! `--parser-cmd`: a program of the user that decides.

use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};

use super::streaming::objects;
use crate::support::cli::{Place, Said, assert_said};

/// Writes a shell script into the folder of a place.
pub(crate) fn script(place: &Place, name: &str, text: &str) {
    place.write(name, format!("#!/bin/sh\n{text}\n"));
    let path = place.path(name);
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// Runs a filter on three answers.
fn decide(place: &Place, command: &str) -> Said {
    place.fed(&["check", "--jsonl", "-", "--parser-cmd", command], b"\"one\"\n\"two\"\n\"three\"\n")
}

/// A filter that makes the same decision on every line.
const CONSTANT: &str = r#"while read -r line; do echo '{"value":1}'; done"#;

#[test]
fn the_example_in_python_decides() {
    let place = Place::new();
    let example = concat!(env!("RETOLD_ROOT"), "/examples/filters/after_answer.py");
    let lines = "\"Let me see.\\nAnswer: 4 * 6 = 24\\n\"\n\"I do not know\"\n";
    for command in [example.to_owned(), format!("python3 '{example}'")] {
        let args = ["check", "--jsonl", "-", "--json", "--parser-cmd", &command];
        let said = place.fed(&args, lines.as_bytes());
        let made = objects(&said);
        assert_eq!(made[0]["value"], "4 * 6");
        assert_eq!(
            (&made[0]["method"], &made[0]["reasoning"]),
            (&json!("after_answer"), &json!("Let me see."))
        );
        assert_eq!(made[1]["warnings"], json!(["there is no `Answer:`"]));
        // The script is identified by its digest, and so is the interpreter that runs it.
        let digests = made[0]["params"]["blake3"].as_object().unwrap();
        let script = blake3::hash(&std::fs::read(example).unwrap()).to_string();
        assert_eq!(digests[example], script);
        assert_eq!(digests.len(), if command == example { 1 } else { 2 });
    }
}

#[test]
fn it_is_given_text_call_sample_and_settings_and_no_keys() {
    let place = Place::new();
    script(&place, "echo.sh", r#"while read -r line; do printf '{"value":%s}\n' "$line"; done"#);
    let line = "{\"call\":\"a/b\",\"sample\":3,\"text\":\"x\\ny\",\"params\":{\"n\":[1]}}\n";
    let said = place
        .fed(&["check", "--jsonl", "-", "--json", "--parser-cmd", "./echo.sh"], line.as_bytes());
    let made = objects(&said);
    let due = json!({"call": "a/b", "sample": 3, "text": "x\ny", "params": {"n": [1]}});
    assert_eq!((&made[0]["value"], &made[0]["method"]), (&due, &json!("filter")));
    assert_eq!(made[0]["params"]["params"], json!({"n": [1]}));

    script(
        &place,
        "env.sh",
        r#"read -r line; printf '{"value":"%s"}' "$(env | cut -d= -f1 | sort | tr '\n' ' ')""#,
    );
    let mut command = place.command();
    command.args(["check", "--text", "-", "--json", "--parser-cmd", "./env.sh"]);
    command.env("OPENAI_API_KEY", "sk-secret").env("PATH", "/usr/bin:/bin").env("SECRET", "x");
    let said = Said::ended(&mut command);
    let made: Value = serde_json::from_str(&said.out).unwrap();
    // The shell itself adds some variables.
    let names = made["value"].as_str().unwrap().split_whitespace();
    let names: Vec<&str> = names.filter(|n| !["PWD", "OLDPWD", "SHLVL", "_"].contains(n)).collect();
    assert_eq!(names, ["HOME", "LANG", "PATH"]);
}

#[test]
fn what_it_does_wrong_is_named() {
    let place = Place::new();
    for (name, text) in [
        ("fine.sh", CONSTANT),
        ("fails.sh", "cat > /dev/null; echo 'no model' >&2; exit 3"),
        ("killed.sh", "kill -9 $$"),
        ("silent.sh", "cat > /dev/null"),
        ("early.sh", r#"echo '{"value":1}'"#),
        ("chatty.sh", r#"echo '{"value":0}'; while read -r line; do echo '{"value":1}'; done"#),
        ("words.sh", "while read -r line; do echo hello; done"),
        ("list.sh", "while read -r line; do echo '[1]'; done"),
        ("cut.sh", r#"while read -r line; do echo '{"value":'; done"#),
        ("nothing.sh", "while read -r line; do echo '{}'; done"),
        ("misspelt.sh", r#"while read -r line; do echo '{"value":1,"warning":"x"}'; done"#),
        ("method.sh", r#"while read -r line; do echo '{"value":1,"method":""}'; done"#),
        ("latin1.sh", r#"while read -r line; do printf '{"value":"\351"}\n'; done"#),
        ("chance.sh", r#"while read -r line; do echo "{\"value\":$$}"; done"#),
        ("counts.sh", r#"n=0; while read -r line; do n=$((n+1)); echo "{\"value\":$n}"; done"#),
    ] {
        script(&place, name, text);
    }
    place.write("no_program.sh", "echo");
    let mut shown = String::new();
    for command in [
        "", "  ", "./missing", "no_such_program", "fine.sh", "./no_program.sh", "./fine.sh 'x",
        "./fails.sh", "./killed.sh", "./silent.sh", "./early.sh", "./chatty.sh", "./words.sh",
        "./list.sh", "./cut.sh", "./nothing.sh", "./misspelt.sh", "./method.sh", "./latin1.sh",
        "./chance.sh", "./counts.sh",
    ] {
        let said = decide(&place, command);
        assert!(said.out.is_empty() && said.code > 1, "{command}: {}", said.out);
        // The filter that is not deterministic decides by its process id.
        let digits = |text: &str| {
            text.split(|c: char| c.is_ascii_digit())
                .filter(|t| !t.is_empty())
                .collect::<Vec<_>>()
                .join("n")
        };
        let said_once = if command == "./chance.sh" { digits(&said.err) } else { said.err };
        shown.push_str(&format!("{command}\n{said_once}[exit {}]\n", said.code));
    }
    assert_eq!(decide(&place, "./fine.sh").code, 0);
    assert_said!("filters_wrong", shown);
}

/// Whether the process that a filter started, and whose id is in the file `sleeper`, ends soon.
fn assert_ended(place: &Place) {
    assert_ends(place, "sleeper");
}

/// Whether the process whose id is in a file ends soon.
fn assert_ends(place: &Place, file: &str) {
    let sleeper = place.read(file);
    let is_running = || {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", sleeper.trim()));
        stat.is_ok_and(|stat| !stat.contains(") Z "))
    };
    // The operating system takes a moment to end a process.
    let ended = (0..500).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        !is_running()
    });
    assert!(ended, "the process {sleeper} goes on");
}

#[test]
fn what_it_has_started_ends_with_it() {
    let place = Place::new();
    for (name, start) in [
        ("silent.sh", "sleep 1000 > /dev/null 2>&1 < /dev/null &"),
        // The started process keeps the output open.
        ("open.sh", "sleep 1000 &"),
    ] {
        script(&place, name, &format!("{start} echo $! > sleeper; {CONSTANT}"));
        let said = decide(&place, &format!("./{name}"));
        assert_eq!(said.code, 0, "{name}: {}", said.err);
        assert_ended(&place);
    }
}

/// Nobody can stop what `kill -9` leaves running, and nobody reads its decisions.
#[test]
fn it_ends_with_a_program_that_is_killed() {
    let place = Place::new();
    // It ignores the end of its input and every signal that can be ignored.
    let text = "trap '' HUP INT TERM PIPE
        sleep 1000 & echo $! > sleeper
        echo $$ > filter.tmp; mv filter.tmp filter
        while :; do sleep 0.1; done";
    script(&place, "stays.sh", text);
    let mut command = place.command();
    command.args(["check", "--text", "-", "--parser-cmd", "./stays.sh"]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut program = command.spawn().unwrap();
    let begun = (0..500).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        place.path("filter").exists()
    });
    assert!(begun, "the filter does not begin");
    program.kill().unwrap();
    program.wait().unwrap();
    assert_ends(&place, "filter");
    assert_ends(&place, "sleeper");
}

/// Whatever else goes wrong, an exit code is reported as an exit code, a signal as a signal, and
/// only a filter that has not ended as out of time.
#[test]
fn how_it_ended_is_reported() {
    let place = Place::new();
    for (name, text) in [
        ("leaves.sh", "sleep 1000 & cat > /dev/null; echo 'no model' >&2; exit 3"),
        ("cut.sh", "cat > /dev/null; printf '{\"value\":\"\\303'; exit 4"),
        ("cut_and_killed.sh", "cat > /dev/null; printf '{\"value\":\"\\303'; kill -s TERM $$"),
        ("held.sh", &format!("setsid sleep 20 & {CONSTANT}")),
        ("held_and_fails.sh", "setsid sleep 20 2> /dev/null & cat > /dev/null; exit 5"),
    ] {
        script(&place, name, text);
    }
    let mut shown = String::new();
    for name in ["leaves", "cut", "cut_and_killed", "held", "held_and_fails"] {
        let said = decide(&place, &format!("./{name}.sh"));
        shown.push_str(&format!("{name}\n{}[exit {}]\n", said.err, said.code));
    }
    assert_said!("filters_endings", shown);
}

#[test]
fn its_time_and_its_output_are_bounded() {
    let place = Place::new();
    // What the filter starts is stopped with it.
    script(&place, "sleeps.sh", "sleep 1000 & echo $! > sleeper; wait");
    let said = place.fed(
        &["check", "--text", "-", "--parser-cmd", "./sleeps.sh", "--parser-cmd-seconds", "1"],
        b"x",
    );
    assert_eq!(said.code, 2);
    assert_eq!(
        said.err,
        "error: the filter ./sleeps.sh had not ended after 1 s and was stopped\n  hint: give it longer with \
         --parser-cmd-seconds N\n"
    );
    assert_ended(&place);
    script(&place, "endless.sh", r#"yes '{"value":1}'"#);
    let said = place.fed(&["check", "--text", "-", "--parser-cmd", "./endless.sh"], b"x");
    assert_eq!(said.code, 2);
    let due = "error: the filter ./endless.sh wrote more than 67108916 bytes for 1 answer and was stopped\n";
    assert_eq!(said.err, due);
    for seconds in ["0", "86401", "x"] {
        let said = place.fed(
            &["check", "--text", "-", "--parser-cmd", "./x", "--parser-cmd-seconds", seconds],
            b"x",
        );
        assert_eq!(said.code, 2);
        assert!(said.err.contains("--parser-cmd-seconds <SECONDS>"), "{}", said.err);
    }
}

/// To a program, an embedding would look like an answer without a text.
#[test]
fn embeddings_are_left_alone() {
    let place = Place::new();
    script(&place, "constant.sh", CONSTANT);
    let vector =
        r#"{"call":"e/1","request":{"model":"m","input":"x"},"response":{"embedding":[0.5,0.25]}}"#;
    let chat = r#"{"call":"c/1","request":{"model":"m","messages":[{"role":"user","content":"x"}]},"response":{"content":"y"}}"#;
    place.write("both.jsonl", format!("{vector}\n{chat}\n"));
    place.write("vectors.jsonl", format!("{vector}\n"));
    let mut shown = place.session(&[
        "check both.jsonl --parser-cmd ./constant.sh",
        "check vectors.jsonl --parser-cmd ./constant.sh",
    ]);
    let parse = ["check", "--jsonl", "-", "--parser-cmd", "./constant.sh"];
    for file in ["both.jsonl", "vectors.jsonl"] {
        let said = place.fed(&parse, place.read(file).as_bytes());
        shown.push_str(&place.shown(&format!("{} < {file}", parse.join(" ")), &said));
    }
    let shown =
        regex::Regex::new(r"blake3[^ ]*").unwrap().replace_all(&shown, "[digest]").into_owned();
    assert_said!("filters_embeddings", shown);
    let (checked, _) = place.json("check both.jsonl --parser-cmd ./constant.sh");
    assert_eq!((&checked["new"], &checked["left"]["embeddings"]), (&json!(1), &json!(1)));
    let json = [&parse[..], &["--json"]].concat();
    let said = place.fed(&json, place.read("both.jsonl").as_bytes());
    let left: Vec<Value> = objects(&said).iter().map(|it| it["left"].clone()).collect();
    assert_eq!(left, [json!("an embedding"), Value::Null]);
}
