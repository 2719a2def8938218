//! The ledger: a second sequence of objects, one for each commit that has entries.
//!
//! An object is created only once, and only by a writer that has read all earlier ones. It repeats the lines of some that
//! came before it (see [`first_repeated`]), so that a ledger of up to 16 objects is read in one request after the list of its
//! objects, one of up to 256 in two, and one of up to 4096 in three. That of 100,000 runs is read in about seventy, most of them
//! at the same time. Nothing is ever rewritten. The object with the number 0 has no lines and comes with the log: a ledger without
//! it was lost.
//!
//! The lines of an object are those of a recording, with entries in between: before each entry, the events that it repeats
//! (see [`RepeatedEvent`]), and before these their contents, each once in an object.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::sync::Arc;

use bytes::Bytes;
use object_store::path::Path;
use retold::event::StoredEvent;
use retold::id::{ContentHash, RunId, Seq};
use retold::log::ledger::{LedgerChange, LedgerEntry, LedgerHead};
use retold::log::{Fault, Head, LogError, SegmentFault};
use tokio::sync::Mutex;

use crate::ledger_entry::{AnyLine, EntryLine, KnownEntry, NewEntry};
use crate::ledger_pages::{LARGEST_PAGE, first_repeated};
use crate::names::Names;
use crate::objects::{Created, Objects, TOGETHER};
use crate::packing::{UnpackBudget, pack};
use crate::repeated::RepeatedEvent;

/// The most bytes of lines in an object: a page of 4,096 objects with 64 thousand bytes each.
const MOST_BYTES: u64 = 1 << 28;

