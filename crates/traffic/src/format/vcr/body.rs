//! Bodies of cassettes, in any of their forms: texts, bytes, base64, and the JSON that they hold.

use bytes::Bytes;
use retold::escaping::printable;

use crate::base64;
use crate::error::FileProblem;
use crate::node::{LocatedValue, Value};
use crate::notes::Notes;

/// A body in any of its forms.
///
/// # Errors
/// [`FileProblem`].
pub(super) fn body(
    node: &LocatedValue,
    place: &str,
    notes: &mut Notes,
) -> Result<Bytes, FileProblem> {
    if let Some(parsed) = node.get("parsed_body") {
        return json_body(parsed, place, notes);
    }
    let Some(body) = node.get("body") else { return Ok(Bytes::new()) };
    match &body.value {
        Value::Map(fields) if fields.is_empty() => Ok(Bytes::new()),
        Value::Map(fields) => match form(fields) {
            Some(BodyForm::Text(text, encoding)) => encode(text, encoding, place, notes),
            Some(BodyForm::Base64(packed)) => decode_base64(packed),
            // A body that a filter has parsed.
            None => json_body(body, place, notes),
        },
        Value::List(_) => json_body(body, place, notes),
        _ => bytes(body, "body"),
    }
}

/// How a mapping holds a body.
enum BodyForm<'a> {
    /// As its text, and the encoding in which it travelled.
    Text(&'a LocatedValue, Option<&'a str>),
    Base64(&'a LocatedValue),
}

/// The form of a body; `None` for a mapping that is the body itself.
fn form(fields: &[(String, LocatedValue)]) -> Option<BodyForm<'_>> {
    let (mut text, mut packed, mut encoding) = (None, None, None);
    for (name, node) in fields {
        match name.as_str() {
            "string" => text = Some(node),
            "base64_string" => packed = Some(node),
            // Betamax writes null where the response did not say one.
            "encoding" => encoding = node.text(),
            _ => return None,
        }
    }
    let of_text = || text.map(|text| BodyForm::Text(text, encoding));
    packed.map(BodyForm::Base64).or_else(of_text)
}

/// The bytes of a text in its encoding. VCR and Betamax read the bytes that arrived in that encoding, and
/// write them in it again when they play.
fn encode(
    text: &LocatedValue,
    encoding: Option<&str>,
    place: &str,
    notes: &mut Notes,
) -> Result<Bytes, FileProblem> {
    let (Value::Text(found), Some(encoding)) = (&text.value, encoding) else {
        return bytes(text, "string");
    };
    let name = encoding.to_ascii_lowercase();
    if matches!(name.as_str(), "utf-8" | "utf8" | "us-ascii" | "ascii" | "ascii-8bit" | "binary") {
        return bytes(text, "string");
    }
    let latin = matches!(name.as_str(), "iso-8859-1" | "iso8859-1" | "latin-1" | "latin1");
    let of_latin = || found.chars().map(|c| u8::try_from(u32::from(c)).ok()).collect();
    let bytes_of_latin: Option<Vec<u8>> = latin.then(of_latin).flatten();
    match bytes_of_latin {
        Some(bytes) => Ok(Bytes::from(bytes)),
        None if found.is_ascii() => Ok(Bytes::from(found.clone())),
        None => {
            let encoding = printable(encoding, 40);
            notes.add(&format!("the encoding {encoding} of a body, which is kept in UTF-8"), place);
            Ok(Bytes::from(found.clone()))
        }
    }
}

fn decode_base64(packed: &LocatedValue) -> Result<Bytes, FileProblem> {
    let packed = bytes(packed, "base64_string")?;
    base64::decode(&packed).map(Bytes::from).ok_or_else(|| FileProblem::Value {
        what: "base64",
        found: String::from_utf8_lossy(&packed).chars().take(40).collect(),
    })
}

/// The text of a body of which the file has the JSON.
fn json_body(node: &LocatedValue, place: &str, notes: &mut Notes) -> Result<Bytes, FileProblem> {
    let json = node.text_of_json().ok_or(FileProblem::Kind {
        field: "body",
        found: "bytes that are not UTF-8",
        due: "what JSON has",
    })?;
    notes.add("the bytes of a body, of which the file has only the JSON in it", place);
    Ok(Bytes::from(json))
}

/// A text or bytes.
pub(super) fn bytes(node: &LocatedValue, field: &'static str) -> Result<Bytes, FileProblem> {
    match &node.value {
        Value::Null => Ok(Bytes::new()),
        Value::Text(text) => Ok(Bytes::from(text.clone())),
        Value::Bytes(bytes) => Ok(Bytes::from(bytes.clone())),
        other => Err(FileProblem::Kind { field, found: other.kind(), due: "a text or bytes" }),
    }
}
