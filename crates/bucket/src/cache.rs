//! Segments on this machine's disk, so that those that were read once need not be sent again.
//!
//! Objects never change, so nothing that is kept can be out of date. Each is kept under a hash of its address and of the
//! version that the store gives (its ETag). So if somebody did change it, or if the log was deleted and made again in the
//! same place, it is read from the store. Bytes from here are checked like those from the store, and verification reads the
//! store.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;

/// The program's folder in the user's cache: for segments, for indexes that cannot be beside their logs, and for the results
/// of verifying long runs.
#[expect(
    clippy::disallowed_methods,
    reason = "where a user's files are is said by the environment"
)]
pub fn user_cache() -> Option<PathBuf> {
    let named = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|p| p.is_absolute());
    let cache = named("XDG_CACHE_HOME").or_else(|| Some(named("HOME")?.join(".cache")))?;
    Some(cache.join("retold"))
}

/// The most bytes that are kept, of all logs together.
const MOST_BYTES: u64 = 4 << 30;

/// After how many bytes that were added it is looked whether there are too many.
const LOOKED_AFTER: u64 = 256 << 20;

/// The objects that are kept on this machine.
#[derive(Debug, Clone)]
pub(crate) struct Cache(Arc<Kept>);

#[derive(Debug)]
struct Kept {
    folder: PathBuf,
    /// The log.
    place: String,
    most: u64,
    /// The bytes added since the folder was looked at.
    added: AtomicU64,
    /// Distinguishes files that are being written.
    files: AtomicU64,
}

impl Cache {
    /// The cache of a log, in a folder that may have to be made.
    pub(crate) fn new(folder: PathBuf, place: String) -> Self {
        Cache::within(folder, place, MOST_BYTES)
    }

    fn within(folder: PathBuf, place: String, most: u64) -> Self {
        // The first addition looks at what earlier processes left.
        let added = AtomicU64::new(LOOKED_AFTER);
        Cache(Arc::new(Kept { folder, place, most, added, files: AtomicU64::new(0) }))
    }

    /// The bytes that are kept of an object, or of a part of it; `version` is the one that the store gives.
    pub(crate) fn get(&self, object: &str, version: &str) -> Option<Bytes> {
        fs::read(self.file(object, version)).ok().map(Bytes::from)
    }

    /// Keeps it. If that fails, as on a full disk, it is read from the store the next time.
    pub(crate) fn put(&self, object: &str, version: &str, bytes: &Bytes) {
        let file = self.file(object, version);
        let Some(folder) = file.parent() else { return };
        let number = self.0.files.fetch_add(1, Ordering::Relaxed);
        let begun = folder.join(format!("{}-{number}.part", std::process::id()));
        let written = make_folder(folder).and_then(|()| {
            write_file(&begun, bytes)?;
            fs::rename(&begun, &file)
        });
        if written.is_err() {
            let _ = fs::remove_file(&begun);
            return;
        }
        let size = bytes.len() as u64;
        if self.0.added.fetch_add(size, Ordering::Relaxed) + size >= LOOKED_AFTER {
            self.0.added.store(0, Ordering::Relaxed);
            let _ = shrink(&self.0.folder, self.0.most);
        }
    }

    fn file(&self, object: &str, version: &str) -> PathBuf {
        let mut hasher = blake3::Hasher::new();
        for part in [&*self.0.place, object, version] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
        let name = hasher.finalize().to_hex();
        let (folder, name) = name.split_at(2);
        self.0.folder.join(folder).join(name)
    }
}

/// Makes a folder that nobody else can read: prompts and answers are in it.
fn make_folder(folder: &Path) -> std::io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

fn write_file(file: &Path, bytes: &Bytes) -> std::io::Result<()> {
    let mut options = fs::File::options();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.write(true).create_new(true).open(file)?.write_all(bytes)
}

/// Removes the files that were added first, until a quarter is free.
fn shrink(folder: &Path, most: u64) -> std::io::Result<()> {
    let mut files = Vec::new();
    for inner in fs::read_dir(folder)?.filter_map(Result::ok) {
        let Ok(entries) = fs::read_dir(inner.path()) else { continue };
        for entry in entries.filter_map(Result::ok) {
            let Ok(about) = entry.metadata() else { continue };
            files.push((about.modified().ok(), about.len(), entry.path()));
        }
    }
    let mut bytes: u64 = files.iter().map(|(_, size, _)| size).sum();
    if bytes <= most {
        return Ok(());
    }
    files.sort_unstable();
    for (_, size, file) in files {
        if bytes <= most / 4 * 3 {
            break;
        }
        // Another process may have been faster.
        let _ = fs::remove_file(file);
        bytes -= size;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_kept_is_found_under_its_place_object_and_version_alone() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::new(folder.path().join("retold/objects"), "s3://lab/log".to_owned());
        let bytes = Bytes::from_static(b"a segment");
        cache.put("runs/1/1", "etag", &bytes);
        assert_eq!(cache.get("runs/1/1", "etag"), Some(bytes));
        assert_eq!(cache.get("runs/1/1", "changed"), None);
        assert_eq!(cache.get("runs/1/2", "etag"), None);
        let other = Cache::new(folder.path().join("retold/objects"), "s3://lab/lo".to_owned());
        assert_eq!(other.get("gruns/1/1", "etag"), None);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
            let file = cache.file("runs/1/1", "etag");
            assert_eq!([mode(&file), mode(file.parent().unwrap())], [0o600, 0o700]);
        }
    }

    #[test]
    fn what_was_kept_first_is_removed_when_there_is_too_much() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::within(folder.path().to_owned(), "s3://lab".to_owned(), 1000);
        let bytes = Bytes::from(vec![7; 100]);
        for n in 0..12_u64 {
            cache.put("object", &n.to_string(), &bytes);
            let file = fs::File::options().append(true).open(cache.file("object", &n.to_string()));
            let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(n);
            file.unwrap().set_modified(time).unwrap();
        }
        let next = Cache::within(folder.path().to_owned(), "s3://lab".to_owned(), 1000);
        next.put("object", "12", &bytes);
        let left: Vec<u64> =
            (0..13).filter(|n| cache.get("object", &n.to_string()).is_some()).collect();
        assert_eq!(left, [6, 7, 8, 9, 10, 11, 12]);
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_no_error() {
        let folder = tempfile::tempdir().unwrap();
        let taken = folder.path().join("file");
        fs::write(&taken, "not a folder").unwrap();
        let cache = Cache::new(taken.clone(), "s3://lab".to_owned());
        cache.put("object", "1", &Bytes::from_static(b"x"));
        assert_eq!(cache.get("object", "1"), None);
        assert_eq!(fs::read(&taken).unwrap(), b"not a folder");
    }
}
