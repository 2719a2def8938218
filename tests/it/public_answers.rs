//! Parser files on public answers, against what their authors read or graded.

use std::path::Path;

use retold::prompt::Request;
use retold_study::parser_file::ParserFile;
use serde_json::Value;

use crate::support::data;

/// A set of answers, which of them, and the strategies that read them; then how many are right and how many wrong. The
/// rest is nothing.
type Reading = (&'static str, fn(&Value) -> bool, &'static str, (usize, usize));

const LETTERS: &str = "{regex: 'answer is\\s+(.*)', one_of: [A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P, Q, R], pick: last}, \
    {method: any, one_of: [A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P, Q, R], pick: last}";

/// BIG-Bench-Hard is right as often as its models are; in the other sets, all that is read is right.
const READINGS: [Reading; 8] = [
    (
        "grade_school_math",
        |_| true,
        "{regex: '(?m)^A:\\s*(.*)$', number: {}, pick: last}",
        (498, 0),
    ),
    ("zero_shot_cot", is_number, "{number: {}, pick: first}", (170, 0)),
    ("zero_shot_cot", is_letter, "{one_of: [A, B, C, D, E, F, G], pick: first}", (145, 0)),
    ("zero_shot_cot", is_yes_or_no, "{one_of: [yes, no], pick: first}", (82, 0)),
    ("science_qa", |_| true, "{one_of: [A, B, C, D, E], pick: first}", (471, 0)),
    (
        "science_qa",
        |_| true,
        "{regex: '(?i)answer\\s*(?:is|:)\\s*(.*)', one_of: [A, B, C, D, E], pick: last}",
        (456, 0),
    ),
    ("big_bench_hard", |label| gold(label).starts_with('('), LETTERS, (206, 107)),
    (
        "big_bench_hard",
        |label| gold(label).parse::<f64>().is_ok(),
        "{regex: 'answer is\\s+(.*)', number: {}, pick: last}, {method: any, number: {}, pick: last}",
        (19, 19),
    ),
];

fn gold(label: &Value) -> &str {
    label["gold"].as_str().unwrap_or("")
}

fn is_task(label: &Value, tasks: &[&str]) -> bool {
    label["task"].as_str().is_some_and(|task| tasks.contains(&task))
}

fn is_letter(label: &Value) -> bool {
    is_task(label, &["aqua", "commonsensqa", "shuffled_objects", "date_understanding"])
}

fn is_yes_or_no(label: &Value) -> bool {
    is_task(label, &["strategyqa", "coin_flip"])
}

fn is_number(label: &Value) -> bool {
    !is_letter(label) && !is_yes_or_no(label) && !is_task(label, &["last_letters"])
}

/// True if a value is what the authors read; for graded answers, if it is right where they say so.
fn is_right(value: &Value, label: &Value) -> bool {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let is = |due: &str| match (text.parse::<f64>(), due.replace(',', "").parse::<f64>()) {
        (Ok(one), Ok(other)) => one == other,
        _ => text.eq_ignore_ascii_case(due.trim_matches(['(', ')'])),
    };
    match (label["graded"].as_bool(), label["theirs"].as_str()) {
        (Some(graded), _) => is(gold(label)) == graded,
        (None, Some(theirs)) => is(theirs),
        (None, None) => is(gold(label)),
    }
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn public_answers_are_read_as_their_authors_read_them() {
    for (set, is_wanted, strategies, due) in READINGS {
        let text = format!("parsers: [{{name: p, strategies: [{strategies}]}}]");
        let file = ParserFile::new(Path::new("parsers.yaml"), &text).unwrap();
        let (mut right, mut wrong) = (0, 0);
        for row in data::rows("answers", &format!("{set}.exchanges.jsonl.gz")) {
            let text = row["response"]["content"].as_str().unwrap_or("");
            let label = &row["label"];
            if !is_wanted(label) {
                continue;
            }
            let (parsed, _) = file.get("p").unwrap().parse_any(text);
            match is_right(&parsed.value, label) {
                _ if parsed.value.is_null() => {}
                true => right += 1,
                false => wrong += 1,
            }
        }
        assert_eq!((right, wrong), due, "{set}: {strategies}");
    }
}

/// A ballot of `ethz-coss/LLM_voting`, as its authors have it: approved projects, or the points or the rank of each, where the
/// first of five has 5. They number the projects of one file from the end.
fn their_ballot(value: &Value, label: &Value) -> Value {
    let is_reversed = label["file"].as_str().is_some_and(|file| file.contains("reversed_id"));
    let number = |option: &str| {
        let number: i64 = option.trim_start_matches('#').parse().unwrap();
        if is_reversed { 25 - number } else { number }
    };
    match value {
        Value::Array(options) => {
            let numbers = options.iter().map(|option| number(option.as_str().unwrap()));
            let mut numbers: Vec<i64> = numbers.collect();
            numbers.sort_unstable();
            numbers.into()
        }
        Value::Object(points) => {
            points.iter().map(|(option, n)| (number(option).to_string(), n.clone())).collect()
        }
        other => other.clone(),
    }
}

/// Ballots, by what their prompt asks for: so many are as their authors read them, so many are not. The authors read every
/// number after a `#`, also in broken text, the last of different points, and nothing where points follow a comma.
#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn public_ballots_are_read_as_their_authors_read_them() {
    let options: Vec<String> = (1..=24).map(|n| format!("'#{n}'")).collect();
    let options = options.join(", ");
    let text = format!(
        "decisions:
  ballot:
    - {{name: points, for: {{prompt: Distribute 10 points}}, strategies: [{{points: [{options}]}}]}}
    - {{name: ranking, for: {{prompt: rank them}}, strategies: [{{ranking: [{options}]}}]}}
    - {{name: choices, strategies: [{{choices: [{options}]}}]}}
"
    );
    let file = ParserFile::new(Path::new("ballots.yaml"), &text).unwrap();
    let (mut right, mut wrong, mut nothing) = (0, 0, 0);
    for row in data::rows("answers", "ballots.exchanges.jsonl.gz") {
        let request = Request::from_record(row["request"].clone()).unwrap();
        let parser = file.decisions()[0].fitting(None, Some(&request)).unwrap();
        let (parsed, _) = parser.parse_any(row["response"]["content"].as_str().unwrap());
        let label = &row["label"];
        let mut theirs: Value = serde_json::from_str(label["theirs"].as_str().unwrap()).unwrap();
        let mut ours = parsed.value;
        if parser.spec().name == "ranking"
            && let Value::Array(options) = &ours
        {
            let ranked = options.iter().take(5).zip(0..);
            ours = ranked
                .map(|(option, at)| (option.as_str().unwrap().to_owned(), Value::from(5 - at)))
                .collect();
        }
        if let Value::Array(numbers) = &mut theirs {
            numbers.sort_by_key(Value::as_i64);
        }
        match their_ballot(&ours, label) {
            Value::Null => nothing += 1,
            ours if ours == theirs => right += 1,
            _ => wrong += 1,
        }
    }
    let found = (right, wrong, nothing);
    assert!(right >= 490 && wrong <= 8 && right + wrong + nothing == 500, "{found:?}");
}
