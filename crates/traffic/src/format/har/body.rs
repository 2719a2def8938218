//! Bodies of HTTP Archives, as their writers hold them: as text, as base64, and, where it is Polly.js
//! (`adapter-node-http`, `persister/src/har`), as hex or as a list of chunks, each packed by itself.
//!
//! Not every writer says which of these it is. If it does not, a body is decoded, and this is noted, only if the bytes are
//! then of the type that the headers name and the text is not.

use bytes::Bytes;
use data_encoding::HEXLOWER_PERMISSIVE;
use http::HeaderMap;
use http::header::CONTENT_TYPE;
use retold::escaping::printable;
use retold_wire::{decode, encodings};
use serde_json::Value as Json;

use crate::base64;
use crate::error::FileProblem;
use crate::node::{LocatedValue, Value};
use crate::notes::Notes;

/// How a text holds bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Packing {
    Base64,
    Hex,
}

/// The shortest text that is taken for packed bytes although the file does not say so.
const SHORTEST: usize = 8;

/// The body in `content` or `postData` of a message with these headers; `None` if it is not there.
///
/// # Errors
/// [`FileProblem`].
pub(super) fn body(
    node: &LocatedValue,
    headers: &HeaderMap,
    place: &str,
    notes: &mut Notes,
) -> Result<Option<Bytes>, FileProblem> {
    let Some(text) = node.get("text").and_then(LocatedValue::text) else {
        // As Sourcegraph's Cody writes the archives of Polly.js, to be read.
        let Some(json) = node.get("textJSON").and_then(LocatedValue::text_of_json) else {
            return Ok(None);
        };
        notes.add("the bytes of a body, of which the file has only the JSON in it", place);
        return Ok(Some(Bytes::from(json)));
    };
    let is_binary = matches!(node.get("_isBinary").map(|it| &it.value), Some(Value::Bool(true)));
    let encoding = node.get("encoding").and_then(LocatedValue::text);
    match (encoding.map(str::to_ascii_lowercase).as_deref(), is_binary) {
        (Some("base64"), _) => Packing::Base64.decode(text).map(Some),
        (None, true) => Packing::Hex.decode(text).map(Some),
        (None, false) => {
            let found = unsaid(text, headers);
            if let Some((packing, _)) = &found {
                let what = match packing {
                    Packing::Base64 => "base64",
                    Packing::Hex => "hex",
                };
                let said =
                    format!("a body in {what} that the file does not mark as such: it was decoded");
                notes.add(&said, place);
            }
            Ok(Some(found.map_or_else(|| Bytes::from(text.to_owned()), |(_, bytes)| bytes)))
        }
        (Some(other), _) => {
            let other = printable(other, 40);
            notes.add(&format!("the encoding {other} of a body, whose text is kept"), place);
            Ok(Some(Bytes::from(text.to_owned())))
        }
    }
}

impl Packing {
    /// The bytes of a text, or of a list of texts.
    fn decode(self, text: &str) -> Result<Bytes, FileProblem> {
        let wrong = || FileProblem::Value {
            what: match self {
                Packing::Base64 => "base64",
                Packing::Hex => "hex",
            },
            found: text.chars().take(40).collect(),
        };
        let chunks = chunks(text).unwrap_or_else(|| vec![text.to_owned()]);
        let chunks = chunks.iter().map(|chunk| self.bytes(chunk));
        let bytes: Option<Vec<Vec<u8>>> = chunks.collect();
        bytes.map(|bytes| Bytes::from(bytes.concat())).ok_or_else(wrong)
    }

    fn bytes(self, text: &str) -> Option<Vec<u8>> {
        match self {
            Packing::Base64 => base64::decode(text.as_bytes()),
            Packing::Hex => HEXLOWER_PERMISSIVE.decode(text.trim().as_bytes()).ok(),
        }
    }
}

/// The texts of a JSON list that has nothing else.
fn chunks(text: &str) -> Option<Vec<String>> {
    text.trim_start().starts_with('[').then(|| serde_json::from_str(text).ok()).flatten()
}

/// The bytes of a text that is packed although the file does not say so.
fn unsaid(text: &str, headers: &HeaderMap) -> Option<(Packing, Bytes)> {
    let encodings = encodings(headers);
    let is_plain = encodings.is_empty() || encodings.eq_ignore_ascii_case("identity");
    let kind = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or("");
    let is_list = chunks(text).is_some();
    if text.len() < SHORTEST || (!is_list && !text.bytes().all(is_of_base64)) {
        return None;
    }
    // Hex could be base64 as well, so it is tried first.
    [Packing::Hex, Packing::Base64].into_iter().find_map(|packing| {
        let bytes = packing.decode(text).ok()?;
        let is_encoded =
            !is_plain && decode(&encodings, bytes.clone()).is_ok_and(|plain| !plain.is_empty());
        (is_encoded || (!is_list && is_of_kind(kind, text, &bytes))).then_some((packing, bytes))
    })
}

