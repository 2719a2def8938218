//! What is left of a damaged run, for the terminal.

use std::collections::BTreeMap;

use retold::event::StoredEvent;
use retold::id::{RunId, Seq};
use retold::log::LogError;

use crate::roll::Careful;
use crate::source::Source;

/// Events in one read.
const BATCH: usize = 1024;

/// What is left of a damaged run.
#[derive(Debug)]
pub struct Remains {
    /// The run.
    pub run: RunId,
    /// How it is read, if not as it is.
    pub note: Option<String>,
    /// The first event that cannot be trusted.
    pub from: Seq,
    /// Why.
    pub what: String,
    /// The events before it, by kind: their hashes match.
    pub trusted: BTreeMap<String, u64>,
    /// How many events after it can still be read.
    pub after: u64,
    /// The event that was asked for, if it can be read.
    pub event: Option<StoredEvent>,
}

/// What is left of a run, which is named by the first digits of its id or as `latest`; `seq` is an
/// event to be shown. `None` if the run is not there, or not damaged.
///
/// # Errors
/// [`LogError`] if nothing can be read.
pub fn remains(source: &Source, name: &str, seq: Option<Seq>) -> Result<Option<Remains>, LogError> {
    let runs = source.reader()?.runs()?;
    let wanted = name.to_ascii_lowercase();
    let is_it = |run: &RunId| wanted == "latest" || run.to_string().starts_with(&wanted);
    let Some(run) = runs.iter().map(|head| head.run).rfind(is_it) else { return Ok(None) };
    let mut reader = Careful::new(source.reader()?, source.reader()?);
    let (mut found, mut after, mut event) = (None, 0, None);
    let mut trusted: BTreeMap<String, u64> = BTreeMap::new();
    let mut at = Seq(0);
    loop {
        let (events, damage) = reader.events(run, at, BATCH)?;
        found = found.or(damage.map(|damage| (damage.seq, damage.what)));
        let Some(last) = events.last() else { break };
        at = last.seq;
        for stored in events {
            if found.as_ref().is_none_or(|(from, _)| stored.seq < *from) {
                *trusted.entry(stored.kind.to_string()).or_default() += 1;
            } else {
                after += 1;
            }
            if Some(stored.seq) == seq {
                event = Some(stored);
            }
        }
    }
    let standing = source.standing()?;
    // Events that the file has lost come after those that it has.
    let lost = standing.problems.into_iter().find(|problem| problem.run == Some(run));
    let lost = lost.and_then(|problem| Some((problem.seq?, problem.what)));
    let found = found.into_iter().chain(lost).min_by_key(|(seq, _)| *seq);
    Ok(found.map(|(from, what)| Remains {
        run,
        note: standing.note,
        from,
        what,
        trusted,
        after,
        event,
    }))
}
