//! The views of a log have the rows of `retold table`, column by column, as far as SQL can compute them.

use std::collections::BTreeMap;

use retold::model::{Response, Usage};
use rusqlite::Connection;
use rusqlite::types::Value as Sql;
use serde_json::{Value, json};

use crate::support::cli::Place;
use crate::support::logs::Folder;
use crate::support::program_run::ProgramRun;
use crate::support::rows::rows;

/// The views, and which columns of their tables they do not have: what is hashed, what is known about APIs, and which decisions
/// were accepted later. Labels are one column of a view, as JSON.
const VIEWS: [(&str, &[&str]); 5] = [
    ("runs", &[]),
    (
        "exchanges",
        &[
            "provider", "parameters", "earlier_messages", "new_messages", "blank", "refused",
            "cut_off",
        ],
    ),
    ("decisions", &["in_force", "accepted_in", "refused"]),
    ("facts", &[]),
    ("attempts", &[]),
];

/// Columns whose values name messages, which have numbers in a view and hashes in a table.
const NAMED: [&str; 1] = ["last_message"];

type Row = BTreeMap<String, Value>;

/// The rows of a table of all runs of a log.
fn table(place: &Place, name: &str) -> Vec<Row> {
    // A view has what each run recorded itself.
    let said = place.ok(&format!("table --all --table {name} --as jsonl --recorded"));
    said.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The rows of a view.
fn view(db: &Connection, name: &str) -> Vec<Row> {
    let mut select = db.prepare(&format!("SELECT * FROM {name}")).unwrap();
    let columns: Vec<String> = select.column_names().map(str::to_owned).collect();
    let rows = select.query_map([], |row| {
        let cells = columns.iter().enumerate().map(|(at, column)| {
            Ok((
                column.clone(),
                match row.get::<_, Sql>(at)? {
                    Sql::Null => Value::Null,
                    Sql::Integer(number) => number.into(),
                    Sql::Real(number) => number.into(),
                    Sql::Text(text) => text.into(),
                    Sql::Blob(_) => panic!("{name} has bytes in {column}"),
                },
            ))
        });
        cells.collect::<rusqlite::Result<Row>>()
    });
    rows.unwrap().map(Result::unwrap).collect()
}

/// A value as both have it: JSON parsed, one kind of number, and true as 1.
fn plain(value: &Value) -> Value {
    match value {
        Value::Bool(is) => f64::from(u8::from(*is)).into(),
        Value::Number(number) => number.as_f64().into(),
        Value::String(text) if text.starts_with(['{', '[', '"']) => {
            serde_json::from_str(text).unwrap_or_else(|_| value.clone())
        }
        // Milliseconds that are zero are not printed.
        Value::String(text) => text.replace(".000Z", "Z").into(),
        other => other.clone(),
    }
}

/// In the order of the log.
fn sorted(mut rows: Vec<Row>) -> Vec<Row> {
    let key = |row: &Row| (row["run"].to_string(), row.get("seq").and_then(Value::as_u64));
    rows.sort_by_key(key);
    rows
}

/// Compares all views of a log with the tables; returns how many rows each has.
fn compared(place: &Place) -> BTreeMap<&'static str, usize> {
    let db = Connection::open(place.path("retold.db")).unwrap();
    let rows = VIEWS.map(|(name, lacking)| {
        let (shown, due) = (sorted(view(&db, name)), sorted(table(place, name)));
        assert_eq!(shown.len(), due.len(), "{name}");
        for (shown, due) in shown.iter().zip(&due) {
            let labels: Row = match shown.get("labels").and_then(Value::as_str) {
                Some(labels) => serde_json::from_str(labels).unwrap(),
                None => Row::new(),
            };
            for (column, value) in due {
                let found = match shown.get(column) {
                    Some(found) => found,
                    None if lacking.contains(&column.as_str()) => continue,
                    // A label, which has another name if it is that of a column.
                    None => labels.get(column.trim_start_matches("label_")).unwrap_or(&Value::Null),
                };
                let (found, value) = (plain(found), plain(value));
                match NAMED.contains(&column.as_str()) {
                    true => assert_eq!(found.is_null(), value.is_null(), "{name} {column}"),
                    false => assert_eq!(found, value, "{name} {column} {due:?}"),
                }
            }
        }
        (name, shown.len())
    });
    messages(place, &db);
    rows.into()
}

/// Whole prompts can be put together from both: the same texts of the same roles in the same places.
fn messages(place: &Place, db: &Connection) {
    let contents: BTreeMap<String, Value> = table(place, "contents")
        .into_iter()
        .map(|row| (row["content"].as_str().unwrap().to_owned(), row["text"].clone()))
        .collect();
    let prompts = |rows: Vec<Row>, exchanges: Vec<Row>, text: &dyn Fn(&Row) -> Value| {
        let key = |row: &Row, column: &str| (row["run"].to_string(), row[column].to_string());
        let rows: BTreeMap<_, Row> =
            rows.into_iter().map(|row| (key(&row, "message"), row)).collect();
        let of = |exchange: &Row| {
            let (mut said, mut next) = (Vec::new(), key(exchange, "last_message"));
            while let Some(row) = rows.get(&next) {
                said.push((row["position"].clone(), row["role"].clone(), plain(&text(row))));
                next = key(row, "after");
            }
            said
        };
        sorted(exchanges).iter().map(of).collect::<Vec<_>>()
    };
    let of_views = prompts(view(db, "messages"), view(db, "exchanges"), &|row| row["text"].clone());
    let of_tables = prompts(table(place, "messages"), table(place, "exchanges"), &|row| {
        contents[row["content"].as_str().unwrap()].clone()
    });
    assert_eq!(of_views, of_tables);
}

