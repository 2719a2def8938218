//! The parts of a file that could not be represented: listed, never dropped in silence.

use std::collections::{BTreeMap, BTreeSet};

use retold::counted::count_of;

use crate::error::FileProblem;

/// How many places are named for each.
const PLACES: usize = 5;

/// The most bytes that all bodies of a file have without their content encodings.
const MOST_DECODED: usize = 256 << 20;

/// What could not be represented.
#[derive(Debug, Clone, Default)]
pub struct Notes {
    lost: BTreeMap<String, Vec<String>>,
    names: BTreeMap<&'static str, (BTreeSet<String>, usize)>,
    counted: BTreeMap<&'static str, u64>,
    /// How many bytes its bodies had without their content encodings.
    decoded: usize,
}

/// One thing that could not be represented.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// What.
    pub what: String,
    /// How often.
    pub times: usize,
    /// Where, the first few.
    pub places: Vec<String>,
}

impl Notes {
    /// Notes something at a place.
    pub(crate) fn add(&mut self, what: &str, place: &str) {
        self.lost.entry(what.to_owned()).or_default().push(place.to_owned());
    }

    /// Notes the names of things that are not kept, such as headers of requests.
    pub(crate) fn names<'a>(&mut self, of: &'static str, names: impl IntoIterator<Item = &'a str>) {
        for name in names {
            let (all, times) = self.names.entry(of).or_default();
            all.insert(name.to_owned());
            *times += 1;
        }
    }

    /// Notes how many of these a file does not have, by what one is called.
    pub fn count(&mut self, noun: &'static str, n: u64) {
        *self.counted.entry(noun).or_default() += n;
    }

    /// Notes a body that was decoded.
    ///
    /// # Errors
    /// [`FileProblem::Said`] if all of them are too much.
    pub(crate) fn count_decoded(&mut self, bytes: usize) -> Result<(), FileProblem> {
        self.decoded = self.decoded.saturating_add(bytes);
        match self.decoded > MOST_DECODED {
            true => Err(FileProblem::Said(format!(
                "the bodies up to this one have more than {} MiB without their content encodings: import the file in parts",
                MOST_DECODED >> 20
            ))),
            false => Ok(()),
        }
    }

    /// Everything that was noted.
    pub fn all(&self) -> impl Iterator<Item = Note> {
        let names = self.names.iter().map(|(of, (names, times))| {
            let names = names.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
            Note { what: format!("{of}: {names}"), times: *times, places: Vec::new() }
        });
        let lost = self.lost.iter().map(|(what, places)| Note {
            what: what.clone(),
            times: places.len(),
            places: places.iter().take(PLACES).cloned().collect(),
        });
        let counted = self.counted.iter().filter(|(_, n)| **n > 0).map(|(noun, n)| Note {
            what: count_of(*n, noun),
            times: usize::try_from(*n).unwrap_or(usize::MAX),
            places: Vec::new(),
        });
        lost.chain(names).chain(counted)
    }
}
