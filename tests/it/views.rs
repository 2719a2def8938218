//! The views, as any SQLite tool sees them.

use retold::content::Content;
use retold::event::{
    AnswerReused, Event, ResponseDetails, ResponseReceived, RunFinished, RunOutcome,
};
use retold::id::{EventsRoot, OutcomeDigest};
use serde_json::json;

use crate::support::logs::Folder;
use crate::support::rows::{RUN, Writer, prompts, rows, started, write};

#[test]
fn prompts_and_answers_are_readable() {
    let long = "A long instruction that many prompts share, kept once in the log. ".repeat(2);
    let message =
        |role: &str, content: serde_json::Value| json!({"role": role, "content": content});
    let part = |text: &str| json!({"type": "text", "text": text});
    let cases: [(_, &[[&str; 2]]); 9] = [
        (vec![message("user", json!("short"))], &[["user", "short"]]),
        (
            vec![message("system", json!(long)), message("user", json!("and short"))],
            &[["system", &long], ["user", "and short"]],
        ),
        (
            vec![message("user", json!([part(&long), part("tail"), part("text:1")]))],
            &[["user", &json!([part(&long), part("tail"), part("text:1")]).to_string()]],
        ),
        (
            vec![message("user", json!("TEXT:12 is not a reference"))],
            &[["user", "TEXT:12 is not a reference"]],
        ),
        (vec![message("user", json!("text:1"))], &[["user", "text:1"]]),
        (
            vec![message("user", json!("a \0 nul, 'quotes' and \"more\""))],
            &[["user", "a \0 nul, 'quotes' and \"more\""]],
        ),
        (
            vec![message("user", json!(format!("{long}\0{long}")))],
            &[["user", &format!("{long}\0{long}")]],
        ),
        (
            vec![message("assistant", json!(null)), message("user", json!("x"))],
            &[["assistant", "{}"], ["user", "x"]],
        ),
        (vec![], &[]),
    ];
    let folder = Folder::new();
    let mut writer = Writer(Vec::new());
    writer.add(started(), None);
    for (n, (messages, _)) in cases.iter().enumerate() {
        let asked = writer.ask(&format!("call/{n}"), json!({"model": "gpt", "messages": messages}));
        writer.answer(asked, &format!("answer\0{n}"));
    }
    write(&folder, writer.0);
    let db = folder.sql();
    assert_eq!(
        prompts(&db),
        cases.map(|(_, said)| said.iter().map(|it| it.map(str::to_owned)).collect::<Vec<_>>())
    );
    let seen = rows(&db, "SELECT answer, call, request_model FROM exchanges ORDER BY seq");
    for (n, row) in seen.iter().enumerate() {
        assert_eq!(row, &[format!("answer\0{n}"), format!("call/{n}"), "gpt".to_owned()]);
    }
    let nul = "SELECT count(*), min(octet_length(body)) FROM contents WHERE body = 'answer' || char(0) || '3'";
    assert_eq!(rows(&db, nul), [["1", "8"]]);
}

