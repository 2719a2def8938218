//! The texts that a text may be another writing of: with its escapes resolved, composed, decoded.
//!
//! A name may be written `Jos\u00e9`, `Jos%C3%A9`, `Jos&eacute;`, `Sm9zw6k=`, or with a combining accent. Each view knows
//! where its characters come from, so that a match in it is replaced where it stands.

use std::ops::Range;

use data_encoding::{
    BASE64, BASE64_NOPAD, BASE64URL, BASE64URL_NOPAD, Encoding, HEXLOWER, HEXUPPER,
};
use icu_normalizer::ComposingNormalizerBorrowed;

/// How often escapes may be escaped: JSON in a string of JSON in a string of JSON.
const DEPTH: usize = 4;

/// The fewest characters of base64 or hexadecimal digits that are decoded: shorter ones are words.
const SHORTEST: usize = 12;

/// The names of the characters from U+00A0 in HTML.
const LATIN: &str = "nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn \
    sup2 sup3 acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml \
    Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml \
    times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave \
    eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute \
    ucirc uuml yacute thorn yuml";

/// A text that was read from another one or from bytes, and where its characters come from.
#[derive(Debug, Clone, Default)]
pub(super) struct TextView {
    pub(super) text: String,
    /// The parts that were written in another way; the rest is byte for byte the same.
    steps: Vec<ViewStep>,
    /// Where what follows comes from.
    end: usize,
}

/// A part of a view that was written in another way.
#[derive(Debug, Clone)]
struct ViewStep {
    part: Range<usize>,
    from: Range<usize>,
}

impl TextView {
    /// Bytes as a text: those that are not UTF-8 are read as Latin-1.
    pub(super) fn of_bytes(bytes: &[u8]) -> Self {
        let mut view = TextView::default();
        for chunk in bytes.utf8_chunks() {
            view.text.push_str(chunk.valid());
            view.end += chunk.valid().len();
            for byte in chunk.invalid() {
                view.push(char::from(*byte), view.end..view.end + 1);
            }
        }
        view
    }

    /// Bytes from a place on as UTF-16.
    pub(super) fn of_utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16, from: usize) -> Self {
        let mut view = TextView { end: from, ..TextView::default() };
        let units = bytes.get(from..).unwrap_or_default().chunks_exact(2);
        for c in char::decode_utf16(units.map(|two| unit([two[0], two[1]]))) {
            let length = c.as_ref().map_or(2, |c| c.len_utf16() * 2);
            let from = view.end..view.end + length;
            let begin = view.text.len();
            view.text.push(c.unwrap_or(char::REPLACEMENT_CHARACTER));
            view.end = from.end;
            view.steps.push(ViewStep { part: begin..view.text.len(), from });
        }
        view
    }

    fn push(&mut self, c: char, from: Range<usize>) {
        let begin = self.text.len();
        self.text.push(c);
        if from != (self.end..self.end + c.len_utf8()) {
            self.steps.push(ViewStep { part: begin..self.text.len(), from: from.clone() });
        }
        self.end = from.end;
    }

    /// Where a byte of the view comes from.
    fn origin(&self, at: usize) -> Range<usize> {
        let before = self.steps.partition_point(|step| step.part.start <= at);
        let Some(step) = before.checked_sub(1).and_then(|last| self.steps.get(last)) else {
            return at..at + 1;
        };
        if at < step.part.end {
            return step.from.clone();
        }
        let from = step.from.end + (at - step.part.end);
        from..from + 1
    }

    /// Where a part of the view comes from.
    pub(super) fn place(&self, part: &Range<usize>) -> Range<usize> {
        if part.is_empty() {
            return 0..0;
        }
        self.origin(part.start).start..self.origin(part.end - 1).end
    }

    /// The view with each piece for which `read` has another writing replaced; `None` if there is none.
    fn rewritten(&self, read: impl Fn(&str) -> Option<(String, usize)>) -> Option<TextView> {
        let mut view: Option<TextView> = None;
        let mut at = 0;
        while let Some(c) = self.text[at..].chars().next() {
            let found = read(&self.text[at..]);
            let length = found.as_ref().map_or(c.len_utf8(), |(_, length)| *length);
            if let Some((text, _)) = found {
                let view = view.get_or_insert_with(|| TextView {
                    text: self.text[..at].to_owned(),
                    steps: self.steps.iter().take_while(|it| it.part.end <= at).cloned().collect(),
                    end: self.place(&(0..at)).end,
                });
                let from = self.place(&(at..at + length));
                text.chars().for_each(|c| view.push(c, from.clone()));
            } else if let Some(view) = &mut view {
                view.push(c, self.place(&(at..at + length)));
            }
            at += length;
        }
        view
    }
}

