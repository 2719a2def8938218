//! The messages of `application/vnd.amazon.eventstream`, in which Bedrock streams (smithy.io, "Amazon Event Stream
//! Specification"): a prelude with the lengths and its checksum, headers, a payload, and the checksum of all.
//!
//! The content of a message is read as JSON, as the SDKs give it to programs: an event is `{"TYPE": PAYLOAD}`, a `chunk` is
//! the event of the model that it carries in base64, and a failure is `{"error": {"code", "message"}}`.

use std::ops::Range;

use data_encoding::BASE64;
use flate2::Crc;
use serde_json::{Map, Value, json};

/// The two lengths, and their checksum.
const PRELUDE: usize = 12;
/// The checksum at the end.
const CHECKSUM: usize = 4;

/// The event whose payload carries an event of the model itself (`PayloadPart` of Bedrock's InvokeModel).
const CHUNK: &str = "chunk";

/// A message whose checksums are right.
#[derive(Debug, Clone, Copy)]
struct StreamMessage<'a> {
    headers: &'a [u8],
    payload: &'a [u8],
}

/// The length of the message that a body begins with; `None` if it does not begin with one, or too little of it has come.
pub(crate) fn length(body: &[u8]) -> Option<usize> {
    let (total, headers) = (number(body, 0)?, number(body, 4)?);
    let is_sound = checksum(&body[..8]) == number(body, 8)?
        && headers.checked_add(PRELUDE + CHECKSUM)? <= total;
    is_sound.then_some(total)
}

/// Whether this is a whole message whose checksums are right.
pub(crate) fn is_sound(message: &[u8]) -> bool {
    StreamMessage::new(message).is_some()
}

/// The content of a message, as JSON; the bytes as a text if it is not one.
pub(crate) fn data(message: &[u8]) -> String {
    match StreamMessage::new(message) {
        Some(sound) => sound.data(),
        None => String::from_utf8_lossy(message).into_owned(),
    }
}

/// A message that says this instead; unchanged if it is not a message, or cannot say it.
/// `text_of` writes a value.
pub(crate) fn with_data(
    message: &[u8],
    data: &Value,
    text_of: &dyn Fn(&Value) -> String,
) -> Vec<u8> {
    let payload = StreamMessage::new(message)
        .and_then(|it| it.payload_of(data, text_of).map(|new| (it, new)));
    match payload {
        Some((StreamMessage { headers, .. }, payload)) => encode(headers, &payload),
        None => message.to_vec(),
    }
}

impl<'a> StreamMessage<'a> {
    fn new(message: &'a [u8]) -> Option<Self> {
        let total = length(message).filter(|total| *total == message.len())?;
        let (rest, end) = message.split_at(total - CHECKSUM);
        if checksum(rest) != number(end, 0)? {
            return None;
        }
        let (headers, payload) = rest[PRELUDE..].split_at(number(message, 4)?);
        Some(StreamMessage { headers, payload })
    }

    /// A header that is a text.
    fn header(&self, wanted: &str) -> Option<&'a str> {
        let mut at = 0;
        while at < self.headers.len() {
            let (name, value) = header_at(self.headers, &mut at)?;
            if &self.headers[name] == wanted.as_bytes() {
                return std::str::from_utf8(&self.headers[value?]).ok();
            }
        }
        None
    }

    fn data(&self) -> String {
        let payload = String::from_utf8_lossy(self.payload);
        let fields =
            || serde_json::from_slice::<Map<String, Value>>(self.payload).unwrap_or_default();
        match (self.header(":message-type"), self.header(":event-type")) {
            (Some("error"), _) => {
                let (code, message) = (self.header(":error-code"), self.header(":error-message"));
                json!({"error": {"code": code, "message": message}}).to_string()
            }
            (Some("exception"), _) => {
                let mut error = fields();
                error.insert("code".to_owned(), self.header(":exception-type").into());
                json!({"error": error}).to_string()
            }
            (_, Some(CHUNK)) => {
                let packed = fields().remove("bytes");
                let packed = packed.as_ref().and_then(Value::as_str).unwrap_or_default();
                let bytes = BASE64.decode(packed.as_bytes()).unwrap_or_default();
                String::from_utf8_lossy(&bytes).into_owned()
            }
            (_, Some(kind)) => {
                let payload = if payload.is_empty() { "{}" } else { &*payload };
                format!("{{{}:{payload}}}", Value::from(kind))
            }
            _ => payload.into_owned(),
        }
    }

    /// The payload with which the message says this.
    fn payload_of(&self, data: &Value, text_of: &dyn Fn(&Value) -> String) -> Option<Vec<u8>> {
        let payload = match (self.header(":message-type"), self.header(":event-type")) {
            (Some("error"), _) => return None,
            (Some("exception"), _) => {
                let mut error = data["error"].as_object()?.clone();
                error.remove("code");
                Value::Object(error)
            }
            (_, Some(CHUNK)) => {
                let mut fields: Map<String, Value> = serde_json::from_slice(self.payload).ok()?;
                let packed = BASE64.encode(text_of(data).as_bytes());
                fields.insert("bytes".to_owned(), packed.into());
                Value::Object(fields)
            }
            (_, Some(kind)) => data.get(kind)?.clone(),
            _ => data.clone(),
        };
        Some(text_of(&payload).into_bytes())
    }
}

/// The place of a header's name, and that of its value if it is a text; `at` moves to the next header. `None` at
/// the end of the headers.
fn header_at(headers: &[u8], at: &mut usize) -> Option<(Range<usize>, Option<Range<usize>>)> {
    let name = *at + 1..*at + 1 + usize::from(*headers.get(*at)?);
    let kind = *headers.get(name.end)?;
    let begin = name.end + 1;
    let sized = || Some(2 + usize::from(u16::from_be_bytes(*headers.get(begin..)?.first_chunk()?)));
    // The types: true, false, byte, short, integer, long, bytes, text, timestamp, UUID.
    let length = match kind {
        0 | 1 => 0,
        2 => 1,
        3 => 2,
        4 => 4,
        5 | 8 => 8,
        6 | 7 => sized()?,
        9 => 16,
        _ => return None,
    };
    *at = begin + length;
    (*at <= headers.len()).then_some((name, (kind == 7).then_some(begin + 2..begin + length)))
}

/// A message with these headers and this payload.
fn encode(headers: &[u8], payload: &[u8]) -> Vec<u8> {
    let length = |of: usize| u32::try_from(of).unwrap_or(u32::MAX).to_be_bytes();
    let total = PRELUDE + headers.len() + payload.len() + CHECKSUM;
    let mut message = [length(total), length(headers.len())].concat();
    message.extend(checksum_bytes(&message));
    message.extend_from_slice(headers);
    message.extend_from_slice(payload);
    message.extend(checksum_bytes(&message));
    message
}

fn number(bytes: &[u8], at: usize) -> Option<usize> {
    let bytes = bytes.get(at..)?.first_chunk()?;
    usize::try_from(u32::from_be_bytes(*bytes)).ok()
}

fn checksum(bytes: &[u8]) -> usize {
    usize::try_from(u32::from_be_bytes(checksum_bytes(bytes))).unwrap_or(usize::MAX)
}

/// CRC-32, as in gzip.
fn checksum_bytes(bytes: &[u8]) -> [u8; 4] {
    let mut crc = Crc::new();
    crc.update(bytes);
    crc.sum().to_be_bytes()
}

#[cfg(test)]
mod tests;
