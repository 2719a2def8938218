//! The ledger: a second sequence of objects, one for each commit that has entries.
//!
//! An object is created only once, so whoever creates object `n` has read all earlier ones. Every 64th object repeats the
//! lines of the last 64, and every 4096th those of the last 4096. So the ledger of 100,000 runs is read in about two
//! hundred requests, most of them at the same time, and nothing is ever rewritten.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use retold::id::{LedgerHash, RunId, Time};
use retold::log::ledger::{LedgerChange, LedgerEntry, LedgerHead};
use retold::log::{Fault, Head, LogError, SegmentFault};
use serde::{Deserialize, Serialize};
use tokio::sync::Mutex;

use crate::names::{Names, number_of};
use crate::objects::{Created, Objects, TOGETHER};

/// How many objects a page repeats: the large pages first.
const PAGES: [u64; 2] = [4096, 64];

/// The most bytes of lines in an object: a page of 4,096 objects with four thousand bytes each.
const MOST_BYTES: usize = 16 << 20;

/// A line of the ledger: the canonical entry, with what readers need beside it.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct EntryLine {
    hash: LedgerHash,
    head: retold::id::EventHash,
    number: u64,
    /// The object that it came with.
    object: u64,
    run: RunId,
    seq: retold::id::Seq,
    /// When the first event of the run happened.
    started: Time,
    what: String,
}

/// An entry, and what it does not say itself.
#[derive(Debug, Clone)]
pub(crate) struct KnownEntry {
    pub(crate) entry: LedgerEntry,
    pub(crate) started: Time,
    object: u64,
}

/// An entry that is to be appended.
#[derive(Debug, Clone)]
pub(crate) struct NewEntry {
    pub(crate) change: LedgerChange,
    pub(crate) run: RunId,
    pub(crate) head: Head,
    pub(crate) started: Time,
}

/// What has been read of the ledger; only its end can be unknown.
#[derive(Debug, Default, Clone)]
pub(crate) struct KnownLedger {
    objects: u64,
    entries: Vec<KnownEntry>,
    /// The entries of each run, by their place in `entries`.
    runs: BTreeMap<RunId, Vec<usize>>,
}

impl KnownLedger {
    pub(crate) fn entries(&self) -> &[KnownEntry] {
        &self.entries
    }

    /// The runs, in the order in which they came into the log.
    pub(crate) fn runs(&self) -> Vec<RunId> {
        let mut runs: Vec<(usize, RunId)> =
            self.runs.iter().filter_map(|(run, at)| Some((*at.first()?, *run))).collect();
        runs.sort_unstable_by_key(|(first, _)| *first);
        runs.into_iter().map(|(_, run)| run).collect()
    }

    /// The entries of a run, in order.
    pub(crate) fn of(&self, run: RunId) -> impl DoubleEndedIterator<Item = &KnownEntry> {
        let places = self.runs.get(&run).map_or(&[][..], Vec::as_slice);
        places.iter().map(|at| &self.entries[*at])
    }

    /// Whether it has an entry.
    pub(crate) fn has(&self, run: RunId, what: &str, head: Head) -> bool {
        self.of(run).any(|known| known.entry.head == head && known.entry.change.as_str() == what)
    }

    fn head(&self) -> LedgerHead {
        self.entries.last().map_or(LedgerHead::START, |known| known.entry.ledger_head())
    }

    fn add(&mut self, known: KnownEntry) {
        self.runs.entry(known.entry.run).or_default().push(self.entries.len());
        self.objects = known.object;
        self.entries.push(known);
    }

    /// The lines of an object that has these entries.
    fn object(&self, number: u64, new: &[KnownEntry]) -> String {
        let covered = PAGES.iter().find(|page| number.is_multiple_of(**page)).copied();
        let from = covered.map_or(number, |page| number - page + 1);
        let old = self.entries.partition_point(|known| known.object < from);
        let mut text = String::new();
        for KnownEntry { entry, started, object } in self.entries[old..].iter().chain(new) {
            let line = EntryLine {
                hash: entry.hash,
                head: entry.head.hash,
                number: entry.number,
                object: *object,
                run: entry.run,
                seq: entry.head.seq,
                started: *started,
                what: entry.change.to_string(),
            };
            text.push_str(&serde_json::to_string(&line).unwrap_or_default());
            text.push('\n');
        }
        text
    }
}

/// The ledger of a log.
#[derive(Debug)]
pub(crate) struct Ledger {
    objects: Objects,
    names: Names,
    known: Mutex<Arc<KnownLedger>>,
}

impl Ledger {
    pub(crate) fn new(objects: Objects, names: Names) -> Self {
        Ledger { objects, names, known: Mutex::default() }
    }

    /// The ledger as far as it is now.
    ///
    /// # Errors
    /// [`LogError`] if the store cannot be read; [`LogError::CorruptLedger`] at an object that is not as it was written.
    pub(crate) async fn read(&self) -> Result<Arc<KnownLedger>, LogError> {
        let mut known = self.known.lock().await;
        self.read_on(&mut known).await?;
        Ok(known.clone())
    }

