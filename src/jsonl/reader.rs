//! Reading, one line at a time.

use std::io::{self, BufRead, BufReader, ErrorKind, Read};
use std::path::{Path, PathBuf};

use flate2::bufread::MultiGzDecoder;
use memchr::memchr;

use super::Packing;
use super::error::{JsonlError, JsonlProblem};
use super::standard_input::standard_input;
use super::unpacked::{Bomb, BoundedDecoder, ByteCounter, WideWindow, zstd_decoder};
use crate::encoding::wide;
use crate::open::open;
use crate::values::{MOST_VALUES, too_many};

/// The longest line, in bytes: the longest request and the longest answer fit in one. This bounds
/// memory when a file only claims to be JSON Lines.
const LONGEST_LINE: usize = 65 << 20;

/// The most blank lines in a row: they take time and hold nothing.
const MOST_BLANK: usize = 1_000_000;

/// The lines of a JSON Lines file, each with its number from 1. Blank lines are counted and
/// skipped.
///
/// After an error the iterator ends.
pub struct JsonlReader {
    path: PathBuf,
    packing: Packing,
    /// Whether the file begins with the signature of the format that its name promises.
    fits: bool,
    input: Box<dyn BufRead + Send>,
    line: usize,
    longest: usize,
    ended: bool,
    /// The next line, if it was looked at.
    peeked: Option<Line>,
}

/// A line with its number.
type Line = Result<(usize, String), JsonlError>;

