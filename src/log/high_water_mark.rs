//! The high-water mark: how far each run has come, in a file beside the log (`LOG-mark`).
//!
//! A log that lost its last transaction looks like one in which that transaction never happened. So
//! after each commit the writer records, outside the database, the end of each run that it wrote.
//! This happens before anyone is notified that the events are stored, and without waiting for the
//! disk. A killed process therefore leaves an exact mark; a power loss may leave an older or a torn
//! one, which claims less. A mark is never ahead of the log.
//!
//! The file has 1024 slots of 128 bytes. A run's slot follows from its number in the log, so
//! processes that write different runs write different slots without a lock; the newest 1024 runs
//! have one. A slot holds two copies of 64 bytes, written in turn, so that one of them is always
//! whole:
//!
//! | bytes | |
//! |---|---|
//! | 0..8 | the run |
//! | 8..16 | the seq of its last event, little-endian |
//! | 16..48 | the hash of that event |
//! | 48..64 | the first half of the BLAKE3 of a fixed text and the above |
//!
//! A copy that does not match its checksum claims nothing. A log that was copied without its mark
//! is accepted as it is.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use super::error::LogError;
use super::finding::{EventFault, Finding};
use crate::event::chain::Head;
use crate::id::{EventHash, RunId, Seq};
use crate::sidecar;

const SLOTS: i64 = 1024;
const COPY: usize = 64;
const SLOT: usize = 2 * COPY;

/// The suffix of the file's name.
const ENDING: &str = "-mark";

/// How far a run is certain to have come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HighWaterMark {
    /// The run.
    pub run: RunId,
    /// Its last event.
    pub head: Head,
}

impl HighWaterMark {
    /// The finding about a run that ends at the seq `last`, before its mark; `None` if nothing of
    /// the run is left.
    pub fn missing_after(&self, last: Option<u64>) -> Finding {
        let mark = self.head.seq;
        let fault = match last {
            None => EventFault::OnlyMark { mark },
            Some(last) => EventFault::BehindMark { last, mark },
        };
        Finding::of_event(self.run, Seq(last.unwrap_or(0) + 1), fault)
    }

    /// The run of the mark cannot be read: it may be there.
    pub fn unreadable(&self) -> Finding {
        Finding::of_event(self.run, Seq(1), EventFault::UnreadableMark { mark: self.head.seq })
    }

    fn to_bytes(self) -> [u8; COPY] {
        let mut bytes = [0; COPY];
        bytes[..8].copy_from_slice(self.run.as_bytes());
        bytes[8..16].copy_from_slice(&self.head.seq.0.to_le_bytes());
        bytes[16..48].copy_from_slice(self.head.hash.as_bytes());
        let sum = checksum(&bytes[..48]);
        bytes[48..].copy_from_slice(&sum);
        bytes
    }

    fn of_bytes(bytes: &[u8; COPY]) -> Option<Self> {
        let (mut run, mut seq, mut hash) = ([0; 8], [0; 8], [0; 32]);
        run.copy_from_slice(&bytes[..8]);
        seq.copy_from_slice(&bytes[8..16]);
        hash.copy_from_slice(&bytes[16..48]);
        let head = Head { seq: Seq(u64::from_le_bytes(seq)), hash: EventHash(hash) };
        (bytes[48..] == checksum(&bytes[..48])).then_some(HighWaterMark { run: RunId(run), head })
    }
}

fn checksum(bytes: &[u8]) -> [u8; 16] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(b"retold mark v1\n").update(bytes);
    let mut half = [0; 16];
    half.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
    half
}

/// The high-water marks beside a log, at most one per run. Empty if there is no such file, or if
/// nothing in it was written by us.
///
/// To compare them with the log, read the marks first: a log that is being written may move past
/// them, but never falls behind a mark that was read earlier.
pub fn marks(log: &Path) -> Vec<HighWaterMark> {
    let bytes = bytes_of(log);
    let mut runs: BTreeMap<RunId, Head> = BTreeMap::new();
    let (copies, _) = bytes.as_chunks::<COPY>();
    for HighWaterMark { run, head } in copies.iter().filter_map(HighWaterMark::of_bytes) {
        let highest = runs.entry(run).or_insert(head);
        if highest.seq < head.seq {
            *highest = head;
        }
    }
    runs.into_iter().map(|(run, head)| HighWaterMark { run, head }).collect()
}

