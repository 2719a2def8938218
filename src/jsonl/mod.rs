//! JSON Lines files: plain, `.gz` or `.zst`, distinguished by name, or for a pipe by the first
//! bytes.
//!
//! Reading is a stream: only one line is in memory at a time, of at most 65 MB and a million
//! values. Endless blank lines and decompression bombs are errors. Writing is all or nothing: the
//! file appears under its name only when it is complete and on disk.

mod error;
mod reader;
mod standard_input;
mod unpacked;
mod whole;
mod writer;

use std::path::Path;

pub use error::{JsonlError, JsonlProblem};
pub use reader::JsonlReader;
pub use whole::{beginning, read_whole};
pub use writer::{IfExists, JsonlWriter};

/// How the bytes of a file are packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Packing {
    Plain,
    Gzip,
    Zstd,
}

/// The first bytes of gzip data (RFC 1952).
const GZIP: [u8; 2] = [0x1F, 0x8B];

/// The first bytes of a Zstandard frame (RFC 8878).
const ZSTD: [u8; 4] = [0x28, 0xB5, 0x2F, 0xFD];

impl Packing {
    /// The packing of a stream that has no file name. No UTF-8 text begins with either signature.
    fn of_bytes(first: &[u8]) -> Packing {
        match first {
            _ if first.starts_with(&GZIP) => Packing::Gzip,
            _ if first.starts_with(&ZSTD) => Packing::Zstd,
            _ => Packing::Plain,
        }
    }

    fn new(path: &Path) -> Packing {
        match path.extension().and_then(|e| e.to_str()).map(str::to_ascii_lowercase).as_deref() {
            Some("gz") => Packing::Gzip,
            Some("zst") => Packing::Zstd,
            _ => Packing::Plain,
        }
    }

    /// Whether these could be the first bytes of data packed in this way, or all of it.
    fn fits(self, bytes: &[u8]) -> bool {
        let begins = |magic: &[u8]| bytes.iter().zip(magic).all(|(byte, magic)| byte == magic);
        match self {
            Packing::Plain => true,
            Packing::Gzip => begins(&GZIP),
            // A data frame, or one of the sixteen kinds of skippable frames.
            Packing::Zstd => {
                let skipped = |byte: &u8| begins(&[*byte, 0x2A, 0x4D, 0x18]) && byte >> 4 == 5;
                begins(&ZSTD) || bytes.first().is_some_and(skipped)
            }
        }
    }
}