#[test]
fn runs_exchanges_and_decisions_say_what_happened() {
    let folder = Folder::new();
    let mut writer = Writer(Vec::new());
    writer.add(started(), None);
    let body = json!({"model": "gpt", "messages": [{"role": "user", "content": "How many?"}]});
    let asked = writer.ask("vote/1", body.clone());
    let answer = writer.answer(asked, "I say 7.");
    let body_of = r#"{"reasoning":"because","value":7,"warnings":["odd"]}"#;
    writer.decide(answer, "first_number", body_of);
    let again = writer.ask("vote/2", body);
    let (content, from_run) = (Content::from("I say 7."), RUN);
    let (from_seq, unreadable, details) = (answer, None, ResponseDetails::default());
    let reused = AnswerReused { request: again, content, from_run, from_seq, unreadable, details };
    let reused = writer.add(Event::AnswerReused(reused), None);
    writer.decide(reused, "default", r#"{"value":{"a":[1]}}"#);
    let digest = OutcomeDigest([0x5a; 32]);
    let finished = RunFinished::new(RunOutcome::Finished, digest, EventsRoot([0; 32]));
    writer.add(Event::RunFinished(finished), None);
    write(&folder, writer.0);

    let db = folder.sql();
    let sql =
        "SELECT run, experiment, started, seed, json_extract(model, '$.kind'), simulated, settings, events, outcome,
        outcome_digest, length(head) FROM runs";
    let run = "abababababababab";
    let expected = [
        run,
        "jury",
        "2025-06-15T15:06:40.000Z",
        "9",
        "simulated",
        "1",
        "{\"people\":3}",
        "8",
        "finished",
        &digest.to_string(),
        "64",
    ];
    assert_eq!(rows(&db, sql), [expected]);
    let sql =
        "SELECT run, answer_seq, call, sample, answer, finish_reason, prompt_tokens, completion_tokens,
        latency_ms, reused_from, time FROM exchanges ORDER BY seq";
    assert_eq!(
        rows(&db, sql),
        [
            [
                run,
                "3",
                "vote/1",
                "0",
                "I say 7.",
                "stop",
                "3",
                "4",
                "12",
                "NULL",
                "2025-06-15T15:06:40.001Z"
            ],
            [
                run,
                "6",
                "vote/2",
                "0",
                "I say 7.",
                "NULL",
                "NULL",
                "NULL",
                "NULL",
                "abababababababab/3",
                "2025-06-15T15:06:40.004Z"
            ],
        ]
    );
    let sql = "SELECT seq, call, sample, parser, parser_version, method, value, reasoning, warnings, params,
        answer, answer_seq FROM decisions ORDER BY seq";
    let least = "{\"least\":0}";
    assert_eq!(
        rows(&db, sql),
        [
            [
                "4", "vote/1", "0", "numbers", "3", "first_number", "7", "because", "[\"odd\"]",
                least, "I say 7.", "3"
            ],
            [
                "7", "vote/2", "0", "numbers", "3", "default", "{\"a\":[1]}", "NULL", "NULL",
                least, "I say 7.", "6"
            ],
        ]
    );
    let sql = "SELECT seq, kind, call, cause, content, length(prompt_hash), body FROM log WHERE seq IN (2, 3, 8)";
    let logged = rows(&db, sql);
    assert_eq!(logged[0], ["2", "RequestSent", "vote/1", "NULL", "NULL", "64", "{}"]);
    assert_eq!(logged[1][..5], ["3", "ResponseReceived", "NULL", "2", "I say 7."]);
    assert_eq!(logged[2][1], "RunFinished");
    // The prompt hash is that of the request, so that it can be looked up.
    let sql = "SELECT count(DISTINCT prompt) FROM exchanges";
    assert_eq!(rows(&db, sql), [["1"]]);
}

#[test]
fn the_steps_for_ten_thousand_exchanges_grow_with_their_number_and_not_with_its_square() {
    let folder = Folder::new();
    let mut writer = Writer(Vec::new());
    writer.add(started(), None);
    let rules = "The rules of the game, long enough to be kept apart from the prompt. ".repeat(4);
    for n in 0..10_000 {
        let messages = json!([
            {"role": "system", "content": rules}, {"role": "user", "content": format!("Puzzle {n}: what is it?")},
        ]);
        let asked = writer.ask(&format!("solve/{n}"), json!({"model": "m", "messages": messages}));
        let answer = writer.answer(asked, &format!("It is {n}."));
        writer.decide(answer, "first_number", &format!("{{\"value\":{n}}}"));
    }
    write(&folder, writer.0);
    let db = folder.sql();
    for (sql, expected) in [
        ("SELECT count(*), sum(length(reasoning)), sum(length(answer)) FROM exchanges", "10000"),
        ("SELECT count(*), sum(number), count(DISTINCT call) FROM decisions", "10000"),
        // A filter on the method must not reach the answers, which are not JSON.
        (
            "SELECT count(*) FROM decisions WHERE parser_version > 0 AND method = 'first_number'",
            "10000",
        ),
        ("SELECT count(*) FROM decisions WHERE parser > '' AND method = 'another'", "0"),
        ("SELECT count(*), max(seq), sum(length(body)) FROM log", "30001"),
        ("SELECT 1, events FROM runs", "1"),
        // None of these looks for an event without knowing its id.
        (
            "SELECT count(*) FROM exchanges WHERE run = 'abababababababab' AND status = 'answered'",
            "10000",
        ),
        (
            "SELECT count(*), sum(length(text)) FROM messages WHERE run = 'abababababababab'",
            "20000",
        ),
        // The last message of each prompt is looked up, not searched for.
        (
            "SELECT count(m.text) FROM exchanges e JOIN messages m ON m.run = e.run AND m.message = e.last_message",
            "10000",
        ),
        ("SELECT count(*) FROM decisions WHERE run = 'abababababababab' AND number < 100", "100"),
        (
            "SELECT count(*) FROM decisions d JOIN exchanges x ON x.run = d.run AND x.answer_seq = d.answer_seq WHERE d.seq < 300",
            "99",
        ),
    ] {
        assert_eq!(rows(&db, sql)[0][0], expected, "{sql}");
        let mut select = db.prepare(sql).unwrap();
        let mut all = select.query([]).unwrap();
        while all.next().unwrap().is_some() {}
        drop(all);
        let steps = select.get_status(rusqlite::StatementStatus::VmStep);
        // A step for each pair of them would be this many.
        assert!(steps < 10_000 * 10_000, "{steps} steps for {sql}");
    }
}

/// The parts of an answer other than its text, both where it was received and where it is shared.
#[test]
fn exchanges_show_what_comes_with_an_answer() {
    let folder = Folder::new();
    let mut writer = Writer(Vec::new());
    writer.add(started(), None);
    let body = json!({"model": "gpt", "messages": [{"role": "user", "content": "How many?"}]});
    let extra = json!({"tool_calls": [{"id": "c"}], "refusal": "no"});
    let details = ResponseDetails {
        finish_reason: Some("length".to_owned()),
        cached_tokens: Some(1),
        reasoning_tokens: Some(2),
        cost: Some(0.5),
        extra: extra.as_object().unwrap().clone(),
        ..ResponseDetails::default()
    };
    let request = writer.ask("vote/1", body.clone());
    let content = Content::from("");
    let received = ResponseReceived { request, content: content.clone(), details: details.clone() };
    let from_seq = writer.add(Event::ResponseReceived(received), None);
    let request = writer.ask("vote/2", body);
    let (from_run, unreadable) = (RUN, None);
    let reused = AnswerReused { request, content, from_run, from_seq, unreadable, details };
    writer.add(Event::AnswerReused(reused), None);
    write(&folder, writer.0);
    let sql =
        "SELECT reused_from IS NOT NULL, finish_reason, tool_calls, cached_tokens, reasoning_tokens, cost,
        json_extract(extra, '$.refusal') FROM exchanges ORDER BY seq";
    let beside = ["length", r#"[{"id":"c"}]"#, "1", "2", "0.5", "no"];
    let due = ["0", "1"].map(|reused| [&[reused], &beside[..]].concat());
    assert_eq!(rows(&folder.sql(), sql), due);
}
