//! The contribution that a player announces in the reasoning.

use super::{sentences, words};

/// The contribution, in coins, that a reasoning announces last: `I will contribute 15 coins`, `I
/// decide to withdraw everything`. `None` if it does not announce one in such words.
///
/// An announcement is a clause in which players speak of themselves, and in which a form of
/// `contribute`, `move` or `withdraw` is followed, at most five words later, by a number or a word
/// for all or nothing. Clauses about others and hypothetical clauses do not count. A number of
/// coins withdrawn is converted into what remains.
pub fn stated_contribution(reasoning: &str, endowment: i64) -> Option<i64> {
    sentences(reasoning)
        .flat_map(clauses)
        .filter_map(|clause| announced_amount(clause, endowment))
        .last()
}

fn clauses(sentence: &str) -> impl Iterator<Item = &str> {
    sentence.split([',', ';', ':', '(', ')', '—', '–'])
}

/// Words with which players speak of themselves.
const OWN: [&str; 5] = ["i", "i'll", "i’ll", "my", "me"];

/// Words that show that a clause is about others, or hypothetical.
const NOT_OWN: [&str; 18] = [
    "if", "when", "others", "other", "everyone", "everybody", "they", "players", "player", "we",
    "someone", "anyone", "each", "not", "could", "might", "between", "than",
];

fn announced_amount(clause: &str, endowment: i64) -> Option<i64> {
    let words: Vec<String> = words(clause).map(str::to_lowercase).collect();
    let (at, withdraws) = words.iter().enumerate().rev().find_map(|(at, word)| {
        let contributes = word.starts_with("contribut") || word == "move" || word == "moving";
        let withdraws = word.starts_with("withdraw");
        (contributes || withdraws).then_some((at, withdraws))
    })?;
    let mut before = words.iter().take(at).map(String::as_str);
    let about_others = before.clone().any(|w| NOT_OWN.contains(&w) || w.ends_with("n't"));
    if about_others || !before.any(|word| OWN.contains(&word)) {
        return None;
    }
    let behind = words.iter().skip(at + 1).take(5);
    let amount = behind.filter_map(|word| amount(word, endowment)).next()?;
    Some(if withdraws { endowment - amount } else { amount })
}

fn amount(word: &str, endowment: i64) -> Option<i64> {
    match word {
        "all" | "everything" | "full" | "fully" | "entire" | "maximum" => Some(endowment),
        "nothing" | "none" | "zero" => Some(0),
        digits => digits.parse().ok().filter(|coins| (0..=endowment).contains(coins)),
    }
}
