//! Finds the JSON in a whole text.

use memchr::memchr2;
use serde_json::Value;

use super::cursor::Cursor;
use super::depth::cut;
use super::string::ValuePosition;
use super::unclosed::UnclosedQuotes;
use super::{EmbeddedJson, MAX_DEPTH, Repair, RepairedJson};

/// How deeply nested JSON serde_json reads.
const DEEPEST: usize = 127;

/// Repairs a text: returns the value that it was most likely meant to be, and the problems.
///
/// Of several values in a row, empty ones are dropped; one that directly follows another with the
/// same keys is its correction; otherwise they form an array.
#[must_use]
pub fn repair(text: &str) -> RepairedJson {
    if let Ok(value) = serde_json::from_str(text) {
        return RepairedJson { value: Some(value), repairs: Vec::new() };
    }
    let found = values(text);
    if found.is_empty() {
        return group(text);
    }
    let mut repairs: Vec<Repair> = Vec::new();
    if found.len() > 1 {
        repairs.push(Repair::SeveralValues);
    } else if found.iter().any(|e| surrounds(text, e)) {
        repairs.push(Repair::SurroundingText);
    }
    for repair in found.iter().flat_map(|e| &e.repairs) {
        if !repairs.contains(repair) {
            repairs.push(*repair);
        }
    }
    let are_several = found.len() > 1;
    let mut value = combine(text, found);
    if are_several {
        // Each value can be read again, and so must be a list of them.
        shallow(&mut value, DEEPEST - 1, &mut repairs);
    }
    RepairedJson { value: Some(value), repairs }
}

/// Every object and array in a text that is not inside another one, in order.
///
/// ```
/// use retold::parse::json_repair::values;
///
/// let found = values("First {\"a\": 1}, then {'b': 2");
/// assert_eq!(found.len(), 2);
/// assert_eq!(found[1].value["b"], 2);
/// ```
#[must_use]
pub fn values(text: &str) -> Vec<EmbeddedJson> {
    each_value(text).collect()
}

/// Like [`values`], but lazy: nothing after the last value taken is examined.
pub fn each_value(text: &str) -> impl Iterator<Item = EmbeddedJson> {
    let mut unclosed = UnclosedQuotes::default();
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + memchr2(b'{', b'[', text.as_bytes().get(at..)?)?;
        let embedded = read(text, start, &mut unclosed);
        // Every container has at least its opening bracket.
        at = embedded.end.max(start + 1);
        Some(embedded)
    })
}

/// The first object or array in a text; nothing after it is read.
#[must_use]
pub fn first(text: &str) -> Option<EmbeddedJson> {
    memchr2(b'{', b'[', text.as_bytes())
        .map(|start| read(text, start, &mut UnclosedQuotes::default()))
}

/// Reads the container at `start`: strictly if possible, with repairs if not.
fn read(text: &str, start: usize, unclosed: &mut UnclosedQuotes) -> EmbeddedJson {
    unclosed.next_container();
    let rest = text.get(start..).unwrap_or("");
    let mut strict = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
    if let Some(Ok(value)) = strict.next() {
        let end = start + strict.byte_offset();
        let mut cursor = Cursor::new(text, end, unclosed);
        let mut value = resume(&mut cursor, value);
        let end = cursor.pos;
        let mut repairs = cursor.take_repairs();
        if !repairs.is_empty() {
            shallow(&mut value, MAX_DEPTH, &mut repairs);
        }
        return EmbeddedJson { value, repairs, start, end };
    }
    let mut cursor = Cursor::new(text, start, unclosed);
    let value = cursor.value(ValuePosition::Value).unwrap_or(Value::Null);
    let mut value = resume(&mut cursor, value);
    let mut repairs = cursor.take_repairs();
    shallow(&mut value, MAX_DEPTH, &mut repairs);
    if repairs.is_empty() {
        // It was not JSON, so something was left out.
        repairs.push(Repair::Garbage);
    }
    EmbeddedJson { value, end: cursor.pos, repairs, start }
}

/// Cuts values that are nested too deeply, and notes the repair.
fn shallow(value: &mut Value, most: usize, repairs: &mut Vec<Repair>) {
    if cut(value, most) && !repairs.contains(&Repair::TooDeep) {
        repairs.push(Repair::TooDeep);
    }
}

/// Continues an object that is followed by another key after its closing brace: it was closed too
/// early.
fn resume(cursor: &mut Cursor<'_>, mut value: Value) -> Value {
    while let Value::Object(map) = &mut value {
        let comma = cursor.after_space(cursor.pos);
        let key = cursor.after_space(comma + 1);
        let continues = cursor.char_at(comma) == Some(',')
            && matches!(cursor.char_at(key), Some('"' | '\''))
            && (cursor.is_key(key) || cursor.text.get(key..).is_some_and(is_empty_key));
        if !continues {
            break;
        }
        cursor.note(Repair::StrayBracket);
        cursor.pos = comma + 1;
        let map = std::mem::take(map);
        value = cursor.more_members(map);
    }
    value
}

fn is_empty_key(text: &str) -> bool {
    text.strip_prefix("\"\"").is_some_and(|rest| rest.trim_start().starts_with(':'))
}

/// Combines several values into one.
fn combine(text: &str, found: Vec<EmbeddedJson>) -> Value {
    let mut kept: Vec<EmbeddedJson> = Vec::new();
    for embedded in found {
        match kept.last_mut() {
            Some(last) if is_empty(&embedded.value) && !is_empty(&last.value) => {}
            Some(last) if is_empty(&last.value) => *last = embedded,
            Some(last) if corrects(text, last, &embedded) => *last = embedded,
            _ => kept.push(embedded),
        }
    }
    let mut values: Vec<Value> = kept.into_iter().map(|e| e.value).collect();
    match values.pop() {
        Some(value) if values.is_empty() => value,
        Some(value) => {
            values.push(value);
            Value::Array(values)
        }
        None => Value::Null,
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Object(map) => map.is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => false,
    }
}

/// Whether the second value directly follows the first and has the same shape.
fn corrects(text: &str, first: &EmbeddedJson, second: &EmbeddedJson) -> bool {
    let between = text.get(first.end..second.start).unwrap_or("");
    between.trim().is_empty()
        && match (&first.value, &second.value) {
            (Value::Object(a), Value::Object(b)) => a.keys().eq(b.keys()),
            (Value::Array(a), Value::Array(b)) => a.len() == b.len(),
            _ => false,
        }
}

/// Whether there is anything but white space around the value.
fn surrounds(text: &str, embedded: &EmbeddedJson) -> bool {
    let before = text.get(..embedded.start).unwrap_or("");
    let after = text.get(embedded.end..).unwrap_or("");
    !before.trim().is_empty() || !after.trim().is_empty()
}

/// A text without braces and brackets may still be `(1, 2)`, with or without a fence.
fn group(text: &str) -> RepairedJson {
    let fenced =
        text.split_once("```").map(|(_, rest)| rest.trim_start_matches(char::is_alphanumeric));
    let at = text.len() - fenced.unwrap_or(text).trim_start().len();
    let mut unclosed = UnclosedQuotes::default();
    let mut cursor = Cursor::new(text, at, &mut unclosed);
    let value = if cursor.peek() == Some('(') { cursor.group() } else { None };
    RepairedJson { value, repairs: cursor.take_repairs() }
}
