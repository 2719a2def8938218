//! Anthropic's fake: limits, states, results.

use serde_json::{Value, json};

use super::{Got, by_id, send};
use crate::support::batches::{BatchFake, Fate, Options};

const HEADERS: [(&str, &str); 3] = [
    ("x-api-key", "sk-ant"),
    ("anthropic-version", "2023-06-01"),
    ("content-type", "application/json"),
];

const BATCHES: &str = "/v1/messages/batches";

fn post(url: &str, path: &str, body: &Value) -> Got {
    send("POST", &format!("{url}{path}"), &HEADERS, body.to_string().into_bytes()).unwrap()
}

fn get(url: &str, path: &str) -> Got {
    send("GET", &format!("{url}{path}"), &HEADERS, Vec::new()).unwrap()
}

fn request(id: &str) -> Value {
    let params = json!({"model": "claude-1", "max_tokens": 9, "messages": [{"role": "user", "content": id}]});
    json!({"custom_id": id, "params": params})
}

fn requests(count: usize) -> Value {
    json!({"requests": (0..count).map(|n| request(&format!("q{n}"))).collect::<Vec<_>>()})
}

/// Creates a batch; returns its path.
fn submit(url: &str, count: usize) -> String {
    let (status, object) = post(url, BATCHES, &requests(count));
    assert_eq!((status, &object["processing_status"]), (200, &json!("in_progress")), "{object}");
    format!("{BATCHES}/{}", object["id"].as_str().unwrap())
}

#[test]
fn a_batch_is_processed_and_its_answers_are_those_of_live_requests() {
    let (url, fake) = BatchFake::start();
    let path = submit(&url, 20);
    let object = get(&url, &path).1;
    let counts =
        json!({"processing": 20, "succeeded": 0, "errored": 0, "canceled": 0, "expired": 0});
    assert_eq!((&object["request_counts"], &object["results_url"]), (&counts, &Value::Null));
    assert_eq!(get(&url, &format!("{path}/results")).0, 404);
    fake.advance(3660);
    let object = get(&url, &path).1;
    let counts =
        json!({"processing": 0, "succeeded": 20, "errored": 0, "canceled": 0, "expired": 0});
    assert_eq!(
        (&object["request_counts"], &object["processing_status"]),
        (&counts, &json!("ended"))
    );
    let results = object["results_url"].as_str().unwrap().strip_prefix(&url).unwrap().to_owned();
    let text = get(&url, &results).1;
    assert!(!text.as_str().unwrap().starts_with("{\"custom_id\":\"q0\""), "in an order of its own");
    let results = by_id(&text, "custom_id");
    assert_eq!(results.len(), 20);
    for (id, line) in results {
        assert_eq!(line["result"]["type"], "succeeded");
        let live = post(&url, "/v1/messages", &request(&id)["params"]).1;
        assert_eq!(live, line["result"]["message"]);
    }
    // They are kept for 29 days from the batch's creation.
    fake.advance(29 * 86_400 - 3661);
    assert_eq!(get(&url, &format!("{path}/results")).0, 200);
    fake.advance(1);
    assert_eq!(get(&url, &format!("{path}/results")).0, 404);
    let object = get(&url, &path).1;
    assert!(object["archived_at"].is_string() && object["results_url"].is_null(), "{object}");
}

#[test]
fn a_batch_that_breaks_a_limit_is_refused_as_a_whole() {
    let (url, fake) = BatchFake::start();
    let two = |second: Value| json!({"requests": [request("a"), second]});
    let with = |key: &str, value: Value| {
        let mut second = request("b");
        second[key] = value;
        two(second)
    };
    let mut streamed = request("b");
    streamed["params"]["stream"] = json!(true);
    let pattern = "requests.1.custom_id: String should match pattern '^[a-zA-Z0-9_-]{1,64}$'";
    for (body, due) in [
        (json!({}), "requests: Field required"),
        (
            json!({"requests": []}),
            "requests: List should have at least 1 item after validation, not 0",
        ),
        (
            json!({"requests": [request("a")], "metadata": {}}),
            "metadata: Extra inputs are not permitted",
        ),
        (with("custom_id", json!("a b")), pattern),
        (with("custom_id", json!("")), pattern),
        (with("custom_id", json!("x".repeat(65))), pattern),
        (with("custom_id", json!("a")), "requests.1.custom_id: a is not unique in the batch"),
        (with("metadata", json!({})), "requests.1.metadata: Extra inputs are not permitted"),
        (two(json!({"custom_id": "b"})), "requests.1.params: Field required"),
        (two(streamed), "requests.1.params.stream: streaming is not supported in batches"),
    ] {
        let (status, refused) = post(&url, BATCHES, &body);
        let error = json!({"type": "invalid_request_error", "message": due});
        assert_eq!((status, &refused["type"], &refused["error"]), (400, &json!("error"), &error));
    }
    let (status, refused) = post(&url, BATCHES, &requests(100_001));
    let due = "requests: List should have at most 100000 items after validation, not 100001";
    assert_eq!((status, &refused["error"]["message"]), (400, &json!(due)));
    assert_eq!(Options::default().max_bytes[1], 256 << 20);
    fake.set(|options| options.max_bytes[1] = 200);
    let (status, refused) = post(&url, BATCHES, &requests(9));
    assert_eq!((status, &refused["error"]["type"]), (413, &json!("request_too_large")));
    assert_eq!(fake.counts().batches, 0);
}

