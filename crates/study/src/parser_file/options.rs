//! The options of a strategy, and where a text has one as a whole word.

use std::collections::BTreeMap;

use regex::Regex;

use super::pattern::built;
use super::rules::FileRules;
use crate::config::ConfigProblem;
use retold::patterns::PatternBudget;

/// The most options of a strategy.
const MOST_OPTIONS: usize = 1000;

/// The longest option, in bytes.
const LONGEST_OPTION: usize = 1000;

/// Marks of emphasis, which may stand between two words: `**strongly** agree`.
const EMPHASIS: [char; 3] = ['*', '`', '~'];

/// Some options.
pub(super) struct Options {
    rules: FileRules,
    /// All of them in one pattern, with the longer ones first.
    pattern: Regex,
    /// As they are written, by the words that they are made of.
    written: BTreeMap<String, String>,
}

impl Options {
    pub(super) fn new(
        options: &[String],
        rules: FileRules,
        patterns: &mut PatternBudget,
        key: &str,
    ) -> Result<Self, ConfigProblem> {
        if options.is_empty() || options.len() > MOST_OPTIONS {
            let message = format!("write from 1 to {MOST_OPTIONS} options");
            return Err(ConfigProblem::new(key, message));
        }
        let mut written = BTreeMap::new();
        for (n, option) in options.iter().enumerate() {
            let key = format!("{key}[{n}]");
            if option.trim() != option || option.is_empty() || option.len() > LONGEST_OPTION {
                let message = format!(
                    "an option has from 1 to {LONGEST_OPTION} bytes, and no white space around it"
                );
                return Err(ConfigProblem::new(&key, message));
            }
            let words = rules.words(option);
            if words.is_empty() {
                let message = "an option has more than underscores".to_owned();
                return Err(ConfigProblem::new(&key, message));
            }
            if written.insert(words, option.clone()).is_some() {
                return Err(ConfigProblem::new(&key, "this option is there already"));
            }
        }
        let mut longest: Vec<&String> = written.keys().collect();
        longest.sort_by_key(|words| std::cmp::Reverse(words.len()));
        let alternatives: Vec<String> =
            longest.into_iter().map(|words| rules.whole(words)).collect();
        let pattern = built(&format!("(?i){}", alternatives.join("|")), patterns, key)?;
        Ok(Options { rules, pattern, written })
    }

    /// The options that a text has, as they are written in the file.
    pub(super) fn find_all(&self, text: &str) -> Vec<&str> {
        self.found_after(text, 0)
    }

    /// Those that the last line has. One may begin in the line before.
    pub(super) fn found_in_last_line(&self, text: &str) -> Vec<&str> {
        let text = text.trim_end();
        let last = text.rfind('\n').map_or(0, |at| at + 1);
        let before = text.get(..last).unwrap_or("").trim_end();
        let from = match self.rules {
            FileRules::First => last,
            FileRules::Second => before.rfind('\n').map_or(0, |at| at + 1),
        };
        let lines = text.get(from..).unwrap_or("");
        self.found_after(lines, last - from)
    }

    /// Those that end after a position.
    fn found_after(&self, text: &str, start: usize) -> Vec<&str> {
        let joined = self.rules.join_words(text);
        let after = self.rules.join_words(text.get(start..).unwrap_or("")).len();
        let found = self.pattern.find_iter(&joined);
        let found = found.filter(|found| found.end() + after > joined.len());
        found.filter_map(|found| self.option(found.as_str())).collect()
    }

    /// The option that was found, as it is written in the file.
    fn option(&self, found: &str) -> Option<&str> {
        let words = self.rules.words(found);
        let plain =
            || words.replace(EMPHASIS, " ").split_whitespace().collect::<Vec<_>>().join(" ");
        let option = self.written.get(&words).or_else(|| self.written.get(&plain()));
        option.map(String::as_str)
    }
}

impl FileRules {
    /// A text in which an option is searched. With the second rules, words that a hyphen or an
    /// apostrophe joins (`no-one`, `can't`) are joined by `_`, which belongs to a word, and the `_`
    /// of emphasis is left out.
    fn join_words(self, text: &str) -> String {
        if self == FileRules::First {
            return text.to_owned();
        }
        let mut joined = String::with_capacity(text.len());
        let mut rest = text;
        let mut before = None;
        while let Some(c) = rest.chars().next() {
            let is_joiner = matches!(c, '_' | '-' | '\u{2010}' | '\u{2011}' | '\'' | '\u{2019}');
            let run = match c {
                '_' => rest.len() - rest.trim_start_matches('_').len(),
                _ => c.len_utf8(),
            };
            let after = rest.get(run..).unwrap_or("");
            let is_inside = || {
                // A hyphen at the end of a line joins as well.
                let next = match c {
                    '-' | '\u{2010}' => after.trim_start_matches(['\r', '\n']),
                    _ => after,
                };
                before.is_some_and(char::is_alphanumeric) && next.starts_with(char::is_alphanumeric)
            };
            match is_joiner && is_inside() {
                true => joined.push('_'),
                false if c == '_' => joined.push(' '),
                false => joined.push(c),
            }
            (before, rest) = (Some(c), after);
        }
        joined
    }

    /// The words of an option, or of the place in a text where it was found.
    fn words(self, text: &str) -> String {
        match self {
            FileRules::First => text.to_lowercase(),
            FileRules::Second => {
                let joined = self.join_words(text).to_lowercase();
                let words = joined.split(|c: char| c.is_whitespace() || c == '_');
                words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
            }
        }
    }

    /// The pattern of an option as a whole word: `agree` is not in `disagree`. Between two words may
    /// be any white space, a hyphen, or marks of emphasis.
    fn whole(self, words: &str) -> String {
        let is_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
        let before = if is_word(words.chars().next()) { r"\b" } else { "" };
        let after = if is_word(words.chars().last()) { r"\b" } else { "" };
        let escaped = regex::escape(words);
        let escaped = match self {
            FileRules::First => escaped,
            FileRules::Second => escaped.replace(' ', r"[\s_*`~]+"),
        };
        format!("{before}{escaped}{after}")
    }
}