fn is_of_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"+/=\r\n".contains(&byte)
}

/// Whether bytes are what their type says, and their text is not.
fn is_of_kind(kind: &str, text: &str, bytes: &[u8]) -> bool {
    let is_json = |bytes: &[u8]| serde_json::from_slice::<Json>(bytes).is_ok();
    let kind = kind.split(';').next().unwrap_or("").trim().to_ascii_lowercase();
    match kind.split_once('/') {
        // Each of its lines has a colon, which base64 has not.
        Some(("text", "event-stream")) => {
            std::str::from_utf8(bytes).is_ok_and(|text| text.contains(':'))
        }
        Some((_, below)) if below == "json" || below.ends_with("+json") => {
            !is_json(text.as_bytes()) && is_json(bytes)
        }
        Some(("audio" | "image" | "video", _)) => std::str::from_utf8(bytes).is_err(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use data_encoding::BASE64;

    use serde_json::json;

    use super::*;
    use crate::file;

    fn gzip(text: &str) -> Vec<u8> {
        let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        out.write_all(text.as_bytes()).unwrap();
        out.finish().unwrap()
    }

    fn read(content: Json, headers: &[(&'static str, &'static str)]) -> (Vec<u8>, Vec<String>) {
        let headers = headers.iter().map(|(name, value)| {
            (http::HeaderName::from_static(name), http::HeaderValue::from_static(value))
        });
        let mut notes = Notes::default();
        let node = file::json(&content.to_string()).unwrap();
        let body = body(&node, &headers.collect(), "here", &mut notes).unwrap().unwrap();
        (body.to_vec(), notes.all().map(|note| note.what).collect())
    }

    const JSON: (&str, &str) = ("content-type", "application/json; charset=utf-8");
    const GZIP: (&str, &str) = ("content-encoding", "gzip");

    #[test]
    fn polly_writes_chunks_and_hex() {
        let packed = gzip(r#"{"a":1}"#);
        let (first, second) = packed.split_at(7);
        let lists = [
            json!([BASE64.encode(first), BASE64.encode(second)]).to_string(),
            json!([HEXLOWER_PERMISSIVE.encode(first), HEXLOWER_PERMISSIVE.encode(second)])
                .to_string(),
        ];
        let said = [json!({"encoding": "base64"}), json!({"_isBinary": true})];
        for (list, mut content) in lists.iter().zip(said) {
            content["text"] = list.as_str().into();
            assert_eq!(read(content, &[JSON, GZIP]), (packed.clone(), Vec::new()), "{list}");
            // As Polly.js wrote it before version 4.2.
            let (found, notes) = read(json!({"text": list}), &[JSON, GZIP]);
            assert_eq!((found, notes.len()), (packed.clone(), 1), "{list}");
        }
        let hex = json!({"_isBinary": true, "text": "00ff"});
        assert_eq!(read(hex, &[]).0, [0, 255]);
    }

    #[test]
    fn base64_is_noticed_where_nothing_else_fits() {
        for (kind, body) in [
            (JSON, &br#"{"id": "c1"}"#[..]),
            (("content-type", "text/event-stream"), b"data: {}\n\n"),
            (("content-type", "audio/mpeg"), b"ID3\xFF\xFB\x90\x00\x01"),
        ] {
            let content = json!({"text": BASE64.encode(body)});
            let (found, notes) = read(content, &[kind]);
            assert_eq!(found, body);
            assert_eq!(
                notes,
                ["a body in base64 that the file does not mark as such: it was decoded"]
            );
        }
        for (kind, text) in [
            (JSON, "12345678"),
            (JSON, r#"["ab12","cd34"]"#),
            (JSON, "AAAAAAAAAAAA"),
            (("content-type", "text/plain"), "aGVsbG8gd29ybGQh"),
            (("content-type", "text/event-stream"), "data: aGk=\n\n"),
        ] {
            for headers in [&[kind][..], &[kind, GZIP]] {
                let (found, notes) = read(json!({"text": text}), headers);
                assert_eq!((found.as_slice(), notes.len()), (text.as_bytes(), 0), "{text}");
            }
        }
    }

    #[test]
    fn what_is_not_what_it_is_called_is_refused_or_noted() {
        let node = file::json(r#"{"text": "%%%", "encoding": "base64"}"#).unwrap();
        let wrong = body(&node, &HeaderMap::new(), "here", &mut Notes::default()).unwrap_err();
        assert_eq!(wrong.to_string(), "\"%%%\" is not base64");
        let (found, notes) = read(json!({"text": "x", "encoding": "rot13"}), &[]);
        assert_eq!((found.as_slice(), notes.len()), (&b"x"[..], 1));
        let (found, notes) = read(json!({"textJSON": [1, "yes"]}), &[]);
        assert_eq!((found.as_slice(), notes.len()), (&br#"[1,"yes"]"#[..], 1));
    }
}
