//! Text files: UTF-8, with or without a byte order mark. Any other encoding is an error that names
//! the command to convert it.

use std::io;
use std::path::Path;

use crate::open::read_text_bytes;

/// How many bytes are looked at for the pattern of UTF-16 or UTF-32.
const LOOKED_AT: usize = 512;

/// The name of the encoding, for `iconv`, of bytes that are UTF-16 or UTF-32: they begin with a
/// byte order mark, or three quarters of their first characters are a byte and zeros in the same
/// order. A zero byte alone does not make UTF-16 of a text.
pub fn wide(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0xFF, 0xFE, 0, 0, ..] | [0, 0, 0xFE, 0xFF, ..] => return Some("UTF-32"),
        [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] => return Some("UTF-16"),
        _ => {}
    }
    let begin = &bytes[..bytes.len().min(LOOKED_AT)];
    // Of each: bytes of a character, which of them is not zero, and how many characters are enough.
    let patterns = [
        ("UTF-32BE", 4, 3, 1),
        ("UTF-32LE", 4, 0, 1),
        ("UTF-16BE", 2, 1, 2),
        ("UTF-16LE", 2, 0, 2),
    ];
    let fits = |(_, size, place, enough): &(&str, usize, usize, usize)| {
        let is_one =
            |unit: &&[u8]| unit.iter().enumerate().all(|(i, b)| (*b != 0) == (i == *place));
        let (units, ones) = (begin.len() / size, begin.chunks_exact(*size).filter(is_one).count());
        units >= *enough && ones * 4 >= units * 3
    };
    patterns.iter().find(|pattern| fits(pattern)).map(|(name, ..)| *name)
}

/// Why bytes are not UTF-8 text, or not text at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotUtf8 {
    /// The line, from 1, of the first invalid or zero byte; `None` if the whole file is in another
    /// encoding.
    pub line: Option<u64>,
    /// The problem, and how to convert the file.
    pub reason: String,
}

impl NotUtf8 {
    /// The message, with the file name.
    #[must_use]
    pub fn sentence(&self, path: &str) -> String {
        let NotUtf8 { line, reason } = self;
        match line {
            Some(line) => format!("{path}, line {line}: {reason}"),
            None => format!("{path}: {reason}"),
        }
    }
}

/// Why a text file cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum TextError {
    /// The system's error.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// It is in another encoding.
    #[error("{}{}", in_line(.0), .0.reason)]
    NotUtf8(NotUtf8),
}

fn in_line(problem: &NotUtf8) -> String {
    problem.line.map_or_else(String::new, |line| format!("line {line}: "))
}

impl TextError {
    /// Whether the file does not exist.
    #[must_use]
    pub fn is_missing(&self) -> bool {
        matches!(self, TextError::Io(e) if e.kind() == io::ErrorKind::NotFound)
    }
}

/// The longest data file, in bytes: tables, personas, outputs of other programs.
const LONGEST: u64 = 256 << 20;

/// The longest file that is written by hand, in bytes: a config, a template, a key.
const LONGEST_BY_HAND: u64 = 4 << 20;

/// Reads a data file of at most 256 MB.
///
/// # Errors
/// [`TextError`].
pub fn read_text(path: &Path) -> Result<String, TextError> {
    decode(read_text_bytes(path, LONGEST)?).map_err(TextError::NotUtf8)
}

/// Reads a file that is written by hand, of at most 4 MB: a config, a template, a key.
///
/// # Errors
/// [`TextError`].
pub fn read_by_hand(path: &Path) -> Result<String, TextError> {
    decode(read_text_bytes(path, LONGEST_BY_HAND)?).map_err(TextError::NotUtf8)
}

/// Decodes bytes as UTF-8. A zero byte (NUL) is refused: it is valid UTF-8, but no text file has
/// one.
///
/// # Errors
/// [`NotUtf8`].
pub fn decode(bytes: Vec<u8>) -> Result<String, NotUtf8> {
    if let Some(name) = wide(&bytes) {
        let reason = format!("it is {name}: convert it with `iconv -f {name} -t UTF-8`");
        return Err(NotUtf8 { line: None, reason });
    }
    let line_of = |bytes: &[u8], at: usize| {
        bytes.iter().take(at).filter(|byte| **byte == b'\n').count() as u64 + 1
    };
    if let Some(at) = memchr::memchr(0, &bytes) {
        let reason = "it has a zero byte (NUL), which text files do not have: is it a binary file, or damaged?";
        return Err(NotUtf8 { line: Some(line_of(&bytes, at)), reason: reason.to_owned() });
    }
    let text = String::from_utf8(bytes).map_err(|e| {
        let (good, bytes) = (e.utf8_error().valid_up_to(), e.as_bytes());
        let line = line_of(bytes, good);
        let byte = bytes.get(good).copied().unwrap_or(0);
        let reason = format!(
            "byte 0x{byte:02X} is not UTF-8; if it is Latin-1, convert it with \
             `iconv -f LATIN1 -t UTF-8`"
        );
        NotUtf8 { line: Some(line), reason }
    })?;
    // Excel puts a byte order mark before UTF-8, and so do editors on Windows.
    Ok(text.strip_prefix('\u{FEFF}').map(str::to_owned).unwrap_or(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn utf_16(text: &str, to_bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
        text.encode_utf16().flat_map(to_bytes).collect()
    }

    #[test]
    fn only_a_mark_or_the_pattern_makes_utf_16() {
        for text in ["seed: 1\n", "ab", "{\"text\":\"Zürich €\"}"] {
            assert_eq!(wide(&utf_16(text, u16::to_le_bytes)), Some("UTF-16LE"), "{text}");
            assert_eq!(wide(&utf_16(text, u16::to_be_bytes)), Some("UTF-16BE"), "{text}");
        }
        let utf_32 = |text: &str| text.chars().flat_map(|c| u32::from(c).to_le_bytes()).collect();
        let utf_32: Vec<u8> = utf_32("ab");
        assert_eq!(wide(&utf_32), Some("UTF-32LE"));
        assert_eq!(wide(b"\xFF\xFEx\0"), Some("UTF-16"));
        for text in ["a\0", "a\0b", "\0a", "{\0}", "a\0bcdef", "\0\0\0\0", "", "plain"] {
            assert_eq!(wide(text.as_bytes()), None, "{text:?}");
        }
    }

    #[test]
    fn a_nul_is_reported_with_its_line() {
        for text in ["one\ntwo\0\n", "\n\0x"] {
            let error = decode(text.into()).unwrap_err();
            let due = "a.txt, line 2: it has a zero byte (NUL), which text files do not have: is it a binary file, or damaged?";
            assert_eq!(error.sentence("a.txt"), due);
        }
    }
}
