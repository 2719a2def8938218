//! The object that makes a place a log.

use bytes::Bytes;
use retold::log::LogError;
use serde::{Deserialize, Serialize};

use crate::objects::Created;
use crate::segments::Segments;

/// The format of the log.
const FORMAT: u32 = 1;

/// What the object holds. Whatever is in `probe`, it is a marker: a store that does overwrite it leaves a log.
#[derive(Debug, Serialize, Deserialize)]
struct Marker {
    format: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    probe: Option<String>,
    retold: String,
}

fn marker(probe: Option<&str>) -> Bytes {
    let (probe, retold) = (probe.map(str::to_owned), "log".to_owned());
    serde_json::to_vec(&Marker { format: FORMAT, probe, retold }).unwrap_or_default().into()
}

/// Checks that there is a log.
///
/// # Errors
/// [`LogError::Missing`], [`LogError::NotALog`], [`LogError::NewerFormat`].
pub(crate) async fn find(segments: &Segments) -> Result<(), LogError> {
    let objects = segments.objects.to_open();
    let path = objects.name().to_owned();
    match objects.get(&segments.names.marker()).await? {
        Some(bytes) => check(&path, &bytes),
        None => Err(LogError::Missing { path }),
    }
}

fn check(path: &str, bytes: &[u8]) -> Result<(), LogError> {
    let not = |reason: &str| LogError::NotALog { path: path.to_owned(), reason: reason.to_owned() };
    let marker: Marker = serde_json::from_slice(bytes)
        .map_err(|_| not("its retold.json does not name the format of a log"))?;
    match marker {
        Marker { format: FORMAT, retold, .. } if retold == "log" => Ok(()),
        Marker { format, retold, .. } if retold == "log" => {
            let (path, found) = (path.to_owned(), format.to_string());
            Err(LogError::NewerFormat { path, found, supported: FORMAT })
        }
        _ => Err(not("its retold.json is of something else")),
    }
}

/// Creates a log unless there is one, and finds out whether the store creates objects only once: the second attempt to
/// create the marker, with other bytes, has to find the first.
///
/// # Errors
/// As [`find`], and [`LogError::CannotOpen`] for a store that overwrites.
pub(crate) async fn create(segments: &Segments) -> Result<(), LogError> {
    let (objects, path) = (segments.objects.to_open(), segments.names.marker());
    if let Created::Other(found) = objects.create(&path, &marker(None)).await? {
        check(objects.name(), &found)?;
    }
    let probe = getrandom::u64().map_err(|error| LogError::failed(objects.name(), error))?;
    match objects.create(&path, &marker(Some(&format!("{probe:016x}")))).await? {
        Created::Other(_) => Ok(()),
        Created::Here => Err(LogError::cannot_open(
            objects.name(),
            "this store overwrites an object that was to be created only if there was none (If-None-Match), so two \
             writers could destroy each other's events: use a store that supports conditional writes",
        )),
    }
}
