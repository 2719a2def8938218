//! The options of a strategy, and where a text has one as a whole word.

use std::collections::BTreeMap;
use std::ops::Range;

use serde_json::Value;

use super::candidate::{Candidate, Mention};
use super::doubt::{Excerpt, ReadingDoubt};
use super::fields::LetterCase;
use super::letter::LetterMention;
use super::negation::Clauses;
use super::plain_text::PlainText;
use super::words::{Joint, Word, words};
use crate::config::ConfigProblem;

/// The most options of a strategy.
const MOST_OPTIONS: usize = 1000;

/// The longest option, in bytes.
const LONGEST_OPTION: usize = 1000;

/// Some options, by the words that they are made of.
#[derive(Default)]
pub(super) struct Options {
    written: Vec<WrittenOption>,
    /// Each word of an option, with its number.
    vocabulary: BTreeMap<String, u32>,
    /// What options begin with: one more word leads from one beginning to the next. The empty one is 0.
    next: BTreeMap<(u32, u32), u32>,
    /// The options that have no more words.
    ending: BTreeMap<u32, Vec<usize>>,
}

/// An option that a text mentions.
#[derive(Debug, Clone)]
pub(super) struct OptionMention {
    /// Where the text has it, in bytes.
    pub(super) at: Range<usize>,
    /// Its number among the options.
    pub(super) option: usize,
    /// Why it may not be meant.
    pub(super) doubt: Option<ReadingDoubt>,
}

struct WrittenOption {
    /// As the file has it.
    text: String,
    /// Its words as a text must spell them, if letter case matters.
    spelling: Option<String>,
    /// True if it begins with a sign that belongs to its first word: `# 5` is a heading, and not the option `#5`.
    has_sign: bool,
}

impl Options {
    pub(super) fn new(
        options: &[String],
        case: Option<LetterCase>,
        key: &str,
    ) -> Result<Self, ConfigProblem> {
        if options.is_empty() || options.len() > MOST_OPTIONS {
            let message = format!("write from 1 to {MOST_OPTIONS} options");
            return Err(ConfigProblem::new(key, message));
        }
        let mut made = Options::default();
        for (n, option) in options.iter().enumerate() {
            let key = format!("{key}[{n}]");
            if option.trim() != option || option.is_empty() || option.len() > LONGEST_OPTION {
                let message = format!(
                    "an option has from 1 to {LONGEST_OPTION} bytes, and no white space around it"
                );
                return Err(ConfigProblem::new(&key, message));
            }
            made.add(option, case).map_err(|message| ConfigProblem::new(&key, message))?;
        }
        Ok(made)
    }

