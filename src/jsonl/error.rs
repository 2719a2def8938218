//! What can be wrong with a JSON Lines file.

use std::path::{Path, PathBuf};
use std::{fmt, io};

use crate::draft::OfLog;

/// A file that cannot be read or written: which one, where in it, and why.
#[derive(Debug, thiserror::Error)]
pub struct JsonlError {
    /// The file.
    pub path: PathBuf,
    /// The line, from 1, if the problem is in one.
    pub line: Option<usize>,
    /// The problem.
    #[source]
    pub problem: JsonlProblem,
}

/// A problem with a JSON Lines file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JsonlProblem {
    /// It cannot be opened or created.
    #[error("cannot open it: {0}")]
    Open(#[source] io::Error),
    /// Reading it failed partway.
    #[error("cannot read it: {0}")]
    Read(#[source] io::Error),
    /// It cannot be written.
    #[error("cannot write it: {0}")]
    Write(#[source] io::Error),
    /// A compressed file is cut off.
    #[error("the compressed file is truncated: download or write it again")]
    Truncated,
    /// Its bytes are not in the format that its name promises.
    #[error("it is not a {format} file, as its name says: {source}")]
    NotPacked {
        /// The format that the name promises.
        format: &'static str,
        /// The decompressor's error.
        source: io::Error,
    },
    /// Its bytes begin like the format that its name promises, and are damaged further on.
    #[error("the {format} data is damaged: {source}")]
    Spoilt {
        /// The format.
        format: &'static str,
        /// The decompressor's error.
        source: io::Error,
    },
    /// A line is not UTF-8.
    #[error("byte {column} of the line is not UTF-8")]
    NotUtf8 {
        /// The first bad byte of the line, from 1.
        column: usize,
    },
    /// The file is in another encoding.
    #[error("it is {name}: convert it with `iconv -f {name} -t UTF-8`")]
    Wide {
        /// Its name.
        name: &'static str,
    },
    /// A line is longer than any exchange can be.
    #[error("the line is longer than {limit} bytes: is this a JSON Lines file?")]
    TooLong {
        /// The longest line that can be read.
        limit: usize,
    },
    /// A file that is read whole is larger than that.
    #[error("it is larger than {} MiB, the most that is read of a file of this format", .limit >> 20)]
    TooLarge {
        /// The largest file.
        limit: u64,
    },
    /// A line has more values than fit in memory.
    #[error("the line has more than {limit} values, the most that a line may have")]
    TooMany {
        /// The most values of a line.
        limit: usize,
    },
    /// A line has a zero byte, as devices and sparse files do.
    #[error("byte {column} of the line is zero (NUL): is this a JSON Lines file?")]
    Zero {
        /// The position of the first one in the line, from 1.
        column: usize,
    },
    /// Too many blank lines in a row.
    #[error("more than {most} blank lines in a row: is this a JSON Lines file?")]
    Blank {
        /// The most that are skipped.
        most: usize,
    },
    /// Unpacked, it is many times larger than any real recording would be.
    #[error(
        "it unpacks to more than {most} times its size, more than any recording does; if you trust it, unpack \
         it first and give the plain file"
    )]
    Bomb {
        /// The largest ratio that is unpacked.
        most: u64,
    },
    /// It was compressed with a larger window than is unpacked.
    #[error(
        "it was compressed with a window of {mib} MiB, as by `zstd --long`, and at most {most} are unpacked: compress it \
         again without that option, or give the plain file"
    )]
    WideWindow {
        /// Its window.
        mib: u64,
        /// The largest one.
        most: u64,
    },
    /// A line to be written contains a line break.
    #[error("the text has a line break and would become two lines")]
    LineBreak,
    /// A value cannot be written as JSON.
    #[error("not JSON: {0}")]
    NotJson(#[source] serde_json::Error),
    /// The file to be written already exists.
    #[error("it already exists")]
    Exists,
    /// A folder, link or device is at the path.
    #[error("it is not a regular file, so it is not replaced: choose another name")]
    NotAFile,
    /// A log, or a file of one, is at the path.
    #[error(transparent)]
    OfLog(OfLog),
}

impl JsonlError {
    pub(super) fn new(path: &Path, line: Option<usize>, problem: JsonlProblem) -> Self {
        JsonlError { path: path.to_owned(), line, problem }
    }
}

impl fmt::Display for JsonlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())?;
        if let Some(line) = self.line {
            write!(f, ", line {line}")?;
        }
        write!(f, ": {}", self.problem)
    }
}
