//! Any text gives a decision: without a panic, the same one each time, and in linear time.
//! Linear time is tested by the processor time of the thread, with a wide tolerance
//! (`growth/measure.rs`). What a fuzzer or the bench `growth` finds becomes a trap here.

use std::collections::BTreeSet;

use crate::support::parsers as registry;
use proptest::prelude::*;

use crate::fuzz_targets::fuzz_one;
use crate::growth::shapes::PIECES;
use crate::growth::{Shape, is_linear, parsers, random, systematic};

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

/// Shapes that are traps only in combination: something opened many times, something long after it.
const TRAPS: [&str; 57] = [
    "{\"a}",
    "x ACQUIRED_ITEMS: [\"a\"b\"]c\" ",
    "x ACQUIRED_ITEMS: [\"a\nb",
    "SUGGESTED_ACTIONS: [\"a\" (basic), ",
    "x COMBAT: [\"a\", {\"b\": ",
    "PLAYER_DECISION player\\_",
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
    "\"a LOCATION: ",
    "“a LOCATION: b ",
    "(LOCATION: \"[COMBAT: ",
    "x ACQUIRED_ITEMS: (a, ",
    "ACQUIRED_ITEMS: [[a ",
    "ACQUIRED_ITEMS: [\"a",
    "LOCATION: Boot and the (Dr. ",
    "\n**COMBAT:** ```\n---\n",
    "\n\nLOCATION:\nMain Street\n\n",
    "SUGGESTED_ACTIONS: {\"text\": \"a\"},\n{\"text\": \"b\"}\n",
    "#### playerDecision: null ",
    "\n{\"location\": ",
    "ACQUIRED_ITEMS: a and b to ",
    " 1. a 2. b",
    "u{<CONTRIBUTE>",
    "<CONTRIBUTE>/*",
    "24\n\\\"",
    ",[1,<MESSAGE>",
    " to hide: 20 ",
    "**vote",
    "ACQUIRED_ITEMS: [nes do",
    "{\"a\":u{",
    " ```",
    "*(&lt;",
    "\\1",
];

fn parse_all(text: &str) {
    parsers().iter().for_each(|(_, parse)| parse(text));
}

/// A number from the environment.
#[expect(clippy::disallowed_methods, reason = "a longer search is asked for by hand")]
fn setting(name: &str, default: usize) -> usize {
    std::env::var(name).map_or(default, |value| value.parse().expect("a number"))
}

/// Shapes that are traps only after something else: objects in a row, which make a growing list.
const BEGUN_TRAPS: [(&str, &str); 2] = [("{a:{}", ":{}"), ("{a:[{}", "}{}")];

/// All trap shapes: every single piece, and some of the shapes that the bench `growth` searches at
/// length.
#[test]
fn time_grows_with_the_length_of_a_text_and_no_faster() {
    let some = setting("RETOLD_SHAPES", 20);
    let seed = setting("RETOLD_SHAPES_SEED", 24) as u64;
    let begun =
        BEGUN_TRAPS.map(|(prefix, trap)| Shape { prefix: prefix.into(), ..Shape::new(trap) });
    let known = TRAPS.iter().map(|trap| Shape::new(trap)).chain(begun);
    let shapes: Vec<Shape> = known.chain(systematic(1)).chain(random(seed).take(some)).collect();
    let mut wrong = Vec::new();
    for (name, parse) in parsers() {
        for shape in &shapes {
            if let Err(growth) = is_linear(parse.as_ref(), shape) {
                wrong.push(format!("{name} on {shape:?}: {growth:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The length that the rule names, a megabyte: of each piece in turn, and after much white space.
#[test]
fn a_megabyte_ends() {
    let mixed = PIECES.concat();
    parse_all(&mixed.repeat(1_000_000 / mixed.len()));
    let traps = TRAPS.concat();
    parse_all(&(" ".repeat(500_000) + &traps.repeat(500_000 / traps.len())));
}
