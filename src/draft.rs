//! Files and folders that are written under a temporary name and moved into place when complete.
//!
//! A draft is locked while it is written, so that the leftovers of a killed process can be
//! distinguished from a draft that another process is writing. The next process that writes to the
//! same place removes leftovers. One that was removed before it was locked is made again.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use crate::leftovers::{self, Leftover};
use crate::sidecar::{is_of_log, lock_new};

/// An unfinished file or folder; removed when dropped unless it was moved into place.
pub struct Draft {
    left: Leftover,
    /// Locked while the draft is written. `None` on systems on which folders cannot be opened.
    _lock: Option<File>,
}

impl Draft {
    /// Creates the draft of a file for `path`, open for writing. It has the mode of the file that it will replace.
    ///
    /// # Errors
    /// It cannot be created, or [`OfLog`].
    pub fn file(path: &Path) -> io::Result<(Draft, File)> {
        refuse_log(path)?;
        loop {
            let draft = new_name(path)?;
            let file = OpenOptions::new().write(true).create_new(true).open(&draft)?;
            let Some(lock) = lock_new(file.try_clone()?, &draft) else { continue };
            let left = Leftover::new(draft);
            if let Ok(there) = path.symlink_metadata()
                && there.is_file()
            {
                let _ = file.set_permissions(there.permissions());
            }
            return Ok((Draft { left, _lock: Some(lock) }, file));
        }
    }

    /// Creates the draft of a folder for `path`.
    ///
    /// # Errors
    /// It cannot be created, or [`OfLog`]: SQLite cannot open a log beside a folder of such a name.
    pub fn folder(path: &Path) -> io::Result<Draft> {
        refuse_log(path)?;
        loop {
            let draft = new_name(path)?;
            match fs::create_dir(&draft) {
                Err(e) if e.kind() == io::ErrorKind::NotFound => {
                    fs::create_dir_all(folder_of(path))?;
                    // Anything that is there by now may be a link, which must not be followed.
                    fs::create_dir(&draft)?;
                }
                made => made?,
            }
            let lock = match File::open(&draft) {
                Ok(folder) => lock_new(folder, &draft),
                Err(e) if e.kind() == io::ErrorKind::NotFound => None,
                Err(_) => return Ok(Draft { left: Leftover::new(draft), _lock: None }),
            };
            if lock.is_some() {
                return Ok(Draft { left: Leftover::new(draft), _lock: lock });
            }
        }
    }

    /// The path of the draft.
    pub fn path(&self) -> &Path {
        self.left.path()
    }
}

/// Nothing is written in the place of a log, or of a file that belongs to one.
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error("it is a log or a file of one, which is never replaced")]
pub struct OfLog;

impl OfLog {
    /// Whether a file at this path would be refused: see [`is_of_log`].
    pub fn at(path: &Path) -> Option<Self> {
        is_of_log(path).then_some(OfLog)
    }
}

fn refuse_log(path: &Path) -> io::Result<()> {
    let refused = |refused| io::Error::new(io::ErrorKind::InvalidInput, refused);
    OfLog::at(path).map_or(Ok(()), |of_log| Err(refused(of_log)))
}

/// A name in the same folder, since a rename cannot cross file systems. Drafts of dead processes
/// are removed first.
fn new_name(path: &Path) -> io::Result<PathBuf> {
    let name = path.file_name().ok_or_else(|| io::Error::other("the path has no file name"))?;
    sweep(path, name);
    let mut random = [0u8; 8];
    getrandom::fill(&mut random).map_err(|e| io::Error::other(e.to_string()))?;
    let mut draft = begin(name);
    draft.push(format!("{:016x}{END}", u64::from_le_bytes(random)));
    Ok(folder_of(path).join(draft))
}

const END: &str = ".part";

fn begin(name: &OsStr) -> OsString {
    let mut begin = OsString::from(".");
    begin.push(name);
    begin.push(".");
    begin
}

/// Removes drafts for the same place whose process is dead: those that are not locked.
fn sweep(path: &Path, name: &OsStr) {
    let Ok(entries) = fs::read_dir(folder_of(path)) else { return };
    let begin = begin(name);
    for entry in entries.flatten() {
        let name = entry.file_name();
        let rest = name.as_encoded_bytes().strip_prefix(begin.as_encoded_bytes());
        let random = rest.and_then(|rest| rest.strip_suffix(END.as_bytes()));
        let is_draft =
            |random: &[u8]| random.len() == 16 && random.iter().all(u8::is_ascii_hexdigit);
        // It stays locked until it is gone.
        if random.is_some_and(is_draft)
            && let Some(_locked) = try_lock(&entry)
        {
            leftovers::remove(&entry.path());
        }
    }
}

/// A draft that nobody is writing any more, locked. A link is never one of our drafts.
fn try_lock(entry: &fs::DirEntry) -> Option<File> {
    let about = entry.metadata().ok()?;
    if about.is_symlink() || !(about.is_file() || about.is_dir()) {
        return None;
    }
    File::open(entry.path()).ok().filter(|file| file.try_lock().is_ok())
}

/// The folder that a path is in.
pub fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_drafts_of_dead_processes_are_removed() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("run.jsonl");
        let beside = |name: &str| {
            let file = place.path().join(name);
            fs::write(&file, "x").unwrap();
            file
        };
        let dead = beside(".run.jsonl.0123456789abcdef.part");
        let others = [
            beside(".run.jsonl.0123456789abcdef.bak"),
            beside(".other.jsonl.0123456789abcdef.part"),
            beside(".run.jsonl.mine.part"),
            beside("run.jsonl.0123456789abcdef.part"),
        ];
        let (live, _file) = Draft::file(&path).unwrap();
        assert!(!dead.exists(), "it was left a moment ago, by the clock or not");
        drop(Draft::file(&path).unwrap());
        for kept in others.iter().map(PathBuf::as_path).chain([live.path()]) {
            assert!(kept.exists(), "{}", kept.display());
        }
    }

    /// Whoever makes a draft while others look for leftovers has it, or makes another one.
    #[test]
    fn a_draft_is_never_taken_from_a_living_process() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("run.jsonl");
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        let (draft, _file) = Draft::file(&path).unwrap();
                        assert!(draft.path().exists());
                    }
                });
            }
        });
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
    }

    #[test]
    fn so_are_folders() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("study");
        let dead = place.path().join(".study.0123456789abcdef.part");
        fs::create_dir(&dead).unwrap();
        fs::write(dead.join("votes.csv"), "x").unwrap();
        let live = Draft::folder(&path).unwrap();
        drop(Draft::folder(&path).unwrap());
        assert!(!dead.exists());
        assert!(live.path().exists());
        fs::rename(live.path(), &path).unwrap();
        drop(live);
        assert!(path.exists());
    }
}
