//! Texts that could be traps: pieces that parsers react to, repeated, nested and mixed.

use std::fmt;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// Pieces that parsers react to: every kind of token of every format, and what surrounds it.
pub(crate) const PIECES: [&str; 123] = [
    // JSON, and what models write instead of it.
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
    "‘",
    "’",
    "\\\"",
    "\\'",
    "\\\\",
    "\\",
    ":",
    ",",
    ";",
    "//",
    "/*",
    "*/",
    "#",
    "null",
    "None",
    "True",
    "12",
    "-3",
    "1.5",
    "1e",
    "1,",
    "1 234 ",
    "5 x 10",
    "٣",
    "\\u00",
    "\\ud83d",
    "\"a\"",
    "\"a\":",
    "a:",
    "a",
    "b c",
    "é",
    "\u{200b}",
    "\u{1c}",
    "😀",
    // Numbers that differ each time, for names, keys and list entries that never repeat.
    COUNTER,
    "\"COUNTER\"",
    "\"COUNTER\":",
    "nameCOUNTER",
    "COUNTER.",
    // White space and Markdown.
    " ",
    "\n",
    "\r\n",
    "\t",
    "\n\n",
    "        ",
    "```",
    "```json",
    "`",
    "**",
    "*",
    "_",
    "- ",
    "• ",
    "> ",
    "| ",
    "---",
    "\n# ",
    "\n- ",
    "\n1. ",
    ". ",
    "! ",
    "…",
    "—",
    // Tags.
    "<",
    ">",
    "</",
    "<think>",
    "</think>",
    "<answer>",
    "</answer>",
    "<REASONING>",
    "</REASONING>",
    "<CONTRIBUTE>",
    "</CONTRIBUTE>",
    "<MESSAGE>",
    "</MESSAGE>",
    "<REDISTRIBUTE>",
    "</REDISTRIBUTE>",
    "&lt;",
    "&gt;",
    "&lt;CONTRIBUTE&gt;",
    "<ROUND",
    "&amp;",
    // Labels and keys of the formats.
    "\"action\"",
    "\"work\"",
    "\"hours\"",
    "\"contribution\"",
    "\"actions\":",
    "\"options\": [",
    "\"text\":",
    "\"name\":",
    "\"playerDecision\": {",
    "PLAYER_DECISION:",
    "LOCATION:",
    "COMBAT:",
    "ACQUIRED_ITEMS:",
    "REMOVED_ITEMS: [",
    "SUGGESTED_ACTIONS: [",
    "(basic)",
    "player\\_",
    "Sal: ",
    "Answer:",
    "vote",
    "Bike lanes",
    "+",
    "24",
    "=",
    "I contribute ",
    " and ",
    " to ",
    "Dr. ",
    "none",
];

/// Is replaced by the number of the repetition.
const COUNTER: &str = "COUNTER";

/// A text of any length: a beginning, then a part that is repeated many times, then an end.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) prefix: String,
    pub(crate) repeated: String,
    /// Repeated after the first part as often as that, like closing brackets; mostly empty.
    pub(crate) closing: String,
    pub(crate) suffix: String,
}

impl fmt::Debug for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Shape { prefix, repeated, closing, suffix } = self;
        write!(f, "{prefix:?} + n × {repeated:?} + n × {closing:?} + {suffix:?}")
    }
}

impl Shape {
    /// A repeated part, and nothing else.
    pub(crate) fn new(repeated: &str) -> Shape {
        Shape {
            prefix: String::new(),
            repeated: repeated.to_owned(),
            closing: String::new(),
            suffix: String::new(),
        }
    }

    /// The text at about the given length.
    pub(crate) fn text(&self, length: usize) -> String {
        let Shape { prefix, repeated, closing, suffix } = self;
        let mut text = String::with_capacity(length + 64);
        text.push_str(prefix);
        let half = if closing.is_empty() { length } else { length / 2 };
        let mut count = 0_usize;
        while text.len() < half {
            push(&mut text, repeated, count);
            count += 1;
        }
        while count > 0 && text.len() < length && !closing.is_empty() {
            count -= 1;
            push(&mut text, closing, count);
        }
        text.push_str(suffix);
        text
    }
}

fn push(text: &mut String, piece: &str, count: usize) {
    match piece.contains(COUNTER) {
        true => text.push_str(&piece.replace(COUNTER, &count.to_string())),
        false => text.push_str(piece),
    }
}

/// Pieces that belong together: a trap mostly consists of a few pieces of one kind.
const KINDS: [&[&str]; 5] = [
    &["{", "}", "[", "]", "\"", "'", ":", ",", "a", "\\", "\n", " "],
    &["{", "[", "]", "(", ")", "“", "\"", ":", ",", "//", "/*", "#", "```", "\n", "a", COUNTER],
    &[
        "<", "</", ">", "&lt;", "<think>", "</think>", "<MESSAGE>", "</MESSAGE>", "<CONTRIBUTE>",
        "</CONTRIBUTE>", "<REDISTRIBUTE>", "</REDISTRIBUTE>", "<REASONING>", "[", "1", "a", "\n",
    ],
    &[
        "LOCATION:", "COMBAT:", "ACQUIRED_ITEMS:", "SUGGESTED_ACTIONS:", "PLAYER_DECISION:", "[",
        "]", "{", "}", "\"", ",", "**", "\n", "- ", "1. ", "(", "COUNTER a", "a",
    ],
    &[
        "12", "+", "-", "*", "/", "(", ")", "=", ".", ",", "\n", " ", "Answer:", "vote", "a", "**",
        "`",
    ],
];

/// Every single piece, all sequences of pieces of one kind up to the given length, and all pairs of
/// pieces.
pub(crate) fn systematic(most: u32) -> impl Iterator<Item = Shape> {
    let words = |pieces: &'static [&'static str], length: u32| {
        (0..pieces.len().pow(length)).map(move |mut number| {
            let mut word = String::new();
            for _ in 0..length {
                word.push_str(pieces[number % pieces.len()]);
                number /= pieces.len();
            }
            Shape::new(&word)
        })
    };
    let kinds = KINDS.iter().enumerate().flat_map(move |(number, kind)| {
        // JSON, where most traps are, gets sequences that are one piece longer.
        let most = if number == 0 && most > 1 { most + 1 } else { most };
        (2..=most).flat_map(move |length| words(kind, length))
    });
    let pairs = (2..=most.min(2)).flat_map(move |length| words(&PIECES, length));
    words(&PIECES, 1).chain(kinds).chain(pairs)
}

/// Random shapes from a seed: up to four pieces repeated, after up to three and before up to three
/// others.
pub(crate) fn random(seed: u64) -> impl Iterator<Item = Shape> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    std::iter::repeat_with(move || {
        let kind = KINDS[below(&mut random, KINDS.len())];
        let mut some = |least: usize, most: usize| -> String {
            let count = least + below(&mut random, most - least + 1);
            let one = |_| {
                // One piece in eight is of another kind.
                let pieces = if below(&mut random, 8) == 0 { PIECES.as_slice() } else { kind };
                pieces[below(&mut random, pieces.len())]
            };
            (0..count).map(one).collect()
        };
        let (repeated, prefix, suffix, closing) = (some(1, 4), some(0, 3), some(0, 3), some(1, 2));
        // A third of them are nested: every opening is closed.
        let is_nested = below(&mut random, 3) == 0;
        let closing = if is_nested { closing } else { String::new() };
        Shape { prefix, repeated, closing, suffix }
    })
}

fn below(random: &mut ChaCha8Rng, limit: usize) -> usize {
    random.next_u32() as usize % limit
}
