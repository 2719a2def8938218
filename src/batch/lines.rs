//! The lines of a batch, as a file.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use super::error::BatchError;
use crate::id::{PromptHash, RunId, Seq};
use crate::log::{EventFault, LogError, Reader};
use crate::model::openai::batches::{BatchTicket, PostedLine};
use crate::model::{Batching, Failure};
use crate::prompt::Request;

/// A file of lines that is being written.
pub(super) struct LinesFile {
    path: PathBuf,
    file: BufWriter<File>,
    hasher: blake3::Hasher,
    pub(super) bytes: u64,
    pub(super) questions: Vec<Seq>,
}

impl LinesFile {
    pub(super) fn create(folder: &Path, name: &str) -> std::io::Result<Self> {
        let path = folder.join(name);
        let file = BufWriter::new(File::create_new(&path)?);
        let (hasher, bytes, questions) = (blake3::Hasher::new(), 0, Vec::new());
        Ok(LinesFile { path, file, hasher, bytes, questions })
    }

    pub(super) fn add(&mut self, question: Seq, line: &str) -> std::io::Result<()> {
        self.file.write_all(line.as_bytes())?;
        self.hasher.update(line.as_bytes());
        self.bytes += line.len() as u64;
        self.questions.push(question);
        Ok(())
    }

    /// The file, and its digest.
    pub(super) fn finish(mut self) -> std::io::Result<(PathBuf, String)> {
        self.file.flush()?;
        Ok((self.path, self.hasher.finalize().to_hex().to_string()))
    }
}

/// The recorded request of a question.
pub(super) fn request_of(
    reader: &mut dyn Reader,
    run: RunId,
    question: Seq,
    prompt: Option<PromptHash>,
) -> Result<Request, LogError> {
    let none = || LogError::corrupt(run, question, EventFault::NoCall);
    match prompt {
        Some(prompt) => reader.request(prompt)?.ok_or_else(none),
        None => Err(none()),
    }
}

/// The line of a question.
pub(super) fn line_of(
    batching: &dyn Batching,
    run: RunId,
    question: Seq,
    request: &Request,
) -> Result<PostedLine, Failure> {
    let posted = batching.posted(request)?;
    Ok(batching.server().line(&BatchTicket::line_id(run, question.0), &posted))
}

/// The lines of a batch that was planned before, written again.
pub(super) fn write_again(
    batching: &dyn Batching,
    reader: &mut dyn Reader,
    run: RunId,
    number: u64,
    digest: &str,
    questions: impl Iterator<Item = (Seq, PromptHash)>,
    folder: &Path,
) -> Result<PathBuf, BatchError> {
    let mut lines = LinesFile::create(folder, &format!("again-{number}.jsonl"))?;
    for (question, prompt) in questions {
        let request = request_of(reader, run, question, Some(prompt))?;
        let line = line_of(batching, run, question, &request);
        let line = line.map_err(|_| BatchError::OtherLines { number })?;
        lines.add(question, &line.text)?;
    }
    let (path, found) = lines.finish()?;
    if found == digest { Ok(path) } else { Err(BatchError::OtherLines { number }) }
}
