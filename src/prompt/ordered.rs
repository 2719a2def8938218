//! Recognises JSON that is canonical as it was written.

use std::io::{self, Write};

use memchr::memchr2;
use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};

/// The largest integer up to which a double holds all integers exactly.
const EXACT: u64 = 1 << 53;

/// The JSON of a value, if writing it as it comes gives its canonical form (RFC 8785): its keys are
/// in ascending order and its numbers are plain. `None` means that the caller must take the slow
/// path.
///
/// serde_json writes strings and small integers as RFC 8785 does, and no white space.
pub(super) fn canonical_as_is<T: Serialize>(value: &T) -> Option<String> {
    let mut text = Vec::with_capacity(512);
    value.serialize(&mut Serializer::with_formatter(&mut text, Plain)).ok()?;
    if !keys_ascend(&text) {
        return None;
    }
    String::from_utf8(text).ok()
}

/// Refuses every number whose canonical form differs from serde_json's.
pub(super) struct Plain;

impl Plain {
    /// Whether a double holds all integers up to this size exactly.
    pub(super) fn is_exact(size: u64) -> bool {
        size <= EXACT
    }

    /// Whether RFC 8785 and Rust write a number in the same way. Both write the shortest decimal
    /// that reads back as the number, but they differ in exponents and `.0`.
    pub(super) fn is_decimal(value: f64) -> bool {
        value.fract() != 0.0 && (1e-3..1e9).contains(&value.abs())
    }
}

/// Whether ordering a key by its bytes is the same as by UTF-16 units, which RFC 8785 requires.
pub(super) fn in_byte_order(key: &[u8]) -> bool {
    // Below U+E000.
    key.iter().all(|byte| *byte < 0xee)
}

fn refusal() -> io::Error {
    io::Error::from(io::ErrorKind::Unsupported)
}

impl Formatter for Plain {
    fn write_f64<W: Write + ?Sized>(&mut self, writer: &mut W, value: f64) -> io::Result<()> {
        if Plain::is_decimal(value) { write!(writer, "{value}") } else { Err(refusal()) }
    }

    fn write_f32<W: Write + ?Sized>(&mut self, _: &mut W, _: f32) -> io::Result<()> {
        Err(refusal())
    }

    fn write_u64<W: Write + ?Sized>(&mut self, writer: &mut W, value: u64) -> io::Result<()> {
        if Plain::is_exact(value) { write!(writer, "{value}") } else { Err(refusal()) }
    }

    fn write_i64<W: Write + ?Sized>(&mut self, writer: &mut W, value: i64) -> io::Result<()> {
        if Plain::is_exact(value.unsigned_abs()) {
            write!(writer, "{value}")
        } else {
            Err(refusal())
        }
    }

    fn write_u128<W: Write + ?Sized>(&mut self, _: &mut W, _: u128) -> io::Result<()> {
        Err(refusal())
    }

    fn write_i128<W: Write + ?Sized>(&mut self, _: &mut W, _: i128) -> io::Result<()> {
        Err(refusal())
    }
}

/// Whether the keys of every object are in ascending order. False as well if a key is not
/// [`in_byte_order`] or has an escape.
fn keys_ascend(json: &[u8]) -> bool {
    // The last key of each enclosing object; nothing for an array.
    let mut open: Vec<Option<&[u8]>> = Vec::with_capacity(8);
    let mut at_key = false;
    let mut at = 0;
    while let Some(&byte) = json.get(at) {
        at += 1;
        match byte {
            b'{' => {
                open.push(Some(b""));
                at_key = true;
            }
            b'[' => {
                open.push(None);
                at_key = false;
            }
            b'}' | b']' => drop(open.pop()),
            b',' => at_key = matches!(open.last(), Some(Some(_))),
            b'"' => {
                let Some((text, escaped)) = string_at(&json[at..]) else { return false };
                at += text.len() + 1;
                if at_key {
                    let Some(Some(last)) = open.last_mut() else { return false };
                    // The empty key comes first and is rare enough for the slow path.
                    if escaped || text <= *last || !in_byte_order(text) {
                        return false;
                    }
                    *last = text;
                    at_key = false;
                }
            }
            _ => {}
        }
    }
    true
}

/// A string up to its closing quote, and whether it contains an escape.
fn string_at(json: &[u8]) -> Option<(&[u8], bool)> {
    let mut from = 0;
    loop {
        let at = from + memchr2(b'"', b'\\', json.get(from..)?)?;
        match json[at] {
            b'"' => return Some((&json[..at], from > 0)),
            _ => from = at + 2,
        }
    }
}
