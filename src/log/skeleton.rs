//! Requests without their long texts.
//!
//! A request is stored as its canonical JSON, with every long string stored once in the contents
//! and referred to as `text:ID`. A string that itself begins with `text:` is always moved out,
//! however short, so that a reference cannot be mistaken for a text.

use serde::Serialize;
use serde_json::Value;

use crate::prompt::{Api, CanonicalError, Request, RequestError, canonical};

/// Strings of at least this many bytes are moved out; shorter ones cost less in place.
const LONG: usize = 64;
const MARK: &str = "text:";

/// The canonical request with its long strings replaced by `text:ID`; `keep` stores a string and
/// returns its id.
///
/// # Errors
/// Any error of `keep`, or the lack of a canonical form (never, for a [`Request`]).
pub fn externalise<E: From<CanonicalError>>(
    request: &Request,
    keep: &mut dyn FnMut(&str) -> Result<String, E>,
) -> Result<String, E> {
    externalise_from(request, 0, keep)
}

/// The same, without the first messages.
pub(crate) fn externalise_from<E: From<CanonicalError>>(
    request: &Request,
    left_out: usize,
    keep: &mut dyn FnMut(&str) -> Result<String, E>,
) -> Result<String, E> {
    let mut change = |text: &str| -> Result<Option<String>, E> {
        if text.len() < LONG && !text.starts_with(MARK) {
            return Ok(None);
        }
        Ok(Some(format!("{MARK}{}", keep(text)?)))
    };
    let body = match request.body() {
        Value::Object(fields) if left_out > 0 => {
            let field = |(key, value): (&String, &Value)| {
                let value = match value {
                    Value::Array(items) if key == "messages" => {
                        let new = items.iter().skip(left_out);
                        Value::Array(
                            new.map(|item| replace(item, &mut change)).collect::<Result<_, E>>()?,
                        )
                    }
                    other => replace(other, &mut change)?,
                };
                Ok((key.clone(), value))
            };
            Value::Object(fields.iter().map(field).collect::<Result<_, E>>()?)
        }
        body => replace(body, &mut change)?,
    };
    // The parts around the body contain no text to move out.
    let skeleton = Skeleton { api: request.api(), body: &body, v: request.version() };
    Ok(canonical(&skeleton)?)
}

/// The envelope of [`Request::canonical`], in its order.
#[derive(Serialize)]
struct Skeleton<'a> {
    api: Api,
    body: &'a Value,
    v: u32,
}

/// The request of a skeleton; `find` returns the text of an id.
///
/// # Errors
/// [`RequestError::NotCanonical`] if an id is unknown or the result is not a request.
pub fn expand(
    skeleton: &str,
    find: &mut dyn FnMut(&str) -> Option<String>,
) -> Result<Request, RequestError> {
    let value: Value =
        serde_json::from_str(skeleton).map_err(|e| RequestError::NotCanonical(e.to_string()))?;
    // Only the canonical spelling is accepted, so that every change to a stored skeleton is
    // noticed.
    if canonical(&value)? != skeleton {
        return Err(RequestError::NotCanonical("its stored form differs".to_owned()));
    }
    let whole = replace(&value, &mut |text| {
        let Some(id) = text.strip_prefix(MARK) else { return Ok(None) };
        let missing =
            || RequestError::NotCanonical(format!("its text {id} is missing, damaged or too long"));
        find(id).map(Some).ok_or_else(missing)
    })?;
    Request::from_envelope(whole)
}

fn replace<E>(
    value: &Value,
    change: &mut dyn FnMut(&str) -> Result<Option<String>, E>,
) -> Result<Value, E> {
    Ok(match value {
        Value::String(text) => Value::String(change(text)?.unwrap_or_else(|| text.clone())),
        Value::Array(items) => {
            Value::Array(items.iter().map(|item| replace(item, change)).collect::<Result<_, E>>()?)
        }
        Value::Object(map) => {
            let pairs = map.iter().map(|(key, item)| Ok((key.clone(), replace(item, change)?)));
            Value::Object(pairs.collect::<Result<_, E>>()?)
        }
        other => other.clone(),
    })
}
