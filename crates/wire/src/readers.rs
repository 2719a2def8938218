//! Reads single events of one log, for as many threads as ask.

use std::collections::{BTreeSet, VecDeque};
use std::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError};

use retold::event::StoredEvent;
use retold::id::{RunId, Seq};
use retold::log::{CheckedReader, Log, LogError, Reader};

use crate::book::Place;

/// How many events are read together once two of them were wanted. A program mostly asks in the
/// order in which it was recorded, and a single event takes as long to read as several consecutive
/// ones.
const BLOCK: u64 = 128;

/// How many blocks are kept.
const BLOCKS: usize = 64;

/// The longest block that is kept, in bytes.
const LONGEST: usize = 1 << 20;

/// How many blocks are remembered from which one event was read.
const TOUCHED: usize = 256;

/// Readers of a log, and the events that were last read together.
pub(crate) struct Readers {
    log: Log,
    idle: Mutex<Vec<CheckedReader>>,
    blocks: Mutex<Blocks>,
}

/// The number of a block within its run.
type Block = (RunId, u64);

#[derive(Default)]
struct Blocks {
    /// Those that were read last come last.
    kept: VecDeque<(Block, Arc<Vec<StoredEvent>>)>,
    touched: VecDeque<Block>,
    is_touched: BTreeSet<Block>,
}

/// An event, on its own or with its block.
pub(crate) struct Found(Arc<Vec<StoredEvent>>, usize);

impl Deref for Found {
    type Target = StoredEvent;

    fn deref(&self) -> &StoredEvent {
        &self.0[self.1]
    }
}

impl Readers {
    /// Readers of a log.
    pub(crate) fn of(log: &Log) -> Self {
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
            None => CheckedReader::new(self.log.reader()?),
        };
        let result = read(&mut reader);
        lock(&self.idle).push(reader);
        result
    }

    /// The event at a place.
    ///
    /// # Errors
    /// [`LogError`] if it cannot be read, or is damaged.
    pub(crate) fn event(&self, place: Place) -> Result<Option<Found>, LogError> {
        let Place { run, seq } = place;
        let number = seq.0.saturating_sub(1) / BLOCK;
        let (block, at) = ((run, number), seq.0.saturating_sub(1) % BLOCK);
        let is_near = {
            let mut blocks = lock(&self.blocks);
            if let Some((_, kept)) = blocks.kept.iter().rev().find(|(kept, _)| *kept == block) {
                return Ok(Some(Found(kept.clone(), at as usize)));
            }
            blocks.touch(block)
        };
        if is_near {
            let before = Seq(number * BLOCK);
            let events = self.with(|reader| reader.events(run, before, BLOCK as usize))?;
            // A block at the end of a run that is being written may grow.
            if events.len() == BLOCK as usize {
                let events = Arc::new(events);
                lock(&self.blocks).keep(block, &events);
                return Ok(Some(Found(events, at as usize)));
            }
        }
        let events = self.with(|reader| reader.events(run, Seq(seq.0.saturating_sub(1)), 1))?;
        Ok((!events.is_empty()).then(|| Found(Arc::new(events), 0)))
    }
}

impl Blocks {
    /// Notes that an event of a block is wanted; returns whether another one was lately.
    fn touch(&mut self, block: Block) -> bool {
        if !self.is_touched.insert(block) {
            return true;
        }
        self.touched.push_back(block);
        if self.touched.len() > TOUCHED
            && let Some(oldest) = self.touched.pop_front()
        {
            self.is_touched.remove(&oldest);
        }
        false
    }

    fn keep(&mut self, block: Block, events: &Arc<Vec<StoredEvent>>) {
        let content = |event: &StoredEvent| event.content.as_ref().map_or(0, |it| it.text().len());
        let bytes: usize = events.iter().map(|event| content(event) + event.body.len()).sum();
        if bytes > LONGEST || self.kept.iter().any(|(kept, _)| *kept == block) {
            return;
        }
        self.kept.push_back((block, events.clone()));
        if self.kept.len() > BLOCKS {
            self.kept.pop_front();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
