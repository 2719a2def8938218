//! The events of a stream: a text that they continue is looked at as a whole, because a name may be cut anywhere.

use std::borrow::Cow;
use std::collections::BTreeMap;

use retold::model::IntegerMark;
use serde::de::IgnoredAny;
use serde_json::Value;

use super::pieces::{OF_TOKENS, Tokens, escape, note, tokens};
use super::{Chunks, Redaction};
use crate::event_stream;
use crate::framing::{Framing, data, events, is_complete};

/// Fields that are the same in many events of a stream, and are not continued from one to the next.
const NOT_CONTINUED: &[&str] = &[
    "id", "item_id", "response_id", "model", "object", "type", "role", "system_fingerprint",
    "status",
];

/// The framing of a body: one that has the form of a stream is read as one, under any content type.
pub(super) fn framing(framing: Framing, body: &[u8]) -> Framing {
    let begins = |with: &str| body.trim_ascii_start().starts_with(with.as_bytes());
    let is_json = |text: &[u8]| serde_json::from_slice::<IgnoredAny>(text).is_ok();
    if framing != Framing::Whole || is_json(body) {
        return framing;
    }
    let is_in_lines = |with: &str| memchr::memmem::find(body, with.as_bytes()).is_some();
    if begins("data:") || is_in_lines("\ndata:") || is_in_lines("\rdata:") {
        return Framing::Events;
    }
    let first = body.split(|byte| *byte == b'\n').find(|line| !line.trim_ascii().is_empty());
    match first {
        Some(line) if begins("{") && is_json(line) => Framing::Lines,
        _ => framing,
    }
}

impl Redaction {
    /// The events of a stream, each with the length that it had.
    pub(super) fn stream(
        &self,
        framing: Framing,
        body: &[u8],
        broken: bool,
    ) -> Vec<(usize, Vec<u8>)> {
        let events = events(framing, body);
        let longer = framing.integer_mark(body);
        let longer = longer.as_ref();
        let read = |event: &&[u8]| IntegerMark::json(longer, data(framing, event).as_bytes()).ok();
        let mut values: Vec<Option<Value>> = events.iter().map(read).collect();
        let before = values.clone();
        self.redact_across(values.iter_mut().flatten().collect(), broken);
        let stored = |((event, value), before): ((&[u8], Option<Value>), Option<Value>)| {
            let stored = match value {
                Some(mut value) => {
                    // Texts that are not continued: ids, names of fields.
                    self.value(&mut value);
                    let changed = before.is_none_or(|before| before != value);
                    let text = |value: &Value| IntegerMark::text_of(longer, value);
                    self.with_data(framing, event, changed.then_some(value), text)
                }
                // An event without its end cannot be read, and may continue a name.
                None if broken && !is_complete(framing, event) && !event.ends_with(b"\n") => {
                    Vec::new()
                }
                None => self.whole(event, false).0.into_owned(),
            };
            (event.len(), stored)
        };
        events.into_iter().zip(values).zip(before).map(stored).collect()
    }

    /// Takes out values that are cut into texts of several events; true if there were any.
    pub(super) fn redact_across(&self, mut events: Vec<&mut Value>, broken: bool) -> bool {
        // By what continues: the pieces of each text, in order.
        let mut texts: BTreeMap<String, Vec<(usize, String)>> = BTreeMap::new();
        for (at, event) in events.iter().enumerate() {
            let begins = event["type"].as_str().is_some_and(|kind| kind.ends_with(".added"));
            each_text(event, String::new(), String::new(), &mut |place, name| {
                let name = continued_name(name, begins);
                texts.entry(name).or_default().push((at, place));
            });
        }
        let mut pieces = Tokens::new();
        for places in texts.values() {
            let text = |(at, place): &(usize, String)| {
                events[*at].pointer(place).and_then(Value::as_str).unwrap_or("").to_owned()
            };
            let parts: Vec<String> = places.iter().map(text).collect();
            let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
            let Some(redacted) = self.parts(&parts, broken) else { continue };
            for (((at, place), before), by) in places.iter().zip(parts).zip(redacted) {
                if before != by
                    && let Some(text) =
                        events.get_mut(*at).and_then(|event| event.pointer_mut(place))
                {
                    note(&mut pieces, before, &by);
                    *text = Value::String(by);
                }
            }
        }
        events.iter_mut().for_each(|event| tokens(event, &pieces, false));
        !pieces.is_empty()
    }