#[test]
fn the_key_and_the_version_are_required() {
    let (url, _fake) = BatchFake::start();
    let url = format!("{url}{BATCHES}");
    let (status, refused) = send("GET", &url, &HEADERS[1..], Vec::new()).unwrap();
    assert_eq!((status, &refused["error"]["type"]), (401, &json!("authentication_error")));
    let (status, refused) = send("GET", &url, &HEADERS[..1], Vec::new()).unwrap();
    let due = "anthropic-version: header is required";
    assert_eq!((status, &refused["error"]["message"]), (400, &json!(due)));
}

#[test]
fn each_result_says_what_became_of_it() {
    let (url, fake) = BatchFake::start();
    fake.decide(0, Fate { errors: vec![(0, 400), (1, 529)], ..Fate::default() });
    fake.decide(1, Fate { expires_after: Some(3), ..Fate::default() });
    fake.decide(3, Fate { gone: true, ..Fate::default() });
    let paths: Vec<String> = (0..4).map(|_| submit(&url, 10)).collect();
    fake.advance(1800);
    let object = post(&url, &format!("{}/cancel", paths[2]), &json!({})).1;
    assert_eq!(object["processing_status"], "canceling");
    assert!(object["cancel_initiated_at"].is_string() && object["ended_at"].is_null());
    assert_eq!(get(&url, &paths[2]).1["request_counts"]["processing"], 10);
    fake.advance(86_400 - 1801);
    assert_eq!(get(&url, &paths[1]).1["processing_status"], "in_progress");
    fake.advance(1);
    let counts = |path: &str| get(&url, path).1["request_counts"].clone();
    let due = |succeeded: u64, errored: u64, canceled: u64, expired: u64| json!({"processing": 0, "succeeded": succeeded, "errored": errored, "canceled": canceled, "expired": expired});
    assert_eq!(counts(&paths[0]), due(8, 2, 0, 0));
    assert_eq!(counts(&paths[1]), due(3, 0, 0, 7));
    assert_eq!(counts(&paths[2]), due(5, 0, 5, 0));
    let results = by_id(&get(&url, &format!("{}/results", paths[0])).1, "custom_id");
    let types: Vec<&Value> =
        results[..2].iter().map(|(_, line)| &line["result"]["error"]["error"]["type"]).collect();
    assert_eq!(types, ["invalid_request_error", "overloaded_error"]);
    assert_eq!(results[0].1["result"]["error"]["type"], "error");
    let expired = by_id(&get(&url, &format!("{}/results", paths[1])).1, "custom_id");
    assert_eq!(
        expired.iter().filter(|(_, line)| line["result"] == json!({"type": "expired"})).count(),
        7
    );
    assert_eq!(post(&url, &format!("{}/cancel", paths[0]), &json!({})).0, 400);
    let gone = get(&url, &paths[3]).1;
    assert!(gone["results_url"].is_null() && gone["archived_at"].is_string());
    assert_eq!(get(&url, &format!("{}/results", paths[3])).0, 404);
    // The results that nobody can read were paid for, too.
    assert_eq!(fake.counts().paid.values().sum::<u64>(), 8 + 3 + 5 + 10);
}

#[test]
fn lists_have_pages_in_both_directions() {
    let (url, _fake) = BatchFake::start();
    let mut ids: Vec<String> = (0..5)
        .map(|_| submit(&url, 1).strip_prefix(&format!("{BATCHES}/")).unwrap().to_owned())
        .collect();
    ids.reverse();
    let page = |query: &str| {
        let list = get(&url, &format!("{BATCHES}?{query}")).1;
        let data = list["data"].as_array().unwrap().iter();
        let ids: Vec<String> = data.map(|one| one["id"].as_str().unwrap().to_owned()).collect();
        assert_eq!(list["first_id"].as_str(), ids.first().map(String::as_str));
        assert_eq!(list["last_id"].as_str(), ids.last().map(String::as_str));
        (ids, list["has_more"].as_bool().unwrap())
    };
    assert_eq!(page("limit=2"), (ids[..2].to_vec(), true));
    assert_eq!(page(&format!("limit=2&after_id={}", ids[1])), (ids[2..4].to_vec(), true));
    assert_eq!(page(&format!("after_id={}", ids[3])), (ids[4..].to_vec(), false));
    assert_eq!(page(&format!("limit=2&before_id={}", ids[3])), (ids[1..3].to_vec(), true));
    assert_eq!(page(&format!("before_id={}", ids[1])), (ids[..1].to_vec(), false));
    let both = format!("after_id={0}&before_id={0}", ids[0]);
    for wrong in ["limit=0", "limit=1001", "after_id=none", &both] {
        assert_eq!(get(&url, &format!("{BATCHES}?{wrong}")).0, 400, "{wrong}");
    }
}
