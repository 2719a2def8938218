//! The source of the pages: a log that may change while it is shown, or runs that were read from a file.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use retold::log::{CheckedReader, LogError, Reader, SharedBackend, SqliteOptions};
use retold::run::clock::Stopwatch;
use retold_archive::Archive;

/// The time for which the files beside a log are not looked at again.
const FRESH: Duration = Duration::from_secs(1);

/// The source of the pages: a log's file, or runs that were read from a file.
pub struct SiteSource {
    name: String,
    kind: SiteSourceKind,
}

enum SiteSourceKind {
    File { path: PathBuf, options: SqliteOptions, opened: Mutex<Option<OpenedArchive>> },
    Read(Arc<Archive>),
}

/// A log as it was when it was opened.
struct OpenedArchive {
    /// `None` if the files beside the log are to be looked at again.
    when: Option<Stopwatch>,
    archive: Arc<Archive>,
}

impl SiteSource {
    /// A log in a file.
    ///
    /// # Errors
    /// [`LogError`] if it cannot be shown at all.
    pub fn file(path: &Path, options: SqliteOptions) -> Result<Self, LogError> {
        let kind =
            SiteSourceKind::File { path: path.to_owned(), options, opened: Mutex::default() };
        let source = SiteSource { name: path.display().to_string(), kind };
        // A log that cannot be shown is reported at once, not by the first page.
        source.archive()?;
        Ok(source)
    }

    /// Runs that were read from the file `name`.
    pub fn read(name: String, archive: Archive) -> Self {
        SiteSource { name, kind: SiteSourceKind::Read(Arc::new(archive)) }
    }

    /// Its name, for people.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The file that is shown, if it is a log.
    pub(crate) fn path(&self) -> Option<&Path> {
        match &self.kind {
            SiteSourceKind::File { path, .. } => Some(path),
            SiteSourceKind::Read(_) => None,
        }
    }

    /// The log or the recording, as it is now.
    ///
    /// # Errors
    /// [`LogError`].
    pub(crate) fn archive(&self) -> Result<Arc<Archive>, LogError> {
        let (path, options, opened) = match &self.kind {
            SiteSourceKind::File { path, options, opened } => (path, options, opened),
            SiteSourceKind::Read(archive) => return Ok(archive.clone()),
        };
        let mut held = lock(opened);
        // One that was replaced or cut off is another one at once.
        let before = held.take().filter(|opened| opened.archive.is_same_file());
        let archive = match before {
            Some(OpenedArchive { when: Some(when), archive }) if when.elapsed() < FRESH => {
                *held = Some(OpenedArchive { when: Some(when), archive: archive.clone() });
                return Ok(archive);
            }
            Some(OpenedArchive { archive, .. }) => archive.reopen(path, options.clone())?,
            None => Arc::new(Archive::open_unchanged(path, options.clone())?),
        };
        let when = Some(Stopwatch::start());
        *held = Some(OpenedArchive { when, archive: archive.clone() });
        Ok(archive)
    }

    /// The store, as it is now.
    ///
    /// # Errors
    /// [`LogError`].
    pub(crate) fn backend(&self) -> Result<SharedBackend, LogError> {
        Ok(self.archive()?.backend().clone())
    }

    /// A reader of it as it is now, which compares each event with its hash.
    ///
    /// # Errors
    /// [`LogError`].
    pub(crate) fn reader(&self) -> Result<Box<dyn Reader>, LogError> {
        let reader = match self.backend()?.reader() {
            // A writer came or went since the files beside it were looked at.
            Err(LogError::CannotOpen { .. }) => {
                if let SiteSourceKind::File { opened, .. } = &self.kind {
                    *lock(opened) = None;
                }
                self.backend()?.reader()
            }
            reader => reader,
        };
        Ok(Box::new(CheckedReader::new(reader?)))
    }

    /// A page shows the runs that a bucket has when the page is asked for: nothing but the bucket tells that there are more.
    pub(crate) fn begin_page(&self) {
        if let SiteSourceKind::File { opened, .. } = &self.kind
            && let Some(opened) = lock(opened).as_mut()
            && opened.archive.is_in_bucket()
        {
            opened.when = None;
        }
    }

    /// Makes the next request look at the log again, instead of using a state that is up to a second old.
    pub(crate) fn look_again(&self) {
        if let SiteSourceKind::File { opened, .. } = &self.kind
            && let Some(opened) = lock(opened).as_mut()
        {
            opened.when = None;
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
