//! Reads single events of one log, for as many threads as ask.

use std::collections::VecDeque;
use std::ops::Deref;
use std::sync::{Arc, Mutex};

use retold::event::StoredEvent;
use retold::id::{RunId, Seq};
use retold::log::{CheckedReader, Log, LogError, Reader};

use crate::key::AttemptPlace;
use crate::lock::lock;

/// How many events are read together once a third of them is wanted. A program mostly asks in the
/// order in which it was recorded, and a single event takes as long to read as several consecutive
/// ones.
const BLOCK: u64 = 128;

/// How many bytes of events are kept, besides the newest block.
const KEPT: usize = 4 << 20;

/// How many events must have been found in blocks for each block that is read: reading one takes as
/// long as a dozen events that are read alone. A program that asks in another order than before
/// gets less from blocks than they cost, and few are read for it.
const PRICE: u32 = 32;

/// For how many blocks at most it is known that they will be worth it.
const CREDIT: u32 = 4 * PRICE;

/// Of how many events that were read alone it is remembered which block they are in.
const TOUCHED: usize = 128;

/// Readers of a log, and the events that were last read together.
pub(crate) struct Readers {
    log: Log,
    idle: Mutex<Vec<CheckedReader>>,
    blocks: Mutex<Blocks>,
}

/// The number of a block within its run.
type Block = (RunId, u64);

struct Blocks {
    /// Those that were read last come last. A block is shorter than others if its events are large.
    kept: VecDeque<KeptReader>,
    bytes: usize,
    touched: VecDeque<Block>,
    /// What blocks have saved, and not cost yet.
    credit: u32,
}

impl Default for Blocks {
    fn default() -> Self {
        let (kept, touched) = (VecDeque::new(), VecDeque::new());
        Blocks { kept, bytes: 0, touched, credit: CREDIT }
    }
}

struct KeptReader {
    block: Block,
    events: Arc<Vec<StoredEvent>>,
    bytes: usize,
}

/// An event, on its own or with its block.
pub(crate) struct SharedEvent(Arc<Vec<StoredEvent>>, usize);

impl Deref for SharedEvent {
    type Target = StoredEvent;

    fn deref(&self) -> &StoredEvent {
        &self.0[self.1]
    }
}

impl Readers {
    /// Readers of a log.
    pub(crate) fn new(log: &Log) -> Self {
        Readers { log: log.clone(), idle: Mutex::default(), blocks: Mutex::default() }
    }

    /// Reads with a reader of its own.
    ///
    /// # Errors
    /// [`LogError`] if the log cannot be opened, or any error of `read`.
    pub(crate) fn with<T>(
        &self,
        read: impl FnOnce(&mut CheckedReader) -> Result<T, LogError>,
    ) -> Result<T, LogError> {
        let taken = lock(&self.idle).pop();
        let mut reader = match taken {
            Some(reader) => reader,
            None => self.log.checked_reader()?,
        };
        let result = read(&mut reader);
        lock(&self.idle).push(reader);
        result
    }

    /// The event at a place.
    ///
    /// # Errors
    /// [`LogError`] if it cannot be read, or is damaged.
    pub(crate) fn event(&self, place: AttemptPlace) -> Result<Option<SharedEvent>, LogError> {
        let AttemptPlace { run, seq } = place;
        let number = seq.0.saturating_sub(1) / BLOCK;
        let block = (run, number);
        let at = (seq.0.saturating_sub(1) % BLOCK) as usize;
        let is_wanted = {
            let mut blocks = lock(&self.blocks);
            match blocks.kept.iter().rev().find(|kept| kept.block == block) {
                Some(kept) if at < kept.events.len() => {
                    let found = SharedEvent(kept.events.clone(), at);
                    blocks.note_hit();
                    return Ok(Some(found));
                }
                Some(_) => false,
                None => blocks.touch(block),
            }
        };
        if is_wanted {
            let before = Seq(number * BLOCK);
            let events = self.with(|reader| reader.events(run, before, BLOCK as usize))?;
            let events = Arc::new(events);
            lock(&self.blocks).keep(block, &events);
            if at < events.len() {
                return Ok(Some(SharedEvent(events, at)));
            }
        }
        let events = self.with(|reader| reader.events(run, Seq(seq.0.saturating_sub(1)), 1))?;
        Ok((!events.is_empty()).then(|| SharedEvent(Arc::new(events), 0)))
    }
}

impl Blocks {
    /// Notes that an event was found in a block, or would have been.
    fn note_hit(&mut self) {
        self.credit = (self.credit + 1).min(CREDIT);
    }

    /// Notes that an event of a block is wanted; returns whether two others were lately, and blocks
    /// have been worth it. With two, requests in random order seldom make it read a block of which
    /// they want one event.
    fn touch(&mut self, block: Block) -> bool {
        if self.touched.iter().filter(|touched| **touched == block).count() >= 2 {
            if let Some(left) = self.credit.checked_sub(PRICE) {
                self.credit = left;
                self.touched.retain(|touched| *touched != block);
                return true;
            }
            self.note_hit();
            return false;
        }
        if self.touched.len() == TOUCHED {
            self.touched.pop_front();
        }
        self.touched.push_back(block);
        false
    }

    fn keep(&mut self, block: Block, events: &Arc<Vec<StoredEvent>>) {
        if self.kept.iter().any(|kept| kept.block == block) {
            return;
        }
        let content = |event: &StoredEvent| event.content.as_ref().map_or(0, |it| it.text().len());
        let bytes = events.iter().map(|event| content(event) + event.body.len()).sum();
        while self.bytes > KEPT
            && let Some(oldest) = self.kept.pop_front()
        {
            self.bytes -= oldest.bytes;
        }
        self.bytes += bytes;
        self.kept.push_back(KeptReader { block, events: events.clone(), bytes });
    }
}
