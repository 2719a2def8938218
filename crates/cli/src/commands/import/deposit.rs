//! `retold import FOLDER` of a deposit: a reader's way back.
//!
//! Files are compared with their hashes, and recordings are imported. Then each run of a study is replayed, answers are parsed
//! again, and each figure is computed and compared.

mod again;
mod shown;

use std::collections::BTreeSet;
use std::path::Path;

use crate::error::{CliError, NOTHING_IMPORTED, Status};
use crate::global::Global;
use crate::output::Output;
use crate::runs::run_figures::{named_tables, searches};
use crate::select::{self, RunSelection};
use again::{RunAgain, run_again};
use retold::exchange::{ImportError, Recording, accepted_about, import_recording, read_recording};
use retold::id::RunId;
use retold::jsonl::{JsonlReader, read_whole};
use retold::log::Log;
use retold_deposit::sums::{SUMS, check_folder};
use retold_deposit::{
    DEFINITIONS, DepositedRun, ExpectedRow, FIGURES, MANIFEST, Manifest, RowComparison, compare,
    expected_rows, read_rows,
};
use retold_figures::FiguresFile;
use retold_study::config::load;

use super::sound;

/// The longest of the files of a deposit that are read whole, in bytes.
const LONGEST: u64 = 64 << 20;

/// How many wrong files are named; the rest are counted.
const NAMED: usize = 20;

/// A deposit that was replayed.
struct ReplayedDeposit {
    folder: String,
    /// Whether a program made answers up.
    is_simulated: bool,
    runs: Vec<RunAgain>,
    rows: Vec<RowComparison>,
}

impl ReplayedDeposit {
    fn is_same(&self) -> bool {
        self.runs.iter().all(RunAgain::is_same)
            && self.rows.iter().all(|row| row.different.is_empty())
    }
}

/// Whether a path is that of a deposit, also of one that lacks a file.
pub(super) fn is_one(path: &Path) -> bool {
    path.is_dir() && [MANIFEST, SUMS].iter().any(|name| path.join(name).is_file())
}

pub(super) fn run(folder: &Path, global: &Global, output: &Output) -> Result<Status, CliError> {
    check_files(folder)?;
    let manifest = manifest(folder)?;
    let expected = read_rows(&read(folder, FIGURES)?).map_err(|error| {
        changed(folder, FIGURES, &format!("it is not a table of figures: {error}"))
    })?;
    let mut recordings = Vec::new();
    for of in &manifest.runs {
        recordings.push(recording(folder, of)?);
    }
    let log = Log::new(global.open_or_create()?);
    refuse_other_decisions(&log, &manifest)?;
    let mut added = Vec::new();
    for recording in &recordings {
        added.push(import_recording(log.backend().as_ref(), recording)?.added);
    }
    let mut runs = Vec::new();
    for (of, added) in manifest.runs.iter().zip(added) {
        runs.push(run_again(&log, of, added, global)?);
    }
    let rows = compare(&expected, &figures(folder, &manifest, &log, global)?);
    let mut is_simulated = false;
    for run in manifest.of_figures() {
        is_simulated |= select::run_start(log.reader()?.as_mut(), run)?.is_simulated();
    }
    let folder = folder.display().to_string();
    let replayed = ReplayedDeposit { folder, is_simulated, runs, rows };
    replayed.print(output)?;
    Ok(if replayed.is_same() { Status::Fine } else { Status::Difference })
}

/// Compares each file with its hash, before anything is read from it.
fn check_files(folder: &Path) -> Result<(), CliError> {
    let faults = check_folder(folder).map_err(|error| {
        let list = folder.join(SUMS);
        CliError::new(Status::Io, format!("{}: {error}", list.display()))
            .hint("a deposit has the hashes of its files in SHA256SUMS")
    })?;
    if faults.is_empty() {
        return Ok(());
    }
    let mut lines: Vec<String> = faults.iter().take(NAMED).map(ToString::to_string).collect();
    let more = faults.len().saturating_sub(NAMED);
    lines.extend((more > 0).then(|| format!("and {more} more")));
    let message = format!("{}:\n{}", folder.display(), lines.join("\n"));
    Err(CliError::new(Status::Difference, message).hint(NOTHING_IMPORTED))
}

fn manifest(folder: &Path) -> Result<Manifest, CliError> {
    let bytes = read(folder, MANIFEST)?;
    let manifest = Manifest::parse(&String::from_utf8_lossy(&bytes))
        .map_err(|error| changed(folder, "", &error.to_string()))?;
    match manifest.texts {
        true => Ok(manifest),
        false => Err(CliError::usage(format!(
            "{}: its files are as deposited, and it has no texts, so that there is nothing to replay",
            folder.display()
        ))
        .hint("`python3 figures.py` in this folder computes its figures from clusters.csv and compares them")
        .hint(NOTHING_IMPORTED)),
    }
}

/// Reads a recording, which has to be the run that the manifest names.
fn recording(folder: &Path, of: &DepositedRun) -> Result<Recording, CliError> {
    let name = of.recording();
    let path = folder.join(&name);
    let read = read_recording(JsonlReader::open(&path).map_err(ImportError::from)?)?;
    sound(&read, &path.display().to_string())?;
    match (read.run, Some(read.head.hash)) == (of.run, of.head) {
        true => Ok(read),
        false => Err(changed(folder, &name, &format!("it is not the run that {MANIFEST} names"))),
    }
}

/// Decisions that a log has about the same answers besides would change the figures.
fn refuse_other_decisions(log: &Log, manifest: &Manifest) -> Result<(), CliError> {
    let ours: BTreeSet<RunId> = manifest.runs.iter().map(|of| of.run).collect();
    for run in manifest.of_figures() {
        let accepted = accepted_about(log.reader()?.as_mut(), run)?;
        if let Some(other) = accepted.into_iter().find(|other| !ours.contains(other)) {
            let message = format!(
                "the log has other decisions about run {}, accepted in run {}: figures would be of them",
                run.short(8),
                other.short(8)
            );
            return Err(CliError::usage(message)
                .hint("import into a log of its own: `retold --log NEW.db import FOLDER`")
                .hint(NOTHING_IMPORTED));
        }
    }
    Ok(())
}

/// The figures of a deposit, computed from the log.
fn figures(
    folder: &Path,
    manifest: &Manifest,
    log: &Log,
    global: &Global,
) -> Result<Vec<ExpectedRow>, CliError> {
    let path = folder.join(DEFINITIONS);
    let text = String::from_utf8_lossy(&read(folder, DEFINITIONS)?).into_owned();
    let file: FiguresFile = load(&path, &text)?;
    let figures = file.definitions();
    let figures = figures.map_err(|error| changed(folder, DEFINITIONS, &error.to_string()))?;
    let selected = manifest.of_figures().map(|run| RunSelection { log: log.clone(), run });
    let selected: Vec<RunSelection> = selected.collect();
    if figures.is_empty() {
        return Ok(Vec::new());
    }
    let tables = named_tables(&selected, &figures, global)?;
    let searches = searches(&selected, &tables, global)?;
    Ok(expected_rows(&tables, &searches))
}

fn read(folder: &Path, name: &str) -> Result<Vec<u8>, CliError> {
    Ok(read_whole(&folder.join(name), LONGEST)?)
}

/// The error of a file whose hash fits and that is something else.
fn changed(folder: &Path, name: &str, what: &str) -> CliError {
    let place = folder.join(name);
    CliError::new(Status::Difference, format!("{}: {what}", place.display())).hint(NOTHING_IMPORTED)
}
