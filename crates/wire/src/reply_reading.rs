//! The reply in a body, as JSON: whole, in the events of a stream, or in the items of a list.

use std::borrow::Cow;

use memchr::memchr3_iter;
use retold::model::providers::Dialect;
use retold::model::{Halves, IntegerMark, join_halves, mended_json};
use serde_json::Value;

use crate::event_stream;
use crate::framing::{Framing, data, events, is_complete, without_mark};

/// JSON with more values than this is not read: each takes far more memory than its bytes.
const MOST_VALUES: usize = 1_000_000;

/// Why nothing of a body is read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReadError {
    /// It is not JSON.
    #[error("it is not JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// It would take too much memory.
    #[error("it has more than {MOST_VALUES} values")]
    Values,
}

/// At most so many values does a text of JSON have.
fn values_in(text: &[u8]) -> usize {
    memchr3_iter(b',', b'[', b'{', text).count()
}

/// The reply in a body, and the parts of the body that could not be read.
pub(crate) struct ReplyReading {
    /// The reply, as if it had not been streamed.
    pub(crate) reply: Value,
    /// Whether it is whole by itself, or has the event that ends a stream.
    pub(crate) has_end: bool,
    /// The parts that could not be read, each with its place.
    pub(crate) wrong: Vec<String>,
    /// What marks the integers beyond 64 bits in the reply.
    pub(crate) longer: Option<IntegerMark>,
}

/// How the JSON of a body is read.
struct JsonReader {
    halves: Halves,
    longer: Option<IntegerMark>,
}

impl ReplyReading {
    /// The reply in a body.
    ///
    /// # Errors
    /// [`ReadError`] if nothing of it can be read.
    pub(crate) fn of(
        dialect: &dyn Dialect,
        framing: Framing,
        body: &[u8],
    ) -> Result<Self, ReadError> {
        if values_in(body) > MOST_VALUES {
            return Err(ReadError::Values);
        }
        let longer = framing.integer_mark(body);
        let json = JsonReader { halves: Halves::of(body), longer };
        let mut reading = match framing {
            Framing::Whole => match dialect.of_bytes(body) {
                Some(reply) => {
                    ReplyReading { reply, has_end: true, wrong: Vec::new(), longer: None }
                }
                None => whole_reply(dialect, body, &json)?,
            },
            Framing::Events | Framing::Lines | Framing::Messages => {
                assembled_reply(dialect, framing, body, &json)?
            }
        };
        reading.longer = json.longer;
        if json.halves == Halves::Kept && join_halves(&mut reading.reply) {
            reading.wrong.push("half a surrogate pair".to_owned());
        }
        Ok(reading)
    }
}

/// How many events are named that could not be read.
const WRONG_SHOWN: usize = 5;

/// The reply in a body that is one whole.
fn whole_reply(
    dialect: &dyn Dialect,
    body: &[u8],
    json: &JsonReader,
) -> Result<ReplyReading, ReadError> {
    let body = in_utf8(body);
    let text = without_mark(&body);
    if let Some(list) = text.trim_ascii_start().strip_prefix(b"[")
        && dialect.streams_lists()
    {
        return listed_reply(dialect, list, json);
    }
    let (reply, wrong) = json.read(text)?;
    let wrong = wrong.into_iter().map(str::to_owned).collect();
    Ok(ReplyReading { reply, has_end: true, wrong, longer: None })
}

/// The reply of which a list has the pieces, behind its bracket; it may have been cut off.
fn listed_reply(
    dialect: &dyn Dialect,
    list: &[u8],
    json: &JsonReader,
) -> Result<ReplyReading, ReadError> {
    let (mut read, mut wrong) = (Vec::new(), Vec::new());
    for item in objects(list) {
        let (item, mended) = json.read(item)?;
        wrong.extend(mended.into_iter().map(|what| format!("item {}: {what}", read.len() + 1)));
        read.push(item);
    }
    if read.is_empty() {
        // Not even one: its own error says why.
        json.read(list)?;
    }
    Ok(ReplyReading { reply: dialect.assemble(&read), has_end: false, wrong, longer: None })
}

