//! Files that the program creates beside a user's file: a lease, a mark, a lock.
//!
//! Their names can be guessed, so anybody who can write to the folder can put something there
//! first: a link to a file that would then be truncated, another hard link to the log itself, a
//! device. Anything like that is refused and left as it is. Only a regular file with a single name
//! is opened, and only if its owner is allowed to write to the user's file.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Read};
use std::path::{Component, Path, PathBuf};

/// Why a file beside another one is not used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SidecarError {
    /// A symbolic link.
    #[error("{path} is a link, and links are not followed there")]
    Link {
        /// Where.
        path: String,
    },
    /// A folder, a device, a pipe.
    #[error("{path} is not a regular file")]
    NotAFile {
        /// Where.
        path: String,
    },
    /// A hard link: writing here would change a file elsewhere.
    #[error("{path} is a file that also has another name ({names} in all)")]
    ManyNames {
        /// Where.
        path: String,
        /// How many names it has.
        names: u64,
    },
    /// Created by a user who may not write to the file that it belongs to.
    #[error("{path} belongs to another user (uid {owner})")]
    Foreign {
        /// Where.
        path: String,
        /// The user's number.
        owner: u32,
    },
    /// The system reported an error.
    #[error("cannot open {path}: {source}")]
    Io {
        /// Where.
        path: String,
        /// The system's error.
        source: std::io::Error,
    },
}

/// The path of a file beside another one: its path with a suffix.
pub fn path(of: &Path, suffix: &str) -> PathBuf {
    let mut name = of.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// The path without links and `..`, also of a file that is gone. The files beside a log are named after the file,
/// not after a link to it.
pub fn canonical(path: &Path) -> PathBuf {
    std::fs::canonicalize(path)
        .ok()
        .or_else(|| resolve(path, &mut MOST_LINKS.clone(), &mut |_| {}))
        .unwrap_or_else(|| path.to_owned())
}

/// The endings of the names of a log's files, after the log's own name, except for leases and kept WALs.
const OF_A_LOG: &[&str] = &[
    "-mark", "-key", "-wal", "-shm", "-journal", "-search", "-search-wal", "-search-shm",
    "-search-journal",
];

/// The text between the log's name and the number of a WAL that was kept.
const KEPT_WALS: &[&str] = &["-wal.damaged-"];

/// The most links that are followed, as on Linux.
const MOST_LINKS: u32 = 40;

/// True if a file written to a path would replace a log, or a file that belongs to one by its name and folder, or would need
/// a folder there. Links are followed, also those that lead to nothing yet.
pub fn is_of_log(path: &Path) -> bool {
    let mut is_of_log = false;
    resolve(path, &mut MOST_LINKS.clone(), &mut |way| is_of_log = is_of_log || is_part_of_log(way));
    is_of_log
}

/// The same for a canonical path, as the files beside a log are named.
fn is_part_of_log(path: &Path) -> bool {
    if is_log(path) {
        return true;
    }
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return false };
    let of = |log: &str| !log.is_empty() && is_log(&path.with_file_name(log));
    let beside = OF_A_LOG.iter().filter_map(|ending| name.strip_suffix(ending));
    let kept = KEPT_WALS.iter().filter_map(|between| {
        let (log, number) = name.rsplit_once(between)?;
        number.bytes().all(|digit| digit.is_ascii_digit()).then_some(log)
    });
    let lease = name.strip_suffix(".lease").and_then(|name| {
        let (log, run) = name.rsplit_once('-')?;
        let is_id = run.len() == 16 && run.bytes().all(|digit| digit.is_ascii_hexdigit());
        is_id.then_some(log)
    });
    beside.chain(kept).chain(lease).any(of)
}

/// The absolute path without links and `..`, whether or not there is anything; `None` if it has too many links.
/// All folders on the way are `seen`, also those that a `..` leaves again.
fn resolve(path: &Path, links: &mut u32, seen: &mut dyn FnMut(&Path)) -> Option<PathBuf> {
    let mut whole = Path::new(".").canonicalize().ok()?;
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => drop(whole.pop()),
            // An absolute path replaces the path that it is added to.
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => {
                whole.push(component);
            }
        }
        if let Ok(target) = whole.read_link() {
            *links = links.checked_sub(1)?;
            whole.pop();
            whole = resolve(&whole.join(target), links, seen)?;
        }
        seen(&whole);
    }
    Some(whole)
}

