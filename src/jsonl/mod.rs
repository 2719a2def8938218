//! JSON Lines files: plain, `.gz` or `.zst`, told apart by name.
//!
//! Reading is a stream: memory holds one line at a time. Writing is all or nothing: the file appears
//! under its name only when it is complete and on disk.

mod error;
mod reader;
mod writer;

use std::path::Path;

pub use error::{JsonlError, Problem};
pub use reader::JsonlReader;
pub use writer::{IfExists, JsonlWriter};

/// The name of the encoding, for `iconv`, of bytes that are UTF-16: they begin with a byte order mark, or with a
/// character and a zero in one order or the other, which no text in UTF-8 does.
pub fn utf16(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] => Some("UTF-16"),
        [0, second, ..] if *second != 0 => Some("UTF-16BE"),
        [first, 0, ..] if *first != 0 => Some("UTF-16LE"),
        _ => None,
    }
}

/// How the bytes of a file are packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Packing {
    Plain,
    Gzip,
    Zstd,
}

impl Packing {
    fn of(path: &Path) -> Packing {
        match path.extension().and_then(|e| e.to_str()).map(str::to_ascii_lowercase).as_deref() {
            Some("gz") => Packing::Gzip,
            Some("zst") => Packing::Zstd,
            _ => Packing::Plain,
        }
    }
}
