//! Where two bodies of requests differ.

use retold::escaping::printable;
use serde_json::{Value, json};

/// The longest excerpt of a value, in characters.
const LONGEST: usize = 100;

/// The differences of two bodies.
#[derive(Debug, Default)]
pub(crate) struct BodyDifferences {
    /// How many fields differ.
    pub(crate) fields: usize,
    /// The first of them.
    pub(crate) first: Vec<FieldDifference>,
    /// How many characters the first two differing texts share at both ends.
    pub(crate) common: usize,
}

/// A field that differs.
#[derive(Debug, Clone)]
pub(crate) struct FieldDifference {
    /// Its names and indexes, from the top.
    pub(crate) path: Vec<String>,
    /// Its recorded value, if it had one.
    pub(crate) recorded: Option<Value>,
    /// Its value now, if it has one.
    pub(crate) now: Option<Value>,
}

/// How many fields that differ are listed.
const LISTED: usize = 64;

impl BodyDifferences {
    /// The differences of two bodies.
    pub(crate) fn between(recorded: &Value, now: &Value) -> Self {
        let mut found = BodyDifferences::default();
        compare(recorded, now, &mut Vec::new(), &mut found);
        found
    }
}

/// The body with its API, so that both are compared.
pub(crate) fn shown_body(api: retold::prompt::Api, mut body: Value) -> Value {
    if let Value::Object(fields) = &mut body {
        fields.insert("api".to_owned(), json!(api));
    }
    body
}

/// Messages and contents first: they differ most often, and a reader looks for them.
fn order(name: &str) -> (u8, &str) {
    let rank = match name {
        "model" | "tool" => 0,
        "messages" | "input" | "content" | "parts" => 1,
        "http" | "api" => 3,
        _ => 2,
    };
    (rank, name)
}

fn compare(recorded: &Value, now: &Value, path: &mut Vec<String>, found: &mut BodyDifferences) {
    match (recorded, now) {
        (Value::Object(before), Value::Object(after)) => {
            let mut names: Vec<&String> = before.keys().chain(after.keys()).collect();
            names.sort_by_key(|name| order(name));
            names.dedup();
            for name in names {
                path.push(name.clone());
                both(before.get(name), after.get(name), path, found);
                path.pop();
            }
        }
        (Value::Array(before), Value::Array(after)) => {
            for at in 0..before.len().max(after.len()) {
                path.push(at.to_string());
                both(before.get(at), after.get(at), path, found);
                path.pop();
            }
        }
        // `1` and `1.0` are one number.
        (Value::Number(a), Value::Number(b)) if a.as_f64() == b.as_f64() => {}
        (before, after) if before == after => {}
        (before, after) => note(Some(before), Some(after), path, found),
    }
}

fn both(
    before: Option<&Value>,
    after: Option<&Value>,
    path: &mut Vec<String>,
    found: &mut BodyDifferences,
) {
    match (before, after) {
        (Some(before), Some(after)) => compare(before, after, path, found),
        (before, after) => note(before, after, path, found),
    }
}

fn note(
    before: Option<&Value>,
    after: Option<&Value>,
    path: &[String],
    found: &mut BodyDifferences,
) {
    found.fields += 1;
    if found.first.is_empty()
        && let (Some(Value::String(a)), Some(Value::String(b))) = (before, after)
    {
        let begin = a.bytes().zip(b.bytes()).take_while(|(x, y)| x == y).count();
        let most = a.len().min(b.len()) - begin;
        let ends = a.bytes().rev().zip(b.bytes().rev());
        found.common = begin + ends.take_while(|(x, y)| x == y).count().min(most);
    }
    if found.first.len() < LISTED {
        let (recorded, now) = (before.cloned(), after.cloned());
        found.first.push(FieldDifference { path: path.to_vec(), recorded, now });
    }
}

/// Both values, texts from shortly before where they differ.
pub(crate) fn excerpts(
    before: Option<&Value>,
    after: Option<&Value>,
) -> (Option<String>, Option<String>) {
    const LEAD: usize = 30;
    if let (Some(Value::String(a)), Some(Value::String(b))) = (before, after) {
        let common = a.chars().zip(b.chars()).take_while(|(x, y)| x == y).count();
        let skipped = common.saturating_sub(LEAD);
        let cut = |text: &str| {
            let rest: String = text.chars().skip(skipped).collect();
            let dots = if skipped > 0 { "\u{2026}" } else { "" };
            Some(format!("{dots}{}", printable(&rest, LONGEST)))
        };
        return (cut(a), cut(b));
    }
    let shown = |value: Option<&Value>| value.map(|value| printable(&value.to_string(), LONGEST));
    (shown(before), shown(after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_difference_is_named_by_its_path() {
        let recorded =
            json!({"model": "m", "temperature": 1, "messages": [{"role": "user", "content": "a"}]});
        let first = |now: Value| {
            let found = BodyDifferences::between(&recorded, &now);
            (found.first.first().map(|it| it.path.join(".")), found.fields)
        };
        assert_eq!(first(recorded.clone()), (None, 0));
        let changed = json!({"model": "n", "temperature": 1.0, "messages": [{"role": "user", "content": "b"}]});
        assert_eq!(first(changed), (Some("model".to_owned()), 2));
        let longer = json!({"model": "m", "messages": [{"role": "user", "content": "a"}, {}]});
        assert_eq!(first(longer), (Some("messages.1".to_owned()), 2));
    }
}
