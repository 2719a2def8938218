//! Decisions that a program reported again: of several with one name about one choice of an answer, the last is in force.
//!
//! That a later one replaces a decision has to be known before the decision is passed on. The index of a run tells without
//! its events which answers several events refer to: only those events are read.

use super::seqs::SeqSet;
use crate::event::{Event, StoredEvent};
use crate::id::{RunId, Seq};
use crate::log::{Index, LogError, Reader, each_event_at};
use crate::lookup::LookupMap;
use crate::run::run_start;

/// The decisions of a run that were reported again. Of a damaged run, those before the damage: whoever reads the run meets
/// it.
///
/// # Errors
/// [`LogError`] if the run cannot be read for another reason than damage.
pub(super) fn reported_again(reader: &mut dyn Reader, run: RunId) -> Result<SeqSet, LogError> {
    let mut latest = LatestReports::default();
    // A study's parsers decide once about each answer.
    let read = match run_start(reader, run) {
        Ok(started) if started.is_of_experiment() => Ok(()),
        Ok(_) => latest.read(reader, run),
        Err(error) => Err(error),
    };
    match read {
        Err(LogError::Corrupt { .. }) | Ok(()) => Ok(latest.replaced),
        Err(error) => Err(error),
    }
}

/// An answer, its choice, and the number of the decision's name.
type ReportedName = (Seq, u32, usize);

/// The latest reports so far.
#[derive(Default)]
struct LatestReports {
    names: LookupMap<String, usize>,
    latest: LookupMap<ReportedName, Seq>,
    replaced: SeqSet,
}

impl LatestReports {
    fn read(&mut self, reader: &mut dyn Reader, run: RunId) -> Result<(), LogError> {
        let index = Index::open(reader, run)?;
        let (mut once, mut again) = (SeqSet::default(), SeqSet::default());
        index.each_with_one_cause(reader, |cause, _| {
            let set = if once.contains(cause) { &mut again } else { &mut once };
            set.insert(cause);
        })?;
        let mut places = Vec::new();
        index.each_with_one_cause(reader, |cause, at| {
            places.extend(again.contains(cause).then_some(at));
        })?;
        places.sort_unstable();
        places.dedup();
        each_event_at(reader, run, &places, |stored| self.add(&stored))
    }

    fn add(&mut self, stored: &StoredEvent) -> Result<(), LogError> {
        if !stored.is_decision() {
            return Ok(());
        }
        let Event::DecisionMade(made) = stored.event().map_err(LogError::from)? else {
            return Ok(());
        };
        if made.by.is_reported() {
            let (name, choice) = made.subject();
            let next = self.names.len();
            let name = self.names.get(name).copied().unwrap_or_else(|| {
                self.names.insert(name.to_owned(), next);
                next
            });
            let about = (made.response, choice, name);
            let earlier = self.latest.insert(about, stored.seq);
            earlier.iter().for_each(|earlier| self.replaced.insert(*earlier));
        }
        Ok(())
    }
}
