//! `retold check --text` and `--jsonl`: answers that are in no run.

use crate::support::parsers as registry;
use retold::parse::ParserSpec;
use serde_json::{Value, json};

use super::streaming::objects;
use crate::support::cases::cases;
use crate::support::cli::{Place, Said, assert_said};

fn json(said: &Said) -> Value {
    assert_eq!((said.code, said.out.lines().count()), (0, 1), "{}{}", said.out, said.err);
    serde_json::from_str(&said.out).unwrap()
}

/// Every frozen answer, one per line, with every version of its parser.
#[test]
fn every_parser_decides_as_in_the_library() {
    let place = Place::new();
    let mut tried = 0;
    for (name, version) in registry::all() {
        let cases = cases(name);
        let lines = cases.iter().map(|case| {
            let params = if case.params.is_object() { case.params.clone() } else { json!({}) };
            match case.params.is_null() {
                true => format!("{}\n", json!({"text": case.answer})),
                false => format!("{}\n", json!({"text": case.answer, "params": params})),
            }
        });
        let parser = format!("{name}@{version}");
        let args = ["check", "--parser", &parser, "--jsonl", "-", "--json"];
        let all = objects(&place.fed(&args, lines.collect::<String>().as_bytes()));
        assert_eq!(all.len(), cases.len());
        for (case, made) in cases.iter().zip(&all) {
            let spec = ParserSpec { name: name.into(), version, params: case.params.clone() };
            let (parsed, verdict) = registry::parser(&spec).unwrap().parse_any(&case.answer);
            let due = json!({"method": parsed.method, "value": parsed.value,
                "reasoning": parsed.reasoning, "warnings": parsed.warnings});
            for key in ["method", "value", "reasoning", "warnings"] {
                assert_eq!(made[key], due[key], "{parser} {}: {key}", case.name);
            }
            assert_eq!((&made["parser"], made["verdict"].as_str()), (&json!(parser), verdict));
            tried += 1;
        }
    }
    assert!(tried > 300, "{tried}");
    assert!(!place.path("retold.db").exists(), "nothing is recorded");
}

const NUMBERS: &str = r#"{"numbers":[4,5,6,10]}"#;

#[test]
fn the_whole_input_is_one_answer() {
    let place = Place::new();
    let answer = "<think>\n10 - 4 = 6\n6 * 4 = 24\u{1b}[31m</think>\n<answer>(10 - 4) * 4 = 24</answer>\n<answer></answer>\n";
    let args = ["check", "--text", "-", "--parser", "game24", "--params", NUMBERS];
    assert_said!("parsing_text", place.fed(&args, answer.as_bytes()).out);
    let made = json(&place.fed(&[&args[..], &["--json"]].concat(), answer.as_bytes()));
    assert_eq!(made["parser"], "game24@2");
    assert_eq!(made["params"], json!({"numbers": [4, 5, 6, 10]}));
    assert_eq!(made["verdict"], "wrong_numbers");
    assert_eq!(made["warnings"], json!([]));
    // The same from a file.
    place.write("answer.txt", answer);
    let args = ["check", "--text", "answer.txt", "--parser", "game24", "--params", NUMBERS];
    assert_eq!(json(&place.args(&[&args[..], &["--json"]].concat())), made);
    // An empty answer is an answer as well.
    let made = json(&place.fed(&["check", "--text", "-", "--parser", "game24@1", "--json"], b""));
    assert_eq!((&made["method"], &made["value"]), (&json!("empty"), &json!("")));
}

#[test]
fn a_line_is_a_text_or_an_object_with_one() {
    let place = Place::new();
    let lines = r#"
"Answer: 4 * 6"
{"text":"Answer: 4 * 5","params":{"numbers":[4,5]}}
{"content":"Answer: 1 + 2"}

{"call":"solve/1","sample":2,"request":{"model":"m"},"response":{"content":"Answer: 9 - 8","role":"assistant"},"label":3,"simulated":true}
{"call":"solve/2","request":{},"error":{"failure":"rejected","message":"no"}}
{"response":{"refusal":"no"}}
"#;
    let args = ["check", "--parser", "game24@2", "--params", NUMBERS, "--jsonl", "-"];
    assert_said!("parsing_lines", place.fed(&args, lines.as_bytes()).out);
    let made = objects(&place.fed(&[&args[..], &["--json"]].concat(), lines.as_bytes()));
    let (decisions, left): (Vec<Value>, Vec<Value>) =
        made.into_iter().partition(|it| it.get("left").is_none());
    assert_eq!(left, [json!({"call": "solve/2", "left": "no answer", "line": 7})]);
    let values: Vec<&str> = decisions.iter().map(|d| d["value"].as_str().unwrap()).collect();
    assert_eq!(values, ["4 * 6", "4 * 5", "1 + 2", "9 - 8", ""]);
    let lines: Vec<u64> = decisions.iter().map(|d| d["line"].as_u64().unwrap()).collect();
    assert_eq!(lines, [2, 3, 4, 6, 8]);
    assert_eq!((&decisions[3]["call"], &decisions[3]["sample"]), (&json!("solve/1"), &json!(2)));
    assert_eq!(decisions[1]["params"], json!({"numbers": [4, 5]}));
    // What `export` writes is accepted as it is.
    let place = Place::with_run();
    let exported = place.ok("export latest --as exchanges");
    let made = objects(
        &place.fed(&["check", "--parser", "game24", "--jsonl", "-", "--json"], exported.as_bytes()),
    );
    assert_eq!(made.len(), 6);
    place.ok("export latest answers.jsonl.gz --as exchanges");
    let args = ["check", "--jsonl", "answers.jsonl.gz", "--parser", "game24", "--json"];
    assert_eq!(objects(&place.args(&args)), made);
}

