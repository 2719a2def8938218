//! The folder of a run's outputs: the next free one with its name, written completely or not at
//! all.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Component, Path, PathBuf};

use crate::error::{CliError, Status};
use crate::runs::settings::experiment_of;
use crate::select;
use retold::draft::Draft;
use retold::escaping::printable;
use retold::event::RunStarted;
use retold::id::RunId;
use retold::log::Log;
use retold::run::{AnyExperiment, OutputFile, RunRecord, SIMULATED_MARK};
use retold_study::run_name::{FOLDER_NUMBER, folder_number, numbered_name};
use retold_study::settings::ExperimentSettings;
use retold_study::studies::Studies;

/// The folder that output folders are in.
const PARENT: &str = "outputs";

/// The folder that a run writes when it has finished, if its settings name one: `outputs/NAME`, or
/// `outputs/NAME-2` and so on if there were earlier runs with the same name.
pub(crate) struct OutputFolder {
    name: String,
    path: PathBuf,
}

/// Whether a run writes its folder.
#[derive(Debug, Clone, Copy, Default, clap::Args)]
pub(crate) struct FolderArgs {
    /// Write no output folder: `retold export RUN --as outputs` makes it later. A run that was started
    /// with this flag, or as a fork with other questions, is also resumed without a folder, unless --outputs is given; with
    /// --resume, the flag applies only this time.
    #[arg(long)]
    no_outputs: bool,
    /// If the output folder exists, write the next free one (outputs/NAME-2, and so on) instead of
    /// refusing to start.
    #[arg(long, conflicts_with_all = ["no_outputs", "resume"])]
    new_folder: bool,
    /// With --resume: write the output folder, even if the run was started with --no-outputs.
    #[arg(long, requires = "resume", conflicts_with = "no_outputs")]
    outputs: bool,
    /// For a run that has started: which of the folders with its name it writes.
    #[arg(skip)]
    number: Option<u32>,
}

/// The setting of a run that writes no folder.
const NO_OUTPUTS: &str = "no_outputs";

impl FolderArgs {
    /// Adds what a resume needs to know to a run's settings.
    pub(crate) fn remember(self, settings: &mut serde_json::Value) {
        let Some(settings) = settings.as_object_mut() else { return };
        if self.no_outputs {
            settings.insert(NO_OUTPUTS.to_owned(), true.into());
        }
        if let Some(number) = self.number.filter(|number| *number > 1) {
            settings.insert(FOLDER_NUMBER.to_owned(), number.into());
        }
    }

    /// Refuses to start a run whose folder exists, before anything is paid for, unless the next free one may be written.
    ///
    /// # Errors
    /// If the folder exists.
    pub(crate) fn accepts(self, folder: &OutputFolder) -> Result<(), CliError> {
        if self.new_folder {
            return Ok(());
        }
        let next = path_for(&folder.name, 2)
            .map_or_else(|_| "another folder".to_owned(), |next| next.display().to_string());
        refuse_existing(&folder.path).map_err(|e| {
            CliError::usage(e.message).hint(format!(
                "nothing was recorded: move the folder away, or add --new-folder to write {next} (or the next free one), or --no-outputs"
            ))
        })
    }

    /// Chooses one of the folders with the name.
    pub(crate) fn with_number(self, number: u32) -> Self {
        FolderArgs { number: Some(number), ..self }
    }

    /// What was given now or when the run was started. A fork without a name writes no folder, because its settings name that
    /// of its parent.
    pub(crate) fn or_remembered(self, started: &RunStarted) -> Self {
        let is_nameless = started.forked_from.is_some() && started.name().is_none();
        let began_without = !is_wanted(&started.settings) || is_nameless;
        let no_outputs = self.no_outputs || (!self.outputs && began_without);
        FolderArgs { no_outputs, number: folder_number(&started.settings), ..self }
    }
}