/// The views of a text: itself, then with escapes resolved as often as they are escaped.
pub(super) fn views(text: &str) -> Vec<TextView> {
    views_of(TextView { text: text.to_owned(), ..TextView::default() })
}

/// The views of a view.
pub(super) fn views_of(view: TextView) -> Vec<TextView> {
    let mut views = vec![view];
    while let Some(last) = views.last()
        && views.len() < DEPTH
        && memchr::memchr3(b'\\', b'%', b'&', last.text.as_bytes()).is_some()
        && let Some(next) = last.rewritten(unescape)
    {
        views.push(next);
    }
    // A form has `+` for a space.
    let plus = |view: &TextView| match view.text.contains('+') {
        true => view.rewritten(|text| text.starts_with('+').then(|| (" ".to_owned(), 1))),
        false => None,
    };
    let spaced: Vec<TextView> = views.iter().filter_map(plus).collect();
    views.extend(spaced);
    for view in &mut views {
        if !view.text.is_ascii()
            && let Some(composed) = view.rewritten(compose)
        {
            *view = composed;
        }
    }
    views
}

/// A letter with its combining marks, as one character.
fn compose(text: &str) -> Option<(String, usize)> {
    let mut chars = text.chars();
    let first = chars.next()?;
    let marks: usize = chars.take_while(|c| is_mark(*c)).map(char::len_utf8).sum();
    let length = first.len_utf8() + marks;
    (marks > 0).then(|| (nfc(&text[..length]), length))
}

fn is_mark(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}' | '\u{20d0}'..='\u{20ff}' | '\u{fe20}'..='\u{fe2f}')
}

/// A text in composed characters.
pub(super) fn nfc(text: &str) -> String {
    ComposingNormalizerBorrowed::new_nfc().normalize(text).into_owned()
}

/// The text that the escapes at the beginning of a text stand for, and their length. Bytes that are escaped one by one are
/// read together.
fn unescape(text: &str) -> Option<(String, usize)> {
    let mut bytes = Vec::new();
    let mut at = 0;
    while let Some((byte, length)) = escaped_byte(&text[at..]) {
        bytes.push(byte);
        at += length;
    }
    if at > 0 {
        return Some((TextView::of_bytes(&bytes).text, at));
    }
    match text.as_bytes().first()? {
        b'\\' => in_json(text),
        b'&' => in_html(text),
        _ => None,
    }
}

/// `%C3`, `\xC3`.
fn escaped_byte(text: &str) -> Option<(u8, usize)> {
    let mark = ["%", "\\x"].into_iter().find(|mark| text.starts_with(mark))?;
    let digits = text.get(mark.len()..mark.len() + 2)?;
    let is_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    let byte = u8::from_str_radix(digits, 16).ok().filter(|_| is_hex)?;
    Some((byte, mark.len() + 2))
}