/// How many slots are in use but unreadable, so that the mark of their run is no longer known. A
/// power loss makes at most one copy of a slot unreadable, so this is damage.
pub fn damaged_slots(log: &Path) -> usize {
    let bytes = bytes_of(log);
    let is_damaged = |slot: &&[u8]| {
        let (copies, _) = slot.as_chunks::<COPY>();
        slot.iter().any(|byte| *byte != 0)
            && copies.iter().all(|copy| HighWaterMark::of_bytes(copy).is_none())
    };
    bytes.chunks(SLOT).filter(is_damaged).count()
}

/// The bytes of the file; empty if it does not exist or cannot be read.
fn bytes_of(log: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Ok(Some(file)) = sidecar::read(&sidecar::canonical(log), ENDING) {
        // The bytes read before an error count.
        let _ = file.take(SLOTS as u64 * SLOT as u64).read_to_end(&mut bytes);
    }
    bytes
}

/// The mark file, as used by a writer of runs.
#[derive(Debug)]
pub struct HighWaterMarkFile {
    file: File,
    /// Which copy of each slot is written next.
    next: BTreeMap<i64, usize>,
}

impl HighWaterMarkFile {
    /// Opens the file beside a log, or creates it.
    ///
    /// # Errors
    /// [`LogError`]: it cannot be opened, or is not ours.
    pub fn open(log: &Path) -> Result<Self, LogError> {
        let file = sidecar::open(&sidecar::canonical(log), ENDING)?;
        Ok(HighWaterMarkFile { file, next: BTreeMap::new() })
    }

    /// Records how far the run with this number in the log has come. Failing to write a mark is not
    /// an error of the commit before it; the mark then claims less than it could.
    pub fn note(&mut self, number: i64, mark: HighWaterMark) {
        let slot = number.rem_euclid(SLOTS);
        let copy = match self.next.get(&slot) {
            Some(copy) => *copy,
            None => self.older(slot),
        };
        let at = slot as u64 * SLOT as u64 + (copy * COPY) as u64;
        let _ = write_at(&self.file, &mark.to_bytes(), at);
        self.next.insert(slot, 1 - copy);
    }

    /// Which copy of a slot claims less.
    fn older(&mut self, slot: i64) -> usize {
        let mut bytes = [0; SLOT];
        let at = SeekFrom::Start(slot as u64 * SLOT as u64);
        let read = self.file.seek(at).and_then(|_| self.file.read_exact(&mut bytes));
        if read.is_err() {
            return 0;
        }
        let (copies, _) = bytes.as_chunks::<COPY>();
        let seqs =
            [0, 1].map(|n| copies.get(n).and_then(HighWaterMark::of_bytes).map(|m| m.head.seq));
        usize::from(seqs[0] > seqs[1])
    }
}

#[cfg(unix)]
fn write_at(file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, at)
}

#[cfg(not(unix))]
fn write_at(mut file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
    file.seek(SeekFrom::Start(at))?;
    io::Write::write_all(&mut file, bytes)
}

