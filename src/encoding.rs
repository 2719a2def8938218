//! Text files: UTF-8, with or without a byte order mark. Any other encoding is an error that names
//! the command to convert it.

use std::io;
use std::path::Path;

use crate::open::read_text_bytes;

/// The name of the encoding, for `iconv`, of bytes that are UTF-16 or UTF-32: they begin with a
/// byte order mark, or with a character and zeros in either byte order, which UTF-8 text never
/// does.
pub fn wide(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0xFF, 0xFE, 0, 0, ..] | [0, 0, 0xFE, 0xFF, ..] => Some("UTF-32"),
        [0, 0, 0, last, ..] if *last != 0 => Some("UTF-32BE"),
        [first, 0, 0, 0, ..] if *first != 0 => Some("UTF-32LE"),
        [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] => Some("UTF-16"),
        [0, second, ..] if *second != 0 => Some("UTF-16BE"),
        [first, 0, ..] if *first != 0 => Some("UTF-16LE"),
        _ => None,
    }
}

/// Why bytes are not UTF-8 text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotUtf8 {
    /// The line, from 1, of the first invalid byte; `None` if the whole file is in another
    /// encoding.
    pub line: Option<u64>,
    /// What is wrong, and how to convert it.
    pub reason: String,
}

impl NotUtf8 {
    /// The message, with the file name.
    #[must_use]
    pub fn of(&self, path: &str) -> String {
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
    problem.line.map(|line| format!("line {line}: ")).unwrap_or_default()
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

/// Decodes bytes as UTF-8.
///
/// # Errors
/// [`NotUtf8`].
pub fn decode(bytes: Vec<u8>) -> Result<String, NotUtf8> {
    if let Some(name) = wide(&bytes) {
        let reason = format!("it is {name}: convert it with `iconv -f {name} -t UTF-8`");
        return Err(NotUtf8 { line: None, reason });
    }
    let text = String::from_utf8(bytes).map_err(|e| {
        let (good, bytes) = (e.utf8_error().valid_up_to(), e.as_bytes());
        let before = bytes.iter().take(good);
        let line = before.filter(|byte| **byte == b'\n').count() as u64 + 1;
        let byte = bytes.get(good).copied().unwrap_or_default();
        let reason = format!(
            "byte 0x{byte:02X} is not UTF-8; if it is Latin-1, convert it with \
             `iconv -f LATIN1 -t UTF-8`"
        );
        NotUtf8 { line: Some(line), reason }
    })?;
    // Excel puts a byte order mark before UTF-8, and so do editors on Windows.
    Ok(text.strip_prefix('\u{FEFF}').map(str::to_owned).unwrap_or(text))
}
