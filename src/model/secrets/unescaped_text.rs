//! A text with its escapes undone, and the position that each byte came from.

use std::ops::Range;

use memchr::memchr3_iter;

/// How much of a secret is too much.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pieces {
    /// Eight characters of it, or the end of the text if it is four of its first.
    InMessages,
    /// Sixteen characters, or the whole of one that is shorter and does not look like a word.
    InAnswers,
}

/// The HTML references of characters that keys have, or that stand in other escapes.
const REFERENCES: [(&str, char); 11] = [
    ("amp", '&'),
    ("lt", '<'),
    ("gt", '>'),
    ("quot", '"'),
    ("apos", '\''),
    ("sol", '/'),
    ("plus", '+'),
    ("equals", '='),
    ("lowbar", '_'),
    ("hyphen", '-'),
    ("dash", '-'),
];

/// The longest HTML reference that is undone, for example `&#x0000073;`.
const LONGEST_REFERENCE: usize = 12;

/// A text with JSON escapes, percent signs and HTML references undone, and without control
/// characters and invisible characters.
#[derive(Default)]
pub(super) struct UnescapedText {
    bytes: Vec<u8>,
    /// Where each byte begins and ends in the original text.
    origins: Vec<(u32, u32)>,
    /// How many leading bytes cannot be part of a later escape.
    settled: usize,
}

/// How far escapes are undone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Depth {
    /// Those in the text.
    Once,
    /// Also those that appear when other escapes are undone.
    Whole,
}

impl UnescapedText {
    /// Whether a text may hold escaped letters. Messages always may; in answers, `\n`, escapes of other alphabets and lone
    /// percent signs are too common to be a reason to look closer.
    pub(super) fn has_escapes(text: &str, pieces: Pieces) -> bool {
        let bytes = text.as_bytes();
        let escape = |at: usize| match bytes[at] {
            b'\\' => {
                let depth = bytes[at..].iter().take_while(|byte| **byte == b'\\').count();
                // Escapes may be escaped.
                match &bytes[at + depth..] {
                    [b'u', b'0', b'0', b'2'..=b'7', ..] | [b'u', b'{', ..] | [b'/', ..] => true,
                    [b'x', b'2'..=b'7', ..] => true,
                    // An invisible character between two letters.
                    [b'u', b'2' | b'f' | b'F', ..] | [b'u', b'0', b'0', b'a' | b'A', ..] => true,
                    _ => false,
                }
            }
            b'&' => {
                let rest = &bytes[at + 1..];
                let is = |name: &&str| rest.starts_with(name.as_bytes());
                rest.first() == Some(&b'#') || REFERENCES.iter().any(|(name, _)| is(name))
            }
            _ => matches!(&bytes[at + 1..], [b'2'..=b'7', digit, ..] if digit.is_ascii_hexdigit()),
        };
        pieces == Pieces::InMessages || memchr3_iter(b'\\', b'%', b'&', bytes).any(escape)
    }

    /// A text undone once, twice, three times, and until nothing is left to undo. The last finds
    /// secrets that are escaped in several ways; the others keep a backslash that is a character of
    /// the secret itself.
    pub(super) fn new(text: &str) -> [UnescapedText; 4] {
        let visible = UnescapedText::visible(text);
        let once = visible.undone(Depth::Once);
        let twice = once.undone(Depth::Once);
        let thrice = twice.undone(Depth::Once);
        [once, twice, thrice, visible.undone(Depth::Whole)]
    }

    /// A text without its invisible characters.
    fn visible(text: &str) -> UnescapedText {
        let mut visible = UnescapedText::default();
        for (at, c) in text.char_indices() {
            if is_invisible(c) {
                continue;
            }
            // Texts are searched in stretches shorter than this.
            let place = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
            let origin = (place(at), place(at + c.len_utf8()));
            let mut buffer = [0; 4];
            for byte in c.encode_utf8(&mut buffer).bytes() {
                visible.bytes.push(byte);
                visible.origins.push(origin);
            }
        }
        visible
    }

