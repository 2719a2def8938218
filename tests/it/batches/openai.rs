//! OpenAI's fake: limits, states, files.

use serde_json::{Value, json};

use super::{Got, by_id, send};
use crate::support::batches::{BatchFake, Fate, Options, echo};

const KEY: (&str, &str) = ("authorization", "Bearer sk-one");

pub(super) fn post(url: &str, path: &str, body: &Value) -> Got {
    let headers = [KEY, ("content-type", "application/json")];
    send("POST", &format!("{url}{path}"), &headers, body.to_string().into_bytes()).unwrap()
}

pub(super) fn get(url: &str, path: &str) -> Got {
    send("GET", &format!("{url}{path}"), &[KEY], Vec::new()).unwrap()
}

fn upload(url: &str, filename: &str, purpose: &str, text: &str) -> Got {
    let body = format!(
        "--xyz\r\nContent-Disposition: form-data; name=\"purpose\"\r\n\r\n{purpose}\r\n--xyz\r\n\
         Content-Disposition: form-data; name=\"file\"; filename=\"{filename}\"\r\n\
         Content-Type: application/jsonl\r\n\r\n{text}\r\n--xyz--\r\n"
    );
    let headers = [KEY, ("content-type", "multipart/form-data; boundary=xyz")];
    send("POST", &format!("{url}/v1/files"), &headers, body.into_bytes()).unwrap()
}

pub(super) fn line(id: &str, model: &str) -> Value {
    let body = json!({"model": model, "messages": [{"role": "user", "content": id}]});
    json!({"custom_id": id, "method": "POST", "url": "/v1/chat/completions", "body": body})
}

