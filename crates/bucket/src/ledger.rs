//! The ledger: a second sequence of objects, one for each commit that has entries.
//!
//! An object is created only once, and only by a writer that has read all earlier ones. Every 8th object is a page that
//! repeats the lines of the last 8, every 64th one that repeats those of the last 64, and so on up to 4096. So the ledger
//! of 100,000 runs is read in about eighty requests, most of them at the same time, and nothing is ever rewritten.
//!
//! The lines of an object are those of a recording, with entries in between: before each entry, the events that it repeats
//! (see [`RepeatedEvent`]), and before these their contents, each once in an object.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use bytes::Bytes;
use object_store::path::Path;
use retold::event::StoredEvent;
use retold::id::{ContentHash, RunId, Seq};
use retold::log::ledger::{LedgerEntry, LedgerHead};
use retold::log::{Fault, Head, LogError, SegmentFault};
use tokio::sync::Mutex;

use crate::ledger_entry::{AnyLine, EntryLine, KnownEntry, NewEntry};
use crate::lost_ledger::is_lost;
use crate::names::Names;
use crate::objects::{Created, Objects, TOGETHER};
use crate::repeated::RepeatedEvent;

/// How many objects a page repeats: the large pages first.
const PAGES: [u64; 4] = [4096, 512, 64, 8];

/// The most bytes of lines in an object: a page of 4,096 objects with 64 thousand bytes each.
const MOST_BYTES: usize = 1 << 28;

/// What has been read of the ledger; only its end can be unknown.
#[derive(Debug, Default, Clone)]
pub(crate) struct KnownLedger {
    objects: u64,
    /// Shared with those who still look at an earlier state.
    entries: Vec<Arc<KnownEntry>>,
    /// The entries of each run, by their place in `entries`.
    runs: BTreeMap<RunId, Vec<usize>>,
    /// The lines of contents that repeated events have.
    contents: BTreeMap<ContentHash, Arc<str>>,
}

impl KnownLedger {
    pub(crate) fn entries(&self) -> &[Arc<KnownEntry>] {
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
        places.iter().map(|at| &*self.entries[*at])
    }

    /// Whether it has an entry.
    pub(crate) fn has(&self, run: RunId, what: &str, head: Head) -> bool {
        self.of(run).any(|known| known.entry.head == head && known.entry.change.as_str() == what)
    }

    /// An event of a run, if it is one of those that the ledger repeats.
    pub(crate) fn repeated(&self, run: RunId, seq: Seq) -> Option<StoredEvent> {
        let with = |known: &&KnownEntry| known.repeats.iter().any(|event| event.seq == seq);
        self.of(run).rev().find(with)?.repeated(seq)
    }

    fn head(&self) -> LedgerHead {
        self.entries.last().map_or(LedgerHead::START, |known| known.entry.ledger_head())
    }

    fn add(&mut self, known: KnownEntry) {
        self.runs.entry(known.entry.run).or_default().push(self.entries.len());
        self.objects = known.object;
        self.entries.push(Arc::new(known));
    }

    /// The lines of an object that has these entries.
    fn object(&self, number: u64, new: &[KnownEntry]) -> String {
        let covered = PAGES.iter().find(|page| number.is_multiple_of(**page)).copied();
        let from = covered.map_or(number, |page| number - page + 1);
        let old = self.entries.partition_point(|known| known.object < from);
        let (mut text, mut contents) = (String::new(), BTreeSet::new());
        let mut add = |line: &str| {
            text.push_str(line);
            text.push('\n');
        };
        for known in self.entries[old..].iter().map(AsRef::as_ref).chain(new) {
            let KnownEntry { entry, started, repeats, object } = known;
            for RepeatedEvent { content, line, .. } in repeats {
                let content = content.iter().filter(|(hash, _)| contents.insert(*hash));
                content.for_each(|(_, line)| add(line));
                add(line);
            }
            let line = EntryLine {
                follows: repeats.iter().map(|event| event.follows).collect(),
                hash: entry.hash,
                head: entry.head.hash,
                number: entry.number,
                object: *object,
                run: entry.run,
                seq: entry.head.seq,
                started: *started,
                what: entry.change.to_string(),
            };
            add(&serde_json::to_string(&line).unwrap_or_default());
        }
        text
    }
}

/// The objects that have the lines of all objects after one and up to a last one: the fewest.
fn covering(after: u64, last: u64) -> Vec<u64> {
    let (mut at, mut numbers) = (after, Vec::new());
    while at < last {
        // Of the pages that have the next object, the one that reaches the furthest.
        let page_ends = PAGES.iter().map(|page| (at / page + 1) * page);
        at = page_ends.filter(|end| *end <= last).max().unwrap_or(at + 1);
        numbers.push(at);
    }
    numbers
}

