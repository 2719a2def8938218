//! Reads what can be read of a damaged run.

use retold::event::StoredEvent;
use retold::id::{RunId, Seq};
use retold::log::{CheckedReader, LogError, Reader};

use crate::verdict::Damage;

/// How many unreadable or missing events in a row are skipped before reading stops: those of a few hundred
/// damaged pages.
const MOST_SKIPPED: u64 = 1 << 16;

/// A reader that checks hashes up to the first that does not match, and then reads on without.
pub struct TolerantReader {
    checked: Option<CheckedReader>,
    plain: Box<dyn Reader>,
}

impl TolerantReader {
    /// Reads with two readers of the same log.
    pub fn new(checked: Box<dyn Reader>, plain: Box<dyn Reader>) -> Self {
        TolerantReader { checked: Some(CheckedReader::new(checked)), plain }
    }

    /// A reader that checks nothing.
    pub fn plain(&mut self) -> &mut dyn Reader {
        self.plain.as_mut()
    }

    /// The next events of a run, and the first that is not as it was written. Empty at the end, or
    /// where nothing more can be read.
    ///
    /// # Errors
    /// [`LogError`] if the log cannot be read for another reason than damage.
    pub fn events(
        &mut self,
        run: RunId,
        after: Seq,
        most: usize,
    ) -> Result<(Vec<StoredEvent>, Option<Damage>), LogError> {
        let mut damage = None;
        let mut from = after;
        loop {
            let read = match &mut self.checked {
                Some(reader) => reader.events(run, from, most),
                None => self.plain.events(run, from, most),
            };
            let error = match read {
                Ok(events) => return Ok((near(from, events), damage)),
                Err(error) => error,
            };
            damage = Damage::first(damage, Some(damage_of(error, from)?));
            if self.checked.take().is_none() {
                match self.next_readable(run, from)? {
                    Some(readable) => from = readable,
                    None => return Ok((Vec::new(), damage)),
                }
            }
        }
    }

    /// After which event, not far after one that cannot be read on from, events can be read again.
    fn next_readable(&mut self, run: RunId, from: Seq) -> Result<Option<Seq>, LogError> {
        let (mut unreadable, mut step) = (from.0, 1);
        let mut beyond = loop {
            let at = from.0.saturating_add(step);
            match self.can_read(run, at)? {
                // There may be some between the damage and the end.
                Readable::Yes | Readable::End => break at,
                Readable::No => unreadable = at,
            }
            step *= 2;
            if step > MOST_SKIPPED {
                return Ok(None);
            }
        };
        while unreadable + 1 < beyond {
            let middle = u64::midpoint(unreadable, beyond);
            match self.can_read(run, middle)? {
                Readable::Yes | Readable::End => beyond = middle,
                Readable::No => unreadable = middle,
            }
        }
        let is_readable = matches!(self.can_read(run, beyond)?, Readable::Yes);
        Ok(is_readable.then_some(Seq(beyond)))
    }

    fn can_read(&mut self, run: RunId, after: u64) -> Result<Readable, LogError> {
        match self.plain.events(run, Seq(after), 1) {
            Ok(events) if events.is_empty() => Ok(Readable::End),
            Ok(_) => Ok(Readable::Yes),
            Err(error) => damage_of(error, Seq(after)).map(|_| Readable::No),
        }
    }
}

/// Events up to one that is so far off that it cannot belong to the run: the missing events in between would fill the
/// memory.
fn near(mut last: Seq, mut events: Vec<StoredEvent>) -> Vec<StoredEvent> {
    let is_near = |event: &&StoredEvent| {
        let gap = event.seq.0.saturating_sub(last.0);
        last = event.seq;
        gap <= MOST_SKIPPED
    };
    let count = events.iter().take_while(is_near).count();
    events.truncate(count);
    events
}

/// Whether there are events after one.
enum Readable {
    Yes,
    No,
    /// There are none.
    End,
}

/// The damage that an error is about; other errors are returned.
fn damage_of(error: LogError, after: Seq) -> Result<Damage, LogError> {
    match error {
        LogError::Corrupt { seq, fault, .. } => Ok(Damage { seq, fault: *fault }),
        LogError::Damaged { fault, .. } => Ok(Damage { seq: after.next(), fault: *fault }),
        other => Err(other),
    }
}
