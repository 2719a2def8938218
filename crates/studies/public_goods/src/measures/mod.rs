//! Counts properties of a reasoning.
//!
//! The source document names "reasoning quality metrics" and "verify that reasoning aligns with
//! actions" among its extensions without saying how. These are plain counts, each of which can be
//! checked by eye; none of them is a judgement:
//!
//! - **length**: words (runs of letters and digits) and sentences;
//! - **hedging**: words that weaken a claim ([`HEDGES`]);
//! - **mentions of others**: how often other players are named by their avatars, and how many are;
//! - **stated action**: the contribution that the player announces in the reasoning
//!   ([`stated_contribution`]), for comparison with the actual one.

mod stated;

use std::collections::BTreeSet;

use serde::Serialize;

pub use stated::stated_contribution;

/// Words that weaken a claim. The list is this project's own, in the spirit of the literature on
/// hedging but not copied from it: words that are hardly ever used in another sense. Numbers based
/// on it can be compared with each other, but not with those of other studies.
pub const HEDGES: [&str; 36] = [
    "apparently", "appear", "appears", "approximately", "assume", "assuming", "could", "doubt",
    "generally", "guess", "likely", "mainly", "may", "maybe", "might", "mostly", "often",
    "perhaps", "possible", "possibly", "potentially", "presumably", "probably", "relatively",
    "roughly", "seem", "seems", "sometimes", "somewhat", "suggest", "suggests", "tend", "tends",
    "uncertain", "unlikely", "usually",
];

/// The counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Measures {
    /// Words.
    pub words: u32,
    /// Sentences.
    pub sentences: u32,
    /// Words of [`HEDGES`].
    pub hedges: u32,
    /// Occurrences of other players' names.
    pub mentions: u32,
    /// How many other players are named.
    pub others_named: u32,
}

impl Measures {
    /// Hedges per 100 words; 0 if there are no words.
    pub fn hedging(&self) -> f64 {
        if self.words == 0 { 0.0 } else { 100.0 * f64::from(self.hedges) / f64::from(self.words) }
    }
}

/// Counts in a reasoning; `others` are the avatars of the other players.
pub fn measure(reasoning: &str, others: &[&str]) -> Measures {
    let mut measures = Measures { sentences: count(sentences(reasoning)), ..Measures::default() };
    let mut named = BTreeSet::new();
    for word in words(reasoning) {
        measures.words += 1;
        let lower = word.to_lowercase();
        measures.hedges += u32::from(HEDGES.contains(&lower.as_str()));
        // Avatars are written in capitals; `cat` and `bear` may be ordinary words.
        let singular = word.strip_suffix('s').unwrap_or(word);
        if let Some(other) = others.iter().find(|name| **name == word || **name == singular) {
            measures.mentions += 1;
            named.insert(*other);
        }
    }
    measures.others_named = count(named.into_iter());
    measures
}

fn count(things: impl Iterator) -> u32 {
    u32::try_from(things.count()).unwrap_or(u32::MAX)
}

/// Runs of letters and digits. An apostrophe inside a word belongs to it, a possessive `'s` does
/// not.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let pieces = text.split(|c: char| !c.is_alphanumeric() && c != '\'' && c != '’');
    let bare = pieces.map(|word| word.trim_matches(['\'', '’']));
    bare.map(|word| {
        let stem = word.strip_suffix("'s").or_else(|| word.strip_suffix("’s"));
        // `it's` and `let's` are separate words; for a name, only the name counts.
        stem.filter(|stem| stem.chars().all(char::is_uppercase)).unwrap_or(word)
    })
    .filter(|word| !word.is_empty())
}

/// Stretches of text that end with a full stop, a question mark, an exclamation mark or a line
/// break. A decimal point does not end a sentence.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let ends = |(at, c): (usize, char)| match c {
        '\n' | '!' | '?' => Some(at + 1),
        '.' => {
            let next = text.get(at + 1..).and_then(|rest| rest.chars().next());
            (!next.is_some_and(char::is_alphanumeric)).then_some(at + 1)
        }
        _ => None,
    };
    let mut from = 0;
    let stops = text.char_indices().filter_map(ends).chain([text.len()]);
    let parts = stops.map(move |to| {
        let part = text.get(from..to).unwrap_or("");
        from = to;
        part
    });
    parts.filter(|part| part.chars().any(char::is_alphanumeric))
}