/// Labels with the names of columns, a dialogue, failures, tool calls, reasoning, several decisions, and one accepted later.
#[test]
fn views_have_the_rows_of_the_tables_of_a_program_s_run() {
    let place = Place::new();
    let mut run = ProgramRun::begin();
    let long = "A long instruction, kept apart from the prompt. ".repeat(9);
    let user = |text: &str| json!({"role": "user", "content": text});
    let parts =
        json!([{"type": "text", "text": long}, {"type": "text", "text": "text:1"}, "odd", true]);
    let mut dialogue =
        vec![json!({"role": "system", "content": long}), user("\u{1b}[31m<b>hi</b>")];
    for n in 0..4 {
        let labels = [("condition", if n % 2 == 0 { "a" } else { "b" }), ("seq", "x")];
        let asked = run.asks("talk", n, &labels, &Value::from(dialogue.clone()));
        if n == 1 {
            run.failed(asked, 0, false);
        }
        let usage = Usage { prompt_tokens: Some(7), cost: Some(0.25), ..Usage::default() };
        let mut response = Response { usage: Some(usage), ..Response::text(format!("answer {n}")) };
        response
            .extra
            .insert("tool_calls".to_owned(), json!([{"id": "c1", "function": {"name": "f"}}]));
        response.extra.insert("reasoning_content".to_owned(), json!("because"));
        let answer = run.answered(asked, response);
        run.decided(
            answer,
            "vote",
            "reported",
            [json!("yes"), json!(3.5), json!(null), json!(true)][n as usize].clone(),
        );
        run.decided(answer, "whole", "reported", json!({"a": [1, {"b": "\u{202e}"}]}));
        dialogue.push(json!({"role": "assistant", "content": null, "tool_calls": [{"id": "c1"}]}));
        dialogue.push(json!({"role": "tool", "tool_call_id": "c1", "content": parts}));
    }
    let given_up = run.asks("lost", 0, &[], &json!([user("?")]));
    run.failed(given_up, 0, false);
    run.failed(given_up, 1, true);
    run.asks("open", 0, &[], &json!(["not a message", 7, user("!")]));
    run.store(&place, 6);
    place.write("labels.csv", "call,sample,value\ntalk,0,no\ntalk,1,=1\n");
    place.ok("score label 0606060606060606 --by ada --name vote --from labels.csv");
    let rows = compared(&place);
    assert_eq!((rows["runs"], rows["exchanges"], rows["attempts"]), (2, 8, 3));
    assert_eq!(rows["decisions"], 10);
}

/// Studies with facts, a fork, an import without labels, and a program that was recorded.
#[test]
fn views_have_the_rows_of_the_tables_of_studies_and_forks() {
    let place = Place::new();
    for name in ["adventure_small.jsonl", "society_small.jsonl", "public_goods_small.jsonl"] {
        place.ok(&format!("import {}/recordings/{name}", env!("RETOLD_ROOT")));
    }
    place.ok("run small.yaml --quiet --no-outputs --set samples=6 --set parser=game24@1 \
        --set retry.max_retries=9 --set model.rates.rate_limited=0.3");
    place.ok("fork latest --set parser=game24@2 --quiet");
    let rows = compared(&place);
    assert!(rows["facts"] > 100 && rows["attempts"] > 0 && rows["runs"] == 5, "{rows:?}");
}

/// A log of which only the first pages are left still has its whole schema.
#[test]
fn the_schema_fits_into_the_first_page() {
    let folder = Folder::new();
    drop(folder.log());
    let db = folder.sql();
    let sql = "SELECT (SELECT page_count FROM pragma_page_count),
        1 + (SELECT count(*) FROM sqlite_schema WHERE rootpage > 0)";
    let [pages, of_tables] = <[String; 2]>::try_from(rows(&db, sql).remove(0)).unwrap();
    assert_eq!(pages, of_tables, "a page of each table and index, and the first");
}

/// A log that was begun before has the views of then: it is sound, is written, and keeps them.
#[test]
fn a_log_with_earlier_views_is_sound_and_is_written() {
    let place = Place::new();
    let fixture = format!("{}/fixtures/logs/program.db", env!("RETOLD_ROOT"));
    std::fs::copy(fixture, place.path("retold.db")).unwrap();
    let views = || {
        let db = Connection::open(place.path("retold.db")).unwrap();
        let mut select = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'view'").unwrap();
        let names = select.query_map([], |row| row.get::<_, String>(0)).unwrap();
        names.collect::<rusqlite::Result<Vec<String>>>().unwrap()
    };
    let before = views();
    assert_eq!(before, ["log", "runs", "exchanges", "decisions"]);
    place.ok("verify");
    place.ok(&format!("import {}/recordings/game24_small.jsonl", env!("RETOLD_ROOT")));
    place.ok("verify");
    assert_eq!(views(), before);
    let db = Connection::open(place.path("retold.db")).unwrap();
    db.execute_batch("DROP VIEW decisions").unwrap();
    drop(db);
    assert_eq!(place.run("verify").code, 1, "every log has this one");
}
