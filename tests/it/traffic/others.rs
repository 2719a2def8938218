//! HAR files, the files of a batch, and logs of Inspect AI.

use std::path::Path;

use serde_json::{Value, json};

use super::cassettes::said;
use crate::support::cli::{Place, Said};
use crate::support::rows::rows;

/// A folder with these files of `fixtures`.
pub(super) fn place(files: &[&str]) -> Place {
    let place = Place::new();
    for file in files {
        let from = Path::new(env!("RETOLD_ROOT")).join("fixtures").join(file);
        std::fs::copy(&from, place.path(from.file_name().unwrap().to_str().unwrap())).unwrap();
    }
    place
}

/// What was asked and answered in the last run.
pub(super) fn exchanges(place: &Place) -> String {
    let db = rusqlite::Connection::open(place.path("retold.db")).unwrap();
    let sql = "SELECT kind, call, sample, cause, content, body FROM log
        WHERE kind IN ('RequestSent', 'ResponseReceived', 'AttemptFailed') ORDER BY run, seq";
    rows(&db, sql).iter().map(|row| row.join(" | ") + "\n").collect()
}

/// Asks the replay of a run for the answers to one question.
pub(super) fn asked(place: &Place, command: &str, question: &str, times: usize) -> Said {
    let body = format!(r#"{{"model":"m","messages":[{{"role":"user","content":"{question}"}}]}}"#);
    let curl =
        format!("curl -sS --max-time 20 $OPENAI_BASE_URL/chat/completions -d '{body}'; echo;");
    let mut program = place.command();
    program.args(command.split_whitespace()).args(["--", "sh", "-c", &curl.repeat(times)]);
    Said::ended(program.env("PATH", super::PATH))
}

#[test]
fn an_http_archive_is_a_run_that_is_replayed() {
    let place = place(&["har/small.har"]);
    let text = said(&place, "import small.har");
    insta::assert_snapshot!(text + &exchanges(&place));
    let replayed = asked(&place, "replay latest", "Hi", 2);
    let answers: Vec<&str> = replayed.out.lines().collect();
    assert!(
        answers[0].contains("\"Hello\"") && answers[1].contains("Hello again"),
        "{}",
        replayed.out
    );
    let log = std::fs::read(place.path("retold.db")).unwrap();
    for secret in ["sk-har-0123456789abcdef", "cookie-0123456789", "key-0123456789abc"] {
        assert!(memchr::memmem::find(&log, secret.as_bytes()).is_none(), "{secret}");
    }
}

/// A batch that was cancelled, and the one that asked for the rest of it: each request is asked once.
#[test]
fn a_cancelled_batch_and_its_rest_are_one_run() {
    let files = ["input", "output", "errors", "rest_input", "rest_output"]
        .map(|name| format!("batch/{name}.jsonl"));
    let place = place(&files.each_ref().map(String::as_str));
    let text = said(
        &place,
        "import input.jsonl output.jsonl errors.jsonl rest_input.jsonl rest_output.jsonl",
    );
    insta::assert_snapshot!(text + &exchanges(&place));
    // Two requests asked the same: both answers are there, in the order of the requests.
    let db = rusqlite::Connection::open(place.path("retold.db")).unwrap();
    let labels = rows(
        &db,
        "SELECT content, json_extract(body, '$.label.custom_id') FROM log
        WHERE kind = 'ResponseReceived' ORDER BY seq",
    );
    assert_eq!(labels, [["1, for a", "a"], ["2", "b"], ["1, for d", "d"]]);
    let replayed = asked(&place, "replay latest", "Two", 1);
    assert!(replayed.out.contains("\"content\":\"2\""), "{}{}", replayed.out, replayed.err);
}

/// What was cancelled or expired was never sent: it is asked when the run goes on.
#[test]
fn a_message_batch_is_its_requests_and_its_results() {
    let place = place(&["batch/message_requests.json", "batch/message_results.jsonl"]);
    let text = said(&place, "import message_results.jsonl message_requests.json");
    insta::assert_snapshot!(text + &exchanges(&place));
    // One request per line, as a script writes them that sends them later.
    let requests = std::fs::read_to_string(place.path("message_requests.json")).unwrap();
    let requests: Value = serde_json::from_str(&requests).unwrap();
    let lines = requests["requests"].as_array().unwrap().iter().map(|line| format!("{line}\n"));
    place.write("lines.jsonl", lines.collect::<String>());
    let (again, code) = place.json("import lines.jsonl message_results.jsonl");
    assert_eq!(
        (code, &again["questions"], &again["unanswered"]),
        (0, &4.into(), &2.into()),
        "{again}"
    );
    place.write("odd.jsonl", r#"{"custom_id": "a", "result": {"type": "lost"}}"#);
    let odd = place.run("import lines.jsonl odd.jsonl");
    let due = "odd.jsonl, line 1: \"lost\" is not a result of a message batch";
    assert!(odd.code == 2 && odd.err.contains(due), "{}", odd.err);
    let alone = place.run("import message_results.jsonl");
    assert!(
        alone.code == 2 && alone.err.contains("give the requests of the batch, too"),
        "{}",
        alone.err
    );
}

#[test]
fn a_file_of_no_format_is_told_why_for_each() {
    let place = Place::new();
    place.write("notes.txt", "Meeting: at ten\nPlace: here\n");
    place.write("other.json", "{\"messages\": [{\"role\": \"user\"}]}");
    place.write("noise.bin", [0xFF_u8, 0xFE, 0x00, 0x81, 0x82]);
    place.write("exchange.jsonl", "{\"request\": {\"model\": 3}}");
    place.write("empty.jsonl", "");
    let mut text = String::new();
    for args in
        ["notes.txt", "other.json", "other.json --format vcrpy", "exchange.jsonl", "empty.jsonl"]
    {
        text += &said(&place, &format!("import {args}"));
    }
    insta::assert_snapshot!(text);
    let noise = place.run("import noise.bin");
    assert_eq!(noise.code, 2, "{}", noise.err);
}

#[test]
fn what_is_wrong_with_a_batch_or_an_archive_is_said_with_its_place() {
    let place = place(&[
        "batch/input.jsonl",
        "batch/other_input.jsonl",
        "batch/rest_output.jsonl",
        "inspect/small.eval",
    ]);
    place.write("broken.jsonl", "{\"custom_id\": \"a\", \"body\": {\n");
    place.write(
        "nameless.jsonl",
        "{\"custom_id\": \"a\", \"url\": \"/v1/x\", \"body\": {}}\n{\"body\": {}}\n",
    );
    place.write("empty.har", "{\"log\": {\"creator\": {}, \"entries\": []}}");
    place.write("status.har", "{\"log\": {\"entries\": [{\"request\": {\"method\": \"GET\", \"url\": \"https://h/\"}, \"response\": {}}]}}");
    let eval = std::fs::read(place.path("small.eval")).unwrap();
    // In its first entry, without which nothing is known of the log.
    place.write("cut.eval", &eval[..500]);
    let mut flipped = eval.clone();
    // In the middle of a sample.
    flipped[3000] ^= 0xFF;
    place.write("flipped.eval", flipped);
    place.write(
        "stranger.json",
        "{\"version\": 2, \"eval\": {}, \"samples\": [{\"id\": 1, \"epoch\": 1, \"events\": [
        {\"event\": \"model\", \"input\": [], \"input_refs\": [[0, 9]]}]}]}",
    );
    let mut text = String::new();
    for args in [
        "input.jsonl other_input.jsonl",
        "rest_output.jsonl",
        "broken.jsonl --format batch",
        "nameless.jsonl",
        "empty.har",
        "status.har",
        "cut.eval",
        "flipped.eval",
        "stranger.json",
    ] {
        text += &said(&place, &format!("import {args}"));
    }
    assert!(!place.path("retold.db").exists());
    insta::assert_snapshot!(text);
}

/// Logs that Inspect AI 0.3.285 wrote, as an archive and as JSON.
#[test]
fn logs_of_inspect_are_runs_that_are_replayed() {
    for file in ["small.eval", "small.json"] {
        let place = place(&[&format!("inspect/{file}")]);
        let text = said(&place, &format!("import {file}"));
        insta::with_settings!({snapshot_suffix => file.replace('.', "_")}, {
            insta::assert_snapshot!(text + &exchanges(&place));
        });
        let body = r#"{"model":"gpt-4o","messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"What is 2+2? What is 2+2? What is 2+2? "}]}"#;
        let curl = format!("curl -sS --max-time 20 $OPENAI_BASE_URL/chat/completions -d '{body}'");
        let mut program = place.command();
        program.args(["replay", "latest", "--", "sh", "-c", &curl]).env("PATH", super::PATH);
        let replayed = Said::ended(&mut program);
        assert!(replayed.out.contains("It is 4"), "{file}: {}{}", replayed.out, replayed.err);
    }
}

/// In the forms of earlier releases: events in a transcript and within others, messages in pools of
/// their own, one score without a name, and a score that JSON does not have.
#[test]
fn logs_of_earlier_releases_of_inspect_are_read() {
    for (file, question, answer) in [("first.json", "Sure?", "Sure"), ("pool.json", "One?", "One")]
    {
        let place = place(&[&format!("inspect/{file}")]);
        let text = said(&place, &format!("import {file}")) + &exchanges(&place);
        let db = rusqlite::Connection::open(place.path("retold.db")).unwrap();
        let sql = "SELECT kind, cause, body FROM log WHERE kind IN ('DecisionMade', 'RunFinished') ORDER BY seq";
        let decided: String = rows(&db, sql)
            .iter()
            .filter(|row| row[0] != "RunFinished")
            .map(|row| row.join(" | ") + "\n")
            .collect();
        insta::with_settings!({snapshot_suffix => file.replace('.', "_")}, {
            insta::assert_snapshot!(text + &decided);
        });
        place.ok("verify");
        let replayed = asked(&place, "replay latest", question, 1);
        assert!(replayed.out.contains(&format!("\"content\":\"{answer}\"")), "{}", replayed.err);
        // Scores are not the program's to report.
        assert!(!replayed.err.contains("decision"), "{}", replayed.err);
        let stats = place.ok("stats latest");
        assert!(stats.contains("imported: match"), "{stats}");
        // Of which one answer may have several, and none is made again.
        let check = place.run("check latest");
        assert!(check.code == 2 && check.err.contains("came with the file"), "{}", check.err);
    }
}

/// What was written whole before the writing was cut off, wherever that was.
#[test]
fn a_cut_log_of_inspect_is_read_as_far_as_it_is_whole() {
    let place = place(&["inspect/small.eval"]);
    let eval = std::fs::read(place.path("small.eval")).unwrap();
    let mut text = String::new();
    for at in [5000, 8000, eval.len() - 1] {
        place.write("cut.eval", &eval[..at]);
        text += &said(&place, "import cut.eval");
    }
    insta::assert_snapshot!(text);
}

/// What matches is in no byte that is stored, whatever the format, and a program that asks with it gets
/// its answer all the same.
#[test]
fn personal_data_is_taken_out_of_imported_files() {
    let sent = r#"{"model":"m","messages":[{"role":"user","content":"I am Ada Lovelace"}]}"#;
    let answer = r#"{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"Hello, Ada Lovelace"}}]}"#;
    let url = "https://api.openai.com/v1/chat/completions";
    let name = "x-request-id";
    let cassette = json!({"version": 1, "interactions": [{
        "request": {"method": "POST", "uri": format!("{url}?by=Ada%20Lovelace"), "body": sent, "headers": {}},
        "response": {"status": {"code": 200, "message": "OK"}, "body": {"string": answer},
            "headers": {"content-type": ["application/json"], name: ["for Ada Lovelace"]}}}]});
    let archive = json!({"log": {"version": "1.2", "entries": [{"time": 1,
        "request": {"method": "POST", "url": format!("{url}?by=Ada%20Lovelace"), "headers": [],
            "postData": {"mimeType": "application/json", "text": sent}},
        "response": {"status": 500, "headers": [{"name": name, "value": "for Ada Lovelace"}],
            "content": {"mimeType": "application/json", "text": answer}}}]}});
    let place = Place::new();
    place.write("ada.json", cassette.to_string());
    place.write("ada.har", archive.to_string());
    let line = |line: &Value| format!("{line}\n");
    let body: Value = serde_json::from_str(sent).unwrap();
    let reply: Value = serde_json::from_str(answer).unwrap();
    let (question, reply) = (
        json!({"custom_id": "Ada Lovelace 1", "method": "POST", "url": "/v1/chat/completions", "body": body}),
        json!({"id": "b", "custom_id": "Ada Lovelace 1", "error": null,
            "response": {"status_code": 200, "request_id": "r", "body": reply}}),
    );
    place.write("ada-in.jsonl", line(&question));
    place.write("ada-out.jsonl", line(&reply));
    for files in ["ada.json", "ada.har", "ada-in.jsonl ada-out.jsonl"] {
        let imported = place.ok(&format!(r"import {files} --redact [A-Z][a-z]{{2}}\sL[a-z]+"));
        assert!(imported.contains("imported from"), "{imported}");
        let shown = place.ok("show latest");
        assert!(shown.contains("redacted: "), "{shown}");
    }
    place.ok("verify");
    for name in ["retold.db", "retold.db-wal"] {
        let bytes = std::fs::read(place.path(name)).unwrap_or_default();
        assert!(memchr::memmem::find(&bytes, b"Lovelace").is_none(), "{name}");
    }
    // With the name, as the program has it.
    let replayed = asked(&place, "replay latest", "I am Ada Lovelace", 1);
    assert_eq!(replayed.code, 0, "{}", replayed.err);
    assert!(replayed.out.contains("Hello, [redacted-"), "{}", replayed.out);
    assert!(!replayed.err.contains("never asked"), "{}", replayed.err);
    let wrong = place.run("import ada.json --redact x*");
    assert!(wrong.code == 2 && wrong.err.contains("also matches the empty text"), "{}", wrong.err);
    let line = json!({"request": {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}, "response": {"content": "Hello"}});
    place.write("lines.jsonl", line.to_string());
    let unused = place.run("import lines.jsonl --redact x");
    assert!(unused.code == 2 && unused.err.contains("--redact are for files"), "{}", unused.err);
}

/// What was no HTTP in its file is no exception.
#[test]
fn personal_data_is_taken_out_of_what_is_only_shown() {
    let cases: [(&str, &str, &[&str]); 3] = [
        ("cassettes/not_http.yaml", r"Hello|Hi\sthere", &["Hello", "Hi there"]),
        ("inspect/small.json", r"It\sis\s4|brief", &["It is 4", "brief"]),
        ("inspect/small.eval", r"It\sis\s4|brief", &["It is 4", "brief"]),
    ];
    for (file, pattern, gone) in cases {
        let place = place(&[file]);
        let name = Path::new(file).file_name().unwrap().to_str().unwrap();
        place.ok(&format!("import {name} --redact {pattern}"));
        place.ok("verify");
        let exported = place.ok("export latest");
        assert!(exported.contains("[redacted-"), "{exported}");
        let settings = |line: &&str| line.contains("imported");
        let events: Vec<&str> = exported.lines().filter(|line| !settings(line)).collect();
        for text in gone {
            assert!(!events.iter().any(|line| line.contains(text)), "{file}: {text}: {exported}");
        }
    }
}

/// No client sends so many, and a map of headers does not hold them all.
#[test]
fn a_hundred_thousand_headers_are_listed_and_not_kept() {
    let place = Place::new();
    let headers: Vec<String> = (0..100_000).map(|n| format!("\"x-{n}\": [\"a\"]")).collect();
    let headers = headers.join(",");
    place.write(
        "wide.json",
        format!(
            "{{\"interactions\": [{{\"request\": {{\"method\": \"GET\", \"uri\": \"https://h/\", \"body\": null,
            \"headers\": {{{headers}}}}}, \"response\": {{\"status\": {{\"code\": 200, \"message\": \"OK\"}},
            \"headers\": {{{headers}}}, \"body\": {{\"string\": \"hi\"}}}}}}]}}"
        ),
    );
    let (read, code) = place.json("import wide.json");
    let notes = read["not_represented"].as_array().unwrap();
    let lost = |what: &str| notes.iter().find(|note| note["what"] == what).map(|it| &it["times"]);
    assert_eq!(code, 0, "{read}");
    assert_eq!(lost("a header after the first thousand"), Some(&(198_000.into())), "{read}");
}

/// A list in place of a completion, as somebody's cassette has it.
#[test]
fn an_answer_of_another_shape_is_imported_noted_and_replayed() {
    let place = Place::new();
    let list = r#"[{"error":{"code":400,"message":"bad"}}]"#;
    place.write(
        "list.yaml",
        format!(
            "interactions:\n- request:\n    body: '{{\"model\":\"m\",\"messages\":[{{\"role\":\"user\",\"content\":\"Hi\"}}]}}'\n    \
             headers:\n      Content-Type:\n      - application/json\n    method: POST\n    \
             uri: https://api.openai.com/v1/chat/completions\n  response:\n    body:\n      string: '{list}'\n    \
             headers:\n      Content-Type:\n      - application/json\n    status:\n      code: 200\n      message: OK\nversion: 1\n"
        ),
    );
    let said = place.ok("import list.yaml");
    assert!(
        said.contains("1 answer imported") && said.contains("an answer that cannot be read"),
        "{said}"
    );
    let replayed = asked(&place, "replay latest", "Hi", 1);
    assert_eq!((replayed.code, replayed.out.trim()), (0, list), "{}", replayed.err);
}

#[test]
fn a_host_that_is_an_address_has_a_variable_that_shells_accept() {
    let place = Place::new();
    let entry = json!({"startedDateTime": "2026-01-01T00:00:00Z", "time": 1, "request": {"method": "POST",
        "url": "http://127.0.0.1:9901/v1/chat/completions", "headers": [], "postData": {"mimeType": "application/json",
            "text": "{\"model\":\"m\",\"messages\":[]}"}},
        "response": {"status": 200, "headers": [], "content": {"mimeType": "application/json", "text": "{\"choices\":[{\"message\":{\"content\":\"One\"}}]}"}}});
    place.write("ip.har", json!({"log": {"version": "1.2", "entries": [entry]}}).to_string());
    let said = place.ok("import ip.har");
    assert!(said.contains("replayed at $_127_0_0_1_9901_BASE_URL"), "{said}");
    let mut program = place.command();
    let ask = "curl -sS --max-time 20 $_127_0_0_1_9901_BASE_URL/v1/chat/completions -d '{\"model\":\"m\",\"messages\":[]}'";
    program.args(["replay", "latest", "--", "sh", "-c", ask]);
    let replayed = Said::ended(program.env("PATH", super::PATH));
    assert!(replayed.code == 0 && replayed.out.contains("One"), "{}{}", replayed.out, replayed.err);
}

/// What is wrong with a file is said first.
#[test]
fn a_name_does_not_hide_what_is_wrong_with_a_file() {
    let place = Place::new();
    place.write("what.txt", "hello\n");
    place.write("more.txt", "hello\n");
    for args in ["what.txt", "none.har", "what.txt more.txt"] {
        let plain = place.run(&format!("import {args}"));
        let named = place.run(&format!("import {args} --name n"));
        assert_eq!((named.code, &named.err), (plain.code, &plain.err), "{args}");
        assert!(!named.err.contains("--name, --upstream"), "{}", named.err);
    }
    let several = place.run("import what.txt more.txt").err;
    assert!(several.contains("none of the formats"), "{several}");
}

#[test]
fn an_integer_that_an_import_rounds_is_named_with_its_line() {
    let place = Place::new();
    place.write(
        "big.json",
        r#"[{"scope": "https://api.openai.com:443", "method": "POST", "path": "/v1/chat/completions",
"body": {"model": "m", "messages": []}, "status": 200, "response": {"choices": [{"message": {"content": "One"}}],
"created": 18446744073709551617}}]"#,
    );
    let said = place.ok("import big.json");
    assert!(
        said.contains("the last digits of an integer beyond 64 bits")
            && said.contains("big.json, line 3"),
        "{said}"
    );
}
