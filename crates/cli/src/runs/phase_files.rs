//! Output files as they are after the last phase of a run that is not finished: `outputs/NAME.partial`.
//!
//! The folder `outputs/NAME` is written completely or not at all, and an existing one is never written to. So the
//! files that a run has before its end are beside it. When the folder is written, they are removed.

use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::error::write_err;
use retold::draft::Draft;
use retold::run::{OutputFile, SIMULATED_MARK};

/// The suffix added to the name of a run's folder.
const SUFFIX: &str = ".partial";

/// The files of a run after its last phase.
#[derive(Debug, Clone)]
pub(crate) struct PhaseFiles {
    folder: PathBuf,
    /// Those that may be there.
    names: Vec<&'static str>,
}

impl PhaseFiles {
    /// Those of a run that writes this folder at its end.
    pub(crate) fn of(folder: &Path, names: &[&'static str]) -> Self {
        let mut beside = folder.as_os_str().to_owned();
        beside.push(SUFFIX);
        let names = names.iter().copied().chain([SIMULATED_MARK]).collect();
        PhaseFiles { folder: beside.into(), names }
    }

    /// Writes the files, each completely or not at all, in the place of earlier ones. An error does not stop the run.
    pub(crate) fn replace(&self, files: &[OutputFile]) {
        if let Err(e) = self.write(files) {
            let folder = self.folder.display();
            write_err(&format!("warning: {folder} is not up to date: it cannot be written: {e}\n"));
        }
    }

    fn write(&self, files: &[OutputFile]) -> io::Result<()> {
        match fs::create_dir(&self.folder) {
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists && self.is_folder() => {}
            made => made?,
        }
        for OutputFile { name, content } in files {
            let path = self.folder.join(name);
            let (draft, mut file) = Draft::file(&path)?;
            io::copy(&mut content.reader()?, &mut file)?;
            file.sync_all()?;
            fs::rename(draft.path(), &path)?;
        }
        Ok(())
    }

    /// Whether the folder is there, rather than a link, which is not followed.
    fn is_folder(&self) -> bool {
        self.folder.symlink_metadata().is_ok_and(|found| found.is_dir())
    }

    /// Removes them, and the folder unless others have put something there.
    pub(crate) fn remove(&self) {
        if !self.is_folder() {
            return;
        }
        // What cannot be removed does no harm.
        for name in &self.names {
            let _ = fs::remove_file(self.folder.join(name));
        }
        let _ = fs::remove_dir(&self.folder);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_put_there_stays() {
        let place = tempfile::tempdir().expect("a folder");
        let folder = place.path().join("pilot");
        let files = PhaseFiles::of(&folder, &["checkpoint.json"]);
        let checkpoint = |text: &str| [OutputFile::text("checkpoint.json", text)];
        files.replace(&checkpoint("1"));
        files.replace(&checkpoint("2"));
        let beside = place.path().join("pilot.partial");
        let read = fs::read_to_string(beside.join("checkpoint.json")).expect("it is there");
        assert_eq!((read.as_str(), fs::read_dir(&beside).expect("readable").count()), ("2", 1));
        fs::write(beside.join("notes.txt"), "mine").expect("writable");
        files.remove();
        assert_eq!(fs::read_to_string(beside.join("notes.txt")).expect("it stays"), "mine");
        assert!(!beside.join("checkpoint.json").exists());
        fs::remove_file(beside.join("notes.txt")).expect("removable");
        files.remove();
        assert!(!beside.exists() && !folder.exists());
    }
}
