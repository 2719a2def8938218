//! `retold table`: runs as tables.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use retold_tables::{ColumnKind, LabelColumns, Table};
use serde_json::Value;

use crate::support::cli::{Place, assert_said};

const RECORDINGS: [&str; 5] = [
    "adventure_small.jsonl",
    "deliberation_small.jsonl.zst",
    "game24_small.jsonl",
    "public_goods_small.jsonl",
    "society_small.jsonl",
];

fn recording(name: &str) -> String {
    format!("{}/recordings/{name}", env!("RETOLD_ROOT"))
}

/// A table as it is printed with --json: one object per line.
fn rows(place: &Place, arguments: &str) -> Vec<Value> {
    let text = place.ok(&format!("table {arguments} --as jsonl"));
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// What a model says reaches no terminal as it is.
#[test]
fn foreign_text_is_printed_inert() {
    let place = Place::new();
    let request = r#"{"model":"m","messages":[{"role":"user","content":"?"}]}"#;
    let answer = r#"{"content":"\u001b[31mred\u202e","finish_reason":"stop"}"#;
    let line = format!(r#"{{"call":"q/1","request":{request},"response":{answer}}}"#);
    place.write("exchanges.jsonl", line);
    place.ok("import exchanges.jsonl");
    let out = place.ok("table --as jsonl");
    assert!(!out.contains(['\u{1b}', '\u{202e}']), "{out}");
    assert_eq!(rows(&place, "latest")[0]["answer"], "\u{1b}[31mred\u{202e}");
    assert_eq!(rows(&place, "latest latest").len(), 1, "a run that is named twice is one");
    assert!(rows(&place, "latest")[0]["latency_ms"].is_null(), "it was not recorded");
}

/// The JSON in a column.
fn inner(row: &Value, column: &str) -> Value {
    row[column].as_str().map_or(Value::Null, |json| serde_json::from_str(json).unwrap())
}

/// Compared with what `log` and `stats` say, which count by another way.
#[test]
fn tables_have_what_the_events_have() {
    let place = Place::new();
    for name in RECORDINGS {
        place.ok(&format!("import {}", recording(name)));
        let (log, _) = place.json("log latest --most 1000000");
        let events = log["events"].as_array().unwrap();
        let of =
            |kind: &str| events.iter().filter(|event| event["kind"] == kind).collect::<Vec<_>>();
        let (stats, _) = place.json("stats latest");
        let exchanges = rows(&place, "latest");
        assert_eq!(exchanges.len(), of("RequestSent").len(), "{name}");
        let seqs: Vec<u64> = exchanges.iter().map(|row| row["seq"].as_u64().unwrap()).collect();
        assert!(seqs.is_sorted(), "{name}");
        let answered = exchanges.iter().filter(|row| row["status"] == "answered");
        assert_eq!(stats["calls"]["answered"], answered.count(), "{name}");
        let sum =
            |column: &str| exchanges.iter().filter_map(|row| row[column].as_u64()).sum::<u64>();
        assert_eq!(stats["tokens"]["completion"], sum("completion_tokens"), "{name}");
        assert_eq!(
            rows(&place, "latest --table attempts").len(),
            of("AttemptFailed").len(),
            "{name}"
        );
        for (table, kind) in [("decisions", "DecisionMade"), ("facts", "Occurred")] {
            let (rows, events) = (rows(&place, &format!("latest --table {table}")), of(kind));
            assert_eq!(rows.len(), events.len(), "{name}");
            for (row, event) in rows.iter().zip(&events) {
                assert_eq!(row["seq"], event["seq"], "{name}");
            }
        }
        let decisions = rows(&place, "latest --table decisions");
        for (row, event) in decisions.iter().zip(of("DecisionMade")) {
            assert_eq!(inner(row, "value"), event["body"]["value"], "{name}");
            let asked = exchanges.iter().find(|asked| asked["answer_seq"] == row["answer_seq"]);
            assert_eq!(asked.unwrap()["call"], row["call"], "{name}");
        }
        let run = &rows(&place, "latest --table runs")[0];
        assert_eq!(run["events"], events.len(), "{name}");
        assert_eq!(run["head"], events.last().unwrap()["hash"], "{name}");
    }
}

/// What a prompt shares with earlier ones is listed once, and nothing is lost by it.
#[test]
fn prompts_can_be_put_together_from_their_messages() {
    let place = Place::new();
    for name in RECORDINGS {
        let file = recording(name);
        let contents: BTreeMap<String, String> = rows(&place, &format!("{file} --table contents"))
            .iter()
            .map(|row| (text(row, "content"), text(row, "text")))
            .collect();
        for (hash, text) in &contents {
            assert_eq!(*hash, blake3::hash(text.as_bytes()).to_string(), "anybody can check it");
        }
        let listed = rows(&place, &format!("{file} --table messages"));
        let messages: BTreeMap<String, &Value> =
            listed.iter().map(|row| (text(row, "message"), row)).collect();
        assert_eq!(messages.len(), listed.len(), "each is listed once");
        for row in rows(&place, &format!("{file} --prompts")) {
            let request = inner(&row, "request");
            let Some(asked) = request["messages"].as_array() else { continue };
            let mut found = Vec::new();
            let mut last = row["last_message"].as_str();
            while let Some(message) = last.map(|last| messages[last]) {
                let said = &contents[&text(message, "content")];
                found.push((message["role"].clone(), said.clone()));
                last = message["after"].as_str();
            }
            found.reverse();
            let text = |said: &Value| said.as_str().map_or_else(|| said.to_string(), str::to_owned);
            let said = asked.iter().map(|said| (said["role"].clone(), text(&said["content"])));
            assert_eq!(found, said.collect::<Vec<_>>(), "{name}");
            let new = inner(&row, "new_messages").as_array().unwrap().len() as u64;
            assert_eq!(row["earlier_messages"].as_u64().unwrap() + new, asked.len() as u64);
        }
    }
}

fn text(row: &Value, column: &str) -> String {
    row[column].as_str().unwrap().to_owned()
}

/// The second run of the same command replaces what it wrote, and other runs stay.
#[test]
fn a_folder_has_a_file_for_each_run() {
    let place = Place::with_run();
    let first = place.ok("table --to tables");
    assert_eq!(place.ok("table --to tables"), first);
    place.ok(&format!("import {}", recording("society_small.jsonl")));
    place.ok("table --to tables");
    place.ok("table --all --to csv --as csv");
    let files = |folder: &str| {
        let mut files: Vec<_> = std::fs::read_dir(place.path(folder)).unwrap().collect();
        files.sort_by_key(|file| file.as_ref().unwrap().file_name());
        files.into_iter().map(|file| file.unwrap().path()).collect::<Vec<_>>()
    };
    for table in Table::ALL {
        assert_eq!(files(&format!("tables/{}", table.name())).len(), 2, "{}", table.name());
    }
    place.ok("table latest latest --to one --table facts");
    let only: Vec<_> = std::fs::read_dir(place.path("one")).unwrap().collect();
    assert_eq!((only.len(), files("one/facts").len()), (1, 1));
    let csv: usize = files("csv/exchanges").iter().map(|file| csv_rows(file)).sum();
    assert_eq!(csv, rows(&place, "--all").len());
}

fn csv_rows(file: &Path) -> usize {
    csv::Reader::from_path(file).unwrap().records().map(Result::unwrap).count()
}

#[test]
fn what_cannot_be_written_is_said() {
    let place = Place::with_run();
    place.write("there.csv", "mine");
    let mut all = String::new();
    for arguments in [
        "--to there.csv",
        "--to runs.xlsx",
        "--to runs.csv --as parquet",
        "--to there.csv/below",
        "--table votes",
        "nobody",
        "latest --all",
        "--to missing/folder/x.parquet",
    ] {
        let said = place.run(&format!("table {arguments}"));
        assert_ne!(said.code, 0, "{arguments}");
        all.push_str(&place.shown(&format!("table {arguments}"), &said));
    }
    assert_eq!(place.read("there.csv"), "mine");
    place.ok("table --to there.csv --force");
    assert!(place.read("there.csv").starts_with("call,puzzle,answer,status,sample,prompt,"));
    let said = place.run("table --to small.parquet");
    all.push_str(&place.shown("table --to small.parquet", &said));
    assert_said!("tables_refused", all);
}

/// `docs/tables.md` is made from the columns; `UPDATE_TABLES=1` writes it again.
#[test]
#[expect(clippy::disallowed_methods, reason = "writes the page if that is asked for")]
fn the_documentation_has_every_column() {
    let file = Path::new(env!("RETOLD_ROOT")).join("docs/tables.md");
    let before = std::fs::read_to_string(&file).unwrap();
    let (before, _) = before.split_once("## runs").unwrap();
    let mut page = before.to_owned();
    for table in Table::ALL {
        let _ = write!(page, "## {}\n\n| column | | |\n|---|---|---|\n", table.name());
        for column in table.columns(&LabelColumns::default(), true) {
            let _ =
                writeln!(page, "| `{}` | {} | {} |", column.name, kind(column.kind), column.about);
            let before_labels = match table {
                Table::Decisions => "value",
                Table::Exchanges | Table::Attempts => "call",
                Table::Runs | Table::Messages | Table::Contents | Table::Facts => "",
            };
            if column.name == before_labels {
                let _ = writeln!(page, "| *each label* | text | what the call belongs to |");
            }
        }
        page.push('\n');
    }
    let page = format!("{}\n", page.trim_end());
    if std::env::var_os("UPDATE_TABLES").is_some() {
        std::fs::write(&file, &page).unwrap();
    }
    let now = std::fs::read_to_string(&file).unwrap();
    assert!(now == page, "UPDATE_TABLES=1 writes it again");
}

fn kind(kind: ColumnKind) -> &'static str {
    match kind {
        ColumnKind::Text => "text",
        ColumnKind::Json => "JSON",
        ColumnKind::Integer => "integer",
        ColumnKind::Real => "real",
        ColumnKind::Truth => "true or false",
        ColumnKind::Time => "time",
    }
}
