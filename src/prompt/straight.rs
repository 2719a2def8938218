//! The canonical JSON of a JSON value, written in a single pass.

use serde_json::{Map, Number, Value};

use super::ordered::{Plain, in_byte_order};

/// Appends the canonical JSON (RFC 8785) of a value, if its keys are in ascending order already and
/// its numbers are plain. `None` means that the caller must take the slow path and discard the text
/// appended so far.
///
/// Every request goes through here, so long texts are copied in one piece, which serde_json does
/// not do.
pub(super) fn write(value: &Value, out: &mut String) -> Option<()> {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(true) => out.push_str("true"),
        Value::Bool(false) => out.push_str("false"),
        Value::Number(number) => write_number(number, out)?,
        Value::String(text) => write_string(text, out),
        Value::Array(items) => {
            out.push('[');
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                write(item, out)?;
            }
            out.push(']');
        }
        Value::Object(fields) => write_object(fields, out, &mut |_, item, out| write(item, out))?,
    }
    Some(())
}

/// The same for an object; also returns where each item of the list in one of its fields ends.
pub(super) fn write_noting(
    fields: &Map<String, Value>,
    noted: &str,
    out: &mut String,
) -> Option<Option<ItemPositions>> {
    let mut places = None;
    write_object(fields, out, &mut |key, item, out| match item {
        Value::Array(items) if key == noted => {
            out.push('[');
            let start = out.len();
            let mut ends = Vec::with_capacity(items.len());
            for item in items {
                if !ends.is_empty() {
                    out.push(',');
                }
                write(item, out)?;
                ends.push(out.len());
            }
            out.push(']');
            places = Some(ItemPositions { start, ends: ends.into() });
            Some(())
        }
        _ => write(item, out),
    })?;
    Some(places)
}

/// The positions of a list's items in a text.
#[derive(Debug)]
pub(super) struct ItemPositions {
    /// Where the first one begins.
    pub(super) start: usize,
    /// Where each ends.
    pub(super) ends: Box<[usize]>,
}

/// Writes an object; its values are written by `value`.
fn write_object(
    fields: &Map<String, Value>,
    out: &mut String,
    value: &mut dyn FnMut(&str, &Value, &mut String) -> Option<()>,
) -> Option<()> {
    out.push('{');
    let mut last: Option<&str> = None;
    for (key, item) in fields {
        if last.is_some_and(|last| key.as_str() <= last) || !in_byte_order(key.as_bytes()) {
            return None;
        }
        if last.is_some() {
            out.push(',');
        }
        last = Some(key);
        write_string(key, out);
        out.push(':');
        value(key, item, out)?;
    }
    out.push('}');
    Some(())
}

fn write_number(number: &Number, out: &mut String) -> Option<()> {
    match (number.as_u64(), number.as_i64(), number.as_f64()) {
        (Some(u), _, _) if Plain::is_exact(u) => out.push_str(itoa::Buffer::new().format(u)),
        (None, Some(i), _) if Plain::is_exact(i.unsigned_abs()) => {
            out.push_str(itoa::Buffer::new().format(i));
        }
        (None, None, Some(f)) if Plain::is_decimal(f) => out.push_str(&f.to_string()),
        _ => return None,
    }
    Some(())
}

/// RFC 8785, section 3.2.2.2.
fn write_string(text: &str, out: &mut String) {
    out.push('"');
    let mut rest = text;
    loop {
        let (plain, after) = rest.split_at(plain_prefix(rest.as_bytes()));
        out.push_str(plain);
        let Some(&byte) = after.as_bytes().first() else { break };
        match byte {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\t' => out.push_str("\\t"),
            b'\r' => out.push_str("\\r"),
            0x08 => out.push_str("\\b"),
            0x0c => out.push_str("\\f"),
            _ => {
                out.push_str("\\u00");
                data_encoding::HEXLOWER.encode_append(&[byte], out);
            }
        }
        rest = &after[1..];
    }
    out.push('"');
}

/// How many bytes precede the first one that needs an escape.
fn plain_prefix(bytes: &[u8]) -> usize {
    let escaped = |byte: &u8| *byte < b' ' || *byte == b'"' || *byte == b'\\';
    // Thirty-two at a time without an early exit, so that the compiler can vectorise the
    // comparison.
    let clean = |chunk: &&[u8]| !chunk.iter().fold(false, |any, byte| any | escaped(byte));
    let at = 32 * bytes.chunks_exact(32).take_while(clean).count();
    at + bytes[at..].iter().position(escaped).unwrap_or(bytes.len() - at)
}
