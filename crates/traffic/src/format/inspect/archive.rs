//! `.eval` archives: each sample is an entry of its own. An archive whose writing was cut off has no directory at its end;
//! the entries that were written whole are read.

use std::collections::BTreeMap;

use serde_json::Value;

use super::pool::MOST_BYTES;
use super::{InspectLog, numbers, of_sample, status};
use crate::error::FileProblem;
use crate::file::json_value;
use crate::format::Placed;
use crate::notes::Notes;
use crate::zip::{ZipArchive, ZipEntry, ZipError};

/// The exchanges of an archive.
///
/// # Errors
/// The problem, and its place.
pub(crate) fn read(bytes: &[u8], notes: &mut Notes) -> Placed<InspectLog> {
    let mut archive = match ZipArchive::new(bytes) {
        Err(ZipError::NotOne) => ZipArchive::cut_off(bytes),
        found => found,
    }
    .map_err(zip_problem)?;
    let is_cut = archive.is_cut;
    let all = std::mem::take(&mut archive.entries);
    // Of entries with the same name, the last one counts.
    let entries: BTreeMap<&str, &ZipEntry> =
        all.iter().map(|entry| (entry.name.as_str(), entry)).collect();
    let mut samples: Vec<(&str, &ZipEntry)> = Vec::new();
    for (name, entry) in &entries {
        match place(name) {
            Place::Sample => samples.push((name, entry)),
            Place::Chunks => notes.add("a sample in chunks, a form that is not read", name),
            Place::Other => {}
        }
    }
    // Before any of it is unpacked.
    archive.fits(samples.iter().map(|(_, entry)| *entry)).map_err(zip_problem)?;
    // A log whose writing was cut off has only the second of these.
    let header = ["header.json", "_journal/start.json"].iter().find_map(|name| entries.get(name));
    let header = header.ok_or((None, FileProblem::Not(NO_HEADER)))?;
    let header = json(&mut archive, header, notes)?;
    let eval = &header["eval"];
    if !eval.is_object() {
        return Err((None, FileProblem::Not(NO_HEADER)));
    }
    let mut log = InspectLog { exchanges: Vec::new(), is_ended: status(&header, notes) && !is_cut };
    if is_cut {
        let last = all.last().map_or("its beginning", |entry| entry.name.as_str());
        notes.add("the rest of an archive that was cut off", &format!("after {last}"));
    }
    let mut left = MOST_BYTES;
    for (name, entry) in samples {
        let sample = match json(&mut archive, entry, notes) {
            Ok(sample) => sample,
            // The sample that was being written.
            Err((_, wrong)) if is_cut => {
                notes.add(&format!("a sample that cannot be read: {wrong}"), name);
                continue;
            }
            Err(wrong) => return Err(wrong),
        };
        let found = of_sample(&sample, &header, &mut left, notes);
        log.exchanges.extend(found.map_err(|wrong| (Some(name.to_owned()), wrong))?);
    }
    Ok(log)
}

/// What an entry is.
#[derive(Debug, PartialEq, Eq)]
enum Place {
    /// A sample.
    Sample,
    /// The first entry of a sample in chunks, which later releases write (`log/_recorders/chunked`).
    Chunks,
    /// Neither: a summary, say, or the rest of a sample in chunks.
    Other,
}

fn place(name: &str) -> Place {
    // An id may have slashes: what counts is the epoch at the end.
    let is_epoch = |name: &str| {
        let epoch = name.rsplit_once("_epoch_").map_or("", |(_, epoch)| epoch);
        !epoch.is_empty() && epoch.bytes().all(|byte| byte.is_ascii_digit())
    };
    let Some(name) = name.strip_prefix("samples/").and_then(|name| name.strip_suffix(".json"))
    else {
        return Place::Other;
    };
    match name.strip_suffix("/sample") {
        Some(name) if is_epoch(name) => Place::Chunks,
        _ if is_epoch(name) => Place::Sample,
        _ => Place::Other,
    }
}

const NO_HEADER: &str = "a log of Inspect AI: it has no header.json";

fn zip_problem(error: ZipError) -> (Option<String>, FileProblem) {
    (None, FileProblem::Said(error.to_string()))
}

/// The JSON of an entry.
fn json(archive: &mut ZipArchive<'_>, entry: &ZipEntry, notes: &mut Notes) -> Placed<Value> {
    let name = &entry.name;
    let bytes = archive.read(entry).map_err(zip_problem)?;
    let text =
        std::str::from_utf8(&bytes).map_err(|_| (Some(name.clone()), FileProblem::NotUtf8))?;
    json_value(&numbers::of_json(text, name, notes)).map_err(|(at, wrong)| {
        let place = at.map_or_else(|| name.clone(), |at| format!("{name}, {at}"));
        (Some(place), wrong)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_samples_by_their_names() {
        for (name, due) in [
            ("samples/1_epoch_1.json", Place::Sample),
            ("samples/algebra/7_epoch_12.json", Place::Sample),
            ("samples/algebra/sample_epoch_1.json", Place::Sample),
            ("samples/1_epoch_1/sample.json", Place::Chunks),
            ("samples/1_epoch_1/events/0.json", Place::Other),
            ("_journal/summaries/1.json", Place::Other),
            ("header.json", Place::Other),
        ] {
            assert_eq!(place(name), due, "{name}");
        }
    }
}
