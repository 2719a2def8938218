//! Gemini's fake: uploads, limits, states, files and answers in the batch itself.

use serde_json::{Value, json};

use super::{Got, by_id, exchange, send};
use crate::support::batches::{BatchFake, Fate, Options};

const KEY: (&str, &str) = ("x-goog-api-key", "key-one");

fn post(url: &str, path: &str, body: &Value) -> Got {
    let headers = [KEY, ("content-type", "application/json")];
    send("POST", &format!("{url}{path}"), &headers, body.to_string().into_bytes()).unwrap()
}

fn get(url: &str, path: &str) -> Got {
    send("GET", &format!("{url}{path}"), &[KEY], Vec::new()).unwrap()
}

/// Starts an upload of so many bytes; returns the URL for its parts.
fn start(url: &str, name: &str, size: usize) -> String {
    let size = size.to_string();
    let headers = [
        KEY,
        ("x-goog-upload-protocol", "resumable"),
        ("x-goog-upload-command", "start"),
        ("x-goog-upload-header-content-length", &size),
        ("x-goog-upload-header-content-type", "application/jsonl"),
    ];
    let body = json!({"file": {"display_name": name}}).to_string();
    let url = format!("{url}/upload/v1beta/files");
    let (head, _) = exchange("POST", &url, &headers, body.as_bytes()).unwrap();
    head.lines().find_map(|line| line.strip_prefix("x-goog-upload-url: ")).unwrap().to_owned()
}

fn part(to: &str, command: &str, offset: usize, bytes: &str) -> Got {
    let offset = offset.to_string();
    let headers = [("x-goog-upload-command", command), ("x-goog-upload-offset", offset.as_str())];
    send("POST", to, &headers, bytes.as_bytes().to_vec()).unwrap()
}

/// Uploads a file in one part; returns its name.
fn upload(url: &str, name: &str, text: &str) -> String {
    let (status, file) = part(&start(url, name, text.len()), "upload, finalize", 0, text);
    assert_eq!((status, &file["file"]["displayName"]), (200, &json!(name)), "{file}");
    file["file"]["name"].as_str().unwrap().to_owned()
}

fn request(text: &str) -> Value {
    json!({"contents": [{"role": "user", "parts": [{"text": text}]}]})
}

fn questions(count: usize) -> String {
    let line = |n: usize| {
        format!("{}\n", json!({"key": format!("q{n}"), "request": request(&n.to_string())}))
    };
    (0..count).map(line).collect()
}

const CREATE: &str = "/v1beta/models/gemini-1:batchGenerateContent";

/// Creates a batch of a file; returns its path.
fn submit(url: &str, count: usize) -> String {
    let file = upload(url, "input", &questions(count));
    let body = json!({"batch": {"display_name": "mine", "input_config": {"file_name": file}}});
    let (status, operation) = post(url, CREATE, &body);
    let state = &operation["metadata"]["state"];
    assert_eq!((status, state), (200, &json!("BATCH_STATE_PENDING")), "{operation}");
    format!("/v1beta/{}", operation["name"].as_str().unwrap())
}

#[test]
fn a_batch_of_a_file_goes_through_its_states_and_its_answers_are_those_of_live_requests() {
    let (url, fake) = BatchFake::start();
    let path = submit(&url, 20);
    let mut states = Vec::new();
    for seconds in [0, 60, 3660] {
        fake.advance(seconds);
        let operation = get(&url, &path).1;
        states.push((operation["metadata"]["state"].clone(), operation["done"].clone()));
    }
    let running = (json!("BATCH_STATE_RUNNING"), Value::Null);
    let succeeded = (json!("BATCH_STATE_SUCCEEDED"), json!(true));
    assert_eq!(states, [(json!("BATCH_STATE_PENDING"), Value::Null), running, succeeded]);
    let operation = get(&url, &path).1;
    assert_eq!(operation["metadata"]["displayName"], "mine");
    let stats = json!({"requestCount": "20", "successfulRequestCount": "20", "failedRequestCount": "0",
        "pendingRequestCount": "0"});
    assert_eq!(operation["metadata"]["batchStats"], stats);
    let file = operation["response"]["responsesFile"].as_str().unwrap();
    assert_eq!(operation["metadata"]["output"]["responsesFile"], file);
    let (status, text) = get(&url, &format!("/download/v1beta/{file}:download?alt=media"));
    assert_eq!(status, 200);
    let answers = by_id(&text, "key");
    assert_eq!(answers.len(), 20);
    for (key, line) in answers {
        let body = request(&key[1..]);
        let live = post(&url, "/v1beta/models/gemini-1:generateContent", &body).1;
        assert_eq!(live, line["response"]);
    }
    assert!(fake.counts().paid.values().all(|count| *count == 2));
}

