//! Volatile parts of requests, which a run leaves out of its keys.
//!
//! A program may put the time, a random id or a temporary path into its prompts. Which of these do
//! not count is named when the run is recorded, is part of it, and applies again whenever it is
//! replayed. The request is stored as it was sent.

use retold::event::Labels;
use retold::id::PromptHash;
use retold::prompt::{Request, canonical, hash_of};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::field_names::{moved_parts, stored_path};
use crate::redact::{KnownKeys, Redaction, RedactionKey};
use crate::replacing::Replacements;
use crate::rule_error::RuleError;

/// The rules of a run, as it records them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedRules {
    /// Fields that do not count, as paths from the top of the body; `*` stands for any name or
    /// index.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignore: Vec<String>,
    /// Patterns, and what each match counts as.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replace: Vec<(String, String)>,
    /// The redaction of requests and answers before they were stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redact: Option<RecordedRedaction>,
}

impl RecordedRules {
    /// Rules as they are given: fields, and `REGEX=TEXT`.
    ///
    /// # Errors
    /// [`RuleError::NoText`].
    pub fn parse(ignore: &[String], replace: &[String]) -> Result<Self, RuleError> {
        let divided = |rule: &String| {
            let (pattern, text) =
                rule.rsplit_once('=').ok_or_else(|| RuleError::NoText(rule.clone()))?;
            Ok((pattern.to_owned(), text.to_owned()))
        };
        let replace = replace.iter().map(divided).collect::<Result<_, _>>()?;
        Ok(RecordedRules { ignore: ignore.to_vec(), replace, redact: None })
    }

    /// These rules without those that a run has already.
    pub fn besides(mut self, has: &RecordedRules) -> Self {
        self.ignore.retain(|field| !has.ignore.contains(field));
        self.replace.retain(|pattern| !has.replace.contains(pattern));
        self
    }
}

/// A run's record of its redactions. It can be used with their key alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedRedaction {
    /// Which key: [`RedactionKey::id`].
    pub key: String,
    /// The patterns, sealed with the key, because they may have names in them.
    pub patterns: Vec<String>,
}

/// Rules that can be applied.
#[derive(Debug, Clone, Default)]
pub struct Rules {
    recorded: RecordedRules,
    ignore: Vec<Vec<String>>,
    replace: Replacements,
    pub(crate) redaction: Redaction,
    lacks_key: Option<String>,
}

impl Rules {
    /// Rules as they are given: fields, and `REGEX=TEXT`.
    ///
    /// # Errors
    /// [`RuleError`].
    pub fn parse(ignore: &[String], replace: &[String]) -> Result<Self, RuleError> {
        Rules::new(RecordedRules::parse(ignore, replace)?, &KnownKeys::default())
    }

    /// The same rules, with what these patterns match taken out before anything is stored.
    ///
    /// # Errors
    /// [`RuleError`].
    pub fn redacting(mut self, patterns: &[String], key: &RedactionKey) -> Result<Self, RuleError> {
        self.redaction = Redaction::new(patterns, key)?;
        let sealed = || patterns.iter().map(|pattern| key.seal(pattern)).collect();
        self.recorded.redact =
            (!patterns.is_empty()).then(|| RecordedRedaction { key: key.id(), patterns: sealed() });
        Ok(self)
    }

    /// The same rules, with more fields and replacements than the run was begun with.
    ///
    /// # Errors
    /// [`RuleError`].
    pub fn adding(mut self, added: RecordedRules) -> Result<Self, RuleError> {
        let more = Rules::new(added.besides(&self.recorded), &KnownKeys::default())?;
        self.ignore.extend(more.ignore);
        self.replace.extend(more.replace);
        self.recorded.ignore.extend(more.recorded.ignore);
        self.recorded.replace.extend(more.recorded.replace);
        Ok(self)
    }

    /// Rules that a run has recorded. Without the key of its redactions, nothing is taken out, and the rules
    /// [say so](Self::lacks_key).
    ///
    /// # Errors
    /// [`RuleError`].
    pub fn new(recorded: RecordedRules, known: &KnownKeys) -> Result<Self, RuleError> {
        let ignore = recorded.ignore.iter().map(|field| names(field)).collect::<Result<_, _>>()?;
        let replace = Replacements::new(&recorded.replace)?;
        let mut rules = Rules { recorded, ignore, replace, ..Rules::default() };
        if let Some(RecordedRedaction { key, patterns }) = &rules.recorded.redact {
            match known.keys.iter().find(|known| known.id() == *key) {
                Some(key) => {
                    let opened = patterns.iter().map(|sealed| key.open(sealed));
                    let opened: Option<Vec<String>> = opened.collect();
                    rules.redaction = Redaction::new(&opened.ok_or(RuleError::NotSealed)?, key)?;
                }
                None => rules.lacks_key = Some(known.place.clone()),
            }
        }
        Ok(rules)
    }

    /// If the run was redacted with a key that is not known: where it was looked for. Then a request with a
    /// redacted value cannot be found again, and nothing may be recorded.
    pub fn lacks_key(&self) -> Option<&str> {
        self.lacks_key.as_deref()
    }

    /// The rules as a run records them.
    pub fn as_recorded(&self) -> &RecordedRules {
        &self.recorded
    }

    /// A text as it is stored: without the parts that are redacted.
    pub fn redact_text(&self, text: &str) -> String {
        self.redaction.text(text).into_owned()
    }

    /// Labels as they are stored: names and values.
    pub fn redacted_labels(&self, labels: Labels) -> Labels {
        let redacted =
            |(name, value): (String, String)| (self.redact_text(&name), self.redact_text(&value));
        labels.into_iter().map(redacted).collect()
    }