/// The whole objects of a list.
fn objects(list: &[u8]) -> Vec<&[u8]> {
    let (mut found, mut begin, mut depth, mut is_text, mut is_escaped) =
        (Vec::new(), 0, 0_usize, false, false);
    for (at, byte) in list.iter().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_text => is_escaped = true,
            b'"' => is_text = !is_text,
            _ if is_text => {}
            b'{' | b'[' => {
                if depth == 0 {
                    begin = at;
                }
                depth += 1;
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                if depth == 0 && *byte == b'}' {
                    found.push(&list[begin..=at]);
                }
            }
            _ => {}
        }
    }
    found
}

/// The reply of which a stream has the pieces. An event that cannot be read is left out, and the others count.
fn assembled_reply(
    dialect: &dyn Dialect,
    framing: Framing,
    body: &[u8],
    json: &JsonReader,
) -> Result<ReplyReading, ReadError> {
    let events = events(framing, without_mark(body));
    let is_torn = events.last().is_some_and(|last| !is_complete(framing, last));
    let count = events.len();
    let (mut read, mut wrong, mut first, mut has_end) = (Vec::new(), Vec::new(), None, false);
    let mut values = 0;
    for (number, event) in events.into_iter().enumerate() {
        let is_damaged = framing == Framing::Messages && !event_stream::is_sound(event);
        if is_damaged && is_complete(framing, event) {
            wrong.push(format!("event {} has a wrong checksum", number + 1));
            continue;
        }
        let data = data(framing, event);
        // Those of messages may be in base64.
        values += if framing == Framing::Messages { values_in(data.as_bytes()) } else { 0 };
        if values > MOST_VALUES {
            return Err(ReadError::Values);
        }
        has_end |= dialect.is_last(&data);
        if data.trim_start().starts_with("[DONE]") {
            // What follows is for nobody.
            break;
        }
        if data.is_empty() {
            continue;
        }
        match json.read(data.as_bytes()) {
            Ok((event, mended)) => {
                wrong
                    .extend(mended.into_iter().map(|what| format!("event {}: {what}", number + 1)));
                read.push(event);
            }
            // The part in which a stream was closed is not an event.
            Err(_) if is_torn && number + 1 == count => {}
            Err(error) => {
                wrong.push(format!("event {} is not JSON: {error}", number + 1));
                first.get_or_insert(error);
            }
        }
    }
    match first {
        Some(error) if read.is_empty() => return Err(error.into()),
        _ => {}
    }
    let more = wrong.len().saturating_sub(WRONG_SHOWN);
    wrong.truncate(WRONG_SHOWN);
    if more > 0 {
        wrong.push(format!("and {more} more"));
    }
    Ok(ReplyReading { reply: dialect.assemble(&read), has_end, wrong, longer: None })
}

impl JsonReader {
    /// JSON as the SDKs read it, and more: text that is not quite valid is repaired, and the repairs are named.
    fn read(&self, text: &[u8]) -> Result<(Value, Vec<&'static str>), serde_json::Error> {
        let mark = self.longer.as_ref();
        IntegerMark::json(mark, text)
            .map(|value| (value, Vec::new()))
            .or_else(|error| mended_json(text, self.halves, mark).ok_or(error))
    }
}

/// A body in UTF-8. JSON begins with two characters of ASCII, so that zeros tell UTF-16 (RFC 4627, section 3).
fn in_utf8(body: &[u8]) -> Cow<'_, [u8]> {
    let (unit, body): (fn([u8; 2]) -> u16, _) = match body {
        [0xFF, 0xFE, rest @ ..] => (u16::from_le_bytes, rest),
        [0xFE, 0xFF, rest @ ..] => (u16::from_be_bytes, rest),
        [1..=255, 0, 1..=255, 0, ..] => (u16::from_le_bytes, body),
        [0, 1..=255, 0, 1..=255, ..] => (u16::from_be_bytes, body),
        body => return Cow::Borrowed(body),
    };
    let units = body.as_chunks::<2>().0.iter().map(|bytes| unit(*bytes));
    let text: String = char::decode_utf16(units).map(|c| c.unwrap_or('\u{fffd}')).collect();
    Cow::Owned(text.into_bytes())
}
