//! Objects that are created once: the only way in which this crate writes.

use std::future::Future;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::{StreamExt, TryStreamExt};
use object_store::path::Path;
use object_store::{
    Error, GetOptions, ObjectMeta, ObjectStore, ObjectStoreExt, PutMode, PutOptions,
};
use retold::escaping::printable;
use retold::log::LogError;

use crate::names::number_of;
use crate::redaction::RedactedError;

/// How long a writer or a reader goes on trying when the store does not answer, or answers that it cannot now.
const PATIENCE: Duration = Duration::from_secs(60);

/// How long whoever opens a log goes on: a person waits for it, and it may be the wrong place.
const PATIENCE_TO_OPEN: Duration = Duration::from_secs(10);

/// The wait after the first failure, which doubles up to the longest.
const FIRST_WAIT: Duration = Duration::from_millis(if cfg!(test) { 1 } else { 20 });
const LONGEST_WAIT: Duration = Duration::from_secs(2);

/// How much is shown of the name of an object that no log has, in characters.
const LONGEST: usize = 1024;

/// How many requests are in flight at once.
pub(crate) const TOGETHER: usize = 16;

/// The objects of a log.
#[derive(Debug, Clone)]
pub(crate) struct Objects {
    store: Arc<dyn ObjectStore>,
    /// The log, for messages.
    name: Arc<str>,
    patience: Duration,
}

/// The objects in a folder that have numbers for names.
#[derive(Debug)]
pub(crate) struct NumberedObjects {
    /// The numbers, in order, each with what changes if the object does (its ETag), if the store says it.
    pub(crate) numbers: Vec<(u64, Option<String>)>,
    /// Whether there may be more of them than were asked for.
    pub(crate) is_cut: bool,
}

/// How an attempt to create an object ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Created {
    /// It has the bytes that were given: from this attempt, or an earlier one whose reply was lost.
    Here,
    /// It had been created with these bytes.
    Other(Bytes),
}

impl Objects {
    pub(crate) fn new(store: Arc<dyn ObjectStore>, name: Arc<str>) -> Self {
        Objects { store, name, patience: PATIENCE }
    }

