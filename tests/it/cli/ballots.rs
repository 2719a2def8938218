//! Several decisions about each answer, by a parser file that names them.

use std::path::Path;

use serde_json::{Value, json};

use super::parser_files::{page, shell};
use crate::support::cli::{Place, assert_said};
use crate::support::server::{Received, Reply, Server};

/// The voters of the guide. The second ranks two of three, the third says nothing about buses, and the fourth is not sure.
fn answer(request: &Received) -> Reply {
    let body = request.json();
    let prompt = body["messages"][0]["content"].as_str().unwrap();
    Reply::chat(match prompt {
        _ if prompt.contains("voter 1") => {
            "Vote: yes\nConfidence: 80\nRanking: buses > parks > library\nPoints: buses 5, parks 3, library 2\nUses: buses and parks"
        }
        _ if prompt.contains("voter 2") => {
            "Vote: No.\nConfidence: 65\nRanking: parks, buses\nPoints: parks: 10\nUses: parks"
        }
        _ if prompt.contains("voter 3") => {
            "Vote: yes\nConfidence: 90\nRanking: 1. library 2. parks 3. buses\nPoints: 6 points to library, 4 to parks\nUses: parks, library"
        }
        _ => {
            "Vote: yes\nConfidence: quite sure\nRanking: library: 2, parks: 1, buses: 3\nPoints: parks (4), library (4), buses (2)\nUses: all, but not buses"
        }
    })
}

/// The guide is followed as it is; then a strategy is changed, and only the decision of its name differs.
#[test]
fn the_guide_on_ballots() {
    let (commands, files) = page("docs/guide/ballots.md");
    let (place, server) = (Place::new(), Server::handler(answer));
    for (name, text) in &files {
        place.write(name, text);
    }
    let mut shown = String::new();
    for line in &commands {
        let said = shell(&place, line, &server.base_url());
        assert_eq!(said.code, 0, "{line}\n{}{}", said.out, said.err);
        if !line.contains("record") {
            shown.push_str(&place.shown(line.trim_start_matches("retold "), &said));
        }
    }
    shown.push_str(&place.session(&[
        "check ballots --parsers ballots.yaml --accept",
        "check latest --parsers ballots.yaml --most 0",
        "stats ballots",
        "verify",
    ]));
    let (_, lines) = place
        .read("decisions.csv")
        .split_once('\n')
        .map(|(a, b)| (a.to_owned(), b.to_owned()))
        .unwrap();
    assert_eq!(lines.lines().count(), 20, "{lines}");
    let changed = place.read("ballots.yaml").replace("{from: 0, to: 100}", "{from: 0, to: 80}");
    place.write("ballots.yaml", changed);
    let (checks, code) = place.json("check latest --parsers ballots.yaml");
    let flips = |check: &Value| (check["decision"].clone(), check["flips"].clone());
    let flips: Vec<_> = checks["checks"].as_array().unwrap().iter().map(flips).collect();
    let due = [("confidence", 1), ("points", 0), ("ranking", 0), ("uses", 0), ("vote", 0)];
    assert_eq!((code, flips), (1, due.map(|(name, flips)| (json!(name), json!(flips))).to_vec()));
    // How long a server took is not the same each time.
    let shown = shown.lines().filter(|line| !line.starts_with("latency"));
    let shown: String = shown.map(|line| format!("{line}\n")).collect();
    assert_said!("ballots_guide", shown);
}

/// A decision of a file is compared with recorded ones of its name, and replaces only these.
#[test]
fn a_name_of_a_file_stands_beside_all_others() {
    let place = Place::new();
    let line = |n: usize, text: &str| {
        let request =
            json!({"model": "m", "messages": [{"role": "user", "content": format!("q {n}")}]});
        json!({"call": format!("q/{n}"), "request": request, "response": {"content": text}})
            .to_string()
    };
    place.write("answers.jsonl", [line(1, "yes, sure: 7"), line(2, "no, sure: 3")].join("\n"));
    place.ok("import answers.jsonl");
    place.write("one.yaml", "parsers: [{name: vote, strategies: [{one_of: [yes, no]}]}]\n");
    place.ok("check latest --parsers one.yaml --accept");
    place.write(
        "two.yaml",
        "decisions:\n  sure: [{strategies: [{number: {}}]}]\n  vote: [{strategies: [{one_of: ['yes']}]}]\n",
    );
    let (checks, _) = place.json("check latest --parsers two.yaml --accept");
    let seen = |check: &Value| {
        let count = |key: &str| check[key].as_u64().unwrap();
        (
            check["decision"].as_str().unwrap().to_owned(),
            count("decisions"),
            count("new"),
            count("flips"),
        )
    };
    let seen: Vec<_> = checks["checks"].as_array().unwrap().iter().map(seen).collect();
    assert_eq!(seen, [("sure".to_owned(), 0, 2, 0), ("vote".to_owned(), 2, 0, 1)]);
    let table = place.ok("table latest --table decisions --as jsonl");
    let rows = table.lines().map(|row| serde_json::from_str::<Value>(row).unwrap());
    let rows: Vec<String> = rows
        .filter(|row| row["in_force"] == true)
        .map(|row| format!("{} {} {}", row["call"], row["name"], row["value"]))
        .collect();
    let due = [
        r#""q/1" "sure" "7""#,
        r#""q/1" "vote" "\"yes\"""#,
        r#""q/2" "sure" "3""#,
        r#""q/2" "vote" null"#,
    ];
    let mut rows = rows;
    rows.sort();
    assert_eq!(rows, due);
}

#[test]
fn what_is_wrong_with_a_file_of_decisions_is_explained() {
    let place = Place::with_run();
    place.write("fine.yaml", "decisions: {words: [{strategies: [{last_line: true}]}]}\n");
    place.write(
        "both.yaml",
        "parsers: [{name: p, strategies: [{}]}]\ndecisions: {words: [{strategies: [{}]}]}\n",
    );
    place.write("empty.yaml", "decisions: {words: []}\n");
    place.write("bare.yaml", "decisions: {words: {strategies: [{}]}}\n");
    place.write("named.yaml", "decisions: {two words: [{strategies: [{}]}]}\n");
    place.write("unnamed.yaml", "parsers: [{strategies: [{}]}]\n");
    place.write("twice.yaml", "decisions: {a: [{strategies: [{}]}, {strategies: [{}]}]}\n");
    place.write("count.yaml", "decisions: {a: [{strategies: [{choices: [x, y], count: 3}]}]}\n");
    place.write("range.yaml", "decisions: {a: [{strategies: [{ranking: [x, y], count: many}]}]}\n");
    place.write("kinds.yaml", "decisions: {a: [{strategies: [{ranking: [x], points: [x]}]}]}\n");
    place.write("nothing.yaml", "decisions: {a: [{strategies: [{number: {}, count: 2}]}]}\n");
    let mut commands: Vec<String> = ["--name x", "--refold", "--snapshots there"]
        .map(|option| format!("check latest --parsers fine.yaml {option}"))
        .to_vec();
    for file in
        ["both", "empty", "bare", "named", "unnamed", "twice", "count", "range", "kinds", "nothing"]
    {
        commands.push(format!("check latest --parsers {file}.yaml"));
    }
    let commands: Vec<&str> = commands.iter().map(String::as_str).collect();
    let mut shown = place.session(&commands);
    let text = "fine.yaml";
    let said = place.fed(&["check", "--text", "-", "--parsers", text], b"one\ntwo");
    shown.push_str(&place.shown("check --text - --parsers fine.yaml", &said));
    assert!(!Path::new(&place.path("there")).exists());
    assert_said!("ballots_wrong", shown);
}
