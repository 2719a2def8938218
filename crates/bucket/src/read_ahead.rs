//! Reads segments one after the other, the next ones while the last is used.

use std::collections::VecDeque;
use std::sync::Arc;

use retold::id::{RunId, Seq};
use retold::log::{LogError, SegmentFault};
use tokio::task::JoinHandle;

use crate::names::Place;
use crate::objects::TOGETHER;
use crate::segment::{MOST_BYTES, Segment};
use crate::segments::Segments;

/// How many bytes of lines are read ahead, or one segment if it has more.
const AHEAD_BYTES: u64 = 16 << 20;

/// How many bytes all segments together take that were read ahead.
const HELD_BYTES: u64 = 4 * AHEAD_BYTES;

/// A segment that is being read.
type BegunRead = JoinHandle<Result<Arc<Segment>, LogError>>;

/// The segments that a reader reads in order.
#[derive(Debug, Default)]
pub(crate) struct ReadAhead {
    last: Option<(RunId, Place, Arc<Segment>)>,
    begun: VecDeque<(RunId, Place, BegunRead)>,
    /// How many segments are read ahead: more with each that was read in order, so that a look-up reads one.
    window: usize,
}

impl ReadAhead {
    /// The segment that has an event, which is known to exist.
    ///
    /// # Errors
    /// [`LogError::Corrupt`], at this event, if the segment is missing or not as it was written; [`LogError`] if the
    /// store cannot be read.
    pub(crate) async fn having(
        &mut self,
        segments: &Arc<Segments>,
        run: RunId,
        seq: Seq,
    ) -> Result<Arc<Segment>, LogError> {
        let place = segments.holding(run, seq).await?;
        if let Some((of, at, last)) = &self.last
            && (*of, *at) == (run, place)
            && last.footer.last() >= seq
        {
            return Ok(last.clone());
        }
        let follows = |last: &Segment| last.footer.last().next() == seq;
        let before = self.last.as_ref().filter(|(of, _, last)| *of == run && follows(last));
        // Nothing has a name between those of two segments.
        if let Some((_, at, _)) = before
            && let Some(next) = segments.after(run, *at).filter(|next| *next < place)
        {
            let object = segments.names.segment_at(run, next).to_string();
            return Err(LogError::corrupt(run, seq, SegmentFault::Foreign { object }));
        }
        let is_next = before.is_some();
        let segment = match self.begun.pop_front() {
            Some((of, at, read)) if is_next && (of, at) == (run, place) => match read.await {
                Ok(Ok(segment)) if segment.footer.first() == seq => segment,
                // Any error is met again here.
                _ => segments.segment_with(run, place, seq).await?,
            },
            begun => {
                begun.into_iter().chain(self.begun.drain(..)).for_each(|(.., read)| read.abort());
                segments.segment_with(run, place, seq).await?
            }
        };
        let fitting = AHEAD_BYTES / segment.footer.bytes.max(1);
        let most = usize::try_from(fitting).unwrap_or(TOGETHER).clamp(1, TOGETHER);
        self.window = if is_next { (self.window * 2).clamp(1, most) } else { 0 };
        self.last = Some((run, place, segment.clone()));
        self.begin(segments, run, place);
        Ok(segment)
    }

    /// Begins to read what follows.
    fn begin(&mut self, segments: &Arc<Segments>, run: RunId, from: Place) {
        let mut last = self.begun.back().map_or(from, |(_, place, _)| *place);
        while self.begun.len() < self.window {
            let Some(place) = segments.after(run, last) else { return };
            let segments = segments.clone();
            // A larger one is read when it is used.
            let most = (HELD_BYTES / self.window as u64).min(MOST_BYTES);
            // Which event it has to have is known, and checked, when it is used.
            let read =
                async move { segments.segment_within(run, place, Seq(u64::MAX), most).await };
            self.begun.push_back((run, place, tokio::spawn(read)));
            last = place;
        }
    }
}
