//! The forms that a secret can take, and how pieces of them are found in a text.

use std::ops::Range;

use data_encoding::{BASE64_NOPAD, BASE64URL_NOPAD, HEXLOWER};

use super::unescaped_text::{Pieces, UnescapedText};

/// Shorter values are placeholders (`x`, `-`), and striking them out would leave no text readable.
pub(super) const SHORTEST: usize = 4;

impl Pieces {
    /// The fewest characters of a secret that are struck out; `None` if it is not struck out.
    fn fewest(self, secret: &[u8]) -> Option<usize> {
        let has = |kind: fn(&u8) -> bool| secret.iter().any(kind);
        let no_word = has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic);
        match self {
            Pieces::InMessages => Some(secret.len().min(8)),
            Pieces::InAnswers if secret.len() >= 12 || secret.len() >= 8 && no_word => {
                Some(secret.len().min(16))
            }
            Pieces::InAnswers => None,
        }
    }
}

/// How a form encodes a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SecretEncoding {
    Itself,
    Hex,
    Base64,
}

impl SecretEncoding {
    /// The least number of characters in this form for some number of characters of the secret.
    fn length(self, secret: usize) -> usize {
        match self {
            SecretEncoding::Itself => secret,
            SecretEncoding::Hex => 2 * secret,
            // Eight bits become six; up to four of the first bits are encoded together with what
            // precedes them.
            SecretEncoding::Base64 => (8 * secret - 4) / 6,
        }
    }
}

/// A secret in one encoding.
struct Form {
    kind: SecretEncoding,
    bytes: Vec<u8>,
}

/// A secret in all its forms. Has no debug output.
pub(super) struct Forms {
    secret: String,
    /// Forms in which letter case does not matter, in lower case.
    folded: PieceTable,
    /// Forms in which letter case matters.
    exact: PieceTable,
}

impl Forms {
    pub(super) fn new(secret: &str) -> Forms {
        let mut secrets = vec![secret.as_bytes().to_vec()];
        for unescaped in UnescapedText::new(secret) {
            let bytes = unescaped.bytes().to_vec();
            if bytes.len() >= SHORTEST && !secrets.contains(&bytes) {
                secrets.push(bytes);
            }
        }
        let (mut folded, mut exact) = (Vec::new(), Vec::new());
        for secret in &secrets {
            folded.push(Form { kind: SecretEncoding::Itself, bytes: secret.to_ascii_lowercase() });
            folded.push(Form {
                kind: SecretEncoding::Hex,
                bytes: HEXLOWER.encode(secret).into_bytes(),
            });
            for before in 0..3 {
                for alphabet in [&BASE64_NOPAD, &BASE64URL_NOPAD] {
                    let bytes = base64(secret, before, alphabet);
                    if !exact.iter().any(|form: &Form| form.bytes == bytes) {
                        exact.push(Form { kind: SecretEncoding::Base64, bytes });
                    }
                }
            }
        }
        let fewest = Pieces::InMessages.fewest(secret.as_bytes()).unwrap_or(SHORTEST);
        Forms {
            folded: PieceTable::new(folded, fewest),
            exact: PieceTable::new(exact, fewest),
            secret: secret.to_owned(),
        }
    }

    pub(super) fn is_of(&self, secret: &str) -> bool {
        self.secret == secret
    }

    /// Finds the pieces of the secret in a text.
    pub(super) fn find(&self, text: &[u8], pieces: Pieces, found: &mut dyn FnMut(Range<usize>)) {
        let Some(fewest) = pieces.fewest(self.secret.as_bytes()) else { return };
        self.folded.find(&text.to_ascii_lowercase(), fewest, pieces, found);
        self.exact.find(text, fewest, pieces, found);
    }
}

/// The characters in a secret's base64 that depend only on the secret, with some number of bytes
/// before it.
fn base64(secret: &[u8], before: usize, alphabet: &data_encoding::Encoding) -> Vec<u8> {
    let whole = [&b"\0\0"[..before], secret].concat();
    let encoded = alphabet.encode(&whole).into_bytes();
    encoded[(8 * before).div_ceil(6)..8 * whole.len() / 6].to_vec()
}