impl JsonlReader {
    /// Opens a file; `.gz` and `.zst` are unpacked on the way. `-` is the standard input.
    ///
    /// # Errors
    /// [`JsonlProblem::Open`] if it cannot be opened; [`JsonlProblem::Truncated`] if it is packed
    /// and empty.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, JsonlError> {
        let path = path.as_ref();
        if path == Path::new("-") {
            return Self::of_pipe(Path::new("standard input"), standard_input());
        }
        let failed = |e| JsonlError::new(path, None, JsonlProblem::Open(e));
        let file = open(path).map_err(failed)?;
        if file.length.is_none() {
            return Self::of_pipe(path, file);
        }
        let mut file = BufReader::new(file);
        let packing = Packing::new(path);
        // A packed file without lines still has a header; the decoders accept zero bytes as an
        // empty file.
        let mut fits = true;
        if packing != Packing::Plain {
            let begin = file.fill_buf().map_err(failed)?;
            if begin.is_empty() {
                return Err(JsonlError::new(path, None, JsonlProblem::Truncated));
            }
            fits = packing.fits(begin);
        }
        Ok(JsonlReader { fits, ..Self::unpacking(path, packing, file)? })
    }

    /// Reads from a pipe, which has no name to show how it is packed.
    fn of_pipe(path: &Path, input: impl Read + Send + 'static) -> Result<Self, JsonlError> {
        // A read from a pipe may return less than was asked for; keep reading until the first bytes
        // are there.
        let failed = |e| JsonlError::new(path, None, JsonlProblem::Read(e));
        let (mut first, mut input) = (Vec::new(), BufReader::new(input));
        for byte in input.by_ref().bytes().take(4) {
            first.push(byte.map_err(failed)?);
            // A line that is shorter than a signature is a line.
            if first.ends_with(b"\n") {
                break;
            }
        }
        let packing = Packing::of_bytes(&first);
        Self::unpacking(path, packing, BufReader::new(io::Cursor::new(first).chain(input)))
    }

    fn unpacking(
        path: &Path,
        packing: Packing,
        packed: impl BufRead + Send + 'static,
    ) -> Result<Self, JsonlError> {
        let failed = |e| {
            let problem = WideWindow::problem(&e).unwrap_or(JsonlProblem::Open(e));
            JsonlError::new(path, None, problem)
        };
        let input: Box<dyn BufRead + Send> = match packing {
            Packing::Plain => Box::new(packed),
            Packing::Gzip => {
                let (packed, count) = ByteCounter::new(packed);
                Box::new(BufReader::new(BoundedDecoder::new(MultiGzDecoder::new(packed), count)))
            }
            Packing::Zstd => {
                let (packed, count) = ByteCounter::new(packed);
                let decoder = zstd_decoder(packed).map_err(failed)?;
                Box::new(BufReader::new(BoundedDecoder::new(decoder, count)))
            }
        };
        Ok(Self::new(path.to_owned(), packing, input))
    }

    /// Reads plain lines from anywhere (standard input, memory); errors show `name` as the path.
    pub fn from_reader(name: impl Into<PathBuf>, input: impl Read + Send + 'static) -> Self {
        Self::new(name.into(), Packing::Plain, Box::new(BufReader::new(input)))
    }

    fn new(path: PathBuf, packing: Packing, input: Box<dyn BufRead + Send>) -> Self {
        JsonlReader {
            path,
            packing,
            fits: true,
            input,
            line: 0,
            longest: LONGEST_LINE,
            ended: false,
            peeked: None,
        }
    }

    /// The file, as given.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The next line, without consuming it.
    pub fn peek(&mut self) -> Option<&<Self as Iterator>::Item> {
        self.peeked = self.next();
        self.peeked.as_ref()
    }

    fn read_line(&mut self) -> Result<Option<String>, JsonlError> {
        let Some(mut bytes) = self.read_bytes()? else { return Ok(None) };
        if self.line == 1
            && let Some(name) = wide(&bytes)
        {
            return Err(JsonlError::new(&self.path, None, JsonlProblem::Wide { name }));
        }
        if bytes.last() == Some(&b'\r') {
            bytes.pop();
        }
        if bytes.len() > self.longest {
            return Err(self.error(JsonlProblem::TooLong { limit: self.longest }));
        }
        if too_many(&bytes) {
            return Err(self.error(JsonlProblem::TooMany { limit: MOST_VALUES }));
        }
        let text = String::from_utf8(bytes).map_err(|e| {
            self.error(JsonlProblem::NotUtf8 { column: e.utf8_error().valid_up_to() + 1 })
        })?;
        // Windows editors put a byte order mark first; it is not part of the text.
        let first = self.line == 1;
        Ok(Some(match text.strip_prefix('\u{FEFF}').filter(|_| first) {
            Some(rest) => rest.to_owned(),
            None => text,
        }))
    }

    /// The bytes of a line without its line break; `None` at the end.
    fn read_bytes(&mut self) -> Result<Option<Vec<u8>>, JsonlError> {
        let mut bytes = Vec::new();
        let mut ended = false;
        while !ended {
            let chunk = match self.input.fill_buf() {
                Err(e) if e.kind() == ErrorKind::Interrupted => continue,
                Err(e) => return Err(self.error(self.reason(e))),
                Ok(chunk) => chunk,
            };
            if chunk.is_empty() {
                return Ok(Some(bytes).filter(|bytes| !bytes.is_empty()));
            }
            let line_break = memchr(b'\n', chunk);
            ended = line_break.is_some();
            let part = &chunk[..line_break.unwrap_or(chunk.len())];
            let zero = memchr(0, part).map(|at| bytes.len() + at + 1);
            bytes.extend_from_slice(part);
            let used = part.len() + usize::from(ended);
            self.input.consume(used);
            // JSON never contains a zero byte: this is another encoding, or a device or a sparse
            // file, which may be endless.
            if let Some(column) = zero {
                let name = wide(&bytes).filter(|_| self.line == 1);
                return Err(match name {
                    Some(name) => JsonlError::new(&self.path, None, JsonlProblem::Wide { name }),
                    None => self.error(JsonlProblem::Zero { column }),
                });
            }
            // The one byte over the limit may be a carriage return.
            if bytes.len() > self.longest + 1 {
                return Err(self.error(JsonlProblem::TooLong { limit: self.longest }));
            }
        }
        Ok(Some(bytes))
    }

    fn reason(&self, error: io::Error) -> JsonlProblem {
        if let Some(Bomb { most }) = Bomb::new(&error) {
            return JsonlProblem::Bomb { most };
        }
        let format = match self.packing {
            Packing::Plain => return JsonlProblem::Read(error),
            Packing::Gzip => "gzip",
            Packing::Zstd => "zstd",
        };
        match error.kind() {
            ErrorKind::UnexpectedEof if self.fits => JsonlProblem::Truncated,
            ErrorKind::UnexpectedEof => JsonlProblem::NotPacked {
                format,
                source: io::Error::other("its first bytes are different"),
            },
            ErrorKind::InvalidInput | ErrorKind::InvalidData | ErrorKind::Other if self.fits => {
                JsonlProblem::Spoilt { format, source: error }
            }
            ErrorKind::InvalidInput | ErrorKind::InvalidData | ErrorKind::Other => {
                JsonlProblem::NotPacked { format, source: error }
            }
            _ => JsonlProblem::Read(error),
        }
    }

    fn error(&self, problem: JsonlProblem) -> JsonlError {
        JsonlError::new(&self.path, Some(self.line), problem)
    }
}

