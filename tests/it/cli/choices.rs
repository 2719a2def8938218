//! Answers with several choices (`n`, `candidateCount`): which of them `check` decides about.

use serde_json::{Value, json};

use super::filters::script;
use crate::support::cli::{Place, assert_said};

/// Two answers with three choices, the last of which is a call of a tool, and one with a single choice.
fn answers() -> String {
    let call =
        json!({"id": "c", "type": "function", "function": {"name": "vote", "arguments": "{}"}});
    let choice = |index: u64, text: &str| {
        json!({"index": index, "finish_reason": "stop",
            "message": {"role": "assistant", "content": text}})
    };
    let calls = json!({"index": 2, "finish_reason": "tool_calls",
        "message": {"role": "assistant", "content": null, "tool_calls": [call]}});
    let line = |call: &str, choices: Vec<Value>| {
        let request = json!({"model": "m", "n": choices.len(),
            "messages": [{"role": "user", "content": call}]});
        format!(
            "{}\n",
            json!({"call": call, "request": request,
            "response": {"id": "r", "model": "m", "choices": choices}})
        )
    };
    [
        line("a", vec![choice(0, "I say\nyes"), choice(1, "I say\nno"), calls.clone()]),
        line("b", vec![choice(0, "maybe"), choice(1, "I say\nyes"), calls]),
        line("c", vec![choice(0, "no")]),
    ]
    .concat()
}

const LAST: &str = "parsers:
  - name: last
    strategies:
      - {last_line: true}
    default: none
";

/// Calls of tools, which a text does not have.
const CALLS: &str = "parsers:
  - name: called
    strategies:
      - {tool: vote}
    default: none
";

#[test]
fn each_choice_is_one_text_to_parse() {
    let place = Place::new();
    place.write("answers.jsonl", answers());
    place.write("last.yaml", LAST);
    place.write("calls.yaml", CALLS);
    assert_said!(
        "choices",
        place.session(&[
            "check answers.jsonl --parsers last.yaml",
            "check answers.jsonl --parsers last.yaml --choice all",
            "check answers.jsonl --parsers calls.yaml --choice 2",
            "check answers.jsonl --parsers last.yaml --choice 3",
            "check answers.jsonl --parsers last.yaml --choice second",
            "check --jsonl answers.jsonl --parsers last.yaml",
        ])
    );
    let (all, code) = place.json("check answers.jsonl --parsers last.yaml --choice all");
    assert_eq!(code, 0);
    let made: Vec<(&Value, &Value, &Value)> = all["new_decisions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|made| (&made["call"], &made["choice"], &made["value"]))
        .collect();
    let due = json!([
        ["a", 0, "yes"],
        ["a", 1, "no"],
        ["a", 2, "none"],
        ["b", 0, "maybe"],
        ["b", 1, "yes"],
        ["b", 2, "none"],
        ["c", 0, "no"]
    ]);
    assert_eq!(json!(made), due);
    // A program is told which choice it reads; the answers with one have no such keys.
    script(&place, "lines.sh", "sed -E 's/^(.*)$/{\"value\":\\1}/'");
    let (seen, _) = place.json("check answers.jsonl --parser-cmd ./lines.sh --choice all");
    let seen: Vec<Value> = seen["new_decisions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|made| json!([made["value"]["choice"], made["value"]["choices"]]))
        .collect();
    let due = json!([[0, 3], [1, 3], [2, 3], [0, 3], [1, 3], [2, 3], [null, null]]);
    assert_eq!(json!(seen), due);
}

#[test]
fn decisions_that_are_accepted_flip_by_choice() {
    let place = Place::new();
    place.write("answers.jsonl", answers());
    place.write("last.yaml", LAST);
    place.write("calls.yaml", CALLS);
    place.ok("import answers.jsonl");
    place.ok("check latest --parsers last.yaml --choice all --accept");
    place.ok("verify");
    place.write("first.yaml", LAST.replace("last_line: true", "tag: never"));
    let (changed, code) = place.json("check latest --parsers first.yaml --choice all");
    assert_eq!((code, &changed["decisions"], &changed["new"]), (1, &7.into(), &0.into()));
    let flips: Vec<Value> = changed["flipped"]
        .as_array()
        .unwrap()
        .iter()
        .map(|flip| json!([flip["call"], flip["choice"], flip["from"]["value"]]))
        .collect();
    let due = json!([
        ["a", 0, "yes"],
        ["a", 1, "no"],
        ["b", 0, "maybe"],
        ["b", 1, "yes"],
        ["c", 0, "no"]
    ]);
    assert_eq!(json!(flips), due);
    let (one, _) = place.json("check latest --parsers first.yaml --choice 1");
    assert_eq!((&one["flips"], &one["left"]["without_choice"]), (&2.into(), &1.into()), "{one}");
    let audited = place.ok("audit latest a");
    assert!(
        audited.contains("  choice   2, counted from 0: the answer has 3 choices\n"),
        "{audited}"
    );
    assert!(audited.contains("  last  choice 1  \"no\"\n"), "{audited}");
    for part in ["  the first of 3 choices\n", "  choice 1\n", "  tool call\n"] {
        assert!(audited.contains(part), "{part}: {audited}");
    }
    let (audited, _) = place.json("audit latest a");
    assert_eq!(
        (&audited["decision"]["choice"], &audited["answer"]["choices"]),
        (&2.into(), &3.into())
    );
    // Deciding about one choice again replaces no decision about another.
    place.ok("check latest --parsers calls.yaml --choice 2 --accept");
    let text = place.ok("show latest");
    assert!(text.contains("about the answers of run"), "{text}");
}

#[test]
fn each_choice_has_its_snapshot() {
    let place = Place::new();
    place.write("answers.jsonl", answers());
    place.write("last.yaml", LAST);
    place.ok("check answers.jsonl --parsers last.yaml --choice all --snapshots snaps");
    let second = place.read("snaps/a.0.choice-1.snap");
    assert_said!("choices_snapshot", second);
    // The first has the name that it has without the others, which are not taken for those of other answers.
    let (first, code) = place.json("check answers.jsonl --parsers last.yaml --snapshots snaps");
    assert_eq!((code, &first["same"], &first["unreferenced"]), (0, &3.into(), &json!([])));
    assert_eq!(first["left"]["other_choices"], 4);
}