    /// The same for whoever opens the log.
    pub(crate) fn to_open(&self) -> Self {
        Objects { patience: PATIENCE_TO_OPEN, ..self.clone() }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The bytes of an object; `None` if there is no such object.
    pub(crate) async fn get(&self, path: &Path) -> Result<Option<Bytes>, LogError> {
        self.patiently(async || self.find(path).await).await
    }

    async fn find(&self, path: &Path) -> Result<Option<Bytes>, Error> {
        match self.store.get(path).await {
            Ok(found) => found.bytes().await.map(Some),
            Err(Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Some of the bytes of an object: fewer than asked for if it is shorter, and `None` if it does not exist.
    pub(crate) async fn get_range(
        &self,
        path: &Path,
        range: Range<u64>,
    ) -> Result<Option<Bytes>, LogError> {
        self.patiently(async || {
            let options = GetOptions::new().with_range(Some(range.clone()));
            match self.store.get_opts(path, options).await {
                Ok(found) => found.bytes().await.map(Some),
                Err(Error::NotFound { .. }) => Ok(None),
                // No store has a range after the end.
                Err(error) => match self.store.head(path).await {
                    Ok(about) if about.size <= range.start => Ok(Some(Bytes::new())),
                    _ => Err(error),
                },
            }
        })
        .await
    }

    /// Creates an object, unless there is one of that name.
    ///
    /// If the reply to an attempt is lost, it is not known whether the object was created. The next attempt then finds out,
    /// since it either creates the object or finds it, and the bytes found are compared with those to be written. An attempt
    /// that arrives late does no harm: it finds an object, too. A store may also say by mistake that there is an object: if
    /// none is found, the attempt is repeated.
    ///
    /// # Errors
    /// [`LogError`] if the store cannot be written; it is then not known whether the object exists.
    pub(crate) async fn create(&self, path: &Path, bytes: &Bytes) -> Result<Created, LogError> {
        let attempt = async || {
            let options = PutOptions::from(PutMode::Create);
            match self.store.put_opts(path, bytes.clone().into(), options).await {
                Ok(_) => return Ok(Created::Here),
                Err(Error::AlreadyExists { .. } | Error::Precondition { .. }) => {}
                Err(error) => return Err(error),
            }
            match self.find(path).await? {
                Some(found) if found == bytes => Ok(Created::Here),
                Some(found) => Ok(Created::Other(found)),
                None => Err(Error::Generic {
                    store: "bucket",
                    source: format!("the store says that {path} exists, and does not have it")
                        .into(),
                }),
            }
        };
        self.patiently(attempt).await
    }

    /// The names of the objects below a folder, in order.
    pub(crate) async fn list(&self, folder: &Path) -> Result<Vec<Path>, LogError> {
        let listed = self.list_up_to(usize::MAX, folder, None).await?;
        Ok(listed.into_iter().map(|about| about.location).collect())
    }

    /// Up to so many of the objects below a folder whose names come after another one, in order. (A file system does not list
    /// the first ones first.)
    async fn list_up_to(
        &self,
        most: usize,
        folder: &Path,
        after: Option<&Path>,
    ) -> Result<Vec<ObjectMeta>, LogError> {
        let attempt = async || {
            let listed = match after {
                Some(after) => self.store.list_with_offset(Some(folder), after),
                None => self.store.list(Some(folder)),
            };
            listed.take(most).try_collect::<Vec<_>>().await
        };
        let mut listed = self.patiently(attempt).await?;
        listed.sort_unstable_by(|one, other| one.location.cmp(&other.location));
        Ok(listed)
    }

    /// The numbers after `after` of the objects in a folder, of `most` objects at most.
    pub(crate) async fn numbers(
        &self,
        folder: &Path,
        after: u64,
        most: usize,
        name: impl Fn(u64) -> Path,
    ) -> Result<NumberedObjects, LogError> {
        let offset = (after > 0).then(|| name(after));
        let listed = self.list_up_to(most, folder, offset.as_ref()).await?;
        let is_cut = listed.len() >= most;
        let numbered = |about: ObjectMeta| Some((number_of(&about.location)?, about.e_tag));
        Ok(NumberedObjects { numbers: listed.into_iter().filter_map(numbered).collect(), is_cut })
    }

    /// Several objects, in their order.
    pub(crate) async fn get_all(&self, paths: Vec<Path>) -> Result<Vec<Option<Bytes>>, LogError> {
        let gets = paths.into_iter().map(|path| {
            let objects = self.clone();
            async move { objects.get(&path).await }
        });
        futures::stream::iter(gets).buffered(TOGETHER).try_collect().await
    }

    /// Repeats a request that a store may refuse for the moment.
    async fn patiently<T, F: Future<Output = Result<T, Error>>>(
        &self,
        mut attempt: impl FnMut() -> F,
    ) -> Result<T, LogError> {
        let failed = |error| match error {
            Error::InvalidPath { source } => {
                let object = printable(&source.to_string(), LONGEST);
                LogError::failure(
                    self.name(),
                    format!("it is not a part of a log: remove it ({object})"),
                )
            }
            error => LogError::failure(self.name(), RedactedError::new(error)),
        };
        let mut last = None;
        let trying = async {
            let mut wait = FIRST_WAIT;
            loop {
                match attempt().await {
                    Err(error) if may_pass(&error) => last = Some(error),
                    done => return done,
                }
                tokio::time::sleep(wait).await;
                wait = (wait * 2).min(LONGEST_WAIT);
            }
        };
        match tokio::time::timeout(self.patience, trying).await {
            Ok(done) => done.map_err(failed),
            Err(_) => Err(last.map_or_else(
                || LogError::failure(self.name(), "the store does not answer"),
                failed,
            )),
        }
    }
}

/// Whether an error may be gone at the next attempt: no reply, or one that the store cannot answer now.
fn may_pass(error: &Error) -> bool {
    matches!(error, Error::Generic { .. } | Error::JoinError { .. }) && !is_of_place(error)
}

/// Whether it is an error of a folder that the next attempt would meet, too.
fn is_of_place(error: &Error) -> bool {
    use std::io::ErrorKind;
    let kinds = [
        ErrorKind::PermissionDenied,
        ErrorKind::NotADirectory,
        ErrorKind::IsADirectory,
        ErrorKind::ReadOnlyFilesystem,
        ErrorKind::StorageFull,
    ];
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        if let Some(error) = cause.downcast_ref::<std::io::Error>() {
            return kinds.contains(&error.kind());
        }
        source = cause.source();
    }
    false
}
