//! Reads JSON that is not quite valid.
//!
//! An answer was paid for even if it is badly written: half a surrogate pair, bytes that are not
//! UTF-8, a number outside the range of a double. The text is therefore repaired where that is
//! possible without guessing, and each repair is named.

use std::borrow::Cow;

use data_encoding::HEXLOWER;
use memchr::memmem;
use serde_json::Value;

use super::{Content, Response};
use crate::exact::{name_places, replace};

/// Where halves of surrogate pairs are kept until the other half has come: the last of the private characters of Unicode.
const HALVES: u32 = 0x10_f800;

/// A JSON text that is repaired where that is possible without guessing, and the faults that it had; `None` if it is not
/// JSON even then. Integers beyond 64 bits are marked texts if they have a mark, and otherwise rounded.
pub fn mended_json(
    body: &[u8],
    halves: Halves,
    longer: Option<&IntegerMark>,
) -> Option<(Value, Vec<&'static str>)> {
    let MendedJson { text, wrong, mark } = mend_with(body, halves, longer);
    let mut value = serde_json::from_str(&text).ok()?;
    give_back_numbers(&mut value, &mark, longer.is_some());
    Some((value, wrong))
}

/// The integers that no double holds, as the numbers that they are without a repair; `keeps_longer` says that those beyond
/// 64 bits stay as they are.
fn give_back_numbers(value: &mut Value, mark: &IntegerMark, keeps_longer: bool) {
    match value {
        Value::String(text) => {
            if let Some(digits) = text.strip_prefix(&*mark.0)
                && !(keeps_longer && is_longer(digits))
                && let Ok(number) = serde_json::from_str(digits)
            {
                *value = number;
            }
        }
        Value::Array(items) => {
            items.iter_mut().for_each(|item| give_back_numbers(item, mark, keeps_longer));
        }
        Value::Object(fields) => {
            fields.values_mut().for_each(|field| give_back_numbers(field, mark, keeps_longer));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Joins the halves of surrogate pairs that [`mended_json`] has kept, once the texts that they are in are whole. Returns whether a
/// half was left alone, which becomes U+FFFD.
pub fn join_halves(value: &mut Value) -> bool {
    match value {
        Value::String(text) if text.chars().any(|c| half(c).is_some()) => {
            let units: Vec<u16> = text
                .chars()
                .flat_map(|c| match half(c) {
                    Some(unit) => vec![unit],
                    None => c.encode_utf16(&mut [0; 2]).to_vec(),
                })
                .collect();
            let is_alone = String::from_utf16(&units).is_err();
            *text = String::from_utf16_lossy(&units);
            is_alone
        }
        Value::Array(items) => {
            items.iter_mut().fold(false, |alone, item| join_halves(item) | alone)
        }
        Value::Object(fields) => {
            fields.values_mut().fold(false, |alone, field| join_halves(field) | alone)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// The half of a surrogate pair that a character is kept for.
fn half(kept: char) -> Option<u16> {
    let unit = u32::from(kept).checked_sub(HALVES)? + 0xd800;
    u16::try_from(unit).ok()
}

/// What becomes of half a surrogate pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Halves {
    /// U+FFFD.
    Replaced,
    /// One of the last private characters of Unicode, for [`join_halves`], because the other half may be in another text.
    Kept,
}

impl Halves {
    /// Halves are kept, unless the texts of a body have the characters themselves that stand for them.
    pub fn of(body: &[u8]) -> Self {
        let kept = |rest: &[u8]| rest.first().is_some_and(|byte| *byte >= 0xa0);
        let as_bytes = memmem::find_iter(body, b"\xf4\x8f").any(|at| kept(&body[at + 2..]));
        let escaped = |rest: &[u8]| {
            matches!(
                rest.first_chunk(),
                Some([b'd' | b'D', b'b' | b'B', b'f' | b'F', b'e' | b'E' | b'f' | b'F'])
            )
        };
        let as_escapes = memmem::find_iter(body, b"\\u").any(|at| escaped(&body[at + 2..]));
        if as_bytes || as_escapes { Halves::Replaced } else { Halves::Kept }
    }
}

/// A repaired JSON text.
#[derive(Debug, Clone)]
pub(in crate::model) struct MendedJson {
    /// The text, readable by our JSON parser.
    pub(in crate::model) text: String,
    /// The problems found, each once, in order of appearance.
    pub(in crate::model) wrong: Vec<&'static str>,
    /// What begins the strings that hold the digits of an integer that no double holds exactly.
    pub(in crate::model) mark: IntegerMark,
}

/// What begins the strings that stand for long integers in a value that was read from a text, and nothing else in it: private
/// characters of Unicode, which differ from text to text and which no pattern for names or numbers matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IntegerMark(String);

impl IntegerMark {
    /// The mark for a text.
    pub fn new(text: &[u8]) -> Self {
        let hash = blake3::hash(text);
        let private = |byte: &u8| char::from_u32(0xe000 + u32::from(*byte));
        IntegerMark(hash.as_bytes().iter().filter_map(private).collect())
    }

    /// The mark for a body that may have integers beyond 64 bits, of which all others would see the nearest double.
    pub fn of_longer(body: &[u8]) -> Option<Self> {
        // Those have 20 digits; 19 are enough for a negative one.
        let digits = body.chunk_by(|one, next| one.is_ascii_digit() && next.is_ascii_digit());
        digits.into_iter().any(|run| run.len() >= 19).then(|| IntegerMark::new(body))
    }

    /// The value of a JSON text, in which integers beyond 64 bits are marked texts if there is a mark.
    ///
    /// # Errors
    /// Why it is not JSON.
    pub fn json(mark: Option<&Self>, text: &[u8]) -> serde_json::Result<Value> {
        let value = serde_json::from_slice(text)?;
        let marked = mark.and_then(|_| mended_json(text, Halves::Replaced, mark));
        Ok(marked.map_or(value, |(marked, _)| marked))
    }

    /// The JSON text of a value, with the digits of its long integers.
    pub fn text_of(mark: Option<&Self>, value: &Value) -> String {
        let text = value.to_string();
        match mark {
            Some(mark) if text.contains(&mark.0) => mark.with_digits(&text),
            _ => text,
        }
    }

    /// A text without marks: a string that stands for an integer becomes the integer.
    fn with_digits(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut pieces = text.split(&*self.0);
        out.extend(pieces.next());
        for piece in pieces {
            let end = piece.find(|c: char| !c.is_ascii_digit() && c != '-').unwrap_or(piece.len());
            match (out.ends_with('"'), piece[end..].strip_prefix('"')) {
                (true, Some(rest)) if end > 0 => {
                    out.pop();
                    out.push_str(&piece[..end]);
                    out.push_str(rest);
                }
                // Something else was written into it since.
                _ => out.push_str(piece),
            }
        }
        out
    }

    /// Restores the digits of long integers in an answer read from this text, and lists their
    /// places.
    pub fn give_back_digits(&self, response: &mut Response) {
        let digits = |text: &str| {
            let found = text.contains(&self.0);
            found.then(|| match text.strip_prefix(&*self.0) {
                Some(digits) if !digits.contains(&self.0) => digits.to_owned(),
                // Arguments of a call, for example, which were written as a text.
                _ => self.with_digits(text),
            })
        };
        let Response {
            content, finish_reason, model, id, system_fingerprint, service_tier, ..
        } = response;
        // A number where a text is expected.
        for text in [finish_reason, model, id, system_fingerprint, service_tier] {
            if let Some(digits) = text.as_deref().and_then(digits) {
                *text = Some(digits);
            }
        }
        if let Some(digits) = digits(content.text()) {
            *content = Content::from(digits);
        }
        let mut extra = Value::Object(std::mem::take(&mut response.extra));
        let mut places = Vec::new();
        replace(&mut extra, &|value| digits(value.as_str()?), "", &mut places);
        // A text with integers in it has its own digits again; only values that were numbers have a place.
        places.retain(|place| extra.pointer(place).is_some_and(is_integer));
        if let Value::Object(extra) = extra {
            response.extra = extra;
        }
        name_places(&mut response.extra, places);
    }
}

/// Repairs a text.
pub(in crate::model) fn mend(body: &[u8]) -> MendedJson {
    mend_with(body, Halves::Replaced, None)
}

fn mend_with(body: &[u8], halves: Halves, mark: Option<&IntegerMark>) -> MendedJson {
    let text = String::from_utf8_lossy(body);
    let mut mending = Mending { out: String::with_capacity(text.len()), wrong: Vec::new(), halves };
    if let Cow::Owned(_) = text {
        mending.note("bytes that are not UTF-8");
    }
    let without_mark = text.strip_prefix('\u{feff}');
    if without_mark.is_some() {
        mending.note("a byte order mark");
    }
    let text = without_mark.unwrap_or(&text);
    let mark = mark.cloned().unwrap_or_else(|| IntegerMark::new(text.as_bytes()));
    mending.json(text, &mark.0);
    MendedJson { text: mending.out, wrong: mending.wrong, mark }
}

/// Whether digits, with a sign or not, are an integer beyond 64 bits.
fn is_longer(digits: &str) -> bool {
    digits.parse::<u64>().is_err() && digits.parse::<i64>().is_err()
}

/// Whether a text is nothing but an integer.
fn is_integer(text: &Value) -> bool {
    let digits = text.as_str().map(|text| text.strip_prefix('-').unwrap_or(text));
    digits.is_some_and(|it| !it.is_empty() && it.bytes().all(|byte| byte.is_ascii_digit()))
}

struct Mending {
    out: String,
    wrong: Vec<&'static str>,
    halves: Halves,
}

impl Mending {
    fn note(&mut self, wrong: &'static str) {
        if !self.wrong.contains(&wrong) {
            self.wrong.push(wrong);
        }
    }

    fn json(&mut self, text: &str, mark: &str) {
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            rest = match first {
                '"' => self.string(&rest[1..]),
                '-' | '0'..='9' | 'a'..='z' | 'A'..='Z' => {
                    let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '+' | '.');
                    let end = rest.find(|c| !word(c)).unwrap_or(rest.len());
                    self.word(&rest[..end], mark);
                    &rest[end..]
                }
                other => {
                    self.out.push(other);
                    &rest[other.len_utf8()..]
                }
            };
        }
    }

    /// A number, or a name such as `true`.
    fn word(&mut self, word: &str, mark: &str) {
        let digits = word.strip_prefix('-').unwrap_or(word);
        if matches!(digits, "NaN" | "Infinity") {
            self.note("a number that is not finite");
            self.out.push_str(&format!("\"{word}\""));
            return;
        }
        let integer = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        if integer && !is_exact(digits) {
            self.out.push_str(&format!("\"{mark}{word}\""));
            return;
        }
        if digits.starts_with(|c: char| c.is_ascii_digit())
            && word.parse::<f64>().is_ok_and(f64::is_infinite)
        {
            self.note("a number beyond what a double holds");
            self.out.push_str(&format!("\"{word}\""));
            return;
        }
        self.out.push_str(word);
    }

    /// A string after its opening quote; returns what follows the closing one.
    fn string<'a>(&mut self, text: &'a str) -> &'a str {
        self.out.push('"');
        let mut rest = text;
        loop {
            let end = rest.find(|c: char| c == '"' || c == '\\' || c < ' ').unwrap_or(rest.len());
            self.out.push_str(&rest[..end]);
            rest = &rest[end..];
            match rest.as_bytes().first() {
                None => return rest,
                Some(b'"') => {
                    self.out.push('"');
                    return &rest[1..];
                }
                Some(b'\\') => rest = self.escape(&rest[1..]),
                Some(control) => {
                    self.note("a control character in a string");
                    self.out.push_str("\\u00");
                    HEXLOWER.encode_append(&[*control], &mut self.out);
                    rest = &rest[1..];
                }
            }
        }
    }

    /// An escape after its backslash; returns what follows it.
    fn escape<'a>(&mut self, text: &'a str) -> &'a str {
        let Some(first) = text.chars().next() else { return text };
        if first == 'u'
            && let Some(unit) = unit(&text[1..])
        {
            let after = &text[5..];
            let low = after.strip_prefix("\\u").and_then(self::unit);
            return match (unit, low) {
                (0xd800..0xdc00, Some(0xdc00..0xe000)) => {
                    self.out.push_str(&format!("\\{}{}", &text[..5], &after[..6]));
                    &after[6..]
                }
                (0xd800..0xe000, _) => {
                    match char::from_u32(HALVES + unit - 0xd800)
                        .filter(|_| self.halves == Halves::Kept)
                    {
                        Some(kept) => self.out.push(kept),
                        None => {
                            self.note("half a surrogate pair");
                            self.out.push_str("\\ufffd");
                        }
                    }
                    after
                }
                _ => {
                    self.out.push_str(&format!("\\{}", &text[..5]));
                    after
                }
            };
        }
        if matches!(first, '"' | '\\' | '/' | 'b' | 'f' | 'n' | 'r' | 't') {
            self.out.push('\\');
            self.out.push(first);
            return &text[1..];
        }
        self.note("an escape that JSON does not have");
        // Kept as written, including the backslash.
        self.out.push_str("\\\\");
        text
    }
}

