//! Any text gives a decision: without a panic, the same one each time, and in linear time.

use proptest::prelude::*;
use retold::parse::{ParsedAnswer, Parser};
use retold_game24::parse::{PuzzleParams, normalise, parser};

fn decide(version: u32, numbers: &[i64], text: &str) -> ParsedAnswer<String> {
    parser(version, PuzzleParams { numbers: numbers.to_vec() }).unwrap().parse(text)
}

/// Pieces that parsers react to, so that random texts reach corner cases.
const PIECES: [&str; 40] = [
    "<answer>",
    "</answer>",
    "<ANSWER>",
    "<answer",
    "</",
    "<think>",
    "</think>",
    "Answer:",
    "Output:",
    "The final answer is",
    "**",
    "*",
    "`",
    "```",
    "\n",
    "\r\n",
    " ",
    "(",
    ")",
    "4",
    "6",
    "24",
    "= 24",
    "!=",
    "≠",
    "+",
    "-",
    "−",
    "×",
    "÷",
    "\\frac",
    "{",
    "}",
    "\\boxed{",
    "\\left(",
    "$",
    "x",
    "not possible",
    "\u{200b}",
    "é",
];

fn texts() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        prop::collection::vec(prop::sample::select(PIECES.to_vec()), 0..60)
            .prop_map(|pieces| pieces.concat()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn any_text_gives_the_same_decision_twice(text in texts()) {
        for version in [1, 2] {
            for numbers in [&[][..], &[4, 6][..]] {
                let first = decide(version, numbers, &text);
                prop_assert_eq!(&first, &decide(version, numbers, &text));
                // A decision has one of these two methods exactly if it has no candidate.
                let is_without = matches!(first.method, "empty" | "declined");
                prop_assert_eq!(first.value.is_empty(), is_without);
                prop_assert!(!first.value.contains(['\n', '\r']));
            }
        }
    }

    #[test]
    fn normalising_twice_changes_nothing_more_in_plain_arithmetic(text in "[-+*/() 0-9=.]{0,24}") {
        let once = normalise(&text);
        if !once.contains("**") {
            prop_assert_eq!(&normalise(&once), &once);
        }
    }
}

/// Inputs of a megabyte that invite a rescan for every piece, or a recursion. They would take hours
/// if anything were quadratic, so it is enough that the test ends.
#[test]
fn a_megabyte_of_anything_ends() {
    let pieces = [
        "(", ")", "-", "1+", "4(", "** ", " ** 1", "x ", "1 x", "<answer>", "</answer>",
        "<answer>1", "<answer></answer>", "</think>", "<think>", "Answer:\n", "Answer: 4\n",
        "Answer: not\n", "answer is ", "Output:\n", "Output: 1\n", "\\boxed{", "\\frac{",
        "\\frac1", "\\frac", "{", "}", "$", "\n", "\r", " ", "=", "1=", "24 = ", "9", "9\n",
        "no 24 ", "`", "\u{200b}", "×", "𝟜", "1)(",
    ];
    for piece in pieces {
        let text = piece.repeat(1_000_000 / piece.len());
        for version in [1, 2] {
            decide(version, &[4, 6, 7, 8], &text);
        }
    }
    let middle = "(".repeat(500_000) + "1" + &")".repeat(500_000);
    assert_eq!(decide(2, &[1], &format!("Answer: {middle}+0")).method, "answer_line");
}

/// Version 1 still makes the decisions that version 2 was written to improve.
#[test]
fn the_documents_rule_stays() {
    let text = "<answer>1+2</answer><answer>2+2</answer>";
    assert_eq!(decide(1, &[], text).value, "1+2");
    assert_eq!(decide(2, &[], text).value, "2+2");
}
