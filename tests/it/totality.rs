//! Any text gives a decision: no panic, the same one each time, and in linear time.
//!
//! Linear time is tested without a clock: inputs that invite a rescan for every piece would take
//! hours if anything were quadratic, so it is enough that the test ends.

use std::collections::BTreeSet;

use proptest::prelude::*;
use retold::parse::{ParserSpec, json_repair, registry};

use crate::fuzz_smoke::{fuzz_one, params};

/// Pieces that parsers react to, so that random texts reach their corners.
const PIECES: [&str; 64] = [
    "<REASONING>",
    "</REASONING>",
    "<CONTRIBUTE>",
    "</CONTRIBUTE>",
    "<MESSAGE>",
    "</MESSAGE>",
    "<REDISTRIBUTE>",
    "</REDISTRIBUTE>",
    "&lt;CONTRIBUTE&gt;",
    "<ROUND",
    "<think>",
    "</think>",
    "{",
    "}",
    "[",
    "]",
    "(",
    ")",
    "\"",
    "'",
    "“",
    "”",
    "\\\"",
    "\\",
    ":",
    ",",
    "```",
    "```json",
    "//",
    "/*",
    "#",
    "\n",
    "\r\n",
    " ",
    "\u{1c}",
    "null",
    "True",
    "12",
    "-3",
    "1.5",
    "1e",
    "٣",
    "\"action\"",
    "\"work\"",
    "\"hours\"",
    "|",
    "LOCATION:",
    "ACQUIRED_ITEMS:",
    "REMOVED_ITEMS: [",
    "SUGGESTED_ACTIONS: [",
    "COMBAT:",
    "**",
    "\"playerDecision\": {",
    "\"options\"",
    "\"text\"",
    "\"name\"",
    "\"contribution\"",
    "\"actions\"",
    "Sal: ",
    "- ",
    ". ",
    "é",
    "\u{200b}",
    "\\u00",
];

fn names() -> BTreeSet<&'static str> {
    registry::all().map(|(name, _)| name).chain(["json_repair"]).collect()
}

fn texts() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        prop::collection::vec(prop::sample::select(PIECES.to_vec()), 0..60)
            .prop_map(|pieces| pieces.concat()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_text_gives_the_same_decision_twice(text in texts()) {
        for name in names() {
            fuzz_one(name, text.as_bytes());
        }
    }
}

/// Shapes that are a trap only together: something opened many times, something long behind it.
const TRAPS: [&str; 26] = [
    "{\"a\": \"",
    "{\"a:1,",
    "{'a: 1, \"b\": 2,",
    "{\"a\": b, ",
    "[\"a\" b\", ",
    "\"a\":{",
    "{\"a\"\"",
    "{\\\"a\\\"b",
    "{a:\"\\\"",
    "x,\"y,",
    "{\"\"a",
    "[{\"a\": (",
    "{a: ```",
    "{},",
    "{\"a\":1},\"b\":2}",
    "<CONTRIBUTE>1",
    "<CONTRIBUTE><REASONING>",
    "<REDISTRIBUTE>[",
    "</MESSAGE><MESSAGE>",
    "< ",
    "x LOCATION: ",
    "x ACQUIRED_ITEMS: [",
    "SUGGESTED_ACTIONS: \n- ",
    "playerDecision:{}",
    "\"playerDecision\": {\"prompt\": \"",
    "a.a. COMBAT: b.",
];

/// Every version of every parser, once.
fn parse_all(text: &str) {
    for (name, version) in registry::all() {
        let spec = ParserSpec { name: name.into(), params: params(name), version };
        registry::parser(&spec).unwrap().parse_any(text);
    }
    let _ = json_repair::repair(text);
}

#[test]
fn a_long_text_of_anything_ends() {
    const LENGTH: usize = 50_000;
    for piece in PIECES.iter().chain(&TRAPS) {
        parse_all(&piece.repeat(LENGTH / piece.len()));
    }
}

/// The length that the rule names: a megabyte, of the pieces in turn, and behind much white space.
#[test]
fn a_megabyte_ends() {
    let mixed = PIECES.concat();
    parse_all(&mixed.repeat(1_000_000 / mixed.len()));
    let traps = TRAPS.concat();
    parse_all(&(" ".repeat(500_000) + &traps.repeat(500_000 / traps.len())));
}