/// The four hexadecimal digits that a text begins with.
fn unit(text: &str) -> Option<u32> {
    let digits = text.get(..4).filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()))?;
    u32::from_str_radix(digits, 16).ok()
}

/// Whether a double can hold this integer and all smaller ones.
fn is_exact(digits: &str) -> bool {
    digits.parse::<u64>().is_ok_and(|size| size <= 1 << 53)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;
    use crate::exact::replace;

    fn read(text: &[u8]) -> (Value, String) {
        let MendedJson { text, wrong, mark } = mend(text);
        let mut value = serde_json::from_str(&text).unwrap();
        let digits = |value: &Value| value.as_str()?.strip_prefix(&*mark.0).map(str::to_owned);
        let mut places = Vec::new();
        replace(&mut value, &digits, "", &mut places);
        (value, [wrong.join(", "), places.join(", ")].join(";"))
    }

    #[test]
    fn what_is_wrong_is_mended_and_named() {
        let mended: [(&[u8], Value, &str); 11] = [
            (br#"["a\ud83dz"]"#, json!(["a\u{fffd}z"]), "half a surrogate pair;"),
            (br#"["\udc00\ud800"]"#, json!(["\u{fffd}\u{fffd}"]), "half a surrogate pair;"),
            (br#"["\ud83d\ude00 \u00e9"]"#, json!(["\u{1f600} \u{e9}"]), ";"),
            (b"[\"a\xffz\"]", json!(["a\u{fffd}z"]), "bytes that are not UTF-8;"),
            (b"\xef\xbb\xbf[1]", json!([1]), "a byte order mark;"),
            (
                b"[1e400, -1e999]",
                json!(["1e400", "-1e999"]),
                "a number beyond what a double holds;",
            ),
            (
                b"[NaN, -Infinity, \"NaN\"]",
                json!(["NaN", "-Infinity", "NaN"]),
                "a number that is not finite;",
            ),
            (b"[\"a\nb\tc\"]", json!(["a\nb\tc"]), "a control character in a string;"),
            (br#"["\x41\'"]"#, json!(["\\x41\\'"]), "an escape that JSON does not have;"),
            (
                br#"{"a/b":[1,{"~":-9007199254740993}],"c":123456789012345678901234}"#,
                json!({"a/b": [1, {"~": "-9007199254740993"}], "c": "123456789012345678901234"}),
                ";/a~1b/1/~0, /c",
            ),
            (
                b"[9007199254740992, 1.5e300, true, null]",
                json!([9007199254740992_u64, 1.5e300, true, null]),
                ";",
            ),
        ];
        for (text, value, said) in mended {
            assert_eq!(read(text), (value, said.to_owned()), "{}", String::from_utf8_lossy(text));
        }
    }

    #[test]
    fn a_string_is_never_taken_for_a_number() {
        let MendedJson { mark: IntegerMark(mark), .. } = mend(b"[1]");
        let text = json!([mark, "integer 7"]).to_string();
        assert_eq!(read(text.as_bytes()), (json!([mark, "integer 7"]), ";".to_owned()));
    }

    proptest! {
        /// Valid JSON is unchanged, and arbitrary input does no harm.
        #[test]
        fn json_is_left_as_it_is(text in "\\PC*", number in -9e15..9e15_f64, bytes: Vec<u8>) {
            let value = json!({"a": [text, number, null, true], "b": {"c": -5}});
            let MendedJson { text, wrong, .. } = mend(value.to_string().as_bytes());
            prop_assert!(wrong.is_empty());
            prop_assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
            mend(&bytes);
        }
    }

    #[test]
    fn halves_are_joined_once_both_texts_are_there() {
        let half = |text: &str| mended_json(text.as_bytes(), Halves::Kept, None).unwrap();
        let ((first, wrong), (second, _)) = (half(r#""a\ud83d""#), half(r#""\ude00b""#));
        assert!(wrong.is_empty());
        let both = format!("{}{}", first.as_str().unwrap(), second.as_str().unwrap());
        let mut value = json!({"text": [both, first, "\u{10f7ff}"], "n": 1});
        assert!(join_halves(&mut value));
        assert_eq!(value, json!({"text": ["a\u{1f600}b", "a\u{fffd}", "\u{10f7ff}"], "n": 1}));
        assert!(!join_halves(&mut value));
    }

    #[test]
    fn halves_are_not_kept_as_characters_that_a_body_has() {
        for (body, halves) in [
            ("[\"a\u{10f800}\"]", Halves::Replaced),
            ("[\"a\u{10ffff}\"]", Halves::Replaced),
            (r#"["\uDBFE\udc00"]"#, Halves::Replaced),
            ("[\"a\u{10f7ff} \u{f800} \u{1f600}\"]", Halves::Kept),
            (r#"["\udbfd\udfff"]"#, Halves::Kept),
        ] {
            assert_eq!(Halves::of(body.as_bytes()), halves, "{body}");
        }
    }

    #[test]
    fn integers_beyond_a_double_are_the_numbers_that_they_are_without_a_repair() {
        let (value, wrong) =
            mended_json(b"[12345678901234567890, NaN]", Halves::Kept, None).unwrap();
        assert_eq!(
            (value, wrong),
            (json!([12345678901234567890u64, "NaN"]), vec!["a number that is not finite"])
        );
        assert!(mended_json(b"{\"foo\":", Halves::Kept, None).is_none());
    }

    /// In a value, in texts that are made of it, and written again.
    #[test]
    fn integers_beyond_64_bits_keep_their_digits() {
        let text = br#"{"args":{"n":18446744073709551617,"small":7,"all":[-9223372036854775809, 1.5]},"id":"18446744073709551617"}"#;
        let mark = IntegerMark::of_longer(text).unwrap();
        let (value, wrong) = mended_json(text, Halves::Kept, Some(&mark)).unwrap();
        assert_eq!((wrong, &value["args"]["small"]), (vec![], &json!(7)));
        let written = IntegerMark::text_of(Some(&mark), &value);
        let due = r#"{"args":{"all":[-9223372036854775809,1.5],"n":18446744073709551617,"small":7},"id":"18446744073709551617"}"#;
        assert_eq!(written, due);
        let mut response = Response::text(value["args"].to_string());
        response.extra.insert("input".to_owned(), value["args"].clone());
        mark.give_back_digits(&mut response);
        let args = r#"{"all":[-9223372036854775809,1.5],"n":18446744073709551617,"small":7}"#;
        assert_eq!(response.content.text(), args);
        assert_eq!(
            Value::Object(response.extra),
            json!({"input": {"n": "18446744073709551617", "small": 7, "all": ["-9223372036854775809", 1.5]},
                "exact_integers": ["/input/all/0", "/input/n"]})
        );
        for other in [&b"[123456789012345678]"[..], b"[1e300]", b"\"a\""] {
            assert_eq!(IntegerMark::of_longer(other), None);
        }
        // A rule may have taken the digits out.
        let taken = json!([format!("{}X", mark.0), format!("{}7", mark.0)]);
        assert_eq!(IntegerMark::text_of(Some(&mark), &taken), r#"["X",7]"#);
    }
}