/// `\u00e9`, `\ud83d\ude00`, `\u{e9}`, `\n`.
fn in_json(text: &str) -> Option<(String, usize)> {
    let unit = |text: &str| {
        let digits = text.strip_prefix("\\u")?.get(..4)?;
        u16::from_str_radix(digits, 16).ok().filter(|_| !digits.starts_with('+'))
    };
    if let Some(braced) = text.strip_prefix("\\u{") {
        let digits = &braced[..braced.find('}')?];
        let c = char::from_u32(u32::from_str_radix(digits, 16).ok()?)?;
        return Some((c.to_string(), digits.len() + 4));
    }
    if let Some(first) = unit(text) {
        let second = text.get(6..).and_then(unit);
        let both = [Some(first), second].into_iter().flatten();
        let c = char::decode_utf16(both).next()?.ok()?;
        return Some((c.to_string(), c.len_utf16() * 6));
    }
    let c = match text.as_bytes().get(1)? {
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        quoted @ (b'"' | b'\'' | b'\\' | b'/') => char::from(*quoted),
        _ => return None,
    };
    Some((c.to_string(), 2))
}

/// `&#233;`, `&#xE9;`, `&eacute;`.
fn in_html(text: &str) -> Option<(String, usize)> {
    let end = text.bytes().take(12).position(|byte| byte == b';')?;
    let name = &text[1..end];
    let number = name.strip_prefix('#').and_then(|number| match number.strip_prefix(['x', 'X']) {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => number.parse().ok(),
    });
    let named = |name: &str| {
        let latin = LATIN.split_whitespace().zip(0xa0_u32..).find(|(other, _)| *other == name);
        let basic = [("amp", 38), ("lt", 60), ("gt", 62), ("quot", 34), ("apos", 39)];
        latin.or_else(|| basic.into_iter().find(|(other, _)| *other == name)).map(|(_, code)| code)
    };
    let c = char::from_u32(number.or_else(|| named(name))?)?;
    // A space that does not break is a space.
    let c = if c == '\u{a0}' { ' ' } else { c };
    Some((c.to_string(), end + 1))
}

/// A text that stands in another one as base64 or as hexadecimal digits.
pub(super) struct EncodedText {
    pub(super) text: String,
    /// Where.
    pub(super) part: Range<usize>,
    encoding: Encoding,
}

impl EncodedText {
    /// Another text, written in the same way.
    pub(super) fn write(&self, text: &str) -> String {
        self.encoding.encode(text.as_bytes())
    }
}

/// The texts that stand in a text as base64 or as hexadecimal digits.
pub(super) fn written_in(text: &str) -> Vec<EncodedText> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    for is_part in [|byte: u8| b"+/-_".contains(&byte), |byte: u8| b"-_".contains(&byte)] {
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || is_part(*byte);
        let mut at = 0;
        while at < bytes.len() {
            let length = bytes[at..].iter().take_while(|byte| is_part(byte)).count();
            // `0x` says that digits follow.
            let is_signed = matches!(bytes.get(at..at + 2), Some(b"0x" | b"0X"));
            if length >= SHORTEST {
                let padding = bytes[at + length..].iter().take_while(|byte| **byte == b'=').count();
                let begin = if is_signed { at + 2 } else { at };
                let part = begin..at + length + padding.min(2);
                found.extend(decode(&text[part.clone()]).map(|(encoding, text)| EncodedText {
                    text,
                    part,
                    encoding,
                }));
            }
            at += length.max(1);
        }
    }
    found
}

/// The text that a word may be a writing of, if there is one.
fn decode(word: &str) -> Option<(Encoding, String)> {
    let read = |encoding: &Encoding| {
        let text = String::from_utf8(encoding.decode(word.as_bytes()).ok()?).ok()?;
        (!text.contains(|c: char| c.is_control() && !c.is_ascii_whitespace())).then_some(text)
    };
    let encodings = [HEXLOWER, HEXUPPER, BASE64, BASE64_NOPAD, BASE64URL, BASE64URL_NOPAD];
    encodings.into_iter().find_map(|encoding| read(&encoding).map(|text| (encoding, text)))
}