/// True if a file begins like a log, or a file beside it shows that it is or was one: it may be damaged or gone.
fn is_log(path: &Path) -> bool {
    match path.metadata() {
        Ok(found) if found.is_file() => {
            self::path(path, "-mark").is_file()
                || begin(path).is_ok_and(|begin| &begin == b"SQLite format 3\0")
        }
        // Not a pipe or a device: reading from one consumes its bytes.
        Ok(_) => false,
        Err(_) => {
            let begin = |suffix: &str| begin(&self::path(path, suffix));
            begin("-wal").is_ok_and(|begin| begin.starts_with(&WAL))
                // The last byte of the first run's seq.
                || begin("-mark").is_ok_and(|begin| begin[15] == 0)
        }
    }
}

/// The first bytes of a WAL, but for the order of the bytes of its checksums.
const WAL: [u8; 3] = [0x37, 0x7f, 0x06];

fn begin(path: &Path) -> std::io::Result<[u8; 16]> {
    let mut begin = [0; 16];
    if !path.is_file() {
        return Err(ErrorKind::InvalidInput.into());
    }
    File::open(path)?.read_exact(&mut begin)?;
    Ok(begin)
}

/// Opens the file beside another one for reading and writing, and creates it, empty and with the
/// same permissions, if there is none. `of` should be canonical, so that all processes agree on the
/// name.
///
/// # Errors
/// [`SidecarError`]; nothing was changed.
pub fn open(of: &Path, suffix: &str) -> Result<File, SidecarError> {
    let path = path(of, suffix);
    loop {
        match make(of, &path) {
            Err(e) if e.kind() == ErrorKind::AlreadyExists => {}
            made => return made.map_err(|source| io(&path, source)),
        }
        // Another process may remove it in between.
        if let Some(file) = existing(of, &path, true)? {
            return Ok(file);
        }
    }
}

/// Opens the file beside another one for reading only; `None` if there is none.
///
/// # Errors
/// [`SidecarError`].
pub fn read(of: &Path, suffix: &str) -> Result<Option<File>, SidecarError> {
    existing(of, &path(of, suffix), false)
}

fn io(path: &Path, source: std::io::Error) -> SidecarError {
    SidecarError::Io { path: path.display().to_string(), source }
}

/// Creates a file; never opens an existing one or follows a link.
#[cfg(unix)]
fn make(of: &Path, path: &Path) -> std::io::Result<File> {
    use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
    let mode = std::fs::metadata(of)?.mode() & 0o666;
    let file = OpenOptions::new().read(true).write(true).create_new(true).mode(mode).open(path)?;
    // Everyone who shares the main file must be able to share this one, regardless of the first
    // user's umask.
    let _ = file.set_permissions(std::fs::Permissions::from_mode(mode));
    Ok(file)
}

#[cfg(not(unix))]
fn make(_of: &Path, path: &Path) -> std::io::Result<File> {
    OpenOptions::new().read(true).write(true).create_new(true).open(path)
}

/// Opens an existing file if it is of the expected kind; `None` if there is none.
#[cfg(unix)]
fn existing(of: &Path, path: &Path, write: bool) -> Result<Option<File>, SidecarError> {
    use rustix::fs::{Mode, OFlags};
    // Checked before it is opened: opening and closing the log itself under another name would drop
    // SQLite's locks on it.
    match path.symlink_metadata() {
        Ok(found) => check(of, path, &found)?,
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(io(path, source)),
    }
    let access = if write { OFlags::RDWR } else { OFlags::RDONLY };
    let flags = access | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NOCTTY | OFlags::NONBLOCK;
    let file = match rustix::fs::open(path, flags, Mode::empty()) {
        Ok(file) => File::from(file),
        Err(rustix::io::Errno::NOENT) => return Ok(None),
        Err(rustix::io::Errno::LOOP) => {
            return Err(SidecarError::Link { path: path.display().to_string() });
        }
        Err(e) => return Err(io(path, e.into())),
    };
    // It may have been replaced in between.
    check(of, path, &file.metadata().map_err(|e| io(path, e))?)?;
    Ok(Some(file))
}

#[cfg(not(unix))]
fn existing(_of: &Path, path: &Path, write: bool) -> Result<Option<File>, SidecarError> {
    let shown = path.display().to_string();
    match path.symlink_metadata() {
        Ok(found) if found.is_symlink() => return Err(SidecarError::Link { path: shown }),
        Ok(found) if !found.is_file() => return Err(SidecarError::NotAFile { path: shown }),
        Ok(_) => {}
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(io(path, source)),
    }
    match OpenOptions::new().read(true).write(write).open(path) {
        Ok(file) => Ok(Some(file)),
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
        Err(source) => Err(io(path, source)),
    }
}