/// Whether a run writes a folder at all, according to its settings.
pub(crate) fn is_wanted(settings: &serde_json::Value) -> bool {
    settings[NO_OUTPUTS] != true
}

/// A folder that was written.
pub(crate) struct WrittenFolder {
    pub(crate) folder: String,
    pub(crate) files: usize,
}

impl OutputFolder {
    /// The folder of a run with the given settings.
    pub(crate) fn new(
        studies: &Studies,
        experiment: &str,
        settings: &ExperimentSettings,
        args: FolderArgs,
    ) -> Result<Option<OutputFolder>, CliError> {
        if args.no_outputs {
            return Ok(None);
        }
        // The experiment itself cannot be built yet if its personas are still to be fetched.
        let name = studies.output_name(experiment, settings);
        let name = name.map_err(|e| CliError::usage(e.to_string()))?;
        let Some(name) = name else { return Ok(None) };
        let path = path_for(&name, args.number.unwrap_or(1));
        let path = path.map_err(|e| e.hint("--no-outputs runs without the folder"))?;
        Ok(Some(OutputFolder { name, path }))
    }

    /// Checks, before anything is paid for, that the folder can be created at the end.
    pub(crate) fn can_be_made(&self) -> Result<(), CliError> {
        let path = &self.path;
        Draft::folder(path).map(drop).map_err(|e| {
            CliError::new(Status::Io, format!("cannot make {}: {e}", path.display()))
                .hint("nothing was recorded: fix this, or use --no-outputs")
        })
    }

    /// The first folder with the name, starting with this one, that does not exist and is not taken
    /// according to `is_taken`, with its number.
    pub(crate) fn next_free(
        mut self,
        mut is_taken: impl FnMut(u32, &str) -> Result<bool, CliError>,
    ) -> Result<(Self, u32), CliError> {
        let mut number = 1;
        while self.path.symlink_metadata().is_ok()
            || is_taken(number, &numbered_name(&self.name, number))?
        {
            number += 1;
            self.path = path_for(&self.name, number)?;
        }
        Ok((self, number))
    }

    /// Its path.
    pub(crate) fn place(&self) -> PathBuf {
        self.path.clone()
    }

    /// Writes the folder of a finished run. An existing folder is not changed; if its contents are
    /// the same, it counts as written. `made` has the files if they have already been made.
    pub(crate) fn write(
        &self,
        studies: &Studies,
        log: &Log,
        run: RunId,
        made: Option<Vec<OutputFile>>,
    ) -> Result<WrittenFolder, CliError> {
        let folder = &self.path;
        let mut reader = log.reader()?;
        let files = match made {
            Some(made) => with_mark(made, select::run_start(reader.as_mut(), run)?.is_simulated()),
            None => {
                let mut record = RunRecord::read(reader.as_mut(), run)?;
                files(experiment_of(studies, &record)?.as_ref(), &mut record)?
            }
        };
        if !holds(folder, &files) {
            let again =
                format!("the run is kept: `retold export {} FOLDER --as outputs`", run.short(8));
            refuse_existing(folder).map_err(|e| e.hint(again))?;
            write_folder(folder, &files)?;
        }
        Ok(WrittenFolder { folder: folder.display().to_string(), files: files.len() })
    }
}

/// The folder for a name. The name may come from a recording, whose settings no config loader has
/// checked, so it must not lead anywhere else.
pub(crate) fn path_for(name: &str, number: u32) -> Result<PathBuf, CliError> {
    if is_plain(name) && !name.starts_with('.') {
        Ok(Path::new(PARENT).join(numbered_name(name, number)))
    } else {
        Err(CliError::usage(format!(
            "the run's settings name its output folder {:?}, which is not a plain name",
            printable(name, 100)
        )))
    }
}

/// Whether a text is a plain file name, rather than a path or a text that looks like another name.
fn is_plain(name: &str) -> bool {
    let mut parts = Path::new(name).components();
    let one = matches!((parts.next(), parts.next()), (Some(Component::Normal(part)), None) if part == name);
    // File systems allow 255 bytes; a draft's name is longer.
    one && name.len() <= 200 && !name.contains(['/', '\\', ':']) && printable(name, 200) == name
}

