//! Files in which other tools record requests to models: read as runs, and written from them.
//!
//! What is read becomes a run of a program, as `retold record` would have recorded it: the same
//! prompts, calls and keys, so that `retold replay` serves it. What a run cannot represent is listed
//! in [`Notes`].
//!
//! - [`Format`]: the formats, and how they are recognised.
//! - [`import`]: from files to a run, which is stored whole or not at all.
//! - [`export_vcrpy`], [`export_fine_tuning`], [`export_otlp`]: from a run to files of other tools.
//! - [`export_cassette`]: to a cassette of retold itself, which is read like the files of other tools.

mod base64;
mod cassette;
mod collect;
mod error;
mod exchange;
mod export;
mod file;
mod format;
mod hosts;
mod json_style;
mod node;
mod notes;
mod otlp;
mod yaml;
mod zip;

use std::collections::BTreeMap;
use std::path::PathBuf;

use retold::id::Time;
use retold::model::longer_integer;
use retold::model::providers::try_read;
use retold_wire::Rules;

use collect::{Plan, collect};
use exchange::TrafficExchange;
use file::Document;
use format::batch::BatchFiles;
use format::otlp::OtlpFiles;
use hosts::Hosts;
use node::LocatedValue;
use yaml::Schema;

pub use collect::TrafficImport;
pub use error::{FileProblem, TrafficError, YamlProblem};
pub use export::{
    ExportError, VcrpyForm, export_cassette, export_fine_tuning, export_otlp, export_vcrpy,
    left_out,
};
pub use format::Format;
pub use notes::{Note, Notes};

/// How much of a file's beginning is needed to recognise its format.
pub const BEGINNING: u64 = 64 << 10;

/// How files are imported.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// A name for the run.
    pub name: Option<String>,
    /// What of a request counts.
    pub rules: Rules,
    /// The base URLs of upstreams that have another name than they would get.
    pub upstreams: BTreeMap<String, String>,
}

/// Reads files of one format as a run that began at `time`.
///
/// # Errors
/// [`TrafficError`].
pub fn import(
    format: Format,
    paths: &[PathBuf],
    options: Options,
    time: Time,
) -> Result<TrafficImport, TrafficError> {
    whole(format, paths, || files(format, paths, options, time))
}

/// What a reader makes of files. If it stops, that is a mistake of ours, and nothing of them is stored.
fn whole(
    format: Format,
    paths: &[PathBuf],
    read: impl FnOnce() -> Result<TrafficImport, TrafficError>,
) -> Result<TrafficImport, TrafficError> {
    try_read(format.name(), read).unwrap_or_else(|fault| {
        let path = paths.first().map_or_else(String::new, |path| path.display().to_string());
        Err(TrafficError::wrong(&path, None, FileProblem::Reader(fault)))
    })
}

fn files(
    format: Format,
    paths: &[PathBuf],
    mut options: Options,
    time: Time,
) -> Result<TrafficImport, TrafficError> {
    let mut notes = Notes::default();
    let read = match format {
        Format::Cassette => {
            let [path] = paths else {
                let said = "a cassette is a run of its own: give one file";
                return Err(TrafficError::wrong("", None, FileProblem::Said(said.to_owned())));
            };
            let document = Document::read(path)?;
            let read = format::cassette::read(&document.node(Schema::Yaml11)?, &mut notes);
            let read = read.map_err(|(place, wrong)| document.wrong(place, wrong))?;
            options.rules = read.rules;
            ReadFiles::complete(read.exchanges)
        }
        // SQLite reads from a file.
        Format::Llm => {
            let mut exchanges = Vec::new();
            for path in paths {
                exchanges.extend(format::llm::read(path, &mut notes)?);
            }
            ReadFiles::complete(exchanges)
        }
        _ => {
            let document = |path: &PathBuf| Document::read(path);
            exchanges(format, paths.iter().map(document), &mut notes)?
        }
    };
    run(format, paths, read, notes, options, time)
}

/// The same for the bytes of one file of a format that is text or an archive, which is called `path`.
///
/// # Errors
/// [`TrafficError`].
pub fn import_bytes(
    format: Format,
    path: PathBuf,
    bytes: Vec<u8>,
    options: Options,
    time: Time,
) -> Result<TrafficImport, TrafficError> {
    let paths = [path];
    whole(format, &paths, || {
        let mut notes = Notes::default();
        let document = Document::new(&paths[0], bytes);
        let read = exchanges(format, std::iter::once(Ok(document)), &mut notes)?;
        run(format, &paths, read, notes, options, time)
    })
}

