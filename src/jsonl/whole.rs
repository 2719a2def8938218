//! Files of other formats, which are read whole.

use std::io::{self, BufReader, Cursor, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;

use super::Packing;
use super::error::{JsonlError, JsonlProblem};
use super::standard_input::{look, standard_input};
use super::unpacked::{Bomb, BoundedDecoder, ByteCounter, WideWindow, zstd_decoder};
use crate::open::open;

/// The first bytes of a regular file, unpacked; nothing of a pipe, which can be read only once, and
/// nothing if it cannot be read, which is reported by whoever reads it. `-` is the standard input, whose first bytes are
/// still there for the next reader.
pub fn beginning(path: &Path, bytes: u64) -> Vec<u8> {
    let mut begin = Vec::new();
    if path == Path::new("-") {
        if let Ok(unpacked) = unpacking(Cursor::new(look(bytes))) {
            // It ends in the middle of the packed data.
            let _ = unpacked.take(bytes).read_to_end(&mut begin);
        }
        return begin;
    }
    // Opening a pipe takes something out of it.
    if path.metadata().is_ok_and(|about| about.is_file())
        && let Ok(file) = open(path)
        && let Ok(unpacked) = unpacking(file)
    {
        // Bytes read before an error count.
        let _ = unpacked.take(bytes).read_to_end(&mut begin);
    }
    begin
}

/// Reads a whole file of at most `longest` bytes, unpacked if it is gzip or zstd; `-` is the
/// standard input.
///
/// # Errors
/// [`JsonlError`]: it cannot be read, or is too long, or unpacks to many times its size.
pub fn read_whole(path: &Path, longest: u64) -> Result<Vec<u8>, JsonlError> {
    if path == Path::new("-") {
        return all(Path::new("standard input"), standard_input(), longest);
    }
    let file = open(path).map_err(|e| JsonlError::new(path, None, JsonlProblem::Open(e)))?;
    all(path, file, longest)
}

fn all(path: &Path, input: impl Read + 'static, longest: u64) -> Result<Vec<u8>, JsonlError> {
    let failed = |e: io::Error| {
        let problem = match Bomb::new(&e) {
            Some(Bomb { most }) => JsonlProblem::Bomb { most },
            None => WideWindow::problem(&e).unwrap_or(JsonlProblem::Read(e)),
        };
        JsonlError::new(path, None, problem)
    };
    let mut bytes = Vec::new();
    let input = unpacking(input).map_err(failed)?;
    input.take(longest + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > longest {
        return Err(JsonlError::new(path, None, JsonlProblem::TooLarge { limit: longest }));
    }
    Ok(bytes)
}

fn unpacking(mut input: impl Read + 'static) -> io::Result<Box<dyn Read>> {
    let mut first = Vec::new();
    input.by_ref().take(4).read_to_end(&mut first)?;
    let packing = Packing::of_bytes(&first);
    let packed = BufReader::new(Cursor::new(first).chain(input));
    Ok(match packing {
        Packing::Plain => Box::new(packed),
        Packing::Gzip => {
            let (packed, count) = ByteCounter::new(packed);
            Box::new(BoundedDecoder::new(MultiGzDecoder::new(packed), count))
        }
        Packing::Zstd => {
            let (packed, count) = ByteCounter::new(packed);
            Box::new(BoundedDecoder::new(zstd_decoder(packed)?, count))
        }
    })
}
