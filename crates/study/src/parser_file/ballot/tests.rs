//! Small ballots, as models write them.

use std::path::Path;

use serde_json::{Value, json};

use crate::parser_file::ParserFile;

fn read(strategy: &str, text: &str) -> (Value, Vec<String>) {
    let file = format!("parsers:\n  - name: p\n    strategies: [{strategy}]\n");
    let file = ParserFile::new(Path::new("parsers.yaml"), &file).unwrap();
    let (parsed, _) = file.get("p").unwrap().parse_any(text);
    (parsed.value, parsed.warnings)
}

/// Each of these is read as it is meant, or not at all.
fn assert_read(strategy: &str, cases: &[(&str, Value)]) {
    for (text, due) in cases {
        let (value, warnings) = read(strategy, text);
        assert_eq!((&value, value.is_null()), (due, !warnings.is_empty()), "{text}: {warnings:?}");
    }
}

#[test]
fn all_that_apply_are_read_in_the_order_of_the_file() {
    let options = "{choices: ['#1', '#2', '#3', '#12']}";
    assert_read(
        options,
        &[
            ("#2,#1", json!(["#1", "#2"])),
            ("I choose #12 and #2. #2 is near.", json!(["#2", "#12"])),
            ("### 1. Parks (#3)\n### 2. Buses (#12)", json!(["#3", "#12"])),
            ("Mostly #3; I would not fund #1.", Value::Null),
            ("#1 and #3, though #1 is not cheap and #3 is not near", json!(["#1", "#3"])),
        ],
    );
    assert_eq!(read(options, "nothing"), (Value::Null, Vec::new()));
    let named = "{json: chosen, choices: [parks, buses, library]}";
    assert_read(
        named,
        &[
            ("{\"chosen\": [\"Library\", \"parks\"]}", json!(["parks", "library"])),
            ("{\"chosen\": \"buses and parks\"}", json!(["parks", "buses"])),
            ("{\"chosen\": {\"parks\": true, \"buses\": false}}", json!(["parks"])),
            ("{\"chosen\": []}", json!([])),
            ("{\"chosen\": [\"parks\", \"pool\"]}", Value::Null),
            ("{\"chosen\": [\"parks\", \"parks\"]}", Value::Null),
        ],
    );
    // The matches of a pattern are one ballot, tags are one each.
    let matched = "{regex: '#(\\d+)', choices: ['1', '2', '3']}";
    assert_read(matched, &[("#1, #3 of 2", json!(["1", "3"])), ("#2", json!(["2"]))]);
    let last = "{regex: '#(\\d+)', choices: ['1', '2', '3'], pick: last}";
    assert_read(last, &[("#1 and #3", json!(["3"]))]);
    let tagged = "{tag: v, choices: [A, B]}";
    assert_read(tagged, &[("<v>A</v> <v>A</v>", json!(["A"])), ("<v>A</v> <v>B</v>", Value::Null)]);
    let letters = "{choices: [A, B, C], count: {from: 1, to: 2}}";
    assert_read(
        letters,
        &[("A and C", json!(["A", "C"])), ("(B)", json!(["B"])), ("A, B, C", Value::Null)],
    );
}

#[test]
fn a_ranking_is_the_order_of_the_text_or_that_of_its_ranks() {
    assert_read(
        "{ranking: [A, B, C], count: 3}",
        &[
            ("B > A > C", json!(["B", "A", "C"])),
            ("1. C\n2. A\n3. B", json!(["C", "A", "B"])),
            ("3. C\n2. A\n1. B", json!(["B", "A", "C"])),
            ("A: 2, B: 1, C: 3", json!(["B", "A", "C"])),
            ("**B**, then C, then A: B is near", json!(["B", "C", "A"])),
            ("A (1), B (1), C (2)", Value::Null),
            ("B > C", Value::Null),
        ],
    );
    assert_read(
        "{json: order, ranking: [A, B, C]}",
        &[
            ("{\"order\": [\"C\", \"B\", \"A\"]}", json!(["C", "B", "A"])),
            ("{\"order\": {\"A\": 2, \"B\": 3, \"C\": 1}}", json!(["C", "A", "B"])),
            ("{\"order\": {\"1\": \"B\", \"2\": \"A\"}}", json!(["B", "A"])),
            (
                "{\"order\": [{\"option\": \"A\", \"rank\": 2}, {\"option\": \"B\", \"rank\": 1}]}",
                json!(["B", "A"]),
            ),
            ("{\"order\": {\"A\": 1, \"B\": 1}}", Value::Null),
            ("{\"order\": [\"C\", \"C\"]}", Value::Null),
        ],
    );
}

#[test]
fn points_are_those_beside_an_option_or_after_it() {
    let five_two = json!({"#5": 3, "#7": 2});
    for text in [
        "#5,3 #7,2",
        "#5: 3, #7: 2",
        "#5 (3 points), #7 (2 points)",
        "#5 - 3 points #7 - 2 points  I gave 10 points in all",
        "#5 - Safe Bike Paths (Nord) - 3 points #7 - Open Badi - 2 points. In all 5 points",
        "1. #5 - Safe Bike Paths - 3 points 2. #7 - Open Badi - 2 points",
        "1. #5: 3\n2. #7: 2",
        "I give 3 points to #5 and 2 points to #7.",
        "I distribute 5 points: #5 (3), #7 (2)",
        "3 points - #5, 2 points - #7",
        "#5 = 3\n#7 = 2\n#5 is my favourite",
        "| #5 | 3 |\n| #7 | 2 |",
        "#5 3pts, #7 2pts",
        "#5-3 points, #7-2 points",
    ] {
        let (value, warnings) = read("{points: ['#5', '#7', '#11']}", text);
        assert_eq!((value, warnings), (five_two.clone(), Vec::new()), "{text}");
    }
    assert_read(
        "{points: ['#5', '#7']}",
        &[
            ("#5: 3, #7: 2, #5: 4", Value::Null),
            ("#5: -3, #7: 2", Value::Null),
            ("#5: 2.5, #7: 0", json!({"#5": 2.5, "#7": 0})),
        ],
    );
    assert_read(
        "{regex: '(?m)^\\S+ gets \\d+', points: [parks, buses]}",
        &[
            ("parks gets 3\nbuses gets 4\n", json!({"parks": 3, "buses": 4})),
            ("parks gets 3\nparks gets 4", Value::Null),
        ],
    );
    assert_eq!(read("{points: ['#5', '#7']}", "#5 and #7").0, Value::Null);
    assert_read(
        "{json: points, points: [parks, buses], count: 2}",
        &[
            ("{\"points\": {\"parks\": 3, \"buses\": \"7\"}}", json!({"parks": 3, "buses": 7})),
            (
                "{\"points\": [{\"project\": \"parks\", \"points\": 3}, {\"project\": \"buses\", \"points\": 7}]}",
                json!({"parks": 3, "buses": 7}),
            ),
            ("{\"points\": {\"parks\": 3}}", Value::Null),
            ("{\"points\": {\"parks\": 3, \"pool\": 7}}", Value::Null),
            ("{\"points\": [\"parks\", \"buses\"]}", Value::Null),
        ],
    );
}
