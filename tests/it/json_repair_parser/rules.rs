//! The stated rules, and totality, on our own texts.

use retold::parse::json_repair::{MAX_DEPTH, Repair, repair, values};
use serde_json::{Value, json};

fn value(text: &str) -> Value {
    repair(text).value.unwrap_or_default()
}

#[test]
fn each_kind_of_damage_is_repaired_and_named() {
    let cases = [
        ("Sure: {\"a\": 1}", json!({ "a": 1 }), Repair::SurroundingText),
        ("{\"a\": 1}\n[2]", json!([{ "a": 1 }, [2]]), Repair::SeveralValues),
        ("{\"a\": 1 /* one */}", json!({ "a": 1 }), Repair::Comment),
        ("{\"a\": \"b", json!({ "a": "b" }), Repair::UnclosedString),
        ("{\"a\": \"b, \"c\": 2}", json!({ "a": "b", "c": 2 }), Repair::UnclosedString),
        ("{\"a\": \"so \"good\" it is\"}", json!({ "a": "so \"good\" it is" }), Repair::InnerQuote),
        ("{'a': 'b'}", json!({ "a": "b" }), Repair::OtherQuotes),
        ("{“a”: “b”}", json!({ "a": "b" }), Repair::OtherQuotes),
        ("{a: b c}", json!({ "a": "b c" }), Repair::BareText),
        ("{\"a\": \"C:\\games\"}", json!({ "a": "C:\\games" }), Repair::BadEscape),
        ("{\"a\": \"b\nc\"}", json!({ "a": "b\nc" }), Repair::ControlCharacter),
        ("[.5, 1_000, +3]", json!([0.5, 1000, 3]), Repair::OddNumber),
        ("[True, None]", json!([true, null]), Repair::OddLiteral),
        ("[[1, 2", json!([[1, 2]]), Repair::UnclosedContainer),
        ("[1, 2}]", json!([1, 2]), Repair::StrayBracket),
        ("{\"a\": 1 \"b\": 2}", json!({ "a": 1, "b": 2 }), Repair::Comma),
        ("{\"a\" \"b\"}", json!({ "a": "b" }), Repair::MissingColon),
        ("{\"a\": , \"b\": 1}", json!({ "a": null, "b": 1 }), Repair::MissingValue),
        ("{\"a\": \"b\" so, \"c\": 1}", json!({ "a": "b", "c": 1 }), Repair::BareText),
        ("[\"a\": 1]", json!([{ "a": 1 }]), Repair::MisplacedMember),
        ("{\"a\": (1, 2)}", json!({ "a": [1, 2] }), Repair::Parentheses),
    ];
    for (text, expected, kind) in cases {
        let repaired = repair(text);
        assert_eq!(repaired.value, Some(expected), "{text}");
        assert!(repaired.repairs.contains(&kind), "{text}: {:?}", repaired.repairs);
    }
}

#[test]
fn text_without_json_has_no_value() {
    for text in ["", " ", "hello", "}", "]]", "True"] {
        assert_eq!(repair(text).value, None, "{text:?}");
    }
}

#[test]
fn embedded_values_keep_their_places() {
    let text = "a {\"x\": 1} b [2, 3] {";
    let found = values(text);
    let pieces: Vec<&str> = found.iter().map(|e| &text[e.start..e.end]).collect();
    assert_eq!(pieces, ["{\"x\": 1}", "[2, 3]", "{"]);
    assert!(found[0].repairs.is_empty() && !found[2].repairs.is_empty());
}

/// Nesting is cut at a fixed depth, whatever it consists of, and the result can be dropped.
#[test]
fn deep_nesting_is_cut() {
    for piece in ["[", "{\"a\":", "(", "{a:[", "[{", "[\"a\":", "{(", "``` [", "{\"a\":\"```{"] {
        for end in ["", "]", "}"] {
            let text = piece.repeat(200_000) + &end.repeat(200_000);
            let repaired = repair(&text);
            assert!(depth(&repaired.value.unwrap_or_default()) <= MAX_DEPTH + 1, "{piece}");
        }
    }
}

