//! Any text gives a decision: no panic, the same one each time, and in linear time.
//!
//! Linear time is tested without a clock: inputs that invite a rescan for every piece would take
//! hours if anything were quadratic, so it is enough that the test ends.

use std::collections::BTreeSet;

use proptest::prelude::*;
use retold::parse::registry;

use crate::fuzz_smoke::fuzz_one;

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
    #![proptest_config(ProptestConfig::with_cases(1_000))]

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

#[test]
fn a_long_text_of_anything_ends() {
    const LENGTH: usize = 100_000;
    for piece in PIECES.iter().chain(&TRAPS) {
        let text = piece.repeat(LENGTH / piece.len());
        for name in names() {
            fuzz_one(name, text.as_bytes());
        }
    }
}

/// The length that the rule names: a megabyte, of the pieces in turn, and behind much white space.
#[test]
fn a_megabyte_ends() {
    let mixed = PIECES.concat();
    let mixed = mixed.repeat(1_000_000 / mixed.len());
    let spaced = " ".repeat(500_000) + &TRAPS.concat().repeat(500_000 / TRAPS.concat().len());
    for text in [mixed, spaced] {
        for name in names() {
            fuzz_one(name, text.as_bytes());
        }
    }
}
