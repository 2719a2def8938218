//! The readable rest of a damaged run, for the terminal.

use std::borrow::Cow;
use std::collections::BTreeMap;

use retold::event::StoredEvent;
use retold::id::{RunId, Seq};
use retold::log::{Backend, LogError};

use crate::kept_verdicts::is_long;
use crate::tolerant_reader::TolerantReader;
use crate::verdict::Damage;

/// Events in one read.
const BATCH: usize = 1024;

/// The readable rest of a damaged run.
#[derive(Debug)]
pub struct ReadableRest {
    /// The first event that cannot be trusted.
    pub damage: Damage,
    /// What can be read of it; not counted in a long run that is known to be damaged, since all of it would have
    /// to be read.
    pub counted: Option<ReadableCount>,
    /// The event that was asked for, if it can be read.
    pub event: Option<StoredEvent>,
}

/// How many events of a damaged run can be read.
#[derive(Debug)]
pub struct ReadableCount {
    /// Those before the damage, by kind: their hashes match.
    pub trusted: BTreeMap<String, u64>,
    /// How many after it.
    pub after: u64,
}

/// The readable rest of a run that is known to be damaged; `seq` is an event to be shown.
///
/// # Errors
/// [`LogError`] if it cannot be read for another reason than damage.
pub fn readable_rest(
    log: &dyn Backend,
    run: RunId,
    damage: Damage,
    seq: Option<Seq>,
) -> Result<ReadableRest, LogError> {
    let mut reader = TolerantReader::new(log.reader()?, log.reader()?);
    if is_long(log.reader()?.as_mut(), run) {
        let event = match seq {
            Some(seq) => reader.events(run, Seq(seq.0.saturating_sub(1)), 1)?.0.pop(),
            None => None,
        };
        let event = event.filter(|event| Some(event.seq) == seq);
        return Ok(ReadableRest { damage, counted: None, event });
    }
    let (mut first, mut event) = (damage, None);
    let mut left: Vec<(Seq, Cow<'static, str>)> = Vec::new();
    let mut at = Seq(0);
    loop {
        let (events, damage) = reader.events(run, at, BATCH)?;
        first = Damage::first(Some(first.clone()), damage).unwrap_or(first);
        let Some(last) = events.last() else { break };
        at = last.seq;
        for stored in events {
            left.push((stored.seq, stored.kind.clone()));
            if Some(stored.seq) == seq {
                event = Some(stored);
            }
        }
    }
    let mut trusted: BTreeMap<String, u64> = BTreeMap::new();
    let mut after = 0;
    for (seq, kind) in left {
        match seq < first.seq {
            true => *trusted.entry(kind.into_owned()).or_default() += 1,
            false => after += 1,
        }
    }
    Ok(ReadableRest { damage: first, counted: Some(ReadableCount { trusted, after }), event })
}
