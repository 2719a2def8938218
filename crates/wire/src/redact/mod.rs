//! Personal data, taken out of requests and answers before anything is stored.
//!
//! The upstream gets the request as the program sent it, and the program the answer as it came. The stored texts have a
//! placeholder for each match: equal values have equal ones, and different values different ones ([`RedactionKey`]). The
//! same is done to a request before its recorded answer is looked for: a program that repeats a redacted answer in its next
//! question asks the same.
//!
//! - `key`: placeholders, and how a run keeps its patterns.
//! - `views`: the other writings in which a value is found.
//! - `matches`: all matches of a pattern, in linear time.
//! - `tail`: the beginning of a value at the end of an answer that was broken off.
//! - `answer`: a whole answer with its chunks; `bodies`: bodies that are one whole, and requests.
//! - `values`: JSON; `pieces`: a value that is cut into several texts; `stream`: the events of a stream.

mod answer;
mod bodies;
mod key;
mod matches;
mod pieces;
mod stream;
mod tail;
#[cfg(test)]
mod tests;
mod values;
mod views;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, LazyLock};

use regex::Regex;
use retold::model::{STRUCK, Secrets};
use retold::patterns::PatternBudget;

pub use key::{KnownKeys, RedactionKey};
pub(crate) use stream::move_chunks;

use crate::replacing::LARGEST_PATTERN;
use crate::rule_error::RuleError;
use matches::matches;
use tail::MatchBeginnings;
use views::{TextView, nfc, views, written_in};

/// What stands in place of what was taken out.
static PLACEHOLDER: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(&format!(r"\[redacted-[a-z2-7]{{{}}}\]", key::SHORT)).ok());

/// Whether something was taken out of a text.
pub fn has_placeholder(text: &str) -> bool {
    PLACEHOLDER.as_ref().is_some_and(|placeholder| placeholder.is_match(text))
}

/// What is taken out; by default, nothing.
#[derive(Debug, Clone, Default)]
pub(crate) struct Redaction(Option<Arc<Redacted>>);

/// What is taken out of texts.
#[derive(Debug)]
enum Redacted {
    /// What patterns match, with a placeholder that tells equal values from others.
    Matches(Vec<(Regex, Option<MatchBeginnings>)>, RedactionKey),
    /// Keys of APIs, of which nobody needs to know more.
    Keys(Secrets),
}

impl Redacted {
    /// What takes the place of a value.
    fn by(&self, value: &[u8]) -> String {
        match self {
            Redacted::Matches(_, key) => key.placeholder(value),
            Redacted::Keys(_) => STRUCK.to_owned(),
        }
    }
}

/// The lengths of a body's chunks, and when each arrived.
type Chunks = Vec<(usize, u64)>;

/// A part of a text, and what takes its place.
type PatternMatch = (Range<usize>, String);

impl Redaction {
    /// What these patterns match is taken out.
    ///
    /// # Errors
    /// [`RuleError`].
    pub(crate) fn new(patterns: &[String], key: &RedactionKey) -> Result<Self, RuleError> {
        let wrong = |pattern: &String| {
            let pattern = pattern.clone();
            move |source| RuleError::Redact { pattern, source }
        };
        let (mut texts, mut budget) = (Vec::new(), PatternBudget::new(patterns.len()));
        for pattern in patterns {
            let composed = nfc(pattern);
            let text = budget.compile(&composed, LARGEST_PATTERN).map_err(wrong(pattern))?;
            if text.is_match("") {
                return Err(RuleError::RedactsNothing(pattern.clone()));
            }
            texts.push((text, MatchBeginnings::new(&composed)));
        }
        let any = !texts.is_empty();
        Ok(Redaction(any.then(|| Arc::new(Redacted::Matches(texts, key.clone())))))
    }

    /// Keys of APIs are taken out: sixteen characters of one in a row, in whatever form.
    pub(crate) fn of_secrets(secrets: Secrets) -> Self {
        Redaction(Some(Arc::new(Redacted::Keys(secrets))))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// A text without what is taken out. What was taken out before stays as it is.
    pub(crate) fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let found = self.found(text, false);
        match found.is_empty() {
            true => Cow::Borrowed(text),
            false => Cow::Owned(replaced(text, &found)),
        }
    }

    /// What is taken out of a text, in order; of one that was broken off, also what may be the beginning of
    /// a match.
    fn found(&self, text: &str, broken: bool) -> Vec<PatternMatch> {
        match self.0.is_none() {
            true => Vec::new(),
            false => self.found_in(views(text), broken),
        }
    }