#[test]
fn answers_of_questions_in_the_request_are_in_the_batch_in_their_order() {
    let (url, fake) = BatchFake::start();
    fake.decide(0, Fate { errors: vec![(1, 429)], ..Fate::default() });
    let inlined = |n: usize| json!({"request": request(&n.to_string()), "metadata": {"key": format!("q{n}")}});
    let requests: Vec<Value> = (0..5).map(inlined).collect();
    let batch = json!({"displayName": "mine", "inputConfig": {"requests": {"requests": requests}}});
    let operation = post(&url, CREATE, &json!({"batch": batch})).1;
    fake.advance(3720);
    let operation = get(&url, &format!("/v1beta/{}", operation["name"].as_str().unwrap())).1;
    let responses =
        operation["response"]["inlinedResponses"]["inlinedResponses"].as_array().unwrap();
    let keys: Vec<&Value> = responses.iter().map(|one| &one["metadata"]["key"]).collect();
    assert_eq!(keys, ["q0", "q1", "q2", "q3", "q4"]);
    let error = json!({"code": 8, "message": "an error for a test"});
    assert_eq!(responses[1]["error"], error);
    assert!(responses[0]["response"]["candidates"].is_array());
}

#[test]
fn an_upload_is_continued_where_it_was_left() {
    let (url, fake) = BatchFake::start();
    let text = questions(3);
    let to = start(&url, "half", text.len());
    assert_eq!(part(&to, "upload", 0, &text[..50]).0, 200);
    assert_eq!(part(&to, "upload", 0, &text[50..]).0, 400, "not where it was left");
    assert_eq!(part(&to, "upload, finalize", 50, &text[50..60]).0, 400, "not all of it");
    assert_eq!(get(&url, "/v1beta/files").1, json!({"files": []}), "no file before it is whole");
    let (status, file) = part(&to, "upload, finalize", 60, &text[60..]);
    assert_eq!((status, &file["file"]["sizeBytes"]), (200, &json!(text.len().to_string())));
    assert_eq!(part(&to, "upload, finalize", text.len(), "").0, 400, "it has been finalized");
    assert_eq!(fake.counts().files, 1);
    let listed = get(&url, "/v1beta/files?pageSize=100").1;
    assert_eq!(listed["files"][0]["displayName"], "half");
    assert_eq!(listed["files"][0]["state"], "ACTIVE");
    let name = file["file"]["name"].as_str().unwrap();
    assert_eq!(
        get(&url, &format!("/v1beta/{name}:download?alt=media")).0,
        400,
        "it is not generated"
    );
    // Files are kept for 48 hours.
    fake.advance(2 * 86_400);
    assert_eq!(get(&url, &format!("/v1beta/{name}")).0, 403);
}