    fn add(&mut self, option: &str, case: Option<LetterCase>) -> Result<(), &'static str> {
        let plain = PlainText::new(option);
        let words = words(&plain.text, &[]);
        if words.is_empty() {
            return Err("an option has more than marks of emphasis");
        }
        let letters = plain.text.chars().filter(|c| c.is_alphabetic()).count();
        let is_exact = match case {
            None => letters == 1,
            Some(case) => case == LetterCase::Exact,
        };
        let spelling = is_exact.then(|| spelling(&words));
        let mut beginning = 0;
        for word in &words {
            let known = self.vocabulary.len() as u32;
            let word = *self.vocabulary.entry(word.text.to_lowercase()).or_insert(known);
            let known = self.next.len() as u32 + 1;
            beginning = *self.next.entry((beginning, word)).or_insert(known);
        }
        let ending = self.ending.entry(beginning).or_default();
        let is_known = |other: &usize| match (&self.written[*other].spelling, &spelling) {
            (Some(one), Some(other)) => one == other,
            _ => true,
        };
        if ending.iter().any(is_known) {
            return Err("this option is there already");
        }
        ending.push(self.written.len());
        let has_sign = has_sign(&words);
        self.written.push(WrittenOption { text: option.to_owned(), spelling, has_sign });
        Ok(())
    }

    /// The options that a text mentions, in order, as candidates for one value.
    pub(super) fn candidates(&self, text: &str, cuts: &[usize]) -> Vec<Mention> {
        let candidate = |OptionMention { at, option, doubt }| {
            let certain = || Candidate::Certain(Value::from(self.text(option)));
            Mention { at, candidate: doubt.map_or_else(certain, Candidate::Doubtful) }
        };
        self.mentions(text, cuts).into_iter().map(candidate).collect()
    }

    /// The options that a text mentions, in order.
    pub(super) fn mentions(&self, text: &str, cuts: &[usize]) -> Vec<OptionMention> {
        let words = words(text, cuts);
        let clauses = Clauses::new(text, &words);
        let (mut mentions, mut at) = (Vec::new(), 0);
        while at < words.len() {
            let Some((option, end)) = self.longest(&words, at) else {
                at += 1;
                continue;
            };
            let place = words[at].at..words[end - 1].end();
            if let Ok(doubt) = doubt(text, &words, &clauses, at..end) {
                mentions.push(OptionMention { at: place, option, doubt });
            }
            at = end;
        }
        mentions
    }

    /// An option as the file has it.
    pub(super) fn text(&self, option: usize) -> &str {
        self.written.get(option).map_or("", |option| &option.text)
    }

    /// The options as the file has them.
    pub(super) fn texts(&self) -> impl Iterator<Item = &str> {
        self.written.iter().map(|option| option.text.as_str())
    }

    /// The longest option that begins with a word, and the word after it.
    fn longest(&self, words: &[Word<'_>], at: usize) -> Option<(usize, usize)> {
        if words.get(at)?.joint != Joint::Apart {
            return None;
        }
        let (mut beginning, mut end, mut longest) = (0, at, None);
        while let Some((next, after)) = self.step(beginning, words, end) {
            (beginning, end) = (next, after);
            if words.get(end).is_none_or(|word| word.joint == Joint::Apart) {
                let fits = |option: &usize| {
                    let WrittenOption { spelling: due, has_sign: is_signed, .. } =
                        &self.written[*option];
                    let found = &words[at..end];
                    due.as_ref().is_none_or(|due| *due == spelling(found))
                        && (!is_signed || has_sign(found))
                };
                let ending = self.ending.get(&beginning).into_iter().flatten();
                longest = ending.copied().find(fits).map(|option| (option, end)).or(longest);
            }
        }
        longest
    }

    /// The beginning that a word makes of another one, and the next word. A word that is divided is one if an option has
    /// it.
    fn step(&self, beginning: u32, words: &[Word<'_>], at: usize) -> Option<(u32, usize)> {
        let next = |word: &str| self.next.get(&(beginning, *self.vocabulary.get(word)?)).copied();
        let word = words.get(at)?.text.to_lowercase();
        let rest = words.get(at + 1).filter(|rest| rest.joint == Joint::Broken);
        let whole = rest.and_then(|rest| next(&(word.clone() + &rest.text.to_lowercase())));
        whole.map(|next| (next, at + 2)).or_else(|| Some((next(&word)?, at + 1)))
    }
}

/// What is left when words are no option, but a word of the text.
struct OnlyAWord;

/// Why an option that was found in these words may not be meant.
fn doubt(
    text: &str,
    words: &[Word<'_>],
    clauses: &Clauses<'_, '_>,
    found: Range<usize>,
) -> Result<Option<ReadingDoubt>, OnlyAWord> {
    if found.len() == 1 {
        match LetterMention::new(text, words, found.start) {
            LetterMention::Option => {}
            LetterMention::Word => return Err(OnlyAWord),
            LetterMention::Unclear(written) => {
                return Ok(Some(ReadingDoubt::Letter(Excerpt::new(&written))));
            }
        }
    }
    Ok(clauses.negation(found).map(|written| ReadingDoubt::Negated(Excerpt::new(written))))
}

/// True if words begin with a sign and a word directly after it.
fn has_sign(words: &[Word<'_>]) -> bool {
    let [sign, word, ..] = words else { return false };
    sign.is_symbol() && !word.is_symbol() && sign.end() == word.at
}

/// Words without what is between them.
fn spelling(words: &[Word<'_>]) -> String {
    words.iter().map(|word| word.text).collect()
}
