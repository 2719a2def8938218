//! Where a log is: a file, or a bucket or shared folder.

use std::path::Path;
use std::sync::Arc;

use retold::log::{LogError, SharedBackend, SqliteBackend, SqliteOptions};
use retold_bucket::BucketUrl;

/// The URL of a log that is in a bucket or a shared folder; `None` for the path of a file.
///
/// # Errors
/// [`LogError::CannotOpen`] if it cannot be the URL of a log.
pub fn bucket(log: &Path) -> Result<Option<BucketUrl>, LogError> {
    if !BucketUrl::is_one(log) {
        return Ok(None);
    }
    // The URL may be wrong because it has a secret, so only the scheme is repeated.
    let text = log.to_string_lossy();
    let (scheme, _) = text.split_once(':').unwrap_or((&text, ""));
    let parsed = BucketUrl::parse(&text);
    parsed.map(Some).map_err(|why| LogError::cannot_open(format!("{scheme}://..."), why))
}

/// Opens a log that exists, to write to it.
///
/// # Errors
/// [`LogError`].
pub fn open_store(log: &Path, options: SqliteOptions) -> Result<SharedBackend, LogError> {
    Ok(match bucket(log)? {
        Some(url) => Arc::new(url.open()?),
        None => Arc::new(SqliteBackend::open(log, options)?),
    })
}

/// Opens a log to write to it, and creates it if there is none.
///
/// # Errors
/// [`LogError`].
pub fn open_or_create_store(log: &Path, options: SqliteOptions) -> Result<SharedBackend, LogError> {
    Ok(match bucket(log)? {
        Some(url) => Arc::new(url.open_or_create()?),
        None => Arc::new(SqliteBackend::open_or_create(log, options)?),
    })
}