/// Whether a path leads to an open file, or to another one by now.
#[cfg(unix)]
pub fn is_same_file(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (file.metadata(), path.symlink_metadata()) {
        (Ok(a), Ok(b)) => (a.dev(), a.ino()) == (b.dev(), b.ino()),
        _ => false,
    }
}

/// Whether a path leads to an open file, or to another one by now.
#[cfg(not(unix))]
pub fn is_same_file(_file: &File, path: &Path) -> bool {
    path.exists()
}

/// Locks a file or folder that was just made at a path, so that it cannot be mistaken for one left by a dead process; `None`
/// if somebody did so before, and it is gone.
pub fn lock_new(file: File, path: &Path) -> Option<File> {
    match file.try_lock() {
        Ok(()) => is_same_file(&file, path).then_some(file),
        Err(TryLockError::WouldBlock) => None,
        // Where files cannot be locked, nobody else can lock it either, so it is left alone.
        Err(TryLockError::Error(_)) => Some(file),
    }
}

#[cfg(unix)]
fn check(of: &Path, path: &Path, found: &std::fs::Metadata) -> Result<(), SidecarError> {
    use std::os::unix::fs::MetadataExt;
    let path = || path.display().to_string();
    if found.is_symlink() {
        return Err(SidecarError::Link { path: path() });
    }
    if !found.is_file() {
        return Err(SidecarError::NotAFile { path: path() });
    }
    // A file with no name left was just removed by another process; the code that locks it checks
    // for that.
    if found.nlink() > 1 {
        return Err(SidecarError::ManyNames { path: path(), names: found.nlink() });
    }
    let us = rustix::process::geteuid().as_raw();
    let shared = match std::fs::metadata(of) {
        Ok(shared) => FileOwner { user: shared.uid(), group: shared.gid(), mode: shared.mode() },
        // If the main file is gone, only our own files are trusted.
        Err(e) if e.kind() == ErrorKind::NotFound => {
            FileOwner { user: us, group: found.gid(), mode: 0 }
        }
        Err(source) => return Err(io(of, source)),
    };
    if is_trusted(found.uid(), found.gid(), &shared, us) {
        Ok(())
    } else {
        Err(SidecarError::Foreign { path: path(), owner: found.uid() })
    }
}

/// The owner of a file, and who may write it.
#[cfg(unix)]
struct FileOwner {
    user: u32,
    group: u32,
    mode: u32,
}

