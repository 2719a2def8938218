//! Logs of `llm`, which versions 0.27.1 and 0.36 wrote (`fixtures/llm`).

use std::io::Read;
use std::path::Path;

use flate2::read::GzDecoder;
use rusqlite::Connection;

use super::cassettes::said;
use crate::support::cli::{Place, Said};
use crate::support::rows::rows;

/// A folder with a log of llm as `logs.db`.
fn place(name: &str) -> Place {
    let place = Place::new();
    let packed = Path::new(env!("RETOLD_ROOT")).join("fixtures/llm").join(name);
    std::fs::copy(&packed, place.path("logs.db.gz")).unwrap();
    let mut log = Vec::new();
    GzDecoder::new(std::fs::File::open(packed).unwrap()).read_to_end(&mut log).unwrap();
    place.write("logs.db", log);
    place
}

/// What was asked and answered, and what it is called in the log of llm.
fn exchanges(place: &Place) -> String {
    let db = Connection::open(place.path("retold.db")).unwrap();
    let sql = "SELECT seq, kind, call, sample, content, json_extract(body, '$.prompt_tokens'),
          json_extract(body, '$.extra.tool_calls[0].function.arguments')
        FROM log WHERE kind IN ('RequestSent', 'ResponseReceived') ORDER BY run, seq";
    rows(&db, sql).iter().map(|row| row.join(" | ") + "\n").collect()
}

/// Ids are made of times.
fn without_ids(text: &str) -> String {
    let id = regex::Regex::new(r#"(responses|turns) 01[^ ,)"]+"#).unwrap();
    id.replace_all(text, "$1 [id]").into_owned()
}

#[test]
fn both_schemas_are_imported_and_what_is_lost_is_listed() {
    for name in ["old", "new"] {
        let place = place(&format!("{name}.db.gz"));
        let mut text = without_ids(&said(&place, "import logs.db"));
        text += &exchanges(&place);
        // Packed, and through a pipe.
        text += &without_ids(&said(&place, "--log packed.retold import logs.db.gz --json"));
        insta::with_settings!({snapshot_suffix => name}, { insta::assert_snapshot!(text) });
    }
}

/// What llm sends is found, streamed or not; what the log does not have is shown, and not replayed.
#[test]
fn chat_completions_are_replayed() {
    let place = place("new.db.gz");
    said(&place, "import logs.db");
    let ask = |body: &str| {
        let curl = format!("curl -sS --max-time 20 $OPENAI_BASE_URL/chat/completions -d '{body}'");
        let mut program = place.command();
        program.args(["replay", "latest", "--", "sh", "-c", &curl]).env("PATH", super::PATH);
        Said::ended(&mut program)
    };
    let plain = ask(
        r#"{"model":"gpt-4o-mini","temperature":0.5,"messages":[{"role":"user","content":"Name a river."}]}"#,
    );
    assert!(plain.out.contains(r#""content":"Answer 4 to 'Name a river.'.""#), "{}", plain.out);
    let streamed = ask(
        r#"{"model":"gpt-4o-mini","stream":true,"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"Name a sea."}]}"#,
    );
    assert!(streamed.out.starts_with("data: {") && streamed.out.contains("Answer 1 to"));
    assert!(streamed.out.ends_with("data: [DONE]\n\n"), "{}", streamed.out);
    let completion =
        ask(r#"{"model":"gpt-4o-mini","messages":[{"role":"user","content":"Who are you?"}]}"#);
    assert!(completion.out.contains("is not recorded"), "{}", completion.out);
}

/// What is asked of any run.
#[test]
fn other_commands_read_it() {
    let place = place("new.db.gz");
    said(&place, "import logs.db --name diary");
    place.write(
        "parsers.yaml",
        "parsers:\n- name: first_number\n  strategies:\n  - {number: {}, pick: first}\n",
    );
    let mut text = String::new();
    for args in [
        "show latest",
        "show latest openai.chat/87ce165c86d56174/stream#1",
        "show latest llm/4a48fc724915ffe1",
        "check latest --parsers parsers.yaml",
        "verify latest",
        "export latest out.jsonl",
        "export latest out.yaml --as vcrpy",
    ] {
        text += &said(&place, args);
    }
    insta::assert_snapshot!(without_ids(&text));
    assert_eq!(place.run("--log copy.db import out.jsonl").code, 0);
}

/// Databases that are damaged, or that would have the reader compute something.
#[test]
fn a_strange_database_is_refused_and_nothing_is_imported() {
    let place = place("new.db.gz");
    let log = std::fs::read(place.path("logs.db")).unwrap();
    place.write("cut.db", &log[..20_000]);
    let make = |name: &str, sql: &str| {
        let db = Connection::open(place.path(name)).unwrap();
        db.execute_batch(sql).unwrap();
    };
    make("other.db", "CREATE TABLE notes (id TEXT)");
    make("empty.db", "CREATE TABLE responses (id TEXT)");
    let endless =
        "WITH RECURSIVE c(x) AS (VALUES(1) UNION ALL SELECT x + 1 FROM c) SELECT x AS id FROM c";
    make("view.db", &format!("CREATE VIEW responses AS {endless}"));
    make(
        "circle.db",
        "CREATE TABLE messages (hash TEXT, parent_hash TEXT, role TEXT);
         INSERT INTO messages VALUES ('a', 'b', 'user'), ('b', 'a', 'user');
         CREATE TABLE turns (id TEXT, parent_message_hash TEXT, tip_message_hash TEXT, model TEXT);
         INSERT INTO turns VALUES ('t', 'a', 'b', 'm')",
    );
    make(
        "gone.db",
        "CREATE TABLE turns (id TEXT, tip_message_hash TEXT); INSERT INTO turns VALUES ('t', 'x')",
    );
    make(
        "json.db",
        "CREATE TABLE responses (id TEXT, prompt_json TEXT); INSERT INTO responses VALUES ('r', '{\"a\": ]')",
    );
    make(
        "utf8.db",
        "CREATE TABLE responses (id TEXT, prompt TEXT);
         INSERT INTO responses VALUES ('r', CAST(x'FF' AS TEXT))",
    );
    // A column that computes is as good as not there, and a number is not a text.
    make(
        "computed.db",
        "CREATE TABLE responses (id, prompt, response TEXT AS (upper(prompt)), model);
         INSERT INTO responses VALUES (1, 'Who?', 3)",
    );
    let mut text = String::new();
    for name in ["cut", "other", "empty", "view", "circle", "gone", "json", "utf8"] {
        text += &said(&place, &format!("import {name}.db"));
        assert!(!place.path("retold.db").exists());
    }
    text += &said(&place, "import missing.db --format llm");
    text += &said(&place, "import computed.db");
    text += &said(&place, "import retold.db");
    insta::assert_snapshot!(text);
}
