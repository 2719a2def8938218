//! Any text gives a decision: no panic, the same one each time, and in linear time.
//!
//! Linear time is tested by the time a thread has had of a processor, forgivingly: four times the text may take up
//! to nine times as long in the best of several tries, where quadratic time takes sixteen. What is found by a fuzzer becomes a trap.

use std::collections::BTreeSet;
use std::time::Duration;

use proptest::prelude::*;
use retold::parse::{ParserSpec, json_repair, registry};
use rustix::time::{ClockId, clock_gettime};

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
const TRAPS: [&str; 56] = [
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

type Parse = Box<dyn Fn(&str)>;

/// Every version of every parser, by name.
fn parsers() -> Vec<(String, Parse)> {
    let mut all: Vec<(String, Parse)> = Vec::new();
    for (name, version) in registry::all() {
        let spec = ParserSpec { name: name.into(), params: params(name), version };
        let parser = registry::parser(&spec).unwrap();
        all.push((spec.to_string(), Box::new(move |text| drop(parser.parse_any(text)))));
    }
    all.push(("json_repair".to_owned(), Box::new(|text| drop(json_repair::repair(text)))));
    all
}

fn parse_all(text: &str) {
    parsers().iter().for_each(|(_, parse)| parse(text));
}

/// What this thread has had of a processor: what else the machine does is not in it.
fn thread_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

#[test]
fn four_times_the_text_takes_about_four_times_as_long() {
    const LENGTH: usize = 15_000;
    let timed = |parse: &dyn Fn(&str), text: &str| {
        let begun = thread_time();
        parse(text);
        thread_time() - begun
    };
    let parsers = parsers();
    for piece in PIECES.iter().chain(&TRAPS) {
        let short = piece.repeat(LENGTH / piece.len());
        let long = piece.repeat(4 * (LENGTH / piece.len()));
        for (name, parse) in &parsers {
            let (mut least, mut most) = (Duration::MAX, Duration::MAX);
            let is_linear = (0..6).any(|_| {
                most = most.min(timed(parse.as_ref(), &long));
                // What is this fast at this length is fast enough, whatever its order.
                if most < Duration::from_millis(60) {
                    return true;
                }
                least = least.min(timed(parse.as_ref(), &short));
                most < 9 * least
            });
            assert!(
                is_linear,
                "{name} on {piece:?}: {least:?}, and {most:?} for four times as much"
            );
        }
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
