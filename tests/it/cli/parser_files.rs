//! Parsers that are written down in a file, on recorded answers.

use std::path::Path;
use std::process::Command;

use crate::support::cli::{Place, Said, assert_said};
use crate::support::server::{Received, Reply, Server};

/// The commands of a page, and the files that it shows, by name.
pub(super) fn page(path: &str) -> (Vec<String>, Vec<(String, String)>) {
    let path = Path::new(env!("RETOLD_ROOT")).join(path);
    let text = std::fs::read_to_string(path).unwrap();
    let (mut commands, mut files) = (Vec::new(), Vec::new());
    // A fence begins a line: a text may have three backticks elsewhere.
    for block in text.split("\n```").skip(1).step_by(2) {
        let (kind, body) = block.split_once('\n').unwrap();
        match kind.split_once(' ') {
            Some((_, name)) => files.push((name.to_owned(), format!("{body}\n"))),
            None if kind == "text" => {}
            None => commands.extend(body.lines().map(str::to_owned)),
        }
    }
    (commands, files)
}

fn answer(request: &Received) -> Reply {
    let body = request.json();
    let prompt = body["messages"][0]["content"].as_str().unwrap();
    Reply::chat(match prompt {
        _ if prompt.contains("parks") => "Some agree, some disagree.\n\nDisagree.",
        _ if prompt.contains("buses") => "Many disagree. I agree.\nThat is all.",
        _ if prompt.contains("from 1 to 7") => "On a scale of 1 to 7: <Rating>\n6\n</Rating>",
        _ => "Rome",
    })
}

pub(super) fn shell(place: &Place, line: &str, url: &str) -> Said {
    let retold = Path::new(env!("CARGO_BIN_EXE_retold")).parent().unwrap();
    let mut command = Command::new("/bin/sh");
    place.shut_off(&mut command);
    command.args(["-c", line]).env("OPENAI_BASE_URL", url).env("OPENAI_API_KEY", "sk-0123456789");
    command.env("PATH", format!("{}:/usr/local/bin:/usr/bin:/bin", retold.display()));
    Said::ended(&mut command)
}

/// The page is followed as it is; then the file is changed.
#[test]
fn the_page_on_parser_files() {
    let (commands, files) = page("docs/parsers.md");
    let (place, server) = (Place::new(), Server::handler(answer));
    for (name, text) in &files {
        place.write(name, text);
    }
    let mut shown = String::new();
    for line in &commands {
        let said = shell(&place, line, &server.base_url());
        assert_eq!(said.code, 0, "{line}\n{}{}", said.out, said.err);
        if line.contains("check") {
            shown.push_str(&place.shown(line.trim_start_matches("retold "), &said));
        }
    }
    let sql = "SELECT method, value, parser FROM decisions ORDER BY seq";
    let db = rusqlite::Connection::open(place.path("retold.db")).unwrap();
    let rows = crate::support::rows::rows(&db, sql);
    shown.extend(rows.iter().map(|row| row.join(" | ") + "\n"));
    // The accepted decisions are those of the file.
    shown.push_str(&place.session(&[
        "check latest --parsers parsers.yaml",
        "check latest",
        "verify",
    ]));
    let changed = place.read("parsers.yaml").replace("pick: last", "pick: first");
    place.write("parsers.yaml", changed);
    shown.push_str(&place.session(&["check latest --parsers parsers.yaml"]));
    assert_said!("parser_files_page", shown);
}

/// A study's run has decisions of its own parsers: a file decides about them as well.
#[test]
fn a_file_decides_about_the_answers_of_a_study() {
    let place = Place::with_run();
    place.write(
        "parsers.yaml",
        "parsers:\n  - name: last_words\n    for: {call: solve/*, model: gpt-4}\n    strategies: [{last_line: true}]\n",
    );
    let (checked, code) = place.json("check latest --parsers parsers.yaml");
    assert_eq!((code, checked["decisions"].as_u64()), (1, Some(6)));
    assert_eq!(checked["parser_from"], "game24@2");
    assert!(checked["parser_to"].as_str().unwrap().starts_with("last_words@"));
    let methods = checked["by_method"].as_object().unwrap().values();
    let now = methods.flat_map(|now| now.as_object().unwrap().keys());
    assert!(
        now.clone().count() > 0 && now.clone().all(|method| method == "last_line"),
        "{checked}"
    );
    place.ok("check latest --parsers parsers.yaml --accept");
    place.ok("verify");
}