#[test]
fn a_batch_with_wrong_fields_or_of_too_many_bytes_is_not_created() {
    let (url, fake) = BatchFake::start();
    let file = upload(&url, "input", &questions(1));
    let source = json!({"file_name": file});
    let requests = json!([{"request": request("a")}]);
    let both = json!({"file_name": file, "requests": {"requests": requests}});
    let batch = |name: Value, source: Value| json!({"batch": {"display_name": name, "input_config": source}});
    let unknown = json!({"batch": {"display_name": "a", "input_config": source, "metadata": {}}});
    for (body, due) in [
        (batch(Value::Null, source.clone()), "batch.display_name is required"),
        (batch(json!("a"), json!({})), "exactly one source"),
        (batch(json!("a"), both), "exactly one source"),
        (batch(json!("a"), json!({"file_name": "files/none"})), "not found"),
        (batch(json!("a"), json!({"requests": {"requests": []}})), "at least one request"),
        (unknown, "Unknown name \"metadata\" at 'batch'"),
    ] {
        let (status, refused) = post(&url, CREATE, &body);
        let error = &refused["error"];
        assert_eq!(
            (status, &error["code"], &error["status"]),
            (400, &json!(400), &json!("INVALID_ARGUMENT"))
        );
        assert!(error["message"].as_str().unwrap().contains(due), "{due}: {error}");
    }
    let text = "x".repeat(Options::default().max_inline_bytes);
    let requests = json!({"requests": {"requests": [{"request": request(&text)}]}});
    let (status, refused) = post(&url, CREATE, &batch(json!("a"), requests));
    let due = "Request payload size exceeds the limit: 20971520 bytes.";
    assert_eq!((status, &refused["error"]["message"]), (400, &json!(due)));
    assert_eq!(fake.counts().batches, 0);
    let (status, refused) = send("GET", &format!("{url}/v1beta/batches"), &[], Vec::new()).unwrap();
    assert_eq!((status, &refused["error"]["status"]), (403, &json!("PERMISSION_DENIED")));
}

#[test]
fn batches_fail_expire_and_are_cancelled() {
    let (url, fake) = BatchFake::start();
    fake.decide(0, Fate { expires_after: Some(3), ..Fate::default() });
    let expiring = submit(&url, 5);
    let cancelled = submit(&url, 5);
    let file = upload(&url, "input", "{\"key\": \"a\"}\n");
    let body = json!({"batch": {"display_name": "a", "input_config": {"file_name": file}}});
    let failing = format!("/v1beta/{}", post(&url, CREATE, &body).1["name"].as_str().unwrap());
    fake.advance(120);
    assert_eq!(post(&url, &format!("{cancelled}:cancel"), &json!({})), (200, json!({})));
    fake.advance(300);
    let found = |path: &str| {
        let operation = get(&url, path).1;
        assert!(operation["response"].is_null() && operation["done"] == true, "{operation}");
        (
            operation["metadata"]["state"].as_str().unwrap().to_owned(),
            operation["error"]["code"].clone(),
        )
    };
    assert_eq!(found(&cancelled), ("BATCH_STATE_CANCELLED".to_owned(), json!(1)));
    assert_eq!(found(&failing), ("BATCH_STATE_FAILED".to_owned(), json!(3)));
    fake.advance(2 * 86_400);
    assert_eq!(found(&expiring).0, "BATCH_STATE_EXPIRED");
    // One that has expired has no results, so that nothing was paid.
    assert!(fake.counts().paid.is_empty());
    // Cancelling is not promised.
    fake.set(|options| options.ignores_cancel = true);
    let going_on = submit(&url, 5);
    assert_eq!(post(&url, &format!("{going_on}:cancel"), &json!({})).0, 200);
    fake.advance(3720);
    assert_eq!(get(&url, &going_on).1["metadata"]["state"], "BATCH_STATE_SUCCEEDED");
    let page = get(&url, "/v1beta/batches?pageSize=3").1;
    assert_eq!(page["operations"].as_array().unwrap().len(), 3);
    let next = format!("/v1beta/batches?pageToken={}", page["nextPageToken"].as_str().unwrap());
    let page = get(&url, &next).1;
    assert_eq!(
        (page["operations"].as_array().unwrap().len(), &page["nextPageToken"]),
        (1, &Value::Null)
    );
}
