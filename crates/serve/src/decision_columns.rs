//! The decisions of a run for tables: short values in memory, and where the others are.

use std::collections::{BTreeMap, BTreeSet};

use retold::escaping::printable;
use retold::id::Seq;
use serde_json::Value;

use crate::question_news::DecisionNews;
use crate::texts::{NONE, Texts};

/// The longest value that is kept, in characters.
const LONGEST: usize = 60;

/// The most places of decisions that are told apart.
const MOST_KEYS: usize = 64;

/// The most raters that are told apart.
const MOST_RATERS: usize = 64;

/// The most different values of a name that are counted.
const MOST_VALUES: usize = 50;

/// A decision about the answer to a question.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DecisionEntry {
    /// Texts of [`DecisionColumns`]: the name of the decision, its value, and its method.
    pub(crate) name: u32,
    value: u32,
    method: u32,
    /// Whether a person or a judge gave it.
    pub(crate) is_verdict: bool,
    /// Its event, if it is one of the run itself.
    seq: u32,
    /// The decision before it about the same answer.
    previous: u32,
}

/// The kind of call that a decision is about (`NONE` if it does not matter), and the name of the decision.
pub(crate) type DecisionKey = (u32, u32);

/// The values of the decisions with one name.
#[derive(Debug, Default)]
struct NameValues {
    count: usize,
    others: usize,
    names: BTreeSet<u32>,
    are_numbers: bool,
}

/// The decisions of a run.
#[derive(Debug, Default)]
pub(crate) struct DecisionColumns {
    texts: Texts,
    entries: Vec<DecisionEntry>,
    by_name: BTreeMap<u32, NameValues>,
    /// The last decision about the answer to each question.
    latest: Vec<u32>,
    /// The keys of all decisions, in the order in which they first occurred.
    keys: Vec<DecisionKey>,
    /// The names of decisions, each with a rater that used it.
    raters: BTreeSet<(String, String)>,
    /// Whether the answer to some question has decisions of several names.
    pub(crate) has_several: bool,
}

impl DecisionColumns {
    /// Adds a decision about the question at a place. `seq` is its event if it is one of the run itself, where a value that
    /// is too long to be kept can be read again.
    pub(crate) fn add(
        &mut self,
        question: usize,
        asked_for: u32,
        decided: &DecisionNews,
        seq: Option<Seq>,
    ) {
        let DecisionNews { name, value, method, by: _, is_verdict } = decided;
        let name = self.texts.number(name);
        let key = (asked_for, name);
        if self.keys.len() < MOST_KEYS && !self.keys.contains(&key) {
            self.keys.push(key);
        }
        let of_name = self.by_name.entry(name).or_default();
        of_name.count += 1;
        let text = value_text(value);
        let is_short = text.as_ref().is_some_and(|text| text.chars().count() <= LONGEST);
        let kept = match &text {
            Some(text) if is_short => self.texts.number(text),
            Some(_) if seq.is_none() => self.texts.number(&printable(&plain(value), LONGEST)),
            _ => NONE,
        };
        match value {
            Value::Null => {}
            Value::Number(_) => of_name.are_numbers = true,
            _ if is_short && of_name.names.len() <= MOST_VALUES => drop(of_name.names.insert(kept)),
            _ => of_name.others += 1,
        }
        let method = self.texts.number(method);
        let seq = seq.and_then(|seq| u32::try_from(seq.0).ok()).unwrap_or(NONE);
        if self.latest.len() <= question {
            self.latest.resize(question + 1, NONE);
        }
        let at = u32::try_from(self.entries.len()).unwrap_or(NONE);
        let previous = std::mem::replace(&mut self.latest[question], at);
        let before = self.entry(previous);
        self.has_several |= before.is_some_and(|before| before.name != name);
        let is_verdict = *is_verdict;
        self.entries.push(DecisionEntry { name, value: kept, method, is_verdict, seq, previous });
    }

    /// Notes who decided something, in force or not.
    pub(crate) fn add_rater(&mut self, name: &str, by: String) {
        let rater = (name.to_owned(), by);
        if self.raters.len() < MOST_RATERS || self.raters.contains(&rater) {
            self.raters.insert(rater);
        }
    }

    /// The names of decisions that several raters made.
    pub(crate) fn rated_by_several(&self) -> Vec<&str> {
        let names: Vec<&str> = self.raters.iter().map(|(name, _)| name.as_str()).collect();
        // The raters are sorted by name.
        let several = names.chunk_by(|one, other| one == other).filter(|chunk| chunk.len() > 1);
        several.filter_map(|chunk| chunk.first().copied()).collect()
    }

    fn entry(&self, at: u32) -> Option<&DecisionEntry> {
        self.entries.get(usize::try_from(at).ok()?)
    }

