//! Replacements in the texts of a request, which may come from a file of somebody else: their output is bounded.

use regex::{Captures, Regex};
use retold::patterns::PatternBudget;
use serde_json::Value;

use crate::rule_error::RuleError;

/// The largest program of a pattern, in bytes: the library's own number.
pub(crate) const LARGEST_PATTERN: usize = 10 << 20;

/// How many times longer the texts of a request may become.
pub(crate) const MOST_GROWTH: usize = 16;

/// By how many bytes they may grow in any case.
const FREE_GROWTH: usize = 64 << 10;

/// Patterns, and what each match is replaced by, in order.
#[derive(Debug, Clone, Default)]
pub(crate) struct Replacements(Vec<(Regex, String)>);

impl Replacements {
    /// Compiles patterns within one budget.
    ///
    /// # Errors
    /// [`RuleError::Replace`].
    pub(crate) fn new(rules: &[(String, String)]) -> Result<Self, RuleError> {
        let mut budget = PatternBudget::new(rules.len());
        let compiled = |(pattern, by): &(String, String)| {
            let regex = budget.compile(pattern, LARGEST_PATTERN);
            let wrong = |source| RuleError::Replace { pattern: pattern.clone(), source };
            Ok((regex.map_err(wrong)?, by.clone()))
        };
        rules.iter().map(compiled).collect::<Result<_, _>>().map(Replacements)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn extend(&mut self, more: Replacements) {
        self.0.extend(more.0);
    }

    /// Replaces the matches in all texts of a body.
    ///
    /// # Errors
    /// [`RuleError::Grows`].
    pub(crate) fn replace_in(&self, body: &mut Value) -> Result<(), RuleError> {
        let mut room = FREE_GROWTH + bytes(body).saturating_mul(MOST_GROWTH);
        self.each(body, &mut room)
    }

    /// `room` is how many bytes this text and those after it may have.
    fn each(&self, value: &mut Value, room: &mut usize) -> Result<(), RuleError> {
        match value {
            Value::String(text) => {
                for (pattern, by) in &self.0 {
                    let grows = || RuleError::Grows(format!("{pattern}={by}"));
                    if let Some(replaced) = replace(pattern, by, text, *room).ok_or_else(grows)? {
                        *text = replaced;
                    }
                }
                *room = room.saturating_sub(text.len());
                Ok(())
            }
            Value::Array(items) => items.iter_mut().try_for_each(|item| self.each(item, room)),
            Value::Object(fields) => fields.values_mut().try_for_each(|item| self.each(item, room)),
            Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
        }
    }
}

/// How many bytes the texts of a value have.
fn bytes(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(bytes).sum(),
        Value::Object(fields) => fields.values().map(bytes).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}

/// A text with its matches replaced, `Some(None)` if it has none; `None` if it would have more bytes than there is room for.
fn replace(pattern: &Regex, by: &str, text: &str, room: usize) -> Option<Option<String>> {
    // References to groups are counted once: looking for the groups of a match takes longer than looking for the match.
    let references = by.bytes().filter(|byte| *byte == b'$').count();
    let (mut made, mut from) = (String::new(), 0);
    let mut add = |start: usize, end: usize, groups: Option<&Captures<'_>>| {
        made.push_str(text.get(from..start)?);
        from = end;
        let longest = by.len().saturating_add(references.saturating_mul(end - start));
        if made.len().saturating_add(longest) > room {
            return None;
        }
        match groups {
            Some(groups) => groups.expand(by, &mut made),
            None => made.push_str(by),
        }
        Some(())
    };
    if references == 0 {
        for found in pattern.find_iter(text) {
            add(found.start(), found.end(), None)?;
        }
    } else {
        for groups in pattern.captures_iter(text) {
            let whole = groups.get(0)?;
            add(whole.start(), whole.end(), Some(&groups))?;
        }
    }
    if from == 0 && made.is_empty() {
        return Some(None);
    }
    made.push_str(text.get(from..)?);
    (made.len() <= room).then_some(Some(made))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn after(rules: &[(&str, &str)], body: Value) -> Result<Value, RuleError> {
        let rules: Vec<_> =
            rules.iter().map(|(pattern, by)| ((*pattern).to_owned(), (*by).to_owned())).collect();
        let mut body = body;
        Replacements::new(&rules)?.replace_in(&mut body)?;
        Ok(body)
    }

    #[test]
    fn matches_are_replaced_as_the_library_does() {
        for (pattern, by, text) in [
            (r"\d\d:\d\d", "TIME", "at 12:30 and 13:31"),
            (r"(\w+) (\w+)", "$2 ${1}x$$", "a b, c d"),
            ("x*", "-", "abxc"),
            ("", "-", "é"),
            ("a", "", "aaa"),
            ("^a", "$0$0$nothing", "aaa"),
            ("b", "c", "aaa"),
        ] {
            let due = Regex::new(pattern).unwrap().replace_all(text, by).into_owned();
            assert_eq!(after(&[(pattern, by)], json!([text])).unwrap(), json!([due]), "{pattern}");
        }
    }

    /// Each of them is just too much or just fits.
    #[test]
    fn texts_grow_within_bounds() {
        let doubled = |times| after(&vec![("You", "YouYou"); times], json!({"content": "You"}));
        let longest = FREE_GROWTH + 3 * MOST_GROWTH;
        let most = (longest / 3).ilog2() as usize;
        assert_eq!(doubled(most).unwrap()["content"].as_str().unwrap().len(), 3 << most);
        assert!(matches!(doubled(most + 1), Err(RuleError::Grows(_))));
        assert!(matches!(doubled(4000), Err(RuleError::Grows(_))));
        // All texts of a request together.
        let many = |count: usize| after(&[("^a", "bcdef")], json!(vec!["a"; count]));
        assert_eq!(many(100_000).unwrap()[99_999], "bcdef");
        let twenty = &"b".repeat(20);
        let many = |count: usize| after(&[("^a", twenty)], json!(vec!["a"; count]));
        let most = FREE_GROWTH / (20 - MOST_GROWTH);
        assert!(many(most).is_ok() && many(most + 1).is_err());
        // What a reference stands for may be long.
        let long = "a".repeat(100_000);
        assert!(after(&[(".*", &"$0".repeat(1_000_000))], json!(long)).is_err());
        let said = doubled(40).unwrap_err().to_string();
        assert!(
            said.starts_with("--replace \"You=YouYou\": the texts of a request grow"),
            "{said}"
        );
    }
}
