//! Integers that a double cannot hold are the same in an answer, its decision, tables and exports.

use serde_json::{Value, json};

use crate::support::cli::Place;
use crate::support::csv::rows_of;

#[test]
fn an_integer_beyond_2_53_stays_what_it_is() {
    let place = Place::new();
    let line = |n: usize, text: &str| {
        let request =
            json!({"model": "m", "messages": [{"role": "user", "content": format!("{n}?")}]});
        json!({"call": format!("q/{n}"), "request": request, "response": {"content": text}})
            .to_string()
    };
    let answers = [
        r#"{"id": 9007199254740993, "all": [1, -9007199254740993]}"#,
        r#"{"id": 18446744073709551615, "all": [2.5]}"#,
        r#"{"id": 7, "all": ["9007199254740993"]}"#,
        "It is 9007199254740995.",
    ];
    let lines: Vec<String> = answers.iter().enumerate().map(|(n, text)| line(n, text)).collect();
    place.write("answers.jsonl", lines.join("\n"));
    place.ok("import answers.jsonl");
    let run = place.json("log").0["runs"][0]["run"].as_str().unwrap().to_owned();
    let parser = |name: &str, strategy: &str| {
        place.write(
            &format!("{name}.yaml"),
            format!("parsers: [{{name: {name}, strategies: [{strategy}]}}]\n"),
        );
        place.ok(&format!("check {run} --parsers {name}.yaml --accept"));
    };
    parser("id", "{json: id, number: {}}");
    parser("count", "{number: {}}");
    parser("whole", "{json: $}");
    let table = rows_of(&place.ok(&format!("table {run} --table decisions")));
    let values = |name: &str| -> Vec<&str> {
        let of = table.iter().filter(|row| row["name"] == name);
        of.map(|row| row["value"].as_str()).collect()
    };
    let ids = ["9007199254740993", "18446744073709551615", "7", ""];
    assert_eq!((values("id"), values("count")[3]), (ids.to_vec(), "9007199254740995"));
    let whole: Vec<Value> =
        values("whole")[..3].iter().map(|value| serde_json::from_str(value).unwrap()).collect();
    for (whole, answer) in whole.iter().zip(answers).take(3) {
        assert_eq!(*whole, serde_json::from_str::<Value>(answer).unwrap());
    }
    let (audit, _) = place.json(&format!("audit {run} q/0"));
    assert!(audit["in_force"].to_string().contains(r#""value":9007199254740993"#), "{audit}");
    // The same parser decides the same, and what was accepted is sound.
    assert_eq!(place.run(&format!("check {run} --parsers id.yaml")).code, 0);
    place.ok("verify");
    let accepted = audit["in_force"][0]["run"].as_str().unwrap().to_owned();
    place.ok(&format!("export {accepted} accepted.jsonl"));
    let again = rows_of(&place.ok("table accepted.jsonl --table decisions"));
    assert_eq!(again[0]["value"], ids[0]);
}