    /// An event with other data, if there are any. Its other lines stay, without the parts that are redacted.
    fn with_data(
        &self,
        framing: Framing,
        event: &[u8],
        value: Option<Value>,
        text_of: impl Fn(&Value) -> String,
    ) -> Vec<u8> {
        if framing == Framing::Messages {
            return match value {
                Some(value) => event_stream::with_data(event, &value, &text_of),
                None => event.to_vec(),
            };
        }
        let value = value.as_ref().map(text_of);
        let text = String::from_utf8_lossy(event);
        let trimmed = text.trim_end_matches(['\n', '\r']);
        let (lines, end) = text.split_at(trimmed.len());
        let lines = lines.split(['\n', '\r']).filter(|line| !line.is_empty());
        let (data, others): (Vec<&str>, Vec<&str>) =
            lines.partition(|line| framing != Framing::Events || line.starts_with("data:"));
        let redacted: Vec<_> = others.iter().map(|line| self.text(line)).collect();
        match (framing, value) {
            (Framing::Events, value) => {
                if value.is_none() && redacted == others {
                    return event.to_vec();
                }
                let mut kept: Vec<String> = redacted.into_iter().map(Cow::into_owned).collect();
                match value {
                    Some(value) => kept.push(format!("data: {value}")),
                    None => kept.extend(data.into_iter().map(str::to_owned)),
                }
                format!("{}{end}", kept.join("\n")).into_bytes()
            }
            (_, Some(value)) => format!("{value}{end}").into_bytes(),
            (_, None) => event.to_vec(),
        }
    }
}

/// The name under which later events continue a text. Anthropic begins a text in the block whose deltas follow, and OpenAI's Responses
/// in the part or item that was added.
fn continued_name(name: String, begins: bool) -> String {
    let of_added = ["/part/text", "/part/refusal", "/item/arguments", "/item/input", "/item/code"];
    let begun = of_added.into_iter().filter(|_| begins).find_map(|end| name.strip_suffix(end));
    match begun {
        Some(of) => format!("{of}/delta"),
        None => name.replace("/content_block/", "/delta/"),
    }
}

/// Passes on each text of an event: where it is, and the name of the text that it continues. Parts of an answer are told
/// apart by their `index`.
fn each_text(value: &Value, place: String, name: String, each: &mut impl FnMut(String, String)) {
    match value {
        Value::String(_) => each(place, name),
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                // Parts that are told apart have their numbers; other tokens of a place are none.
                let are_others = OF_TOKENS.iter().any(|field| name.ends_with(field));
                let number = if are_others { at.to_string() } else { String::new() };
                each_text(item, format!("{place}/{at}"), format!("{name}/{number}"), each);
            }
        }
        Value::Object(fields) => {
            let index = ["index", "output_index", "content_index", "contentBlockIndex"]
                .iter()
                .filter_map(|name| Some(format!("#{}", fields.get(*name)?.as_u64()?)));
            let name = format!("{name}{}", index.collect::<String>());
            for (field, item) in fields {
                let place = format!("{place}/{}", escape(field));
                if !NOT_CONTINUED.contains(&field.as_str()) {
                    each_text(item, place, format!("{name}/{field}"), each);
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Where chunks end if pieces of the body were replaced: in a replaced piece at the same distance from
/// its beginning, or at its end.
pub(crate) fn move_chunks(chunks: &Chunks, pieces: &[(usize, Vec<u8>)]) -> Chunks {
    let mut moved = Vec::with_capacity(chunks.len());
    let (mut end, mut last) = (0, 0);
    let (mut piece, mut old, mut new) = (0, 0, 0);
    for (length, time) in chunks {
        end += length;
        while let Some((was, is)) = pieces.get(piece)
            && old + was <= end
        {
            (old, new, piece) = (old + was, new + is.len(), piece + 1);
        }
        let within = pieces.get(piece).map_or(0, |(_, is)| (end - old).min(is.len()));
        moved.push((new + within - last, *time));
        last = new + within;
    }
    moved
}
