//! Finds the options that a text names.

use super::words::{announces, words};

/// An option that a text names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mention {
    /// Its index in the list.
    pub(super) option: usize,
    /// Whether every mention of it follows a "not" in its sentence.
    pub(super) denied: bool,
}

/// The options named, each once, in the order of the list. If one option's text is part of
/// another's, the longer one counts.
pub(super) fn mentions(text: &str, options: &[String]) -> Vec<Mention> {
    let options: Vec<Vec<String>> = options.iter().map(|option| words(option)).collect();
    let mut found: Vec<Option<bool>> = vec![None; options.len()];
    for sentence in text.split(['.', '!', '?', '\n', ';']) {
        let words = words(sentence);
        let mut denied = false;
        let mut rest = words.as_slice();
        while let Some((word, tail)) = rest.split_first() {
            let (option, length) =
                match longest(rest, &options).or_else(|| by_number(rest, &options)) {
                    Some(hit) => hit,
                    None => {
                        denied |= denies(word, tail);
                        rest = tail;
                        continue;
                    }
                };
            if let Some(place) = found.get_mut(option) {
                *place = Some(place.unwrap_or(true) && denied);
            }
            rest = rest.get(length..).unwrap_or(&[]);
        }
    }
    let named = found.into_iter().enumerate();
    named.filter_map(|(option, denied)| Some(Mention { option, denied: denied? })).collect()
}

/// The longest option that the words begin with, and how many words it has.
fn longest(words: &[String], options: &[Vec<String>]) -> Option<(usize, usize)> {
    let fits = options.iter().enumerate().filter(|(_, o)| !o.is_empty() && words.starts_with(o));
    fits.map(|(number, option)| (number, option.len())).max_by_key(|(_, length)| *length)
}

/// `option 2`.
fn by_number(words: &[String], options: &[Vec<String>]) -> Option<(usize, usize)> {
    let [first, digits, ..] = words else { return None };
    let number: usize = announces(first).then(|| digits.parse().ok()).flatten()?;
    (1..=options.len()).contains(&number).then(|| (number - 1, 2))
}

/// Whether a word negates what follows it. Apostrophes separate words, so `won't` is `won` and `t`.
fn denies(word: &str, tail: &[String]) -> bool {
    let contraction = || tail.first().is_some_and(|next| next == "t") && word.ends_with('n');
    matches!(word, "not" | "never" | "cannot" | "neither" | "against" | "reject" | "refuse")
        || (contraction() || word == "can" && tail.first().is_some_and(|next| next == "t"))
}
