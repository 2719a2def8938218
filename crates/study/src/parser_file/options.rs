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

struct WrittenOption {
    /// As the file has it.
    text: String,
    /// Its words as a text must spell them, if letter case matters.
    spelling: Option<String>,
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
        self.written.push(WrittenOption { text: option.to_owned(), spelling });
        Ok(())
    }

    /// The options that a text mentions, in order.
    pub(super) fn mentions(&self, text: &str, cuts: &[usize]) -> Vec<Mention> {
        let words = words(text, cuts);
        let clauses = Clauses::new(text, &words);
        let (mut mentions, mut at) = (Vec::new(), 0);
        while at < words.len() {
            let Some((option, end)) = self.longest(&words, at) else {
                at += 1;
                continue;
            };
            let candidate = self.candidate(option, text, &words, &clauses, at..end);
            mentions.extend(
                candidate
                    .map(|candidate| Mention { at: words[at].at..words[end - 1].end(), candidate }),
            );
            at = end;
        }
        mentions
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
                    let due = self.written[*option].spelling.as_ref();
                    due.is_none_or(|due| *due == spelling(&words[at..end]))
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

    /// The candidate where an option was found in these words, if it is one.
    fn candidate(
        &self,
        option: usize,
        text: &str,
        words: &[Word<'_>],
        clauses: &Clauses<'_, '_>,
        found: Range<usize>,
    ) -> Option<Candidate> {
        if found.len() == 1 {
            match LetterMention::new(text, words, found.start) {
                LetterMention::Option => {}
                LetterMention::Word => return None,
                LetterMention::Unclear(written) => {
                    return Some(Candidate::Doubtful(ReadingDoubt::Letter(Excerpt::new(&written))));
                }
            }
        }
        Some(match clauses.negation(found) {
            Some(written) => Candidate::Doubtful(ReadingDoubt::Negated(Excerpt::new(written))),
            None => Candidate::Certain(Value::from(self.written[option].text.as_str())),
        })
    }
}

/// Words without what is between them.
fn spelling(words: &[Word<'_>]) -> String {
    words.iter().map(|word| word.text).collect()
}