pub(super) fn lines(lines: &[Value]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn batch(file: &str) -> Value {
    json!({"input_file_id": file, "endpoint": "/v1/chat/completions", "completion_window": "24h"})
}

/// Uploads an input and creates a batch of it; returns its path.
pub(super) fn submit(url: &str, text: &str) -> String {
    let (status, file) = upload(url, "in.jsonl", "batch", text);
    assert_eq!(status, 200, "{file}");
    let (status, object) = post(url, "/v1/batches", &batch(file["id"].as_str().unwrap()));
    assert_eq!((status, &object["status"]), (200, &json!("validating")), "{object}");
    format!("/v1/batches/{}", object["id"].as_str().unwrap())
}

/// The text of a file.
pub(super) fn content(url: &str, file: &Value) -> Value {
    get(url, &format!("/v1/files/{}/content", file.as_str().unwrap())).1
}

/// The first of the errors that an input has.
fn failed(fake: &BatchFake, url: &str, text: &str) -> Value {
    let path = submit(url, text);
    assert_eq!(get(url, &path).1["errors"], Value::Null, "not before it was validated");
    fake.advance(60);
    let object = get(url, &path).1;
    assert_eq!((&object["status"], &object["output_file_id"]), (&json!("failed"), &Value::Null));
    assert!(object["failed_at"].is_i64());
    object["errors"]["data"][0].clone()
}

#[test]
fn a_batch_goes_through_its_states_and_its_answers_are_those_of_live_requests() {
    let (url, fake) = BatchFake::start();
    let questions: Vec<Value> = (0..20).map(|n| line(&format!("q{n}"), "gpt-1")).collect();
    let path = submit(&url, &lines(&questions));
    let mut states = Vec::new();
    for seconds in [0, 60, 3600, 60] {
        fake.advance(seconds);
        let object = get(&url, &path).1;
        states.push(object["status"].as_str().unwrap().to_owned());
    }
    assert_eq!(states, ["validating", "in_progress", "finalizing", "completed"]);
    let object = get(&url, &path).1;
    assert_eq!(object["request_counts"], json!({"total": 20, "completed": 20, "failed": 0}));
    assert_eq!((&object["error_file_id"], &object["errors"]), (&Value::Null, &Value::Null));
    let output = object["output_file_id"].as_str().unwrap();
    let (_, text) = get(&url, &format!("/v1/files/{output}/content"));
    let first: Value =
        serde_json::from_str(text.as_str().unwrap().lines().next().unwrap()).unwrap();
    assert_ne!(first["custom_id"], "q0", "in an order of its own");
    let answers = by_id(&text, "custom_id");
    assert_eq!(answers.len(), 20);
    for question in &questions {
        let id = question["custom_id"].as_str().unwrap();
        let answer = &answers.iter().find(|(of, _)| of == id).unwrap().1;
        assert_eq!(
            (&answer["error"], &answer["response"]["status_code"]),
            (&Value::Null, &json!(200))
        );
        // A tier is accepted and changes nothing.
        let mut body = question["body"].clone();
        body["service_tier"] = json!("flex");
        let (status, live) = post(&url, "/v1/chat/completions", &body);
        assert_eq!((status, &live), (200, &answer["response"]["body"]));
    }
    let counts = fake.counts();
    assert_eq!((counts.files, counts.batches), (1, 1));
    assert!(counts.paid.len() == 20 && counts.paid.values().all(|count| *count == 2), "{counts:?}");
    assert!(counts.paid_lines.values().all(|count| *count == 1) && counts.doubles().is_empty());
}

#[test]
fn an_upload_that_is_not_an_input_of_batches_is_refused() {
    let (url, fake) = BatchFake::start();
    let text = lines(&[line("a", "m")]);
    let (status, refused) = upload(&url, "in.json", "batch", &text);
    let due = "Invalid file format for Batch API. Must be .jsonl";
    assert_eq!((status, &refused["error"]["message"]), (400, &json!(due)));
    let (status, refused) = upload(&url, "in.jsonl", "anything", &text);
    assert_eq!((status, &refused["error"]["param"]), (400, &json!("purpose")));
    assert_eq!(Options::default().max_bytes[0], 200 << 20);
    fake.set(|options| options.max_bytes[0] = text.len() - 1);
    assert_eq!(upload(&url, "in.jsonl", "batch", &text).0, 413);
    assert_eq!(fake.counts().files, 0);
    let url = format!("{url}/v1/files");
    let (status, refused) = send("GET", &url, &[], Vec::new()).unwrap();
    assert_eq!((status, &refused["error"]["code"]), (401, &json!("invalid_api_key")));
}

#[test]
fn a_batch_with_wrong_parameters_is_not_created() {
    let (url, fake) = BatchFake::start();
    let file = upload(&url, "in.jsonl", "batch", &lines(&[line("a", "m")])).1;
    let right = batch(file["id"].as_str().unwrap());
    let pairs = |count: usize| (0..count).map(|n| (n.to_string(), json!("x"))).collect::<Value>();
    for (key, value, param, code) in [
        ("input_file_id", Value::Null, "input_file_id", "missing_required_parameter"),
        ("endpoint", json!("/v1/messages"), "endpoint", "invalid_value"),
        ("completion_window", json!("1h"), "completion_window", "invalid_value"),
        ("metadata", pairs(17), "metadata", "object_above_max_properties"),
        ("metadata", json!({"k".repeat(65): "v"}), "metadata", "string_above_max_length"),
        ("metadata", json!({"k": "v".repeat(513)}), "metadata", "string_above_max_length"),
        ("metadata", json!({"k": 1}), "metadata", "invalid_type"),
        (
            "output_expires_after",
            json!({"anchor": "created_at", "seconds": 3599}),
            "output_expires_after",
            "invalid_value",
        ),
        ("idempotency_key", json!("x"), "idempotency_key", "unknown_parameter"),
    ] {
        let mut wrong = right.clone();
        wrong[key] = value;
        let (status, refused) = post(&url, "/v1/batches", &wrong);
        let error = &refused["error"];
        let found = (status, error["param"].as_str(), error["code"].as_str());
        assert_eq!(found, (400, Some(param), Some(code)), "{key}: {refused}");
        assert_eq!(error["type"], "invalid_request_error");
    }
    assert_eq!(fake.counts().batches, 0);
    let mut most = right;
    most["metadata"] = json!({"k".repeat(64): "v".repeat(512)});
    let (status, object) = post(&url, "/v1/batches", &most);
    assert_eq!((status, &object["metadata"]), (200, &most["metadata"]));
}

#[test]
fn an_input_is_refused_once_it_was_validated_by_line_and_code() {
    let (url, fake) = BatchFake::start();
    let with = |key: &str, value: Value| {
        let mut line = line("b", "m");
        line[key] = value;
        lines(&[super::openai::line("a", "m"), line])
    };
    let mut streamed = line("b", "m");
    streamed["body"]["stream"] = json!(true);
    for (text, code, line) in [
        (lines(&[line("a", "m")]) + "{\n", "invalid_json_line", json!(2)),
        (
            lines(&[line("a", "m"), json!({"custom_id": "b"})]),
            "missing_required_parameter",
            json!(2),
        ),
        (lines(&[line("a", "m"), line("a", "m")]), "duplicate_custom_id", json!(2)),
        (lines(&[line("a", "m"), line("b", "n")]), "model_mismatch", json!(2)),
        (with("url", json!("/v1/responses")), "url_mismatch", json!(2)),
        (with("method", json!("GET")), "invalid_method", json!(2)),
        (lines(&[line("a", "m"), streamed.clone()]), "invalid_request", json!(2)),
        (String::new(), "empty_file", Value::Null),
    ] {
        let error = failed(&fake, &url, &text);
        assert_eq!((&error["code"], &error["line"]), (&json!(code), &line), "{error}");
        assert!(error["message"].is_string());
    }
    let many: Vec<Value> = (0..=50_000).map(|n| line(&n.to_string(), "m")).collect();
    assert_eq!(failed(&fake, &url, &lines(&many))["code"], "too_many_tasks");
    // A file that is none fails the batch, too.
    let created = post(&url, "/v1/batches", &batch("file-none")).1;
    fake.advance(60);
    let path = format!("/v1/batches/{}", created["id"].as_str().unwrap());
    assert_eq!(get(&url, &path).1["errors"]["data"][0]["param"], "input_file_id");
    assert!(fake.counts().paid.is_empty());
    // All that fits is taken.
    let path = submit(&url, &lines(&many[1..]));
    fake.advance(60);
    assert_eq!(get(&url, &path).1["request_counts"]["total"], 50_000);
}

#[test]
fn lines_that_fail_and_lines_that_expire_are_in_the_file_of_errors() {
    let (url, fake) = BatchFake::start();
    let questions: Vec<Value> = (0..10).map(|n| line(&format!("q{n}"), "m")).collect();
    fake.decide(0, Fate { errors: vec![(1, 429), (2, 500), (3, 400)], ..Fate::default() });
    fake.decide(1, Fate { expires_after: Some(4), ..Fate::default() });
    let first = submit(&url, &lines(&questions));
    fake.advance(3720);
    let object = get(&url, &first).1;
    assert_eq!(object["request_counts"], json!({"total": 10, "completed": 7, "failed": 3}));
    let errors = by_id(&content(&url, &object["error_file_id"]), "custom_id");
    let statuses: Vec<&Value> =
        errors.iter().map(|(_, line)| &line["response"]["status_code"]).collect();
    assert_eq!(statuses, [429, 500, 400]);
    let found = (&errors[0].1["error"], &errors[0].1["response"]["body"]["error"]["code"]);
    assert_eq!(found, (&Value::Null, &json!("rate_limit_exceeded")));
    let second = submit(&url, &lines(&questions));
    fake.advance(86_399);
    assert_eq!(get(&url, &second).1["status"], "in_progress");
    fake.advance(1);
    let object = get(&url, &second).1;
    assert_eq!((&object["status"], object["expired_at"].is_i64()), (&json!("expired"), true));
    let answers = by_id(&content(&url, &object["output_file_id"]), "custom_id").len();
    let expired = by_id(&content(&url, &object["error_file_id"]), "custom_id");
    assert_eq!((answers, expired.len()), (4, 6));
    let due = "This request could not be executed before the completion window expired.";
    let error = json!({"code": "batch_expired", "message": due});
    assert_eq!((&expired[0].1["response"], &expired[0].1["error"]), (&Value::Null, &error));
    // What was answered in time is paid for.
    assert_eq!(fake.counts().paid.values().sum::<u64>(), 11);
    assert_eq!(fake.counts().doubles().len(), 10);
}

#[test]
fn a_batch_that_is_cancelled_keeps_what_it_has_answered() {
    let (url, fake) = BatchFake::start();
    let questions: Vec<Value> = (0..10).map(|n| line(&format!("q{n}"), "m")).collect();
    let path = submit(&url, &lines(&questions));
    fake.advance(60 + 1800);
    let object = post(&url, &format!("{path}/cancel"), &json!({})).1;
    assert_eq!(
        (&object["status"], &object["output_file_id"]),
        (&json!("cancelling"), &Value::Null)
    );
    assert_eq!(post(&url, &format!("{path}/cancel"), &json!({})).0, 409);
    fake.advance(300);
    let object = get(&url, &path).1;
    assert_eq!(object["status"], "cancelled");
    assert_eq!(by_id(&content(&url, &object["output_file_id"]), "custom_id").len(), 5);
    let cancelled = by_id(&content(&url, &object["error_file_id"]), "custom_id");
    assert_eq!((cancelled.len(), &cancelled[0].1["error"]["code"]), (5, &json!("batch_cancelled")));
}

#[test]
fn lists_have_pages_and_show_one_key_s_files_and_batches() {
    let (url, fake) = BatchFake::start();
    let text = lines(&[line("a", "m")]);
    let paths: Vec<String> = (0..3).map(|_| submit(&url, &text)).collect();
    let ids = |list: &Value| -> Vec<String> {
        let data = list["data"].as_array().unwrap();
        data.iter().map(|one| format!("/v1/batches/{}", one["id"].as_str().unwrap())).collect()
    };
    let page = get(&url, "/v1/batches?limit=2").1;
    assert_eq!(
        (ids(&page), &page["has_more"]),
        (vec![paths[2].clone(), paths[1].clone()], &json!(true))
    );
    let after = format!("/v1/batches?limit=2&after={}", page["last_id"].as_str().unwrap());
    let page = get(&url, &after).1;
    assert_eq!((ids(&page), &page["has_more"]), (vec![paths[0].clone()], &json!(false)));
    for wrong in ["limit=0", "limit=101", "limit=x", "after=batch_none"] {
        assert_eq!(get(&url, &format!("/v1/batches?{wrong}")).0, 400, "{wrong}");
    }
    fake.advance(3720);
    let files = get(&url, "/v1/files?purpose=batch&limit=10000").1;
    let names: Vec<&Value> =
        files["data"].as_array().unwrap().iter().map(|file| &file["filename"]).collect();
    assert_eq!(names, ["in.jsonl"; 3]);
    let all = get(&url, "/v1/files").1;
    assert_eq!(all["data"].as_array().unwrap().len(), 6, "with three of results");
    let theirs = ("authorization", "Bearer sk-two");
    let list = send("GET", &format!("{url}/v1/batches"), &[theirs], Vec::new()).unwrap().1;
    assert_eq!(list["data"], json!([]));
    assert_eq!(send("GET", &format!("{url}{}", paths[0]), &[theirs], Vec::new()).unwrap().0, 404);
}

#[test]
fn a_batch_may_be_completed_before_its_file_is_named_and_named_before_it_can_be_read() {
    let options = Options { lag: 30, empty_ids: true, ..Options::default() };
    let (url, fake) = BatchFake::with(options, echo());
    let path = submit(&url, &lines(&[line("a", "m")]));
    fake.advance(3720);
    let object = get(&url, &path).1;
    assert_eq!((&object["status"], &object["output_file_id"]), (&json!("completed"), &json!("")));
    fake.advance(30);
    let object = get(&url, &path).1;
    let content = format!("/v1/files/{}/content", object["output_file_id"].as_str().unwrap());
    let (status, refused) = get(&url, &content);
    assert_eq!((status, &refused["error"]["param"]), (404, &json!("id")));
    fake.advance(30);
    assert_eq!(get(&url, &content).0, 200);
    assert_eq!(get(&url, &path).1["error_file_id"], "");
    // Results are kept for 30 days, or shorter if the batch said so.
    fake.advance(30 * 86_400);
    assert_eq!(get(&url, &content).0, 404);
    assert_eq!(get(&url, &path).1["status"], "completed");
}

#[test]
fn azure_s_spelling_is_understood_and_its_batches_do_not_expire() {
    let (url, fake) = BatchFake::start();
    let mut question = line("a", "deployment");
    question["url"] = json!("/chat/completions");
    let file = upload(&url, "in.jsonl", "batch", &lines(&[question])).1;
    let mut create = batch(file["id"].as_str().unwrap());
    create["endpoint"] = json!("/chat/completions");
    let base = format!("{url}/openai");
    let key = ("api-key", "sk-one");
    let send = |method: &str, path: &str, body: Vec<u8>| {
        super::send(method, &format!("{base}{path}?api-version=2025-04-01-preview"), &[key], body)
            .unwrap()
    };
    fake.decide(0, Fate { expires_after: Some(0), ..Fate::default() });
    let (status, object) = send("POST", "/batches", create.to_string().into_bytes());
    assert_eq!((status, &object["expires_at"]), (200, &Value::Null), "{object}");
    fake.advance(7 * 86_400);
    let path = format!("/batches/{}", object["id"].as_str().unwrap());
    assert_eq!(send("GET", &path, Vec::new()).1["status"], "in_progress");
    assert_eq!(post(&url, "/v1/batches", &create).0, 400, "OpenAI has /v1 in it");
}
