//! Requests that begin with the messages of earlier ones: only what is new is stored and exported.

use std::path::Path;

use proptest::prelude::*;
use retold::exchange::{Recording, export_recording, read_recording};
use retold::id::RunId;
use retold::jsonl::JsonlReader;
use retold::log::{Append, Head, Log, LogError};
use retold::prompt::Request;
use serde_json::{Value, json};

use crate::support::logs::{Folder, assert_sound, events, open, problems};
use crate::support::rows::{RUN, Writer, prompts, rows, started};

fn message(role: &str, text: &str) -> Value {
    json!({"role": role, "content": text})
}

/// A dialogue of short turns, each asked with all earlier turns.
fn dialogue(turns: usize) -> Writer {
    let mut writer = Writer(Vec::new());
    writer.add(started(), None);
    talk(&mut writer, 0, turns);
    writer
}

/// Some turns of that dialogue.
fn talk(writer: &mut Writer, from: usize, to: usize) {
    let rules = "You take part in a discussion. Be brief, and say what you think. ".repeat(4);
    let mut messages = vec![message("system", &rules)];
    for turn in 0..to {
        messages.push(message("user", &format!("Turn {turn}?")));
        if turn >= from {
            let body = json!({"model": "m", "messages": messages, "temperature": 0.7});
            let asked = writer.ask(&format!("talk/{turn}"), body);
            writer.answer(asked, &format!("I say {turn}."));
        }
        messages.push(message("assistant", &format!("I say {turn}.")));
    }
}

fn commit(log: &Path, after: Head, events: &[retold::event::NewEvent]) -> Head {
    let append = Append::new(RUN, after, events.to_vec());
    let head = append.events.last().unwrap().head();
    open(log).backend().committer().unwrap().commit(&[append]).unwrap();
    head
}

fn stored(writer: Writer) -> Folder {
    let folder = Folder::new();
    commit(&folder.path(), Head::START, &writer.0);
    folder
}

fn exported(folder: &Folder) -> String {
    let mut text = String::new();
    let mut line = |line: &str| -> Result<(), LogError> {
        text.push_str(line);
        text.push('\n');
        Ok(())
    };
    let backend = folder.log();
    export_recording(backend.reader().unwrap().as_mut(), RUN, &mut line).unwrap();
    text
}

fn read(text: &str) -> Result<Recording, String> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.jsonl");
    std::fs::write(&path, text).unwrap();
    let shown = |e: retold::exchange::ImportError| {
        e.to_string().replace(path.to_str().unwrap(), "run.jsonl")
    };
    read_recording(JsonlReader::open(&path).unwrap()).map_err(shown)
}

/// The size of all skeletons, in bytes.
fn skeletons(folder: &Folder) -> u64 {
    let sql = "SELECT sum(length(skeleton)) FROM requests";
    folder.sql().query_row(sql, [], |r| r.get::<_, i64>(0)).unwrap().unsigned_abs()
}

#[test]
fn each_turn_of_a_dialogue_takes_the_same_space() {
    let bytes = |turns| {
        let folder = stored(dialogue(turns));
        assert_sound(&folder.log());
        (skeletons(&folder), exported(&folder).len() as u64)
    };
    let (some, many) = (bytes(250), bytes(1000));
    for (few, many) in [(some.0, many.0), (some.1, many.1)] {
        assert!(many < few * 41 / 10, "{few} bytes for 250 turns, {many} for 1,000");
    }
    assert!(many.0 / 1000 < 200, "{} bytes of requests a turn", many.0 / 1000);
    assert!(many.1 / 1000 < 1500, "{} bytes of recording a turn", many.1 / 1000);
}