    /// The decisions about the answer to a question, the last first.
    pub(crate) fn about(&self, question: usize) -> impl Iterator<Item = &DecisionEntry> {
        let last = self.latest.get(question).and_then(|at| self.entry(*at));
        std::iter::successors(last, |entry| self.entry(entry.previous))
    }

    /// The keys of all decisions, in the order in which they first occurred.
    pub(crate) fn keys(&self) -> &[DecisionKey] {
        &self.keys
    }

    /// The names of all decisions.
    pub(crate) fn names(&self) -> Vec<u32> {
        self.by_name.keys().copied().collect()
    }

    pub(crate) fn text(&self, number: u32) -> &str {
        self.texts.text(number).unwrap_or("")
    }

    /// The value of a decision; `None` if it is too long to be kept, or null.
    pub(crate) fn value(&self, entry: &DecisionEntry) -> Option<&str> {
        self.texts.text(entry.value)
    }

    pub(crate) fn method(&self, entry: &DecisionEntry) -> Option<&str> {
        self.texts.text(entry.method)
    }

    /// Where a value can be read that is not kept.
    pub(crate) fn place(&self, entry: &DecisionEntry) -> Option<Seq> {
        (entry.value == NONE && entry.seq != NONE).then(|| Seq(entry.seq.into()))
    }

    /// Whether the values of a name are numbers, or few names: what can be compared at a glance.
    pub(crate) fn is_comparable(&self, name: u32) -> bool {
        self.by_name.get(&name).is_some_and(|of| {
            let few = of.names.len() <= MOST_VALUES && 2 * of.names.len() <= of.count + 2;
            of.others == 0 && (of.are_numbers || few)
        })
    }

    /// The number of a name or a method that occurs.
    pub(crate) fn find(&self, text: &str) -> Option<u32> {
        self.texts.find(text)
    }

    pub(crate) fn is_method(&self, entry: &DecisionEntry, method: Option<u32>) -> bool {
        method.is_some_and(|method| entry.method == method)
    }
}

/// A value on one line, if it has one.
fn value_text(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        value => Some(plain(value)).filter(|text| !text.contains('\n')),
    }
}

/// A value as people read it.
pub(crate) fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn news(name: &str, value: &Value) -> DecisionNews {
        let (name, method) = (name.to_owned(), "tag".to_owned());
        let (value, by) = (value.clone(), String::new());
        DecisionNews { name, value, method, by, is_verdict: false }
    }

    fn columns(values: &[Value]) -> DecisionColumns {
        let mut columns = DecisionColumns::default();
        for (at, value) in values.iter().enumerate() {
            columns.add(at, 7, &news("vote", value), Some(Seq(at as u64 + 1)));
        }
        columns
    }

    #[test]
    fn numbers_and_few_names_can_be_compared_at_a_glance() {
        let is = |values: &[Value]| columns(values).is_comparable(0);
        assert!(is(&[json!(1), json!(2.5), json!(3), json!(null)]));
        assert!(is(&[json!("yes"), json!("no"), json!("no"), json!("yes")]));
        assert!(!is(&["a", "b", "c", "d"].map(Value::from)), "each says something else");
        assert!(!is(&[json!("yes"), json!("long ".repeat(20))]));
        assert!(!is(&[json!({"a": 1}), json!("two\nlines")]));
    }

    #[test]
    fn a_long_value_is_where_it_was_decided() {
        let columns = columns(&[json!("short"), json!("long ".repeat(20)), json!(null)]);
        let of = |at| {
            let entry = columns.about(at).next().unwrap();
            (columns.value(entry), columns.place(entry))
        };
        assert_eq!(of(0), (Some("short"), None));
        assert_eq!(of(1), (None, Some(Seq(2))));
        assert_eq!(columns.keys(), [(7, 0)]);
    }

    #[test]
    fn only_raters_of_one_name_can_disagree() {
        let mut columns = columns(&[]);
        for (name, by) in [("vote", "vote@1"), ("mood", "mood@1"), ("vote", "vote@1")] {
            columns.add_rater(name, by.to_owned());
        }
        assert!(columns.rated_by_several().is_empty());
        columns.add_rater("vote", "a person, ada: vote".to_owned());
        assert_eq!(columns.rated_by_several(), ["vote"]);
    }

    #[test]
    fn the_last_decision_about_an_answer_comes_first() {
        let mut columns = columns(&[json!("no")]);
        assert!(!columns.has_several);
        columns.add(0, 7, &news("mood", &json!("good")), None);
        columns.add(0, 7, &news("vote", &json!("yes")), None);
        let about: Vec<_> = columns
            .about(0)
            .map(|it| (columns.text(it.name), columns.value(it).unwrap()))
            .collect();
        assert_eq!(about, [("vote", "yes"), ("mood", "good"), ("vote", "no")]);
        assert!(columns.has_several && columns.about(5).next().is_none());
    }
}