    /// What is taken out of what these views are of, in order.
    fn found_in(&self, views: Vec<TextView>, broken: bool) -> Vec<PatternMatch> {
        let mut found = FoundMatches::default();
        let Some(redacted) = &self.0 else { return Vec::new() };
        let patterns = match &**redacted {
            Redacted::Matches(patterns, _) => patterns,
            Redacted::Keys(secrets) => {
                // The other writings are known to them.
                if let Some(view) = views.first() {
                    for place in secrets.places(view.text.as_bytes()) {
                        found.add(view.place(&place), STRUCK.to_owned());
                    }
                }
                return found.in_order();
            }
        };
        for view in views {
            let known = known(&view.text);
            for (pattern, beginnings) in patterns {
                for between in between(&known, view.text.len()) {
                    for it in matches(pattern, &view.text[between.clone()]) {
                        let part = between.start + it.start..between.start + it.end;
                        let by = redacted.by(&view.text.as_bytes()[part.clone()]);
                        found.add(view.place(&part), by);
                    }
                }
                if broken
                    && let Some(begin) = beginnings.as_ref().and_then(|it| it.at_end_of(&view.text))
                    && known.iter().all(|known| known.end <= begin)
                {
                    let by = redacted.by(&view.text.as_bytes()[begin..]);
                    found.add(view.place(&(begin..view.text.len())), by);
                }
            }
            for written in written_in(&view.text) {
                if known.iter().all(|known| !meet(known, &written.part))
                    && let Cow::Owned(text) = self.text(&written.text)
                {
                    found.add(view.place(&written.part), written.write(&text));
                }
            }
        }
        found.in_order()
    }

    /// What is stored in place of a text that was taken out as a whole.
    fn placeholder(&self, value: &[u8]) -> Option<String> {
        self.0.as_ref().map(|redacted| redacted.by(value))
    }
}

/// What was taken out before.
fn known(text: &str) -> Vec<Range<usize>> {
    let found = PLACEHOLDER.iter().flat_map(|placeholder| placeholder.find_iter(text));
    found.map(|it| it.range()).collect()
}

/// The parts of a text of this length that are not known.
fn between(known: &[Range<usize>], length: usize) -> impl Iterator<Item = Range<usize>> {
    let begins = std::iter::once(0).chain(known.iter().map(|it| it.end));
    let ends = known.iter().map(|it| it.start).chain(std::iter::once(length));
    begins.zip(ends).map(|(begin, end)| begin..end)
}

fn meet(one: &Range<usize>, other: &Range<usize>) -> bool {
    one.start < other.end && other.start < one.end
}

/// What was found in a text, apart from each other: by where it begins, its end, and what takes its place.
#[derive(Default)]
struct FoundMatches(BTreeMap<usize, (usize, String)>);

impl FoundMatches {
    /// Adds what was found, unless a part of it was found before that it does not cover.
    fn add(&mut self, place: Range<usize>, by: String) {
        let before = self.0.range(..place.end).rev();
        let met: Vec<Range<usize>> = before
            .map(|(start, (end, _))| *start..*end)
            .take_while(|it| meet(it, &place))
            .collect();
        let covers =
            |it: &Range<usize>| place.start <= it.start && it.end <= place.end && *it != place;
        if met.iter().all(covers) {
            for it in met {
                self.0.remove(&it.start);
            }
            self.0.insert(place.start, (place.end, by));
        }
    }

    fn in_order(self) -> Vec<PatternMatch> {
        self.0.into_iter().map(|(start, (end, by))| (start..end, by)).collect()
    }
}

/// A text with what was found replaced.
fn replaced(text: &str, found: &[PatternMatch]) -> String {
    let bytes = replaced_bytes(text.as_bytes(), found, |by| by.as_bytes().to_vec());
    // Places begin and end with characters.
    String::from_utf8_lossy(&bytes).into_owned()
}

fn replaced_bytes(bytes: &[u8], found: &[PatternMatch], by: impl Fn(&str) -> Vec<u8>) -> Vec<u8> {
    let (mut out, mut from) = (Vec::with_capacity(bytes.len()), 0);
    for (place, placeholder) in found {
        out.extend_from_slice(&bytes[from..place.start]);
        out.extend(by(placeholder));
        from = place.end;
    }
    out.extend_from_slice(&bytes[from..]);
    out
}