    /// The ledger as it was when it was last read.
    pub(crate) async fn last_read(&self) -> Arc<KnownLedger> {
        self.known.lock().await.clone()
    }

    /// Appends entries that are not there yet. Another writer may append the same ones: of two that settle the same
    /// commit, one succeeds, and the other finds that it is done.
    ///
    /// # Errors
    /// As [`read`](Self::read), and if the store cannot be written.
    pub(crate) async fn append(&self, new: &[NewEntry]) -> Result<(), LogError> {
        let mut known = self.known.lock().await;
        loop {
            // Also so that nobody writes into a gap.
            self.read_on(&mut known).await?;
            let due = new.iter().filter(|e| !known.has(e.run, e.change.as_str(), e.head));
            let number = known.objects + 1;
            let mut after = known.head();
            let entries = due.map(|NewEntry { change, run, head, started }| {
                let entry = LedgerEntry::after(after, change.clone(), *run, *head);
                after = entry.ledger_head();
                KnownEntry { entry, started: *started, object: number }
            });
            let entries: Vec<KnownEntry> = entries.collect();
            if entries.is_empty() {
                return Ok(());
            }
            let text = known.object(number, &entries);
            let failed = |error| LogError::failed(self.objects.name(), error);
            let bytes = zstd::bulk::compress(text.as_bytes(), 3).map_err(failed)?.into();
            match self.objects.create(&self.names.ledger_object(number), &bytes).await? {
                Created::Here => {
                    let known = Arc::make_mut(&mut known);
                    entries.into_iter().for_each(|entry| known.add(entry));
                    return Ok(());
                }
                // Somebody was faster.
                Created::Other(_) => {}
            }
        }
    }

    /// Reads what others have added: by pages, if a lot may have been, and what comes after these by what is listed, so
    /// that an object that is missing is noticed.
    async fn read_on(&self, known: &mut Arc<KnownLedger>) -> Result<(), LogError> {
        if known.objects == 0 {
            for page in PAGES {
                self.read_every(page, known).await?;
            }
        }
        let after = (known.objects > 0).then(|| self.names.ledger_object(known.objects));
        let listed = self.objects.list(&self.names.ledger(), after.as_ref()).await?;
        let numbers: Vec<u64> = listed.iter().filter_map(number_of).collect();
        let paths = numbers.iter().map(|number| self.names.ledger_object(*number)).collect();
        for (number, bytes) in numbers.iter().zip(self.objects.get_all(paths).await?) {
            let due = known.objects + 1;
            match bytes.filter(|_| *number == due) {
                Some(bytes) => self.take(*number, &bytes, known)?,
                None => {
                    let object = self.names.ledger_object(due).to_string();
                    let fault = Fault::from(SegmentFault::Missing { object });
                    return Err(LogError::CorruptLedger { fault: Box::new(fault) });
                }
            }
        }
        Ok(())
    }

    /// Reads the objects whose number is a multiple of `step`, as long as there are any: one at first, then more at a
    /// time.
    async fn read_every(&self, step: u64, known: &mut Arc<KnownLedger>) -> Result<(), LogError> {
        let mut window = 1;
        loop {
            let first = known.objects / step + 1;
            let numbers: Vec<u64> = (first..first + window as u64).map(|n| n * step).collect();
            let paths = numbers.iter().map(|number| self.names.ledger_object(*number)).collect();
            let found = self.objects.get_all(paths).await?;
            for (number, bytes) in numbers.into_iter().zip(found) {
                let Some(bytes) = bytes else { return Ok(()) };
                self.take(number, &bytes, known)?;
            }
            window = (window * 2).min(TOGETHER);
        }
    }

    /// Takes the lines of an object that are not known yet.
    fn take(
        &self,
        number: u64,
        bytes: &Bytes,
        known: &mut Arc<KnownLedger>,
    ) -> Result<(), LogError> {
        let object = self.names.ledger_object(number);
        let changed = |why: String| {
            let fault = SegmentFault::Changed { object: object.to_string(), why };
            LogError::CorruptLedger { fault: Box::new(Fault::from(fault)) }
        };
        let text = zstd::bulk::decompress(bytes, MOST_BYTES).map_err(|e| changed(e.to_string()))?;
        let text = String::from_utf8(text).map_err(|e| changed(e.to_string()))?;
        let known = Arc::make_mut(known);
        let before = known.objects;
        for line in text.lines() {
            let line: EntryLine =
                serde_json::from_str(line).map_err(|error| changed(error.to_string()))?;
            let EntryLine { hash, head, number, object, run, seq, started, what } = line;
            if object <= before {
                continue;
            }
            let head = Head { seq, hash: head };
            let entry = LedgerEntry { number, change: what.into(), run, head, hash };
            known.add(KnownEntry { entry, started, object });
        }
        match known.objects == number {
            true => Ok(()),
            false => Err(changed("it has no entry of its own".to_owned())),
        }
    }
}
