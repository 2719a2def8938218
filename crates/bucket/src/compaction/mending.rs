//! Writes parts of a compaction again that were lost, from the segments for which they stand: their bytes depend on the events
//! alone.

use std::sync::Arc;

use retold::id::{RunId, Seq};
use retold::log::{LogError, SegmentFault};

use super::compacted_run::Compaction;
use super::making::{CompactionResult, make};
use crate::run_end::RunEnd;
use crate::segments::Segments;

/// Compacts a run again if parts of its compaction are missing.
///
/// # Errors
/// [`LogError::Corrupt`] if a part has another size than it was written with: nothing is overwritten. Also if the segments of the
/// run are missing or damaged as well; [`LogError`] if the store cannot be read or written.
pub(super) async fn mend(
    segments: &Arc<Segments>,
    run: RunId,
    end: RunEnd,
    known: &Compaction,
) -> Result<CompactionResult, LogError> {
    let missing = segments.missing_parts(run, known).await?;
    let Some(object) = missing.first().cloned() else { return Ok(CompactionResult::Known) };
    let missing_part = SegmentFault::Missing { object };
    let own = |number| segments.names.segment(run, number);
    let listed = segments.objects.numbers(&segments.names.run(run), 0, usize::MAX, own).await?;
    if listed.numbers.into_iter().take_while(|number| *number <= end.segments).ne(1..=end.segments)
    {
        return Err(LogError::corrupt(run, Seq(1), missing_part));
    }
    // From now on, these are read instead.
    segments.lock().damaged_parts.insert(run, missing_part.clone().into());
    make(segments, run, end).await?;
    // Another release may have packed the same events differently.
    if !segments.missing_parts(run, known).await?.is_empty() {
        return Err(LogError::corrupt(run, Seq(1), missing_part));
    }
    segments.lock().damaged_parts.remove(&run);
    Ok(CompactionResult::Mended { parts: missing.len() as u64 })
}

impl Segments {
    /// The names of parts that are not there.
    ///
    /// # Errors
    /// [`LogError::Corrupt`] if one has another size than its directory says; [`LogError`] if the store cannot be read.
    async fn missing_parts(
        &self,
        run: RunId,
        compaction: &Compaction,
    ) -> Result<Vec<String>, LogError> {
        let (mut missing, end) = (Vec::new(), compaction.end().head.seq);
        let sizes = self.objects.sizes(&self.names.compaction(run, end)).await?;
        for (name, first, due) in compaction.parts() {
            let path = self.names.part(run, end, name);
            let object = path.to_string();
            match sizes.get(&path) {
                None => missing.push(object),
                Some(size) if *size == due => {}
                Some(size) => {
                    let why = format!("it has {size} bytes, and its directory says {due}");
                    let fault = SegmentFault::Changed { object, why };
                    return Err(LogError::corrupt(run, first, fault));
                }
            }
        }
        Ok(missing)
    }
}