fn missing(object: &Path) -> LogError {
    let fault = SegmentFault::Missing { object: object.to_string() };
    LogError::CorruptLedger { fault: Box::new(Fault::from(fault)) }
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
            let entries = due.map(|NewEntry { change, run, head, started, repeats }| {
                let entry = LedgerEntry::after(after, change.clone(), *run, *head);
                after = entry.ledger_head();
                let repeats = repeats.clone();
                KnownEntry { entry, started: *started, repeats, object: number }
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

    /// Reads what others have added: by the largest pages, if a lot may have been, and then by what is listed, so that an
    /// object that is missing is noticed.
    async fn read_on(&self, known: &mut Arc<KnownLedger>) -> Result<(), LogError> {
        if known.objects == 0 {
            self.read_large_pages(known).await?;
        }
        let name = |number| self.names.ledger_object(number);
        let after = known.objects;
        let listed = self.objects.numbers(&self.names.ledger(), after, name).await?.numbers;
        let without_gap = listed.iter().zip(after + 1..).take_while(|(number, due)| *number == due);
        let last = after + without_gap.count() as u64;
        let numbers = covering(after, last);
        let found = self.objects.get_all(numbers.iter().map(|number| name(*number)).collect());
        for (number, bytes) in numbers.iter().zip(found.await?) {
            let bytes = bytes.ok_or_else(|| missing(&name(*number)))?;
            self.take(*number, &bytes, known)?;
        }
        if listed.last().is_some_and(|number| *number > last) {
            return Err(missing(&name(last + 1)));
        }
        if last == 0
            && is_lost(&self.objects, &self.names).await?
            // The first run may have begun meanwhile.
            && self.objects.numbers(&self.names.ledger(), 0, name).await?.numbers.is_empty()
        {
            return Err(missing(&name(1)));
        }
        Ok(())
    }

    /// Reads the largest pages, as long as there are any: one at first, then more at a time.
    async fn read_large_pages(&self, known: &mut Arc<KnownLedger>) -> Result<(), LogError> {
        let [step, ..] = PAGES;
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

    /// Reads every object for itself, and not the pages that stand for several, and compares the entries with those that
    /// pages repeat.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub(crate) async fn compare_each(&self) -> Result<(), LogError> {
        let (by_pages, mut each) = (self.read().await?, Arc::default());
        let numbers: Vec<u64> = (1..=by_pages.objects).collect();
        for some in numbers.chunks(TOGETHER) {
            let paths = some.iter().map(|number| self.names.ledger_object(*number)).collect();
            for (number, bytes) in some.iter().zip(self.objects.get_all(paths).await?) {
                let object = self.names.ledger_object(*number);
                self.take(*number, &bytes.ok_or_else(|| missing(&object))?, &mut each)?;
            }
        }
        let same = |one: &KnownEntry, other: &KnownEntry| {
            one.entry == other.entry && one.object == other.object
        };
        let pairs = by_pages.entries.iter().zip(&each.entries);
        let differing = pairs.into_iter().find(|(one, other)| !same(one, other));
        match differing {
            None => Ok(()),
            Some((_, other)) => {
                let object = self.names.ledger_object(other.object).to_string();
                let why = "its entries are not those that later objects repeat".to_owned();
                let fault = Fault::from(SegmentFault::Changed { object, why });
                Err(LogError::CorruptLedger { fault: Box::new(fault) })
            }
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
        let (before, mut events) = (known.objects, Vec::new());
        for text in text.lines() {
            let unreadable = |error: serde_json::Error| changed(error.to_string());
            let line: AnyLine = serde_json::from_str(text).map_err(unreadable)?;
            match line {
                AnyLine { what: Some(_), .. } => {}
                AnyLine { kind: Some(_), seq: Some(seq), content, .. } => {
                    events.push((seq, content, text));
                    continue;
                }
                AnyLine { content: Some(hash), .. } => {
                    known.contents.entry(hash).or_insert_with(|| text.into());
                    continue;
                }
                _ => return Err(changed(format!("this is not a line of a ledger: {text:?}"))),
            }
            let line: EntryLine = serde_json::from_str(text).map_err(unreadable)?;
            let EntryLine { follows, hash, head, number, object, run, seq, started, what } = line;
            let events = std::mem::take(&mut events);
            if object <= before {
                continue;
            }
            let repeated =
                events.into_iter().zip(follows).map(|((seq, content, line), follows)| {
                    let content = content.and_then(|hash| known.contents.get_key_value(&hash));
                    let content = content.map(|(hash, line)| (*hash, line.clone()));
                    RepeatedEvent { seq, follows, content, line: line.into() }
                });
            let repeats = repeated.collect();
            let head = Head { seq, hash: head };
            let entry = LedgerEntry { number, change: what.into(), run, head, hash };
            known.add(KnownEntry { entry, started, repeats, object });
        }
        match known.objects == number {
            true => Ok(()),
            false => Err(changed("it has no entry of its own".to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_take_the_place_of_the_objects_that_they_repeat() {
        assert_eq!(covering(0, 7), [1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(covering(0, 100), [64, 72, 80, 88, 96, 97, 98, 99, 100]);
        assert_eq!(covering(5, 20), [8, 16, 17, 18, 19, 20]);
        assert_eq!(covering(5, 6), [6]);
        assert_eq!(covering(4096, 4096 + 519), [4608, 4609, 4610, 4611, 4612, 4613, 4614, 4615]);
        assert!(covering(3, 3).is_empty());
    }
}