    /// Whether all of a stored request counts.
    pub fn is_empty(&self) -> bool {
        self.ignore.is_empty() && self.replace.is_empty()
    }

    /// The rules in one line, for reports.
    pub fn summary(&self) -> String {
        let RecordedRules { ignore, replace, redact } = &self.recorded;
        let ignore = ignore.iter().map(|field| format!("--ignore {field}"));
        let replace = replace.iter().map(|(pattern, text)| format!("--replace {pattern}={text}"));
        // Patterns may have names in them.
        let redact = redact.iter().map(|_| "--redact".to_owned());
        ignore.chain(replace).chain(redact).collect::<Vec<_>>().join(" ")
    }

    /// What counts of a request's body.
    ///
    /// # Errors
    /// [`RuleError::Grows`].
    pub fn counted_body(&self, request: &Request) -> Result<Value, RuleError> {
        let mut body = request.body().clone();
        let moved = if self.ignore.is_empty() { Vec::new() } else { moved_parts(request) };
        for path in &self.ignore {
            remove(&mut body, path);
            if let Some(path) = stored_path(&moved, path) {
                remove(&mut body, &path);
            }
        }
        if !self.replace.is_empty() {
            self.replace.replace_in(&mut body)?;
        }
        Ok(body)
    }

    /// The key of a request: its prompt hash, or the hash of what counts of it.
    ///
    /// # Errors
    /// [`RuleError::Grows`].
    pub fn key(&self, request: &Request) -> Result<PromptHash, RuleError> {
        match self.is_empty() {
            true => Ok(request.hash()),
            false => Ok(self.key_of(request, &self.counted_body(request)?)),
        }
    }

    /// The key of a request of which this counts.
    pub(crate) fn key_of(&self, request: &Request, counted: &Value) -> PromptHash {
        if self.is_empty() {
            return request.hash();
        }
        let counted = json!({"api": request.api(), "body": counted, "v": request.version()});
        // A request has a canonical form, and so has the part of it that counts.
        canonical(&counted).map_or(request.hash(), |text| PromptHash(hash_of(text.as_bytes())))
    }
}

/// The names on the way to a field.
fn names(field: &str) -> Result<Vec<String>, RuleError> {
    let names: Vec<String> = field.split('.').map(str::to_owned).collect();
    match names.iter().any(String::is_empty) {
        true => Err(RuleError::Field(field.to_owned())),
        false => Ok(names),
    }
}

fn remove(value: &mut Value, path: &[String]) {
    let Some((name, rest)) = path.split_first() else { return };
    match value {
        Value::Object(fields) if rest.is_empty() && name == "*" => fields.clear(),
        Value::Object(fields) if rest.is_empty() => drop(fields.remove(name)),
        Value::Object(fields) if name == "*" => {
            fields.values_mut().for_each(|value| remove(value, rest));
        }
        Value::Object(fields) => {
            if let Some(value) = fields.get_mut(name) {
                remove(value, rest);
            }
        }
        Value::Array(items) if rest.is_empty() && name == "*" => items.clear(),
        Value::Array(items) if name == "*" => {
            items.iter_mut().for_each(|item| remove(item, rest));
        }
        Value::Array(items) => {
            let at = name.parse::<usize>().ok();
            match at.and_then(|at| items.get_mut(at)) {
                // The places of the others must not change.
                Some(item) if rest.is_empty() => *item = Value::Null,
                Some(item) => remove(item, rest),
                None => {}
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use retold::prompt::Request;

    use super::*;

    fn request(time: &str, id: u32) -> Request {
        let said = format!("It is {time}. Say hello.");
        Request::from_body(json!({"model": "m", "trace": {"at": time}, "messages":
            [{"role": "user", "content": said, "id": id}]}))
        .unwrap()
    }

    #[test]
    fn what_is_volatile_does_not_count() {
        let (one, other) = (request("12:30", 1), request("23:59", 2));
        let rules = |ignore: &[&str], replace: &[&str]| {
            let owned = |all: &[&str]| all.iter().map(|one| (*one).to_owned()).collect::<Vec<_>>();
            Rules::parse(&owned(ignore), &owned(replace)).unwrap()
        };
        let all = rules(&["trace.at", "messages.*.id"], &[r"\d\d:\d\d=TIME"]);
        assert_eq!(all.key(&one).unwrap(), all.key(&other).unwrap());
        assert_eq!(
            all.counted_body(&one).unwrap()["messages"][0]["content"],
            "It is TIME. Say hello."
        );
        for fewer in [
            rules(&["trace"], &[r"\d\d:\d\d=TIME"]),
            rules(&["trace.at", "messages.*.id"], &[]),
            rules(&["messages.0.id"], &[r"x=y"]),
        ] {
            assert_ne!(fewer.key(&one).unwrap(), fewer.key(&other).unwrap(), "{}", fewer.summary());
        }
        assert_eq!(Rules::default().key(&one).unwrap(), one.hash());
        let again = Rules::new(all.as_recorded().clone(), &KnownKeys::default()).unwrap();
        assert_eq!(again.key(&one).unwrap(), all.key(&one).unwrap());
    }

    #[test]
    fn rules_that_cannot_be_used_are_explained() {
        let said = |ignore: &str, replace: &str| {
            Rules::parse(&[ignore.to_owned()], &[replace.to_owned()]).unwrap_err().to_string()
        };
        assert!(said("a..b", "x=y").contains("messages.*.id"));
        assert!(said("a", "x").contains("REGEX=TEXT"));
        assert!(said("a", "(=y").contains("not a regular expression"));
    }
}