    fn undone(&self, depth: Depth) -> UnescapedText {
        let mut undone = UnescapedText::default();
        for (byte, origin) in self.bytes.iter().zip(&self.origins) {
            undone.push(*byte, *origin, depth);
        }
        undone.drop_unfinished();
        undone
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The position that some bytes came from.
    pub(super) fn origin(&self, place: Range<usize>) -> Range<usize> {
        let origin = |at: usize| self.origins.get(at).copied().unwrap_or((0, 0));
        let (start, end) = (origin(place.start).0, origin(place.end.saturating_sub(1)).1);
        start as usize..end as usize
    }

    /// Adds a byte, and undoes any escape that it completes.
    fn push(&mut self, byte: u8, origin: (u32, u32), depth: Depth) {
        self.bytes.push(byte);
        self.origins.push(origin);
        while let Some((length, c)) = escape_at_end(&self.bytes[self.settled..]) {
            let start = self.bytes.len() - length;
            let origin = (self.origins[start].0, origin.1);
            self.bytes.truncate(start);
            self.origins.truncate(start);
            match c {
                Undone::Byte(byte) => {
                    self.bytes.push(byte);
                    self.origins.push(origin);
                }
                Undone::Char(c) if !is_invisible(c) => {
                    let mut buffer = [0; 4];
                    for byte in c.encode_utf8(&mut buffer).bytes() {
                        self.bytes.push(byte);
                        self.origins.push(origin);
                    }
                }
                Undone::Char(_) => {}
            }
            if depth == Depth::Once {
                self.settled = self.bytes.len();
            }
            if self.bytes.len() == start {
                return;
            }
        }
    }

    /// Drops an unfinished escape at the end of the text: what precedes it may be the end of a
    /// secret. A percent sign that was itself escaped is a character of the text.
    fn drop_unfinished(&mut self) {
        let tail = self.bytes.len().saturating_sub(LONGEST_REFERENCE).max(self.settled);
        let begun = self.bytes[tail..].iter().rposition(|b| matches!(b, b'\\' | b'%' | b'&'));
        if let Some(at) = begun.map(|at| tail + at)
            && self.bytes[at + 1..].iter().all(|b| b.is_ascii_hexdigit() || b"ux#".contains(b))
        {
            self.bytes.truncate(at);
            self.origins.truncate(at);
        }
    }
}

/// The meaning of an escape.
enum Undone {
    Byte(u8),
    Char(char),
}

/// The escape at the end of some bytes: its length and its meaning.
fn escape_at_end(bytes: &[u8]) -> Option<(usize, Undone)> {
    match bytes {
        [.., b'\\', b'\\'] => Some((2, Undone::Byte(b'\\'))),
        [.., b'\\', c @ (b'"' | b'/' | b'\'')] => Some((2, Undone::Byte(*c))),
        [.., b'\\', b'n' | b'r' | b't' | b'b' | b'f'] => Some((2, Undone::Char('\n'))),
        [.., b'%', a, b] => Some((3, Undone::Byte(hex(&[*a, *b])? as u8))),
        [.., b'\\', b'x', a, b] => Some((4, Undone::Byte(hex(&[*a, *b])? as u8))),
        [.., b'\\', b'u', a, b, c, d] => {
            // Half of a pair has no meaning by itself.
            let c = char::from_u32(hex(&[*a, *b, *c, *d])?).unwrap_or('?');
            Some((6, Undone::Char(c)))
        }
        [.., b';'] => reference_at_end(bytes),
        _ => None,
    }
}

fn reference_at_end(bytes: &[u8]) -> Option<(usize, Undone)> {
    let tail = &bytes[bytes.len().saturating_sub(LONGEST_REFERENCE)..];
    let reference = &tail[tail.iter().rposition(|b| *b == b'&')?..];
    let c = match &reference[1..reference.len() - 1] {
        [b'#', b'x' | b'X', digits @ ..] => char::from_u32(hex(digits)?)?,
        [b'#', digits @ ..] if digits.iter().all(u8::is_ascii_digit) => {
            let number = std::str::from_utf8(digits).ok()?;
            char::from_u32(number.parse().ok()?)?
        }
        name => {
            let known = REFERENCES.iter().find(|(known, _)| known.as_bytes() == name);
            known.map(|(_, c)| *c)?
        }
    };
    Some((reference.len(), Undone::Char(c)))
}

fn hex(digits: &[u8]) -> Option<u32> {
    let all = !digits.is_empty() && digits.iter().all(u8::is_ascii_hexdigit);
    u32::from_str_radix(std::str::from_utf8(digits).ok().filter(|_| all)?, 16).ok()
}

/// Whether a character takes no space on a screen: between letters, it would hide a secret.
fn is_invisible(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{AD}' | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}')
        || matches!(c, '\u{2060}'..='\u{206F}' | '\u{FEFF}' | '\u{FE00}'..='\u{FE0F}')
}
