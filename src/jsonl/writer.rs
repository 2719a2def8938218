//! Writing, all or nothing.

use std::fs::{self, File};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use serde::Serialize;

use super::Packing;
use super::error::{JsonlError, JsonlProblem};
use crate::draft::{Draft, OfLog, folder_of};

/// What to do when the file already exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IfExists {
    /// Refuse: nothing is lost.
    Refuse,
    /// Replace it when the new one is complete, in one step.
    Replace,
}

/// Writes a JSON Lines file next to its final path and moves it there when it is complete.
///
/// Dropped without [`JsonlWriter::finish`], it leaves nothing behind.
pub struct JsonlWriter {
    path: PathBuf,
    draft: Draft,
    if_exists: IfExists,
    output: Option<LineOutput>,
    line: usize,
}

enum LineOutput {
    Plain(BufWriter<File>),
    Gzip(GzEncoder<BufWriter<File>>),
    Zstd(zstd::Encoder<'static, BufWriter<File>>),
}

impl LineOutput {
    fn writer(&mut self) -> &mut dyn Write {
        match self {
            LineOutput::Plain(w) => w,
            LineOutput::Gzip(w) => w,
            LineOutput::Zstd(w) => w,
        }
    }

    /// Writes the buffered bytes and waits until the disk has them.
    fn finish(self) -> io::Result<()> {
        let buffered = match self {
            LineOutput::Plain(w) => w,
            LineOutput::Gzip(w) => w.finish()?,
            LineOutput::Zstd(w) => w.finish()?,
        };
        buffered.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()
    }
}

impl JsonlWriter {
    /// Starts a file. With `.gz` and `.zst` the output is compressed; the same lines give the same
    /// bytes.
    ///
    /// # Errors
    /// [`JsonlProblem::Exists`] if it exists and may not be replaced; [`JsonlProblem::Open`] otherwise,
    /// [`JsonlProblem::OfLog`] and [`JsonlProblem::NotAFile`] for files that are never replaced.
    pub fn create(path: impl AsRef<Path>, if_exists: IfExists) -> Result<Self, JsonlError> {
        let path = path.as_ref();
        let failed = |problem| JsonlError::new(path, None, problem);
        if let Some(refused) = OfLog::at(path) {
            return Err(failed(JsonlProblem::OfLog(refused)));
        }
        if if_exists == IfExists::Refuse && path.symlink_metadata().is_ok() {
            return Err(failed(JsonlProblem::Exists));
        }
        // A device or a folder is never replaced; replacing a link would replace the link, not its
        // target.
        if path.symlink_metadata().is_ok_and(|there| !there.is_file()) {
            return Err(failed(JsonlProblem::NotAFile));
        }
        let (draft, file) = Draft::file(path).map_err(|e| failed(JsonlProblem::Open(e)))?;
        let file = BufWriter::new(file);
        let output = match Packing::new(path) {
            Packing::Plain => LineOutput::Plain(file),
            Packing::Gzip => LineOutput::Gzip(GzEncoder::new(file, Compression::default())),
            Packing::Zstd => {
                let mut encoder =
                    zstd::Encoder::new(file, 0).map_err(|e| failed(JsonlProblem::Open(e)))?;
                encoder.include_checksum(true).map_err(|e| failed(JsonlProblem::Open(e)))?;
                LineOutput::Zstd(encoder)
            }
        };
        Ok(JsonlWriter { path: path.to_owned(), draft, if_exists, output: Some(output), line: 0 })
    }

    /// Writes one line.
    ///
    /// # Errors
    /// [`JsonlProblem::LineBreak`] if the text would be more than one line;
    /// [`JsonlProblem::Write`].
    pub fn write_line(&mut self, text: &str) -> Result<(), JsonlError> {
        self.line += 1;
        if text.contains(['\n', '\r']) {
            return Err(self.error(JsonlProblem::LineBreak));
        }
        let written = match &mut self.output {
            Some(output) => {
                let writer = output.writer();
                writer.write_all(text.as_bytes()).and_then(|()| writer.write_all(b"\n"))
            }
            None => Ok(()),
        };
        written.map_err(|e| self.error(JsonlProblem::Write(e)))
    }

    /// Writes one value as one line of JSON.
    ///
    /// # Errors
    /// [`JsonlProblem::NotJson`] if it has no JSON form; [`JsonlProblem::Write`].
    pub fn write<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), JsonlError> {
        match serde_json::to_string(value) {
            Ok(text) => self.write_line(&text),
            Err(e) => {
                Err(JsonlError::new(&self.path, Some(self.line + 1), JsonlProblem::NotJson(e)))
            }
        }
    }

    /// Completes the file, moves it into place, and returns the number of lines.
    ///
    /// # Errors
    /// [`JsonlProblem::Exists`] if the file has appeared meanwhile and may not be replaced;
    /// [`JsonlProblem::Write`].
    pub fn finish(mut self) -> Result<usize, JsonlError> {
        if let Some(output) = self.output.take() {
            output.finish().map_err(|e| self.whole(JsonlProblem::Write(e)))?;
        }
        self.place().map_err(|e| match e.kind() {
            ErrorKind::AlreadyExists => self.whole(JsonlProblem::Exists),
            _ => self.whole(JsonlProblem::Write(e)),
        })?;
        sync_folder(folder_of(&self.path)).map_err(|e| self.whole(JsonlProblem::Write(e)))?;
        Ok(self.line)
    }

    fn place(&self) -> io::Result<()> {
        let draft = self.draft.path();
        match self.if_exists {
            IfExists::Replace => fs::rename(draft, &self.path),
            // Unlike a rename, a hard link fails if the name was taken in the meantime.
            IfExists::Refuse => match fs::hard_link(draft, &self.path) {
                Err(e) if e.kind() == ErrorKind::AlreadyExists => Err(e),
                // A file system without hard links: check, then rename.
                Err(_) if self.path.symlink_metadata().is_ok() => {
                    Err(ErrorKind::AlreadyExists.into())
                }
                Err(_) => fs::rename(draft, &self.path),
                Ok(()) => Ok(()),
            },
        }
    }

    fn error(&self, problem: JsonlProblem) -> JsonlError {
        JsonlError::new(&self.path, Some(self.line), problem)
    }

    fn whole(&self, problem: JsonlProblem) -> JsonlError {
        JsonlError::new(&self.path, None, problem)
    }
}

/// A rename survives a power cut only once the folder itself is on disk.
#[cfg(unix)]
fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

#[cfg(not(unix))]
fn sync_folder(_folder: &Path) -> io::Result<()> {
    Ok(())
}