/// Whether a file was created by us or by somebody who may write to the shared file anyway.
#[cfg(unix)]
fn is_trusted(user: u32, group: u32, shared: &FileOwner, us: u32) -> bool {
    let by_group = shared.mode & 0o020 != 0 && group == shared.group;
    let by_all = shared.mode & 0o002 != 0;
    user == us || user == shared.user || by_group || by_all
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn log() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().expect("a folder");
        let log = folder.path().canonicalize().expect("a path").join("log.db");
        fs::write(&log, "the log").expect("written");
        (folder, log)
    }

    fn refused(log: &Path) -> String {
        let opened = open(log, ".lock").expect_err("it must not be opened").to_string();
        let read = read(log, ".lock").expect_err("nor read").to_string();
        assert_eq!(opened, read);
        opened.replace(&*log.to_string_lossy(), "LOG")
    }

    #[test]
    fn it_is_created_once_and_has_the_permissions_of_the_main_file() {
        let (_folder, log) = log();
        fs::set_permissions(&log, fs::Permissions::from_mode(0o660)).expect("changed");
        assert!(read(&log, ".lock").expect("readable").is_none(), "reading makes nothing");
        drop(open(&log, ".lock").expect("made"));
        let mode = fs::metadata(path(&log, ".lock")).expect("there").permissions().mode();
        assert_eq!(mode & 0o777, 0o660);
        fs::write(path(&log, ".lock"), "kept").expect("written");
        drop(open(&log, ".lock").expect("opened"));
        assert_eq!(fs::read_to_string(path(&log, ".lock")).expect("readable"), "kept");
        assert!(read(&log, ".lock").expect("readable").is_some());
    }

    #[test]
    fn planted_files_are_refused_and_left_alone() {
        let mut said = Vec::new();
        for planted in ["link", "dangling link", "hard link", "folder", "socket"] {
            let (folder, log) = log();
            let (victim, place) = (folder.path().join("victim"), path(&log, ".lock"));
            fs::write(&victim, "precious").expect("written");
            match planted {
                "link" => symlink(&victim, &place).expect("planted"),
                "dangling link" => symlink(folder.path().join("new"), &place).expect("planted"),
                "hard link" => fs::hard_link(&log, &place).expect("planted"),
                "folder" => fs::create_dir(&place).expect("planted"),
                _ => drop(std::os::unix::net::UnixListener::bind(&place).expect("planted")),
            }
            said.push(format!("{planted}: {}", refused(&log)));
            assert_eq!(fs::read_to_string(&victim).expect("readable"), "precious");
            assert_eq!(fs::read_to_string(&log).expect("readable"), "the log");
            assert!(!folder.path().join("new").exists());
        }
        insta::assert_snapshot!(said.join("\n"));
    }

    #[test]
    fn the_files_of_a_log_are_known_by_name_and_through_links() {
        let (folder, log) = log();
        let at = |name: &str| folder.path().join(name);
        assert!(!is_of_log(&log) && !is_of_log(&path(&log, "-mark")), "it is not a log yet");
        fs::write(&log, b"SQLite format 3\0...").expect("written");
        let kept = [
            "",
            "-mark",
            "-key",
            "-wal",
            "-shm",
            "-journal",
            "-search",
            "-search-journal",
            "-wal.damaged-1",
            "-0123456789abcdef.lease",
        ];
        for ending in kept {
            assert!(is_of_log(&path(&log, ending)), "{ending}");
        }
        for other in ["log.db.jsonl", "log.db-export.jsonl", "other.db-mark", "-mark", "new"] {
            assert!(!is_of_log(&at(other)), "{other}");
        }
        fs::write(path(&log, "-mark"), "marks").expect("written");
        symlink(path(&log, "-mark"), at("link")).expect("made");
        symlink("link", at("to link")).expect("made");
        symlink("log.db-wal", at("dangling")).expect("made");
        fs::create_dir(at("sub")).expect("made");
        symlink("../dangling", at("sub").join("far")).expect("made");
        symlink("loop", at("loop")).expect("made");
        let ways = [
            "link",
            "to link",
            "dangling",
            "sub/far",
            "sub/../log.db-shm",
            "none/../log.db-journal",
            "log.db-mark/../other",
            "log.db-journal/x/../../other",
            "log.db-journal/below/it",
        ];
        for way in ways {
            assert!(is_of_log(&at(way)), "{way}");
        }
        assert!(!is_of_log(&at("loop")) && !is_of_log(&at("sub")));
        let others = ["log.db-notes", "log.db-wal.damaged-x", "log.db-notes.lease", "other", "log"];
        for other in others {
            assert!(!is_of_log(&at(other)), "{other}");
        }
        // A log that is gone is known by its marks or its WAL, and not by a file that has such a name.
        let was = at("was.db");
        for (suffix, bytes) in [
            ("-mark", &[0; 128][..]),
            ("-wal", &[0x37, 0x7f, 0x06, 0x82, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
        ] {
            fs::write(path(&was, suffix), "a page, and nothing else").expect("written");
            assert!(!is_of_log(&was) && !is_of_log(&path(&was, suffix)), "{suffix}");
            fs::write(path(&was, suffix), bytes).expect("written");
            assert!(is_of_log(&was) && is_of_log(&path(&was, suffix)), "{suffix}");
            fs::remove_file(path(&was, suffix)).expect("removed");
        }
        // A log whose first page was lost is known by its marks.
        fs::write(&log, [0; 100]).expect("written");
        assert!(is_of_log(&log) && is_of_log(&path(&log, "-wal")));
    }

    #[test]
    fn only_users_who_may_write_the_log_are_trusted_with_the_file_beside_it() {
        let shared = |mode| FileOwner { user: 1, group: 10, mode };
        assert!(is_trusted(7, 70, &shared(0o600), 7), "our own");
        assert!(is_trusted(1, 70, &shared(0o600), 7), "the owner's");
        assert!(!is_trusted(2, 10, &shared(0o640), 7), "a stranger's");
        assert!(is_trusted(2, 10, &shared(0o660), 7), "a colleague's");
        assert!(!is_trusted(2, 20, &shared(0o660), 7), "not a colleague's");
        assert!(is_trusted(2, 20, &shared(0o666), 7), "a log that everyone may write");
    }
}