/// The files of a run's folder.
pub(crate) fn files(
    experiment: &dyn AnyExperiment,
    record: &mut RunRecord<'_>,
) -> Result<Vec<OutputFile>, CliError> {
    let files = experiment.outputs_any(record)?;
    if files.is_empty() {
        let name = &record.started.experiment;
        return Err(CliError::usage(format!("experiment {name} has no outputs")));
    }
    Ok(with_mark(files, record.started.is_simulated()))
}

/// The files of a folder, plus the one that says that the answers are simulated.
pub(crate) fn with_mark(mut files: Vec<OutputFile>, simulated: bool) -> Vec<OutputFile> {
    if simulated {
        files.push(OutputFile::text(SIMULATED_MARK, select::SIMULATED));
    }
    files
}

/// Output folders are never overwritten.
pub(crate) fn refuse_existing(folder: &Path) -> Result<(), CliError> {
    CliError::refuse_log(folder)?;
    match folder.symlink_metadata() {
        Err(_) => Ok(()),
        Ok(_) => Err(CliError::usage(format!("{} already exists", folder.display()))
            .hint("it was not changed: move it away, or choose another name")),
    }
}

/// Writes a folder completely or not at all: under another name first, then renamed.
pub(crate) fn write_folder(folder: &Path, files: &[OutputFile]) -> Result<(), CliError> {
    let written = Draft::folder(folder).and_then(|draft| {
        fill(draft.path(), files)?;
        fs::rename(draft.path(), folder)
    });
    written.map_err(|e| {
        CliError::new(Status::Io, format!("cannot write {}: {e}", folder.display()))
            .hint("the run itself is safe in the log: `retold export RUN FOLDER --as outputs`")
    })
}

fn fill(folder: &Path, files: &[OutputFile]) -> std::io::Result<()> {
    for OutputFile { name, content } in files {
        if !is_plain(name) {
            let message = format!("{:?} is not a plain file name", printable(name, 100));
            return Err(std::io::Error::new(std::io::ErrorKind::InvalidInput, message));
        }
        let mut file = fs::File::create_new(folder.join(name))?;
        std::io::copy(&mut content.reader()?, &mut file)?;
        file.sync_all()?;
    }
    Ok(())
}

/// Whether a folder has these files, byte for byte.
fn holds(folder: &Path, files: &[OutputFile]) -> bool {
    let same = |file: &OutputFile| {
        let there = fs::File::open(folder.join(&file.name));
        there.and_then(|there| same_bytes(there, file.content.reader()?)).unwrap_or(false)
    };
    files.iter().all(same)
}

fn same_bytes(a: impl Read, b: impl Read) -> std::io::Result<bool> {
    let (mut a, mut b) = (BufReader::new(a), BufReader::new(b));
    loop {
        let (left, right) = (a.fill_buf()?, b.fill_buf()?);
        let both = left.len().min(right.len());
        if left[..both] != right[..both] || both == 0 {
            return Ok(left.is_empty() && right.is_empty());
        }
        a.consume(both);
        b.consume(both);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_cannot_be_filled_is_not_there_at_all() {
        let place = tempfile::tempdir().expect("a folder");
        let folder = place.path().join("outputs");
        let files = |second: &str| [OutputFile::text("one", "1"), OutputFile::text(second, "2")];
        let error = write_folder(&folder, &files("no_such_folder/two")).expect_err("it must fail");
        assert_eq!(error.status, Status::Io);
        assert_eq!(fs::read_dir(place.path()).expect("readable").count(), 0, "nothing is left");
        write_folder(&folder, &files("two")).expect("it works now");
        assert!(holds(&folder, &files("two")));
        assert!(!holds(&folder, &files("three")));
    }
}