#[test]
fn a_dialogue_continues_from_what_is_stored_when_the_log_is_reopened() {
    let folder = Folder::new();
    let mut head = Head::START;
    let mut writer = Writer(Vec::new());
    writer.add(started(), None);
    for turn in 0..30 {
        talk(&mut writer, turn, turn + 1);
        // Like a run that is resumed after each turn.
        let from = head.seq.0 as usize;
        head = commit(&folder.path(), head, &writer.0[from..]);
    }
    assert_sound(&folder.log());
    let shared = "SELECT count(*), min(shared), max(shared), max(length(skeleton)) FROM requests
        WHERE base IS NOT NULL";
    let seen = rows(&folder.sql(), shared);
    assert_eq!(seen[0][..3], ["29", "2", "58"], "{seen:?}");
    let longest: usize = seen[0][3].parse().unwrap();
    assert!(longest < 250, "{longest}");
}

#[test]
fn a_fork_shares_the_requests_of_its_parent() {
    let folder = stored(dialogue(20));
    let mut fork = dialogue(20);
    // It asks everything that its parent asked, and then continues differently.
    let last = fork.0.iter().rev().find_map(|event| event.prompt.clone()).unwrap();
    let mut messages = last.body()["messages"].as_array().unwrap().clone();
    messages.extend([message("assistant", "No."), message("user", "Why not?")]);
    let body = json!({"model": "m", "messages": messages, "temperature": 0.2});
    let asked = fork.ask("talk/other", body);
    fork.answer(asked, "Because.");
    let append = Append::new(RunId([0xcd; 8]), Head::START, fork.0);
    folder.log().backend().committer().unwrap().commit(&[append]).unwrap();
    assert_sound(&folder.log());
    let seen = rows(&folder.sql(), "SELECT base, shared FROM requests WHERE id = 21");
    assert_eq!(seen, [["20", "40"]]);
}

