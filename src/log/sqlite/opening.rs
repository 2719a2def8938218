//! The ways to open a log's file.

use std::path::Path;
use std::sync::Arc;

use rusqlite::OpenFlags;

use super::descriptors::HeldFile;
use super::{FileUse, PAGE_BYTES, SqliteBackend, SqliteOptions, WalUse, header, schema, space};
use crate::log::error::{LogError, RewordedError};
use crate::log::finding::{Fault, FileFault};
use crate::scratch_folder::ScratchFolder;

/// The longest name of a file, in bytes, on all common systems.
const LONGEST_NAME: usize = 255;

/// How many bytes the names of the files beside a log add to its own: a lease has the most.
const LONGEST_SUFFIX: usize = "-0123456789abcdef.lease".len();

impl SqliteBackend {
    pub(super) fn at(path: &Path, options: SqliteOptions) -> Self {
        SqliteBackend {
            path: path.to_owned(),
            use_of_file: FileUse::Shared,
            damaged: None,
            idle: Arc::default(),
            options,
            lost: Arc::default(),
            wal_use: WalUse::Merged,
            had_tables: false,
            defect: None,
        }
    }

    /// Opens a log for reading and appending; creates it if it does not exist.
    ///
    /// # Errors
    /// [`LogError`]: it is not a log, has a newer format, or cannot be written.
    pub fn open_or_create(path: &Path, options: SqliteOptions) -> Result<Self, LogError> {
        let is_new = !path.exists();
        let backend = SqliteBackend::at(path, options);
        backend.refuse_special_files()?;
        backend.has_room_to_begin()?;
        if is_new {
            has_room_for_suffixes(path)?;
            // If it cannot be created, SQLite says why.
            let _ = create_private(path);
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        backend.begin(is_new, |backend| {
            if backend.wal_use == WalUse::Ignored {
                backend.alone()
            } else {
                backend.make(backend.to_write(flags)?)
            }
        })
    }

    /// Whether a file that begins with these bytes is a log.
    pub fn is_log(begin: &[u8]) -> bool {
        let id = schema::APPLICATION_ID.to_be_bytes();
        begin.starts_with(b"SQLite format 3\0") && begin.get(68..72) == Some(&id[..])
    }

    /// Keeps the handles through which a file was read, for as long as this is held or the file is open. Code that reads the
    /// file before it is opened need not open it again each time.
    pub fn hold(path: &Path) -> HeldFile {
        HeldFile::new(path)
    }

    /// If a log is shorter than its header says: that it was cut off.
    pub fn cut_off(path: &Path) -> Option<FileFault> {
        header::cut_off(path)
    }

    /// Creates a log in a folder of its own, which is removed with it.
    pub(in crate::log) fn scratch() -> Result<Self, LogError> {
        let failed = |source: std::io::Error| {
            let words = format!("{source}; set TMPDIR to use another folder");
            LogError::failure("a temporary folder", RewordedError { words, source })
        };
        let folder = ScratchFolder::make().map_err(failed)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        let file = folder.path().join("scratch.db");
        create_private(&file).map_err(failed)?;
        let at = Self::at(&file, SqliteOptions::default());
        let scratch = SqliteBackend { use_of_file: FileUse::Scratch(Arc::new(folder)), ..at };
        scratch.begin(true, |backend| backend.make(backend.to_write(flags)?))
    }

    /// Opens an existing log; in a read-only location, for reading only.
    ///
    /// # Errors
    /// [`LogError`]: it is missing, is not a log, or has a newer format.
    pub fn open(path: &Path, options: SqliteOptions) -> Result<Self, LogError> {
        if !path.exists() && !Self::is_gone(path)? {
            return Err(LogError::Missing { path: path.display().to_string() });
        }
        // A process that was killed while creating the file may have left one without tables: they
        // are created now.
        let backend = SqliteBackend::at(path, options);
        backend.refuse_special_files()?;
        backend.although_malformed(|backend| {
            backend.begin(false, |backend| backend.to_read(|db| backend.make(db)))
        })
    }

    /// Opens an existing log to be looked at, perhaps while others write to it: nothing is written to
    /// the file, its WAL or its folder, not even what opening a log may mend or copy.
    ///
    /// # Errors
    /// [`LogError`]: it is missing, is not a log, or has a newer format.
    pub fn open_unchanged(path: &Path, options: SqliteOptions) -> Result<Self, LogError> {
        if !path.exists() && !Self::is_gone(path)? {
            return Err(LogError::Missing { path: path.display().to_string() });
        }
        let backend =
            SqliteBackend { use_of_file: FileUse::Looked, ..SqliteBackend::at(path, options) };
        backend.refuse_special_files()?;
        backend.although_malformed(|backend| backend.begin(false, SqliteBackend::only_reading))
    }

    /// Opens a file. If an entry of its schema is malformed, such as the text of a trigger, it is opened without that: the
    /// tables may be as they were.
    fn although_malformed(
        self,
        open: impl Fn(Self) -> Result<Self, LogError>,
    ) -> Result<Self, LogError> {
        match open(self.clone()) {
            Err(error) => match error {
                LogError::Damaged { ref fault, .. } => match &**fault {
                    Fault::File(malformed @ FileFault::Schema { .. }) => {
                        let defect = Some(Arc::new(malformed.clone()));
                        open(SqliteBackend { defect, ..self }).map_err(|_| error)
                    }
                    _ => Err(error),
                },
                _ => Err(error),
            },
            opened => opened,
        }
    }

    /// Refuses what SQLite would take for something else: a pipe or a device for a failing disk, and
    /// a file of one byte for an empty one, which it would overwrite.
    fn refuse_special_files(&self) -> Result<(), LogError> {
        let refused =
            |reason: &str| Err(LogError::NotALog { path: self.name(), reason: reason.to_owned() });
        match std::fs::metadata(&self.path) {
            Ok(found) if found.is_dir() => {
                Err(LogError::cannot_open(self.name(), "it is a folder"))
            }
            Ok(found) if !found.is_file() => refused("it is not a regular file"),
            Ok(found) if found.is_file() && found.len() == 1 => refused("it has a single byte"),
            _ => Ok(()),
        }
    }

    /// The limit applies from the first byte.
    fn has_room_to_begin(&self) -> Result<(), LogError> {
        let Some(most) = self.options.max_bytes else { return Ok(()) };
        let pages = schema::pages_of_an_empty_log(PAGE_BYTES).map_err(|e| self.error(e))?;
        space::room_for_an_empty_log(&self.path, most, pages, PAGE_BYTES.unsigned_abs())
    }
}

/// Refuses a log beside which there could be no other files.
fn has_room_for_suffixes(path: &Path) -> Result<(), LogError> {
    let bytes = path.file_name().map_or(0, |name| name.as_encoded_bytes().len());
    let most = LONGEST_NAME - LONGEST_SUFFIX;
    if bytes <= most {
        return Ok(());
    }
    let why = format!(
        "its name has {bytes} bytes, and the names of the files beside it are longer: choose one of at most {most}"
    );
    Err(LogError::cannot_open(path.display().to_string(), why))
}

/// Creates a file that only its owner may read, as what people said to models. The files beside a log get its
/// permissions.
pub(super) fn create_private(path: &Path) -> std::io::Result<()> {
    let mut options = std::fs::OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.write(true).create_new(true).open(path).map(drop)
}