/// How many names a store lists at once: S3, Google Cloud Storage and others, 1,000
/// (<https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectsV2.html>).
const LISTED_AT_ONCE: usize = 1000;

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

    /// Whether it has an entry after the one with a number.
    pub(crate) fn goes_beyond(&self, number: u64) -> bool {
        self.entries.last().is_some_and(|last| last.entry.number > number)
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

    /// The ends up to which a run may have been compacted, in order.
    pub(crate) fn ends_of(&self, run: RunId) -> impl DoubleEndedIterator<Item = Head> {
        let is_end = |change: &LedgerChange| {
            matches!(change, LedgerChange::Finished | LedgerChange::Imported)
        };
        let ends = self.of(run).filter(move |known| is_end(&known.entry.change));
        ends.map(|known| known.entry.head)
    }

    /// An event of a run, if it is one of those that the ledger repeats.
    pub(crate) fn repeated_event(&self, run: RunId, seq: Seq) -> Option<StoredEvent> {
        let with = |known: &&KnownEntry| known.repeats.iter().any(|event| event.seq == seq);
        self.of(run).rev().find(with)?.repeated_event(seq)
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
        let from = first_repeated(number);
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

fn missing(object: &Path) -> LogError {
    let fault = SegmentFault::Missing { object: object.to_string() };
    LogError::CorruptLedger { fault: Box::new(Fault::from(fault)) }
}

fn change_error(object: &Path, why: impl ToString) -> LogError {
    let (object, why) = (object.to_string(), why.to_string());
    let fault = Fault::from(SegmentFault::Changed { object, why });
    LogError::CorruptLedger { fault: Box::new(fault) }
}

/// The lines of an object.
struct LedgerText {
    number: u64,
    text: String,
    /// The first object whose entries it has.
    first: u64,
}

impl LedgerText {
    fn new(
        number: u64,
        object: &Path,
        bytes: &Bytes,
        budget: &UnpackBudget,
    ) -> Result<Self, LogError> {
        let room = budget.room(bytes.len());
        let mut text = String::new();
        // One more shows that there are more.
        let read = zstd::Decoder::with_buffer(&bytes[..])
            .and_then(|lines| lines.take(room.min(MOST_BYTES) + 1).read_to_string(&mut text));
        read.map_err(|e| change_error(object, e))?;
        budget.spend(text.len() as u64, room).map_err(|e| change_error(object, e))?;
        if text.len() as u64 > MOST_BYTES {
            return Err(change_error(
                object,
                format!("it has more than {} MiB of lines", MOST_BYTES >> 20),
            ));
        }
        let object_of = |line| Some(serde_json::from_str::<EntryLine>(line).ok()?.object);
        // Lines that cannot be read are reported when they are taken.
        let first = text.lines().find_map(object_of).unwrap_or(number);
        Ok(LedgerText { number, text, first })
    }
}

/// The ledger of a log.
#[derive(Debug)]
pub(crate) struct Ledger {
    objects: Objects,
    names: Names,
    known: Mutex<Arc<KnownLedger>>,
    unpacked: UnpackBudget,
}

impl Ledger {
    pub(crate) fn new(objects: Objects, names: Names) -> Self {
        Ledger { objects, names, known: Mutex::default(), unpacked: UnpackBudget::default() }
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
            let failed = |error| LogError::failure(self.objects.name(), error);
            let bytes = pack(&text).map_err(failed)?.into();
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

    /// Reads the listed objects that others have added, so that an object that is missing is noticed. If there are more
    /// objects than a store lists at once, the largest pages are read first.
    async fn read_on(&self, known: &mut Arc<KnownLedger>) -> Result<(), LogError> {
        let name = |number| self.names.ledger_object(number);
        let folder = self.names.ledger();
        let most = if known.objects == 0 { LISTED_AT_ONCE } else { usize::MAX };
        let mut listing = self.objects.numbers(&folder, known.objects, most, name).await?;
        if listing.is_cut {
            self.read_large_pages(known).await?;
            listing = self.objects.numbers(&folder, known.objects, usize::MAX, name).await?;
        }
        let after = known.objects;
        let mut listed: Vec<u64> = listing.numbers.into_iter().map(|(number, _)| number).collect();
        if after == 0 && listed.first() != Some(&0) {
            return Err(missing(&name(0)));
        }
        listed.retain(|number| *number > after);
        let without_gap = listed.iter().zip(after + 1..).take_while(|(number, due)| *number == due);
        let last = after + without_gap.count() as u64;
        let (mut at, mut later, mut damage) = (last, Vec::new(), None);
        while at > after {
            let object = name(at);
            let read = match self.objects.get(&object).await? {
                Some(bytes) => LedgerText::new(at, &object, &bytes, &self.unpacked),
                None => Err(missing(&object)),
            };
            match read {
                Ok(text) => {
                    at = text.first.min(at).saturating_sub(1);
                    later.push(text);
                }
                // What comes before it may be readable, and what comes after it does not follow that.
                Err(error) => {
                    (at, damage) = (at - 1, Some(error));
                    later.clear();
                }
            }
        }
        for text in later.into_iter().rev() {
            self.take(&text, known)?;
        }
        if let Some(damage) = damage {
            return Err(damage);
        }
        if listed.last().is_some_and(|number| *number > last) {
            return Err(missing(&name(last + 1)));
        }
        Ok(())
    }

    /// Reads the largest pages, as long as there are any: one at first, then more at a time.
    async fn read_large_pages(&self, known: &mut Arc<KnownLedger>) -> Result<(), LogError> {
        let mut window = 1;
        loop {
            let first = known.objects / LARGEST_PAGE + 1;
            let pages = first..first + window as u64;
            let numbers: Vec<u64> = pages.map(|page| page * LARGEST_PAGE).collect();
            let paths = numbers.iter().map(|number| self.names.ledger_object(*number)).collect();
            let found = self.objects.get_all(paths).await?;
            for (number, bytes) in numbers.into_iter().zip(found) {
                let Some(bytes) = bytes else { return Ok(()) };
                let object = self.names.ledger_object(number);
                let text = LedgerText::new(number, &object, &bytes, &self.unpacked)?;
                self.take(&text, known)?;
            }
            window = (window * 2).min(TOGETHER);
        }
    }

    /// Reads every object for itself, and not only the pages that stand for several: each is compared with those that it
    /// repeats.
    pub(crate) async fn compare_each(&self) -> Result<(), LogError> {
        let (numbers, mut each) = (1..=self.read().await?.objects, Arc::default());
        let numbers: Vec<u64> = numbers.collect();
        for some in numbers.chunks(TOGETHER) {
            let paths = some.iter().map(|number| self.names.ledger_object(*number)).collect();
            for (number, bytes) in some.iter().zip(self.objects.get_all(paths).await?) {
                let object = self.names.ledger_object(*number);
                let bytes = bytes.ok_or_else(|| missing(&object))?;
                let text = LedgerText::new(*number, &object, &bytes, &self.unpacked)?;
                self.take(&text, &mut each)?;
            }
        }
        Ok(())
    }

    /// Takes the lines of an object that are not known yet, and compares the others with those that are.
    fn take(&self, of: &LedgerText, known: &mut Arc<KnownLedger>) -> Result<(), LogError> {
        let LedgerText { number, text, .. } = of;
        let object = self.names.ledger_object(*number);
        let changed = |why: String| change_error(&object, why);
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
                let at = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
                let same = at.and_then(|at| known.entries.get(at));
                if same.is_none_or(|same| same.entry.hash != hash || same.object != object) {
                    return Err(changed(
                        "its entries are not those of the objects before it".into(),
                    ));
                }
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
        match known.objects == *number {
            true => Ok(()),
            false => Err(changed("it has no entry of its own".to_owned())),
        }
    }
}
