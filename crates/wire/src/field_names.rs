//! The fields of requests by the names that their APIs give them, where a log stores them under others.

use retold::id::CallPath;
use retold::model::providers::{self, Dialect, OTHER};
use retold::prompt::Request;
use serde_json::{Map, Value, json};

use crate::restored_request::{RestoredBody, plain, restore};
use crate::stored_fields::ADDRESS;

/// The field of a stored body that has the conversation.
const MESSAGES: &str = "messages";

/// The field of a stored body that has the texts to embed.
const INPUT: &str = "input";

/// Something that no field is called.
const MARK: &str = "\u{10ffff}";

/// The API of a stored request.
pub(crate) fn dialect_of(request: &Request) -> &'static dyn Dialect {
    let named = request.body()[ADDRESS]["dialect"].as_str();
    let named = named.and_then(|name| providers::by_name(name.split('@').next()?));
    named.or_else(|| Some(plain(request)?.0)).unwrap_or(&OTHER)
}

/// Where a part of a request is stored, and where it is in the body that was sent.
pub(crate) struct MovedPart {
    stored: Vec<String>,
    sent: Vec<String>,
}

/// The parts of a request that are stored elsewhere: the body of a small one of the same form says where they were.
pub(crate) fn moved_parts(request: &Request) -> Vec<MovedPart> {
    // A request that a study would make, too, is stored as it is sent.
    if request.body()[ADDRESS].is_null() {
        return Vec::new();
    }
    let Ok(call) = CallPath::new("any") else { return Vec::new() };
    let marked = json!({MARK: MARK});
    let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    // A short text may say which form the body has.
    let is_short = |value: &Value| value.as_str().is_some_and(|text| text.len() <= MARK.len() * 4);
    let fields = request.body().as_object().into_iter().flatten();
    let small: Map<String, Value> = fields
        .filter(|(name, value)| *name == ADDRESS || is_short(value))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    let parts = [
        (
            MESSAGES,
            json!([{"role": "user", "content": marked}]),
            owned(&[MESSAGES, "0", "content"]),
        ),
        (INPUT, json!([marked]), owned(&[INPUT, "0"])),
    ];
    let parts = parts.into_iter().filter(|(name, ..)| request.body()[*name].is_array());
    let moved = parts.filter_map(|(name, value, mut stored)| {
        let mut body = small.clone();
        body.insert(name.to_owned(), value);
        let small = Request::of_program(request.api(), body).ok()?;
        let RestoredBody::Json(body) = restore(&small, &call)?.body else { return None };
        let mut sent = path_of_mark(&body)?;
        // The whole list is elsewhere.
        while stored.len() > 1 && sent.len() > 1 && stored.last() == sent.last() {
            stored.pop();
            sent.pop();
        }
        (stored != sent).then_some(MovedPart { stored, sent })
    });
    moved.collect()
}

/// Where the mark is.
fn path_of_mark(value: &Value) -> Option<Vec<String>> {
    let below = |name: String, value: &Value| {
        let path = path_of_mark(value)?;
        Some(std::iter::once(name).chain(path).collect())
    };
    match value {
        Value::Object(fields) if fields.contains_key(MARK) => Some(Vec::new()),
        Value::Object(fields) => fields.iter().find_map(|(name, value)| below(name.clone(), value)),
        Value::Array(items) => {
            items.iter().enumerate().find_map(|(at, value)| below(at.to_string(), value))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

/// Where a field is stored, if that is in one of the parts that are stored elsewhere.
pub(crate) fn stored_path(moved: &[MovedPart], path: &[String]) -> Option<Vec<String>> {
    moved.iter().find_map(|it| {
        let rest = path.strip_prefix(&it.sent[..])?;
        Some([&it.stored[..], rest].concat())
    })
}

/// The path of a stored field as its API names it.
pub(crate) fn named_path(request: &Request, path: &[String]) -> Vec<String> {
    let named = moved_parts(request).iter().find_map(|it| {
        let rest = path.strip_prefix(&it.stored[..])?;
        Some([&it.sent[..], rest].concat())
    });
    named.filter(|it| !it.is_empty()).unwrap_or_else(|| path.to_vec())
}