#[test]
fn what_cannot_be_decided_is_explained() {
    let place = Place::with_run();
    let parsers = |text: &str| format!("parsers:\n  - name: p\n    strategies:\n      - {text}\n");
    place.write("broken.yaml", parsers("{regex: '(a'}"));
    place.write(
        "elsewhere.yaml",
        parsers("{}").replace("strategies", "for: {model: claude}\n    strategies"),
    );
    place.write("fine.yaml", parsers("{}"));
    let shown = place.session(&[
        "check latest --parsers missing.yaml",
        "check latest --parsers broken.yaml",
        "check latest --parsers elsewhere.yaml",
        "check latest --parsers fine.yaml --parser game24@2",
        "check latest --parsers fine.yaml --call solve/none",
    ]);
    assert_said!("parser_files_wrong", shown);
}

/// A file is tried without a log, on a text and on lines that say what they answer; tool calls count.
#[test]
fn a_file_is_tried_on_answers_from_standard_input() {
    let place = Place::new();
    place.write(
        "parsers.yaml",
        "parsers:
- name: ballot
  for: {call: judge, prompt: '(?i)vote'}
  strategies:
  - {tool: vote, json: choice, one_of: [yes, no]}
  - {last_line: true, one_of: [yes, no]}
- name: score
  for: {model: 'gpt-*'}
  strategies: [{number: {from: 1, to: 7}}]
",
    );
    let ask = |prompt: &str| {
        format!(r#"{{"model":"gpt-4","messages":[{{"role":"user","content":"{prompt}"}}]}}"#)
    };
    let lines = [
        format!(
            r#"{{"call":"judge/1","request":{},"response":{{"content":null,"extra":{{"tool_calls":[{{"id":"c","type":"function","function":{{"name":"vote","arguments":"{{\"choice\":\"No\"}}"}}}}]}}}}}}"#,
            ask("Vote!")
        ),
        format!(r#"{{"call":"judge/2","request":{},"text":"I vote\nyes"}}"#, ask("Vote!")),
        format!(r#"{{"call":"other","request":{},"text":"5"}}"#, ask("Rate it")),
        r#"{"call":"judge/3","text":"yes"}"#.to_owned(),
        r#"{"call":"judge/4","error":{"kind":"server"}}"#.to_owned(),
    ]
    .join("\n");
    let mut shown = String::new();
    for (args, input) in [
        ("check --text - --parsers parsers.yaml", "3\nyes"),
        ("check --text - --parsers parsers.yaml --json", "3"),
        ("check --parsers parsers.yaml --jsonl -", &lines),
        ("check --parsers parsers.yaml --jsonl - --json", &lines),
        ("check --text - --parsers missing.yaml", ""),
        ("check --text - --parsers parsers.yaml --parser vote", ""),
    ] {
        let words: Vec<&str> = args.split(' ').collect();
        let said = place.fed(&words, input.as_bytes());
        shown.push_str(&place.shown(args, &said));
    }
    assert_said!("parser_files_tried", shown);
}

/// The audit of a decision that was accepted names the file, and what it says of the parser.
#[test]
fn an_audit_names_the_parser_file() {
    let place = Place::with_run();
    place.write(
        "mine.yaml",
        "parsers:\n- name: number\n  strategies: [{number: {}, pick: first}]\n",
    );
    let accepted = place.run("check latest --parsers mine.yaml --accept");
    assert_eq!(accepted.code, 0, "{}", accepted.err);
    let db = rusqlite::Connection::open(place.path("retold.db")).unwrap();
    let sql = "SELECT max(seq) FROM log WHERE kind = 'DecisionMade'
        AND run = (SELECT run FROM log ORDER BY time DESC, run DESC LIMIT 1)";
    let seq = crate::support::rows::rows(&db, sql)[0][0].clone();
    let audit = place.run(&format!("audit latest {seq}"));
    let hash = blake3::hash(place.read("mine.yaml").as_bytes()).to_hex();
    assert!(audit.out.contains(&format!("  file     mine.yaml, BLAKE3 {hash}")), "{}", audit.out);
    assert!(audit.out.contains("  defined  {\"name\":\"number\""), "{}", audit.out);
}
