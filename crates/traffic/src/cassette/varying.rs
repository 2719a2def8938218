//! The parts of answers that vary whenever the same is asked: ids, times, counts of tokens, fingerprints.

use std::collections::BTreeSet;

use super::named_values::{NamedValues, name_in};
use crate::node::{LocatedValue, Value};

/// Fields of answers with times, costs and fingerprints, by their names; ids are known by `is_id`.
const VARYING: &[&str] = &[
    "created", "createTime", "eval_count", "obfuscation", "prompt_eval_count", "service_tier",
    "system_fingerprint", "timings", "usage", "usageMetadata", "x_groq",
];

/// Those of which each has its own placeholder: numbers that are equal by chance in one recording are not in the next.
const APART: &[&str] = &[
    "eval_count", "obfuscation", "prompt_eval_count", "timings", "usage", "usageMetadata", "x_groq",
];

/// The ends of other names of fields with times.
const TIMES: &[&str] = &["_at", "_duration", "_ms"];

/// Opaque texts that come back in later requests, as ids do.
const OPAQUE: &[&str] = &["encrypted_content", "signature", "thoughtSignature"];

/// Whether a field has an id, or another opaque text, by its name.
fn is_id(name: &str) -> bool {
    let is_model = matches!(name, "model_id" | "modelId");
    let is_id = name == "id" || name.ends_with("_id") || name.ends_with("Id");
    (is_id && !is_model) || OPAQUE.contains(&name)
}

/// Whether a field of an answer varies with every recording.
fn varies(name: &str, value: &LocatedValue, object: &[(String, LocatedValue)]) -> bool {
    let is_empty = match &value.value {
        Value::Null | Value::Bool(_) => true,
        Value::Text(text) => text.is_empty(),
        Value::List(items) => items.is_empty(),
        Value::Map(fields) => fields.is_empty(),
        Value::Number(_) | Value::Bytes(_) => false,
    };
    // The id of a model is its name.
    let is_model = || {
        let kind = |(name, value): &(String, LocatedValue)| {
            matches!(name.as_str(), "object" | "type") && value.text() == Some("model")
        };
        object.iter().any(kind)
    };
    let is_time = || TIMES.iter().any(|end| name.ends_with(end));
    !is_empty && (VARYING.contains(&name) || is_time() || (is_id(name) && !is_model()))
}

/// Adds the ids of an answer, which later requests may have.
pub(crate) fn add_ids(answer: &LocatedValue, ids: &mut BTreeSet<String>) {
    match &answer.value {
        Value::List(items) => items.iter().for_each(|item| add_ids(item, ids)),
        Value::Map(fields) => {
            for (name, field) in fields {
                match field.text() {
                    Some(id) if varies(name, field, fields) && is_id(name) => {
                        ids.insert(id.to_owned());
                    }
                    _ => add_ids(field, ids),
                }
            }
        }
        _ => {}
    }
}

/// Takes what varies out of an answer.
pub(crate) fn take_varying(answer: &mut LocatedValue, into: &mut NamedValues) {
    take(answer, &varies, into);
}

/// Takes the ids of answers out of a request.
pub(crate) fn take_ids(request: &mut LocatedValue, ids: &BTreeSet<String>, into: &mut NamedValues) {
    let is_known = |name: &str, value: &LocatedValue, _: &[(String, LocatedValue)]| {
        is_id(name) && value.text().is_some_and(|id| ids.contains(id))
    };
    take(request, &is_known, into);
}

/// Whether a field with this name and value, beside these others, is taken.
type FieldChoice<'a> = dyn Fn(&str, &LocatedValue, &[(String, LocatedValue)]) -> bool + 'a;

/// Takes fields out of a value, and texts that would be read as placeholders.
fn take(value: &mut LocatedValue, is_taken: &FieldChoice<'_>, into: &mut NamedValues) {
    let number = |n| if n == 1 { String::new() } else { format!(".{n}") };
    match &mut value.value {
        Value::Text(text) if name_in(text).is_some() => *value = into.take("text", value, number),
        Value::List(items) => items.iter_mut().for_each(|item| take(item, is_taken, into)),
        Value::Map(fields) => {
            let taken: Vec<bool> =
                fields.iter().map(|(name, field)| is_taken(name, field, fields)).collect();
            for ((name, field), is_taken_whole) in fields.iter_mut().zip(taken) {
                match is_taken_whole {
                    true if APART.contains(&name.as_str()) => {
                        *field = into.take_apart(name, field, number);
                    }
                    true => *field = into.take(name, field, number),
                    false => take(field, is_taken, into),
                }
            }
        }
        _ => {}
    }
}