impl Iterator for JsonlReader {
    type Item = Line;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(line) = self.peeked.take() {
            return Some(line);
        }
        let before = self.line;
        while !self.ended {
            self.line += 1;
            match self.read_line() {
                Ok(Some(text)) if text.trim().is_empty() => {
                    if self.line - before > MOST_BLANK {
                        self.ended = true;
                        return Some(Err(self.error(JsonlProblem::Blank { most: MOST_BLANK })));
                    }
                }
                Ok(Some(text)) => return Some(Ok((self.line, text))),
                Ok(None) => self.ended = true,
                Err(error) => {
                    self.ended = true;
                    return Some(Err(error));
                }
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reader(bytes: &'static [u8]) -> JsonlReader {
        JsonlReader::from_reader("memory", bytes)
    }

    #[test]
    fn lines_keep_their_numbers() {
        let lines: Vec<_> =
            reader(b"\xEF\xBB\xBF1\r\n\n  \n2\n3").collect::<Result<_, _>>().unwrap();
        assert_eq!(lines, [(1, "1".into()), (4, "2".into()), (5, "3".into())]);
    }

    #[test]
    fn zeros_end_the_reading_at_once() {
        let endless = io::BufReader::new(io::repeat(0));
        let error = JsonlReader::from_reader("memory", endless).next().unwrap().unwrap_err();
        assert!(matches!(error.problem, JsonlProblem::Zero { column: 1 }), "{error}");
        let error = reader(b"{}\n{\0}\n").nth(1).unwrap().unwrap_err();
        assert!(
            error.to_string().starts_with("memory, line 2: byte 2 of the line is zero"),
            "{error}"
        );
    }

    #[test]
    fn blank_lines_without_end_end_the_reading() {
        let blank = JsonlReader::from_reader("memory", io::repeat(b'\n')).next().unwrap();
        let error = blank.unwrap_err();
        assert!(matches!(error.problem, JsonlProblem::Blank { .. }), "{error}");
    }

    #[test]
    fn bad_utf8_is_reported_by_line_and_byte() {
        let error = reader(b"ok\nab\xFFc\n").nth(1).unwrap().unwrap_err();
        assert_eq!(error.to_string(), "memory, line 2: byte 3 of the line is not UTF-8");
    }

    #[test]
    fn a_line_too_long_ends_the_reading() {
        let mut reader = reader(b"1234\n12345\n1\n");
        reader.longest = 4;
        assert_eq!(reader.next().unwrap().unwrap(), (1, "1234".into()));
        let error = reader.next().unwrap().unwrap_err();
        assert!(matches!(error.problem, JsonlProblem::TooLong { limit: 4 }), "{error}");
        assert!(reader.next().is_none());
    }
}