/// Where brackets are missing, a value is nested more deeply than its text. It must be read again all the
/// same, as from a log: found by fuzzing.
#[test]
fn what_is_repaired_is_never_nested_too_deeply_to_be_read() {
    // Each object is followed by another that makes a list of the two.
    let lists = "{\"a\":".repeat(100) + "1" + &"}{\"b\":1}".repeat(100);
    let crash = "\"{}{<R\0\0{\u{126}{{}{\u{4a6}{{}{<R\0{{>{}(basic){\0}".repeat(40);
    let strict = "[".repeat(127) + &"]".repeat(127);
    let several = format!("{strict} and {{\"a\": 1}}");
    for (name, text) in [("lists", &lists), ("crash", &crash), ("several", &several)] {
        let value = value(text);
        let written = serde_json::to_string(&value).unwrap();
        let read: Value = serde_json::from_str(&written).unwrap();
        assert_eq!(read, value, "{name}");
    }
    let deep = repair(&lists);
    assert!(deep.repairs.contains(&Repair::TooDeep), "{:?}", deep.repairs);
    // One more, because there are several values.
    assert_eq!(depth(&deep.value.unwrap_or_default()), MAX_DEPTH + 2);
    // Valid JSON in prose keeps its value.
    assert_eq!(depth(&value(&format!("So: {strict}."))), 127);
}

fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or_default(),
        Value::Object(map) => 1 + map.values().map(depth).max().unwrap_or_default(),
        _ => 0,
    }
}

#[test]
fn a_later_key_with_the_same_name_wins() {
    assert_eq!(value("{'a': 1, 'a': 2}"), json!({ "a": 2 }));
}

/// Whatever is missing around a member, the member is kept.
#[test]
fn every_member_is_kept() {
    let cases = [
        ("{\"a\": 1, b\": 2}", json!({ "a": 1, "b": 2 })),
        ("{\"a\": \"x\", b\": \"y\"}", json!({ "a": "x", "b": "y" })),
        ("{\"x\": {\"a\": 1} {\"b\": 2}}", json!({ "x": [{ "a": 1 }, { "b": 2 }] })),
        ("{\"o\": {\"t\": 1}, {\"t\": 2}}", json!({ "o": [{ "t": 1 }, { "t": 2 }] })),
        ("[{\"a\": 1, {\"b\": 2}]", json!([{ "a": 1 }, { "b": 2 }])),
        ("{\"a\": 1, {\"b\": 2}}", json!({ "a": 1, "b": 2 })),
        ("[{\"a\": [1, 2}, \"b\": 3}, {\"c\": 1}]", json!([{ "a": [1, 2], "b": 3 }, { "c": 1 }])),
        ("[{\"a\": 1], {\"b\": 2}]", json!([{ "a": 1 }, { "b": 2 }])),
        ("{\"a\": {\"b\": 1], \"c\": 2}", json!({ "a": { "b": 1, "c": 2 } })),
        ("{name \"Sal\", age 3}", json!({ "name": "Sal", "age": 3 })),
        ("{\"a\": 1 # one\n \"b\": 2}", json!({ "a": 1, "b": 2 })),
        ("{\"a\": 1// one\n, \"b\": 2}", json!({ "a": 1, "b": 2 })),
        ("{\"a\" /* x */ : 1, \"b\": 2}", json!({ "a": 1, "b": 2 })),
    ];
    for (text, expected) in cases {
        assert_eq!(value(text), expected, "{text}");
    }
    let colons = "{\"a\" 1, \"b\" {\"c\": 2}, \"d\" [1], \"e\" true, \"f\" = \"g\"}";
    let expected = json!({ "a": 1, "b": { "c": 2 }, "d": [1], "e": true, "f": "g" });
    assert_eq!(value(colons), expected);
}

/// What is missing is null, in whatever way it is missing; a comma between digits belongs to them.
#[test]
fn a_missing_value_is_null() {
    let cases = [
        ("{\"a\":", json!({ "a": null })),
        ("{\"a\": \"", json!({ "a": null })),
        ("{\"a\": \"\"", json!({ "a": "" })),
        ("{\"a\": \"x", json!({ "a": "x" })),
        ("{\"a\": , \"b\": 2}", json!({ "a": null, "b": 2 })),
        ("{\"a\": 1, \"b\": }", json!({ "a": 1, "b": null })),
        ("{\"a\": ...}", json!({ "a": null })),
        ("{\"a\" = }", json!({ "a": null })),
        ("[\"a\":", json!([{ "a": null }])),
        ("{\"a\": 1,000, \"b\": 2}", json!({ "a": "1,000", "b": 2 })),
        ("{1: 2,3: 4}", json!({ "1": 2, "3": 4 })),
        ("{\"a\": [1,2], }", json!({ "a": [1, 2] })),
    ];
    for (text, expected) in cases {
        assert_eq!(value(text), expected, "{text}");
    }
    assert!(repair("{\"a\" = }").repairs.contains(&Repair::MissingValue));
}
