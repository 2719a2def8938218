//! The first 100 bytes of the file, which describe how to read the rest.
//!
//! SQLite takes a file with a damaged header for another program's, or reads it without complaint.
//! Most of the fields are the same in every log
//! (<https://www.sqlite.org/fileformat2.html#the_database_header>).

use std::io::Read;
use std::path::Path;

use super::SqliteBackend;
use super::descriptors::reading;
use super::schema::{APPLICATION_ID, RUN_IDS};
use crate::log::finding::FileFault;

const HEADER: usize = 100;

/// The schema is within this many bytes from the beginning: a few pages.
const SCHEMA_WITHIN: u64 = 1 << 20;

/// The most bytes that may be missing at the end of a file.
const MOST_MISSING: u64 = 64 << 30;

/// The damaged field in the header of a file that is otherwise a log.
pub(super) fn damage(log: &Path) -> Option<FileFault> {
    let (mut start, mut field) = (Vec::new(), None);
    let read = reading(log, |file| {
        file.take(HEADER as u64).read_to_end(&mut start)?;
        field = start.first_chunk().and_then(wrong_field);
        // Whether it was a log is looked up only if something is wrong.
        match field {
            Some(_) => file.take(SCHEMA_WITHIN).read_to_end(&mut start),
            None => Ok(0),
        }
    });
    read.ok()?;
    let field = field?;
    memchr::memmem::find(&start, RUN_IDS.as_bytes())?;
    Some(FileFault::Header { field: field.into() })
}

/// If a log is shorter than its header says: that it was cut off. While a WAL is merged, the file may be shorter than it will
/// be.
pub(super) fn cut_off(log: &Path) -> Option<FileFault> {
    // Opening a pipe may wait forever.
    if !log.is_file() {
        return None;
    }
    let mut header = Vec::new();
    let has = reading(log, |file| {
        file.take(HEADER as u64).read_to_end(&mut header)?;
        Ok(file.metadata()?.len())
    });
    let has = has.ok()?;
    // In a damaged header, the lengths themselves may be damaged.
    if !SqliteBackend::is_log(&header) || header.first_chunk().and_then(wrong_field).is_some() {
        return None;
    }
    let page = match u16::from_be_bytes([header[16], header[17]]) {
        1 => 65_536,
        bytes => u64::from(bytes),
    };
    let pages = u32::from_be_bytes([header[28], header[29], header[30], header[31]]);
    let of = page * u64::from(pages);
    // A header that claims far more was not written by a log that was cut off.
    (has < of && of - has <= MOST_MISSING).then_some(FileFault::CutOff { has, of })
}

/// Whether a file is an SQLite file in which nothing was made yet, not even by another program: its
/// schema is one page, without rows.
pub(super) fn has_no_tables(log: &Path) -> bool {
    let mut start = [0; HEADER + 5];
    // Opening a pipe may wait forever.
    let mut read = || reading(log, |file| file.read_exact(&mut start));
    if !log.is_file() || read().is_err() {
        return false;
    }
    let leaf_without_rows = [13, 0, 0, 0, 0];
    start.starts_with(b"SQLite format 3\0")
        && start[68..72] == [0; 4]
        && start[HEADER] == leaf_without_rows[0]
        && start[HEADER + 3..] == leaf_without_rows[3..]
}

/// The first field that cannot occur in a log. Fields that the first transaction sets may still be
/// in the WAL.
fn wrong_field(header: &[u8; HEADER]) -> Option<&'static str> {
    let word = |at: usize| {
        u32::from_be_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]])
    };
    let page = u16::from_be_bytes([header[16], header[17]]);
    let id = APPLICATION_ID.cast_unsigned();
    let is_begun = word(44) != 0 || word(56) != 0 || word(68) != 0;
    let is = |at: usize, due: u32| word(at) == due || !is_begun;
    let fields = [
        ("first 16 bytes are not those of an SQLite file", &header[..16] == b"SQLite format 3\0"),
        ("page size is not a power of two", page == 1 || page >= 512 && page.is_power_of_two()),
        ("version is unknown", header[18] == header[19] && matches!(header[18], 1 | 2)),
        ("pages have reserved bytes", header[20] == 0),
        ("payload fractions are not 64, 32 and 32", header[21..24] == [64, 32, 32]),
        ("free pages have a list or a number, not both", (word(32) == 0) == (word(36) == 0)),
        ("schema format is not 4", is(44, 4)),
        ("cache size is set", word(48) == 0),
        ("pages are moved when it shrinks", word(52) == 0 && word(64) == 0),
        ("text is not UTF-8", is(56, 1)),
        ("application id is another program's", is(68, id)),
        ("reserved bytes are used", header[72..92].iter().all(|byte| *byte == 0)),
    ];
    fields.into_iter().find(|(_, fits)| !fits).map(|(field, _)| field)
}
