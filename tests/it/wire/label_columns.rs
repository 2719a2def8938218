//! Labels that a program gives its calls, as columns.

use serde_json::Value;

use super::record;
use super::upstream::{Failing, server};
use crate::support::cli::Place;

/// Asks once for each of two participants, in conditions whose labels have names that are taken.
const STUDY: &str = r#"
import json, os, urllib.request
for participant, status in [("p1", "treated"), ("p2", "untreated")]:
    labels = {"participant": participant, "status": status, "Run": "a", "label_run": "b", "run": "c"}
    body = {"model": "m", "messages": [{"role": "user", "content": "Yes or no?"}]}
    headers = {"content-type": "application/json", "x-retold-call": "vote/" + participant, "x-retold-labels": json.dumps(labels)}
    url = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
    urllib.request.urlopen(urllib.request.Request(url, json.dumps(body).encode(), headers)).read()
"#;

#[test]
fn labels_are_columns_of_every_table_about_calls() {
    let place = Place::new();
    let upstream = server(Failing { one_in: 0 });
    let recorded = record(&place, "--name study", &upstream.base_url(), &["python3", "-c", STUDY]);
    assert_eq!(recorded.code, 0, "{}{}", recorded.out, recorded.err);
    let table = |arguments: &str| -> Vec<Value> {
        let text = place.ok(&format!("table {arguments} --as jsonl"));
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let said =
        |row: &Value| ["participant", "label_status", "status"].map(|name| row[name].to_string());
    let found: Vec<_> = table("study").iter().map(said).collect();
    let expected =
        [["\"p1\"", "\"treated\"", "\"answered\""], ["\"p2\"", "\"untreated\"", "\"answered\""]];
    assert_eq!(found, expected);
    let row = &table("study")[0];
    let of_run =
        ["label_label_Run", "label_run", "label_label_label_run"].map(|name| row[name].clone());
    assert_eq!(of_run.map(|value| value.to_string()), ["\"a\"", "\"b\"", "\"c\""], "{row}");
    // A run without these labels has the same columns beside one that has them.
    place.ok(&format!("import {}/recordings/game24_small.jsonl", env!("RETOLD_ROOT")));
    let all = table("--all");
    assert!(all.len() > 2 && all.iter().all(|row| row.get("participant").is_some()));
    assert_eq!(all.iter().filter(|row| !row["participant"].is_null()).count(), 2);
}
