//! Divides what is held into batches: each is of one model at one server, and within the server's limits.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::error::BatchError;
use super::lines::{LinesFile, line_of, request_of};
use super::run_batches::RunBatches;
use crate::event::BatchPlanned;
use crate::id::{RunId, Seq};
use crate::log::Reader;
use crate::model::{Failure, FailureKind, Model};

/// Batches that are to be submitted.
#[derive(Default)]
pub(super) struct Plan {
    /// Each with the file of its lines.
    pub(super) batches: Vec<(BatchPlanned, PathBuf)>,
    /// The questions that cannot be asked so.
    pub(super) inexpressible: Vec<(Seq, Failure)>,
}

/// What all lines of a batch share: its server, its model, the function that answers, and how many lines it may have if there were too
/// many before.
type Group = (String, String, String, Option<u64>);

/// Divides questions, which are ascending, into batches, and writes the lines of each to a file of this folder.
pub(super) fn plan(
    reader: &mut dyn Reader,
    run: RunId,
    model: &dyn Model,
    questions: impl Iterator<Item = Seq>,
    known: &RunBatches,
    folder: &Path,
) -> Result<Plan, BatchError> {
    let mut made = Plan::default();
    let mut number = known.batches.last().map_or(0, |batch| batch.planned.number);
    let mut open: BTreeMap<Group, LinesFile> = BTreeMap::new();
    let mut files = 0;
    for question in questions {
        let prompt = known.prompts.get(&question).copied();
        let request = request_of(reader, run, question, prompt)?;
        let name = request.model().unwrap_or("").to_owned();
        let Some(batching) = model.batching(&request) else {
            let failure = Failure::new(FailureKind::Rejected, "its server takes no batches");
            made.inexpressible.push((question, failure));
            continue;
        };
        let line = match line_of(batching, run, question, &request) {
            Ok(line) => line,
            Err(failure) => {
                made.inexpressible.push((question, failure));
                continue;
            }
        };
        let server = batching.server();
        let most_lines = known.failures.get(&question).and_then(|failures| failures.most_lines);
        let limits = server.limits();
        let lines = most_lines.map_or(limits.lines as u64, |most| most.min(limits.lines as u64));
        let group = (server.source().to_owned(), name, line.endpoint, most_lines);
        let is_full = open.get(&group).is_some_and(|file| {
            file.questions.len() as u64 >= lines
                || file.bytes + line.text.len() as u64 > limits.bytes
        });
        if is_full && let Some(file) = open.remove(&group) {
            number += 1;
            made.batches.push(close(number, &group, file)?);
        }
        let file = match open.entry(group) {
            std::collections::btree_map::Entry::Occupied(entry) => entry.into_mut(),
            std::collections::btree_map::Entry::Vacant(entry) => {
                files += 1;
                entry.insert(LinesFile::create(folder, &format!("lines-{files}.jsonl"))?)
            }
        };
        file.add(question, &line.text)?;
    }
    for (group, file) in open {
        number += 1;
        made.batches.push(close(number, &group, file)?);
    }
    Ok(made)
}

fn close(
    number: u64,
    group: &Group,
    file: LinesFile,
) -> Result<(BatchPlanned, PathBuf), BatchError> {
    let (server, model, endpoint, _) = group.clone();
    let (bytes, seqs) = (file.bytes, BatchPlanned::stretches(&file.questions));
    let (path, digest) = file.finish()?;
    let nonce = RunId::random().map_err(std::io::Error::other)?.to_string();
    Ok((BatchPlanned { bytes, digest, endpoint, model, nonce, number, seqs, server }, path))
}
