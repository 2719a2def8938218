//! Invalid configs.

use std::path::Path;

use crate::support::program::study;
use retold::model::{RetryPolicy, RetryRule};
use serde_json::Value;

const GOOD: &str = "\
experiment: society
agents: 10
days: 3
request:
  model: m
";

fn said(text: &str, overrides: &[&str]) -> String {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("bad.yaml");
    std::fs::write(&path, text).unwrap();
    let overrides: Vec<String> = overrides.iter().map(|o| (*o).to_owned()).collect();
    let error = study(&path, None, &overrides).unwrap_err();
    error.to_string().replace(&format!("{}/", dir.path().display()), "")
}

#[test]
fn bad_values_are_named_with_the_file_and_the_line_or_key() {
    let with = |lines: &str| said(&format!("{GOOD}{lines}\n"), &[]);
    let replaced = |from: &str, to: &str| said(&GOOD.replace(from, to), &[]);
    let all = [
        replaced("agents: 10", "agents: 1"),
        replaced("agents: 10", "agents: ten"),
        replaced("agents: 10", "agents: 100000"),
        replaced("days: 3", "days: 0"),
        replaced("days: 3", "days: []"),
        with("models: 3"),
        replaced("model: m", "model: \" \""),
        replaced("request:\n  model: m\n", ""),
        with("personalities: {efficiency: 0.5, equality: 0.2}"),
        with("personalities: {efficiency: 1.5, equality: -0.5}"),
        with("personalities: {efficient: 1}"),
        with("personalities: {}"),
        with("models: [{model: a, share: 0.5}]"),
        with("models: [{model: \"\", share: 1}]"),
        with("parser: vote"),
        with("parser: action@7"),
        with("rules: {land: -1}"),
        with("rules: {start: {food: 1, energy: 1}}"),
        with("rules: {needs: {food: -1, energy: 1, materials: 0}}"),
        with("rules: {yields: {farm: 0.0001}}"),
        with("rules: {yields: {farm: 100000}}"),
        with("rules: {pool_share: 2}"),
        with("rules: {proposals: {days: 0}}"),
        with("rules: {proposals: {quorum: 1.5}}"),
        with("rules: {tax: 0.1}"),
        with("context: {posts: 100000}"),
        with("prompts: nowhere"),
        with("colour: blue"),
        with("retry: patient"),
        with("retry: {max_retry: 3}"),
        with("retry: {rule: fast}"),
        with("retry: 3"),
        said(GOOD, &["request.temperature=3"]),
        said(GOOD, &["rules.pool.food=lots"]),
    ];
    insta::assert_snapshot!(all.join("\n\n"));
}

/// The document's program makes three attempts, waits a second first, and asks for 500 tokens at
/// temperature 0.7.
#[test]
fn what_a_config_leaves_out_is_as_in_the_documents_program() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("society.yaml");
    let loaded = |text: &str, overrides: &[&str]| {
        std::fs::write(&path, text).unwrap();
        let overrides: Vec<String> = overrides.iter().map(|o| (*o).to_owned()).collect();
        let settings = study(&path, None, &overrides).unwrap().settings;
        let request = settings.experiment.to_json().unwrap()["request"].clone();
        let retry = settings.runtime.retry;
        (request["temperature"].clone(), request["max_tokens"].clone(), retry)
    };
    let document = RetryPolicy { max_retries: 2, base_seconds: 1.0, ..RetryPolicy::default() };
    assert_eq!(loaded(GOOD, &[]), (0.7.into(), 500.into(), document));
    // What the config says counts, the rest stays; null leaves a value to the provider.
    let text = format!("{GOOD}  temperature: null\nretry: {{max_retries: 7}}\n");
    let retry = RetryPolicy { max_retries: 7, ..document };
    assert_eq!(loaded(&text, &["seed=3"]), (Value::Null, 500.into(), retry));
    let expected = (0.7.into(), 9.into(), document);
    assert_eq!(loaded(GOOD, &["request.max_tokens=9"]), expected);
    // The document's rule by its name alone, with the document's numbers.
    let fixed = RetryPolicy { rule: RetryRule::Fixed, ..document };
    assert_eq!(loaded(&format!("{GOOD}retry: fixed\n"), &[]).2, fixed);
    assert_eq!(loaded(&format!("{GOOD}retry: {{rule: fixed}}\n"), &[]).2, fixed);
    assert_eq!(loaded(GOOD, &["retry=fixed"]).2, fixed);
    let own = Path::new(env!("RETOLD_ROOT")).join("config/society.yaml");
    let own = study(&own, None, &[]).unwrap().settings.runtime.retry;
    assert_eq!(own, document);
}

#[test]
fn a_template_that_cannot_be_filled_in_is_refused_before_the_run() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("context_status.txt"), "Day {day_number}, {weather}").unwrap();
    let path = dir.path().join("own.yaml");
    std::fs::write(&path, format!("{GOOD}prompts: .\n")).unwrap();
    let error = study(&path, None, &[]).unwrap_err().to_string();
    let error = error.replace(&format!("{}/", dir.path().display()), "");
    insta::assert_snapshot!(error);
    std::fs::write(dir.path().join("context_status.txt"), "Day {day_number}").unwrap();
    assert!(study(&path, None, &[]).is_ok());
}