/// The positions of the short pieces of some forms, so that a text is compared with all of them at
/// once.
struct PieceTable {
    forms: Vec<Form>,
    /// The length of the pieces: at most 8 bytes.
    length: usize,
    /// Each piece as a number, with its form and its position in it; sorted.
    pieces: Vec<(u64, u16, u32)>,
    /// One bit per piece, by its hash: most of a text is skipped with one lookup.
    bits: Vec<u64>,
}

const BITS: u32 = 15;

impl PieceTable {
    /// A table that finds pieces of a secret of at least `fewest` characters.
    fn new(forms: Vec<Form>, fewest: usize) -> PieceTable {
        let length = forms.iter().map(|form| form.kind.length(fewest)).min().unwrap_or(1);
        let length = length.clamp(1, 8);
        let mut pieces = Vec::new();
        let mut bits = vec![0; 1 << (BITS - 6)];
        for (number, form) in (0..).zip(&forms) {
            for (at, piece) in (0..).zip(form.bytes.windows(length)) {
                let piece = as_number(piece);
                pieces.push((piece, number, at));
                let bit = hash(piece);
                bits[bit / 64] |= 1 << (bit % 64);
            }
        }
        pieces.sort_unstable();
        PieceTable { forms, length, pieces, bits }
    }

    fn find(
        &self,
        text: &[u8],
        fewest: usize,
        pieces: Pieces,
        found: &mut dyn FnMut(Range<usize>),
    ) {
        let shortest = self.forms.iter().map(|form| form.kind.length(fewest)).min().unwrap_or(1);
        // Among that many places in a row, one begins a piece of any occurrence that is long
        // enough.
        let step = (shortest + 1).saturating_sub(self.length).max(1);
        let mut at = 0;
        while let Some(piece) = text.get(at..at + self.length) {
            let piece = as_number(piece);
            let bit = hash(piece);
            let mut next = at + step;
            if self.bits[bit / 64] >> (bit % 64) & 1 == 1 {
                let first = self.pieces.partition_point(|(known, ..)| *known < piece);
                let same = self.pieces[first..].iter().take_while(|(known, ..)| *known == piece);
                for (_, form, place) in same {
                    let form = &self.forms[usize::from(*form)];
                    let place = common(text, at, &form.bytes, *place as usize);
                    if place.len() >= form.kind.length(fewest) {
                        next = next.max(place.end.saturating_sub(self.length) + 1);
                        found(form.kind.widen(text, place));
                    }
                }
            }
            at = next;
        }
        if pieces == Pieces::InMessages {
            self.find_at_end(text, fewest, found);
        }
    }

    /// Finds the beginning of a secret at the end of a text, which may have been cut off.
    fn find_at_end(&self, text: &[u8], fewest: usize, found: &mut dyn FnMut(Range<usize>)) {
        for Form { kind, bytes } in &self.forms {
            let lengths = kind.length(SHORTEST)..kind.length(fewest).min(bytes.len());
            if let Some(length) = lengths.rev().find(|n| text.ends_with(&bytes[..*n])) {
                found(kind.widen(text, text.len() - length..text.len()));
            }
        }
    }
}

impl SecretEncoding {
    /// Widens a piece by the adjoining characters that also encode part of the secret.
    fn widen(self, text: &[u8], place: Range<usize>) -> Range<usize> {
        let is_digit = |at: usize| {
            text.get(at).is_some_and(|b| b.is_ascii_alphanumeric() || b"+/-_".contains(b))
        };
        if self != SecretEncoding::Base64 {
            return place;
        }
        let start = place.start - usize::from(place.start > 0 && is_digit(place.start - 1));
        let end = place.end + usize::from(is_digit(place.end));
        start..end
    }
}

/// The longest stretch around two positions in which a text and a form agree.
fn common(text: &[u8], at: usize, form: &[u8], place: usize) -> Range<usize> {
    let back = |n: &usize| text[at - n - 1] == form[place - n - 1];
    let before = (0..at.min(place)).take_while(back).count();
    let after = text[at..].iter().zip(&form[place..]).take_while(|(a, b)| a == b).count();
    at - before..at + after
}

fn as_number(piece: &[u8]) -> u64 {
    let mut bytes = [0; 8];
    bytes[..piece.len()].copy_from_slice(piece);
    u64::from_le_bytes(bytes)
}

/// A number below `1 << BITS`.
fn hash(piece: u64) -> usize {
    (piece.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - BITS)) as usize
}