#[test]
fn what_cannot_be_parsed_is_named() {
    let place = Place::new();
    place.write("wrong.jsonl", "{\"txt\":\"a\"}\n");
    let mut shown = String::new();
    let plain: &[(&str, &[u8])] = &[
        ("check --text -", b"x"),
        ("check", b"x"),
        ("check latest --text - --parser game24", b"x"),
        ("check --text - --jsonl - --parser game24", b"x"),
        ("check --text - --parser game24 --accept", b"x"),
        ("check --jsonl - --parser game24 --snapshots snaps", b"x"),
        ("check --jsonl wrong.jsonl --parser game24", b""),
        ("check --text - --parser chess", b"x"),
        ("check --text - --parser game24@9", b"x"),
        ("check --text - --parser game24@x", b"x"),
        ("check --text - --parser game24 --params {", b"x"),
        ("check --text - --parser game24 --params [4]", b"x"),
        ("check --text - --parser game24 --params {\"numbrs\":[4]}", b"x"),
        ("check --text - --parser vote", b"x"),
        ("check --text - --parser game24 --parser-cmd cat", b"x"),
        ("check --text - --parser game24", b"caf\xe9"),
        ("check --text - --parser game24", b"\xff\xfex\0"),
        ("check --parser game24 --jsonl -", b""),
        ("check --parser game24 --jsonl -", b"\n\n"),
        ("check --parser game24 --jsonl -", b"\"a\"\n7\n"),
        ("check --parser game24 --jsonl -", b"hello\n"),
        ("check --parser game24 --jsonl -", b"{\"text\":\"a\"\n"),
        ("check --parser game24 --jsonl -", b"{\"txt\":\"a\"}\n"),
        ("check --parser game24 --jsonl -", b"{\"text\":7}\n"),
        ("check --parser game24 --jsonl -", b"{\"call\":\"a\"}\n"),
        ("check --parser game24 --jsonl -", b"{\"text\":\"a\",\"content\":\"b\"}\n"),
        ("check --parser game24 --jsonl -", b"{\"text\":\"a\",\"params\":3}\n"),
        ("check --parser game24 --jsonl -", b"{\"response\":{}}\n"),
        ("check --parser game24 --jsonl -", b"{\"call\":\"a//b\",\"text\":\"\"}\n"),
        ("check --parser game24 --jsonl -", b"{\"call\":\"a\",\"error\":{}}\n"),
    ];
    for (args, input) in plain {
        let said = place.fed(&args.split_whitespace().collect::<Vec<_>>(), input);
        assert_eq!(said.code, 2, "{args}: {}{}", said.out, said.err);
        shown.push_str(&place.shown(args, &said));
    }
    assert_said!("parsing_wrong", shown);
    for option in ["--text", "--jsonl"] {
        let said = place.run(&format!("check {option} missing --parser game24"));
        assert_eq!(said.code, 3, "{}", said.err);
        assert!(said.err.starts_with("error: missing: cannot open it"), "{}", said.err);
    }
}

/// Whoever has a file of replies pastes one, and must be told how to give it.
#[test]
fn what_a_line_is_instead_of_an_answer_is_said() {
    let place = Place::new();
    let mut shown = String::new();
    for line in [
        r#"{"id":"c","object":"chat.completion","choices":[{"message":{"content":"4 * 6"}}]}"#,
        r#"{"object":"list","data":[{"embedding":[0.5]}],"model":"m"}"#,
        r#"{"type":"message","role":"assistant","content":[{"type":"text","text":"4 * 6"}]}"#,
        r#"{"id":"r","object":"response","output":[{"type":"message"}]}"#,
        r#"{"candidates":[{"content":{"parts":[{"text":"4 * 6"}]}}]}"#,
        r#"{"model":"m","created_at":"2026","response":"4 * 6","done":true}"#,
        r#"{"answer":"4 * 6"}"#,
        r#"{"answer":"4 * 6","call":"a"}"#,
        r#"{"a":1,"b":2,"c\u001b[31m":3,"d":4,"e":5,"f":6,"g":7}"#,
        r#"{"call":"a","params":{}}"#,
        r#"{"text":null}"#,
        "{}",
    ] {
        let said = place.fed(&["check", "--parser", "game24", "--jsonl", "-"], line.as_bytes());
        assert_eq!((said.code, said.out.as_str()), (2, ""), "{line}: {}", said.err);
        shown.push_str(&format!("{line}\n{}\n", said.err));
    }
    assert_said!("parsing_foreign", shown);
    // What the message says to write is read.
    let line = r#"{"response":{"choices":[{"message":{"content":"Answer: 4 * 6"}}]}}"#;
    let made = json(
        &place.fed(&["check", "--parser", "game24", "--jsonl", "-", "--json"], line.as_bytes()),
    );
    assert_eq!(made["value"], "4 * 6");
}

