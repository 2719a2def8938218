//! The log file of a run that writes an output folder: `outputs/NAME.log`, written line by line during the run. It stays when
//! the run has ended.
//!
//! It is for people: nothing is read from it, so it is not an output and has no digest.

use std::ffi::OsStr;
use std::fs::{File, TryLockError};
use std::io::{BufRead, BufReader, Read, Seek, Write};
use std::path::{Path, PathBuf};

use crate::error::{CliError, Status, write_err};
use retold::run::Mode;
use retold::sidecar;

/// The first line of every such file, so that other files are never overwritten.
const MARK: &str = "# written by retold while the run goes on\n";

/// What to do about a file that cannot be written.
const MEND: &str = "nothing was recorded: fix this, or use --no-outputs";

/// A file that is being written.
pub(crate) struct LiveFile {
    path: PathBuf,
    /// `None` after a write has failed.
    file: Option<File>,
}

impl LiveFile {
    /// Opens the file next to a run's folder, and empties it unless the run is resumed.
    pub(crate) fn open(folder: &Path, mode: Mode) -> Result<LiveFile, CliError> {
        let io = |path: &Path, e: &dyn std::fmt::Display| {
            CliError::new(Status::Io, format!("cannot write {}: {e}", path.display())).hint(MEND)
        };
        let (parent, suffix) = place(folder);
        std::fs::create_dir_all(&parent).map_err(|e| io(&parent, &e))?;
        let path = sidecar::path(&parent, &suffix);
        // Such an error names the file itself.
        let mut file = sidecar::open(&parent, &suffix)
            .map_err(|e| CliError::new(Status::Io, e.to_string()).hint(MEND))?;
        let shown = path.display();
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let message = format!("{shown} is being written by another process");
                return Err(CliError::usage(message).hint("its run is still going: wait for it"));
            }
            Err(TryLockError::Error(e)) => return Err(io(&path, &e)),
        }
        if !is_ours(&file).map_err(|e| io(&path, &e))? {
            let message = format!("{shown} already exists and is not the log of a run");
            return Err(CliError::usage(message).hint("move it away, or use --no-outputs"));
        }
        begin(&mut file, mode).map_err(|e| io(&path, &e))?;
        Ok(LiveFile { path, file: Some(file) })
    }

    /// Writes lines. A write error does not stop the run.
    pub(crate) fn write(&mut self, lines: &str) {
        let Some(file) = self.file.as_mut().filter(|_| !lines.is_empty()) else { return };
        if let Err(e) = file.write_all(lines.as_bytes()).and_then(|()| file.flush()) {
            let path = self.path.display();
            write_err(&format!("warning: {path} ends here: it cannot be written: {e}\n"));
            self.file = None;
        }
    }
}

/// Goes to where lines are written: after the mark, or after the lines of earlier executions.
fn begin(file: &mut File, mode: Mode) -> std::io::Result<()> {
    let length = file.seek(std::io::SeekFrom::End(0))?;
    if mode != Mode::Resume || length < MARK.len() as u64 {
        file.set_len(0)?;
        file.rewind()?;
        return file.write_all(MARK.as_bytes());
    }
    // A process that was killed may have left half a line.
    let mut last = [0];
    file.seek(std::io::SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    if last == *b"\n" { Ok(()) } else { file.write_all(b"\n") }
}

/// The location of a folder's file: the folder's parent, and the suffix that is appended to it.
fn place(folder: &Path) -> (PathBuf, String) {
    let parent = folder.parent().unwrap_or(Path::new("")).to_owned();
    let name = folder.file_name().unwrap_or(OsStr::new("")).to_string_lossy();
    (parent, format!("{}{name}.log", std::path::MAIN_SEPARATOR))
}

/// Whether a file is empty or begins with our first line. A file that was cut off within that line
/// counts.
fn is_ours(file: &File) -> std::io::Result<bool> {
    let (mut file, mut first) = (file, String::new());
    file.rewind()?;
    let longest = MARK.len() as u64;
    match BufReader::new(file.take(longest)).read_line(&mut first) {
        Ok(_) => Ok(MARK.starts_with(&first)),
        Err(e) if e.kind() == std::io::ErrorKind::InvalidData => Ok(false),
        Err(e) => Err(e),
    }
}

/// Removes the file next to a run's folder, and the folder of both if nothing else is in it. What cannot be removed does no
/// harm.
pub(crate) fn remove(folder: &Path) {
    let (parent, suffix) = place(folder);
    let path = sidecar::path(&parent, &suffix);
    if File::open(&path).is_ok_and(|file| is_ours(&file).unwrap_or(false)) {
        let _ = std::fs::remove_file(&path);
        let _ = std::fs::remove_dir(&parent);
    }
}