/// What dialogues may look like: some begin alike, some continue others, and settings differ.
fn dialogues() -> impl Strategy<Value = Vec<Value>> {
    let texts = prop_oneof![
        Just("yes".to_owned()),
        Just("text:1".to_owned()),
        Just("A long text that several dialogues share, word for word, from the first".to_owned()),
        "[ -~é\u{10000}]{0,90}",
    ];
    let turn = (0..3_usize, texts, any::<bool>()).prop_map(|(role, text, parts)| {
        let role = ["user", "assistant", "system"][role];
        match parts {
            true => json!({"role": role, "content": [{"type": "text", "text": text}, {"n": 1.5}]}),
            false => message(role, &text),
        }
    });
    let step = (0..8_usize, 0..40_usize, prop::collection::vec(turn, 0..4), 0..3_u8);
    prop::collection::vec(step, 1..40).prop_map(|steps| {
        let mut all: Vec<Value> = Vec::new();
        for (from, kept, new, setting) in steps {
            // Continues one of the last ones, of which some messages are kept.
            let before = all.iter().rev().nth(from).map(|body: &Value| &body["messages"]);
            let before = before.and_then(Value::as_array).cloned().unwrap_or_default();
            let mut messages: Vec<Value> = before.into_iter().take(kept).collect();
            messages.extend(new);
            let mut body = json!({"model": "m", "messages": messages});
            match setting {
                0 => {}
                1 => body["frequency_penalty"] = json!(0.5),
                _ => body["zone"] = json!({"\u{ffff}": 1, "\u{10000}": kept}),
            }
            all.push(body);
        }
        all
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn requests_survive_a_round_trip(bodies in dialogues(), cut in 0..80_usize) {
        let mut writer = Writer(Vec::new());
        writer.add(started(), None);
        for (n, body) in bodies.iter().enumerate() {
            let asked = writer.ask(&format!("call/{n}"), body.clone());
            writer.answer(asked, "yes");
        }
        let folder = Folder::new();
        // Reopened somewhere in the middle.
        let cut = cut.clamp(1, writer.0.len());
        let head = commit(&folder.path(), Head::START, &writer.0[..cut]);
        if cut < writer.0.len() {
            commit(&folder.path(), head, &writer.0[cut..]);
        }
        let log = folder.log();
        let found = problems(log.reader().unwrap().as_mut());
        prop_assert!(found.is_empty(), "{:?}", found);
        let memory = Log::in_memory();
        let append = Append::new(RUN, Head::START, writer.0.iter().cloned());
        memory.backend().committer().unwrap().commit(&[append]).unwrap();
        let text = exported(&folder);
        let recording = read(&text).unwrap();
        let mut readers = [log.reader().unwrap(), memory.reader().unwrap(), recording.log.reader().unwrap()];
        for body in &bodies {
            let due = Request::from_body(body.clone()).unwrap();
            for reader in &mut readers {
                let found = reader.request(due.hash()).unwrap().unwrap();
                prop_assert_eq!(found.canonical(), due.canonical());
                prop_assert_eq!(found.body(), due.body());
                prop_assert!(reader.request_part(due.hash()).unwrap().is_some());
            }
        }
        let [log_events, in_memory, recorded] = readers.map(|mut reader| events(reader.as_mut(), RUN));
        prop_assert_eq!(&log_events, &in_memory);
        prop_assert_eq!(&log_events, &recorded);
        // The views have whole prompts.
        for (said, body) in prompts(&folder.sql()).iter().zip(&bodies) {
            let messages = body["messages"].as_array().unwrap();
            prop_assert_eq!(said.len(), messages.len());
            for ([role, text], message) in said.iter().zip(messages) {
                prop_assert_eq!(role, message["role"].as_str().unwrap());
                match &message["content"] {
                    parts @ Value::Array(_) => prop_assert_eq!(&serde_json::from_str::<Value>(text).unwrap(), parts),
                    content => prop_assert_eq!(text, content.as_str().unwrap()),
                }
            }
        }
    }
}

/// What is reported about a dialogue of six turns, and about its last request, after a change to
/// the table.
fn after(change: &str) -> (Vec<String>, String) {
    let folder = stored(dialogue(6));
    let db = folder.sql();
    let triggers = "SELECT name, sql FROM sqlite_schema WHERE name LIKE 'requests_no%'";
    let triggers = rows(&db, triggers);
    for trigger in &triggers {
        db.execute_batch(&format!("DROP TRIGGER {}", trigger[0])).unwrap();
    }
    db.execute_batch(change).unwrap();
    for trigger in &triggers {
        db.execute_batch(&trigger[1]).unwrap();
    }
    let log = folder.log();
    let mut reader = log.reader().unwrap();
    let hash = regex::Regex::new("[0-9a-f]{64}").unwrap();
    let shown = |what: String| hash.replace_all(&what, "[hash]").into_owned();
    let found = problems(reader.as_mut()).iter().map(|found| shown(found.to_string())).collect();
    let last = dialogue(6).0.iter().rev().find_map(|event| event.prompt.clone()).unwrap();
    let read = reader.request(last.hash()).map(|request| request.is_some());
    (found, read.map_or_else(|e| shown(e.to_string()), |there| format!("read: {there}")))
}

#[test]
fn changed_lists_are_reported() {
    let mut all = String::new();
    for change in [
        "UPDATE requests SET base = 6 WHERE id = 6",
        "UPDATE requests SET base = 7 WHERE id = 6",
        "UPDATE requests SET base = 0 WHERE id = 6",
        "UPDATE requests SET base = -1 WHERE id = 6",
        "UPDATE requests SET base = 'five' WHERE id = 6",
        "UPDATE requests SET base = NULL WHERE id = 6",
        "UPDATE requests SET shared = NULL WHERE id = 6",
        "UPDATE requests SET base = NULL, shared = NULL WHERE id = 6",
        "UPDATE requests SET base = 1 WHERE id = 6",
        "UPDATE requests SET shared = 8 WHERE id = 6",
        "UPDATE requests SET shared = 9 WHERE id = 6",
        "UPDATE requests SET shared = 11 WHERE id = 6",
        "UPDATE requests SET shared = 0 WHERE id = 6",
        "UPDATE requests SET shared = -2 WHERE id = 6",
        "UPDATE requests SET shared = 9223372036854775807 WHERE id = 6",
        // A cycle, which the ids rule out.
        "UPDATE requests SET base = 6, shared = 9 WHERE id = 5",
        "UPDATE requests SET skeleton = replace(skeleton, 'Turn 3', 'Turn 7') WHERE id = 4",
        "DELETE FROM requests WHERE id = 3",
    ] {
        let (found, read) = after(change);
        assert!(!found.is_empty(), "{change}");
        assert!(!read.starts_with("read"), "{change}: {read}");
        let found: String = found.iter().map(|line| format!("  {line}\n")).collect();
        all.push_str(&format!("{change}\n{found}  read: {read}\n"));
    }
    insta::assert_snapshot!("lists_changed", all);
}

/// As an attacker could make it: each request adds a message to the previous one.
#[test]
fn reading_an_endless_list_takes_little_memory() {
    let folder = stored(dialogue(2));
    let db = folder.sql();
    db.execute_batch(
        r#"WITH RECURSIVE n (id) AS (SELECT 3 UNION ALL SELECT id + 1 FROM n WHERE id < 100000)
        INSERT INTO requests (id, hash, skeleton, base, shared)
        SELECT id, randomblob(32), '{"api":"chat","body":{"messages":[{}],"model":"m"},"v":1}',
          CASE id WHEN 3 THEN NULL ELSE id - 1 END, CASE id WHEN 3 THEN NULL ELSE id - 3 END FROM n"#,
    )
    .unwrap();
    let log = folder.log();
    let mut reader = log.reader().unwrap();
    for (id, due) in [
        (60_000, "it hashes to"),
        (65_539, "it hashes to"),
        (65_540, "its chain of shared messages is longer than is allowed"),
        (100_000, "its chain of shared messages is longer than is allowed"),
    ] {
        let hash: [u8; 32] =
            db.query_row("SELECT hash FROM requests WHERE id = ?1", [id], |r| r.get(0)).unwrap();
        let hash = retold::id::PromptHash(hash);
        for error in [reader.request(hash).err(), reader.request_part(hash).err()] {
            let Some(LogError::CorruptRequest { why, .. }) = error else { panic!("{error:?}") };
            assert!(why.contains(due), "{id}: {why}");
        }
    }
}

#[test]
fn recordings_with_wrong_lists_are_refused() {
    let text = exported(&stored(dialogue(4)));
    let asked: Vec<&str> = text.lines().filter(|line| line.contains("\"request\":")).collect();
    assert!(asked[1].starts_with("{\"base\":") && asked[1].ends_with(",\"shared\":2}"), "{text}");
    let with = |change: &dyn Fn(&str) -> String| {
        let lines = text.lines().map(|line| match line == asked[2] {
            true => change(line) + "\n",
            false => format!("{line}\n"),
        });
        read(&lines.collect::<String>()).err().unwrap()
    };
    let base = &asked[2][..asked[2].find(",\"prompt\"").unwrap()];
    let unknown_base = format!("{{\"base\":\"{}\"", "0".repeat(64));
    let mut all = String::new();
    for (what, said) in [
        ("no base", with(&|line| line.replacen(&format!("{base},"), "{", 1))),
        ("no number", with(&|line| line.replace(",\"shared\":4", ""))),
        ("another base", with(&|line| line.replacen(base, &unknown_base, 1))),
        ("fewer", with(&|line| line.replace("\"shared\":4", "\"shared\":3"))),
        ("more", with(&|line| line.replace("\"shared\":4", "\"shared\":5"))),
        ("none", with(&|line| line.replace("\"shared\":4", "\"shared\":0"))),
        ("half", with(&|line| line.replace("\"shared\":4", "\"shared\":0.5"))),
    ] {
        all.push_str(&format!("{what}: {said}\n"));
    }
    insta::assert_snapshot!("lists_recordings", all);
}