/// Forgets all marks, for a log that is created again.
pub(super) fn forget(log: &Path) -> io::Result<()> {
    let log = sidecar::canonical(log);
    if sidecar::read(&log, ENDING).map_err(io::Error::other)?.is_none() {
        return Ok(());
    }
    let mut file = sidecar::open(&log, ENDING).map_err(io::Error::other)?;
    let mut bytes = Vec::new();
    (&mut file).take(SLOTS as u64 * SLOT as u64).read_to_end(&mut bytes)?;
    let (copies, _) = bytes.as_chunks::<COPY>();
    for (n, copy) in copies.iter().enumerate() {
        if HighWaterMark::of_bytes(copy).is_some() {
            write_at(&file, &[0; COPY], (n * COPY) as u64)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn mark(run: u8, seq: u64) -> HighWaterMark {
        HighWaterMark {
            run: RunId([run; 8]),
            head: Head { seq: Seq(seq), hash: EventHash([run; 32]) },
        }
    }

    fn log(folder: &tempfile::TempDir) -> PathBuf {
        let log = folder.path().join("log");
        std::fs::write(&log, "a log").unwrap();
        log
    }

    fn file(log: &Path) -> PathBuf {
        log.with_file_name("log-mark")
    }

    #[test]
    fn the_highest_mark_of_each_run_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let log = log(&folder);
        assert_eq!(marks(&log), []);
        let mut written = HighWaterMarkFile::open(&log).unwrap();
        for seq in 1..6 {
            written.note(1, mark(1, seq));
            assert_eq!(marks(&log), [mark(1, seq)]);
        }
        // Another session continues where the first one ended.
        let mut written = HighWaterMarkFile::open(&log).unwrap();
        written.note(1, mark(1, 6));
        written.note(7, mark(2, 3));
        assert_eq!(marks(&log), [mark(1, 6), mark(2, 3)]);
    }

    #[test]
    fn the_file_does_not_grow_with_the_runs() {
        let folder = tempfile::tempdir().unwrap();
        let log = log(&folder);
        let mut written = HighWaterMarkFile::open(&log).unwrap();
        for number in 1..5000_i64 {
            let run = RunId(number.to_le_bytes());
            written.note(number, HighWaterMark { run, ..mark(0, 1) });
        }
        let marks = marks(&log);
        for number in (5000 - SLOTS)..5000 {
            assert!(marks.iter().any(|mark| mark.run == RunId(number.to_le_bytes())), "{number}");
        }
        let length = std::fs::metadata(file(&log)).unwrap().len();
        assert_eq!(length, SLOTS as u64 * SLOT as u64);
    }

    #[test]
    fn a_damaged_copy_claims_nothing_and_the_other_one_counts() {
        let folder = tempfile::tempdir().unwrap();
        let log = log(&folder);
        let mut written = HighWaterMarkFile::open(&log).unwrap();
        written.note(0, mark(1, 8));
        written.note(0, mark(1, 9));
        let whole = std::fs::read(file(&log)).unwrap();
        for bit in 0..COPY * 8 {
            let mut flipped = whole.clone();
            flipped[COPY + bit / 8] ^= 1 << (bit % 8);
            std::fs::write(file(&log), flipped).unwrap();
            assert_eq!(marks(&log), [mark(1, 8)], "bit {bit}");
        }
        for length in 0..whole.len() {
            std::fs::write(file(&log), &whole[..length]).unwrap();
            let due = if length < COPY { vec![] } else { vec![mark(1, 8)] };
            assert_eq!(marks(&log), due, "{length}");
        }
    }

    #[test]
    fn marks_are_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let log = log(&folder);
        forget(&log).unwrap();
        assert!(!file(&log).exists(), "forgetting creates no file");
        let mut written = HighWaterMarkFile::open(&log).unwrap();
        (1..4).for_each(|n| written.note(i64::from(n), mark(n, 5)));
        forget(&log).unwrap();
        assert_eq!(marks(&log), []);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_in_its_place_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let (log, other) = (log(&folder), folder.path().join("other"));
        std::fs::write(&other, "precious").unwrap();
        let links: [fn(&Path, &Path) -> io::Result<()>; 2] =
            [|to, at| std::os::unix::fs::symlink(to, at), |to, at| std::fs::hard_link(to, at)];
        for link in links {
            link(&other, &file(&log)).unwrap();
            assert_eq!(marks(&log), []);
            assert!(HighWaterMarkFile::open(&log).is_err());
            assert!(forget(&log).is_err());
            assert_eq!(std::fs::read(&other).unwrap(), b"precious");
            std::fs::remove_file(file(&log)).unwrap();
        }
    }
}