/// Makes a run of the exchanges of files.
fn run(
    format: Format,
    paths: &[PathBuf],
    read: ReadFiles,
    notes: Notes,
    options: Options,
    time: Time,
) -> Result<TrafficImport, TrafficError> {
    let named = |what| {
        let path = paths.first().map_or_else(String::new, |path| path.display().to_string());
        TrafficError::wrong(&path, None, what)
    };
    let ReadFiles { exchanges, is_ended, is_simulated } = read;
    if exchanges.is_empty() {
        // The results of a batch do not say what was asked.
        let why = match (format, notes.all().next()) {
            (Format::Batch, Some(_)) => FileProblem::NoRequests,
            _ => FileProblem::Not("a file with exchanges: there are none"),
        };
        return Err(named(why));
    }
    let Options { name, rules, upstreams } = options;
    let hosts =
        Hosts::new(&upstreams).map_err(|wrong| TrafficError::wrong("--upstream", None, wrong))?;
    let file = |path: &PathBuf| {
        path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
    };
    let files = paths.iter().map(file).collect();
    let format = format.name();
    let plan = Plan { files, format, name, rules, hosts, time, is_ended, is_simulated };
    let read = collect(plan, exchanges, notes)?;
    if read.questions > 0 {
        return Ok(read);
    }
    // Each of them was noted; the first note says why.
    let why = read.notes.all().next().map_or_else(String::new, |note| format!(": {}", note.what));
    Err(named(FileProblem::Said(format!("none of its exchanges can be represented{why}"))))
}

/// What files of one format have.
struct ReadFiles {
    exchanges: Vec<TrafficExchange>,
    /// Whether what they record came to its end.
    is_ended: bool,
    /// Whether they say that the answers were made up.
    is_simulated: bool,
}

impl ReadFiles {
    fn complete(exchanges: Vec<TrafficExchange>) -> Self {
        ReadFiles { exchanges, is_ended: true, is_simulated: false }
    }
}

/// Names the YAML document in which something is wrong, if it has no other place and the file has several.
fn in_document(
    at: usize,
    all: &[LocatedValue],
) -> impl FnOnce((Option<String>, FileProblem)) -> (Option<String>, FileProblem) {
    let document = (all.len() > 1).then(|| format!("document {}", at + 1));
    move |(place, wrong)| (place.or(document), wrong)
}

/// Notes that a file in JSON has an integer which is rounded where bodies are not the texts that they were.
fn note_rounded(document: &Document, notes: &mut Notes) {
    let text = document.text().unwrap_or("");
    if text.trim_start().starts_with(['{', '['])
        && let Some(at) = longer_integer(text)
    {
        let line = 1 + memchr::memchr_iter(b'\n', &text.as_bytes()[..at]).count();
        let what = "the last digits of an integer beyond 64 bits";
        notes.add(what, &format!("{}, line {line}", document.name()));
    }
}

/// The exchanges of files of one format.
fn exchanges(
    format: Format,
    documents: impl Iterator<Item = Result<Document, TrafficError>>,
    notes: &mut Notes,
) -> Result<ReadFiles, TrafficError> {
    let (mut exchanges, mut is_ended) = (Vec::new(), true);
    let (mut batch, mut traces) = (BatchFiles::default(), OtlpFiles::default());
    for document in documents {
        let document = document?;
        note_rounded(&document, notes);
        let wrong = |(place, wrong)| document.wrong(place, wrong);
        match format {
            Format::Vcrpy | Format::Vcr => {
                let cassettes = document.nodes(Schema::Yaml11)?;
                for (at, cassette) in cassettes.iter().enumerate() {
                    let found = format::vcr::read(cassette, notes);
                    exchanges.extend(found.map_err(in_document(at, &cassettes)).map_err(wrong)?);
                }
            }
            Format::Har => {
                let archives = document.nodes(Schema::Yaml12)?;
                for (at, archive) in archives.iter().enumerate() {
                    let found = format::har::read(archive, notes);
                    exchanges.extend(found.map_err(in_document(at, &archives)).map_err(wrong)?);
                }
            }
            Format::Nock => {
                let list = document.json()?;
                exchanges.extend(format::nock::read(&list, notes).map_err(wrong)?);
            }
            Format::Batch => batch.add(&document, notes)?,
            Format::Otlp => {
                let found = traces.add(document.text()?, document.name(), notes);
                is_ended &= found.map_err(wrong)?;
            }
            Format::Inspect => {
                let found = match document.bytes().starts_with(b"PK") {
                    true => format::inspect::archive::read(document.bytes(), notes),
                    false => format::inspect::read(document.text()?, notes),
                };
                let log = found.map_err(wrong)?;
                is_ended &= log.is_ended;
                exchanges.extend(log.exchanges);
            }
            Format::Cassette => {
                let cassette = document.node(Schema::Yaml11)?;
                let read = format::cassette::read(&cassette, notes).map_err(wrong)?;
                exchanges.extend(read.exchanges);
            }
            Format::Llm => {
                let said = "a log of llm is an SQLite file, and is not read from its bytes";
                return Err(document.wrong(None, FileProblem::Said(said.to_owned())));
            }
        }
    }
    exchanges.extend(batch.exchanges(notes));
    let is_simulated = traces.is_simulated();
    exchanges.extend(traces.exchanges(notes).map_err(|what| TrafficError::wrong("", None, what))?);
    Ok(ReadFiles { exchanges, is_ended, is_simulated })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_that_stops_is_an_error_with_its_words_and_the_file() {
        let stopped = whole(Format::Har, &[PathBuf::from("a.har")], || panic!("no entries"));
        let said = stopped.err().map(|error| error.to_string());
        let due = "a.har: a mistake in retold's reader for har (no entries): please report it; what came is kept";
        assert_eq!(said.as_deref(), Some(due));
    }
}
