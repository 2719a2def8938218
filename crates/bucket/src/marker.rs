//! The object that makes a place a log.

use bytes::Bytes;
use retold::log::{LogError, SegmentFault};
use serde::{Deserialize, Serialize};

use crate::objects::{Created, Objects};
use crate::packing::pack;
use crate::segments::Segments;

/// The format of the log.
const FORMAT: u32 = 1;

/// The content of the object. It is a marker with any `probe`: a store that does overwrite it leaves a log.
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
/// [`LogError::Missing`], [`LogError::NotALog`], [`LogError::NewerFormat`]; [`LogError::Damaged`] if only its marker is missing.
pub(crate) async fn find(segments: &Segments) -> Result<(), LogError> {
    let objects = segments.objects.to_open();
    let path = objects.name().to_owned();
    match objects.get(&segments.names.marker()).await? {
        Some(bytes) => check(&path, &bytes),
        None => {
            is_not_a_log(&objects, segments).await?;
            Err(LogError::Missing { path })
        }
    }
}

/// Fails if a place has objects of a log but no marker.
async fn is_not_a_log(objects: &Objects, segments: &Segments) -> Result<(), LogError> {
    let names = &segments.names;
    // The first object of the ledger comes before the marker.
    let is_empty = objects.list(&names.ledger()).await?.len() <= 1
        && objects.list(&names.runs()).await?.is_empty();
    // Another process may have created the log meanwhile.
    if is_empty || objects.get(&names.marker()).await?.is_some() {
        return Ok(());
    }
    let holds = String::from_utf8_lossy(&marker(None)).into_owned();
    let fault = SegmentFault::Unmarked { object: names.marker().to_string(), holds };
    Err(LogError::damage(objects.name(), fault))
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
/// As [`find`]; [`LogError::Damaged`] if there are runs without a marker; [`LogError::CannotOpen`] for a store that
/// overwrites.
pub(crate) async fn create(segments: &Segments) -> Result<(), LogError> {
    let (objects, path) = (segments.objects.to_open(), segments.names.marker());
    let there = match objects.get(&path).await? {
        Some(found) => Created::Other(found),
        None => {
            is_not_a_log(&objects, segments).await?;
            let failed = |error| LogError::failure(objects.name(), error);
            let no_entries = pack("").map_err(failed)?.into();
            objects.create(&segments.names.ledger_object(0), &no_entries).await?;
            objects.create(&path, &marker(None)).await?
        }
    };
    if let Created::Other(found) = there {
        check(objects.name(), &found)?;
    }
    let probe = getrandom::u64().map_err(|error| LogError::failure(objects.name(), error))?;
    match objects.create(&path, &marker(Some(&format!("{probe:016x}")))).await? {
        Created::Other(_) => Ok(()),
        Created::Here => Err(LogError::cannot_open(
            objects.name(),
            "this store overwrites an object that was to be created only if there was none (If-None-Match), so two \
             writers could destroy each other's events: use a store that supports conditional writes",
        )),
    }
}