/// One of two values is a mistake, and a program cannot know which.
#[test]
fn settings_name_each_key_once() {
    let place = Place::with_run();
    let parser = ["--parser", "game24"];
    let mut shown = String::new();
    for params in [
        r#"{"numbers":[4,5,6,10],"numbers":[1,2,3,4]}"#,
        r#"{"numbers":[4,5,6,10],"\u006eumbers":[1,2,3,4]}"#,
        r#"{"a":[{"b":1,"b":2}]}"#,
    ] {
        let said = place
            .fed(&[&["check", "--text", "-"], &parser[..], &["--params", params]].concat(), b"x");
        assert_eq!((said.code, said.out.as_str()), (2, ""), "{params}: {}", said.err);
        shown.push_str(&format!("{params}\n{}", said.err));
        let line = format!("{{\"text\":\"x\",\"params\":{params}}}");
        let said = place.fed(&[&["check", "--jsonl", "-"], &parser[..]].concat(), line.as_bytes());
        assert_eq!((said.code, said.out.as_str()), (2, ""), "{line}: {}", said.err);
        shown.push_str(&said.err);
        place.write("params.jsonl", format!("{{\"call\":\"solve/0\",\"params\":{params}}}\n"));
        let said = place.run("check latest --parser game24 --params-from params.jsonl");
        assert_eq!((said.code, said.out.as_str()), (2, ""), "{params}: {}", said.err);
        shown.push_str(&format!("{}\n", said.err));
    }
    assert_said!("parsing_doubled", shown);
}

/// A setting that no answer could fit is a mistake of whoever typed it.
#[test]
fn settings_that_no_answer_fits_are_refused() {
    let place = Place::new();
    let mut shown = String::new();
    for (parser, params) in [
        ("game24", r#"{"numbers":[4,5,6,10000]}"#),
        ("game24", r#"{"numbers":[4,5,6,90071992547409931]}"#),
        ("game24", r#"{"numbers":["4","5","6","10"]}"#),
        ("game24", r#"{"numbers":[4.5,5,6,10]}"#),
        ("game24", r#"{"numbers":4}"#),
        ("vote", r#"{"options":[1,2]}"#),
        ("action", r#"{"agents":0}"#),
        ("contribution", r#"{"endowment":-1}"#),
    ] {
        let said =
            place.fed(&["check", "--text", "-", "--parser", parser, "--params", params], b"x");
        assert_eq!((said.code, said.out.as_str()), (2, ""), "{params}: {}", said.err);
        shown.push_str(&format!("{params}\n{}", said.err));
    }
    assert_said!("parsing_settings", shown);
}

/// `content` is read as an import reads it: no text and a list of parts are valid answers.
#[test]
fn a_content_is_read_as_in_an_exchanges_file() {
    let place = Place::new();
    let lines = r#"
{"content":null}
{"content":[{"type":"text","text":"Answer: "},{"type":"text","text":"4 * 6"}]}
{"content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"Answer: 5 * 6"}]}
{"response":{"content":null}}
"#;
    let args = ["check", "--parser", "game24@2", "--params", NUMBERS, "--jsonl", "-", "--json"];
    let made = objects(&place.fed(&args, lines.as_bytes()));
    let values: Vec<&Value> = made.iter().map(|d| &d["value"]).collect();
    assert_eq!(values, ["", "4 * 6", "5 * 6", ""]);
    let mut shown = String::new();
    for line in ["{\"content\":7}\n", "{\"text\":\"a\",\"content\":null}\n"] {
        let said = place.fed(&args[..7], line.as_bytes());
        assert_eq!(said.code, 2, "{}{}", said.out, said.err);
        shown.push_str(&said.err);
    }
    assert_said!("parsing_contents", shown);
}

#[test]
fn a_nul_is_not_taken_for_utf_16() {
    let place = Place::new();
    place.write("nul.yaml", place.read("small.yaml").replace("seed: 7", "seed: \0 7"));
    let mut shown = place.session(&["run nul.yaml"]);
    for (args, input) in [
        ("check --text - --parser game24", &b"a\0b"[..]),
        ("check --text - --parser game24", b"Answer:\n4 * 6\0\n"),
        ("check --parser game24 --jsonl -", b"{\0}\n"),
        ("check --parser game24 --jsonl -", b"\"a\"\n\"b\0\"\n"),
        ("check --text - --parser game24", b"a\0b\0"),
    ] {
        let said = place.fed(&args.split_whitespace().collect::<Vec<_>>(), input);
        assert_eq!(said.code, 2, "{args}: {}{}", said.out, said.err);
        shown.push_str(&place.shown(args, &said));
    }
    assert_said!("parsing_nul", shown);
}
