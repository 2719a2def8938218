//! The run that somebody names: by the first digits of its id, by its name, or as the latest.

use retold::event::RunStarted;
use retold::id::{RunId, Seq, Time};
use retold::log::{
    Backend, Finding, LogError, Reader, RunEvents, RunHead, deleted_latest, deleted_runs,
};
use retold::run::LATEST;

/// The fewest digits of an id that are shown.
const LEAST_DIGITS: usize = 4;

/// The digits of an id that lists and messages show.
const SHOWN_DIGITS: usize = 8;

/// Why a name leads to no run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FindError {
    /// The log cannot be read.
    #[error(transparent)]
    Log(#[from] LogError),
    /// Neither an id nor the name of a run.
    #[error("{name:?} is not a run: give the first digits of its id, its name, or `latest`")]
    NotARun {
        /// As it was written.
        name: String,
    },
    /// No id begins like that.
    #[error("there is no run {name} in {log}")]
    NoSuchRun {
        /// As it was written.
        name: String,
        /// The log.
        log: String,
    },
    /// The log has no runs.
    #[error("there is no run in {log} yet")]
    NoRuns {
        /// The log.
        log: String,
    },
    /// Several ids begin like that.
    #[error("{name} could be any of {}", ids(runs, ", "))]
    Ambiguous {
        /// As it was written.
        name: String,
        /// The runs.
        runs: Vec<RunId>,
    },
    /// The name of one run, and the beginning of the ids of others.
    #[error("{name} is the name of run {named}, and the beginning of {}", ids(runs, " and of "))]
    NameAndId {
        /// As it was written.
        name: String,
        /// The run with that name.
        named: RunId,
        /// The other runs.
        runs: Vec<RunId>,
    },
    /// The name of several runs that were written at the same time.
    #[error(
        "{name} is the name of {}, which were recorded at the same time",
        ids(runs, " and of ")
    )]
    AtTheSameTime {
        /// As it was written.
        name: String,
        /// The runs, the earliest first.
        runs: Vec<RunId>,
    },
    /// Nothing is left of the run, or of the whole log.
    #[error("{log}: {finding}")]
    Gone {
        /// The log.
        log: String,
        /// The finding about it.
        finding: Box<Finding>,
    },
}

fn ids(runs: &[RunId], between: &str) -> String {
    let ids: Vec<String> = runs.iter().map(RunId::to_string).collect();
    ids.join(between)
}

/// A run that was found.
#[derive(Debug, Clone)]
pub struct RunMatch {
    /// The run.
    pub head: RunHead,
    /// For `latest`: true if the log may have lost a later run.
    pub may_be_earlier: bool,
}

/// The name of the run that begins so, if it has one. Runs of studies are named by their settings, which only the studies
/// can read.
pub type NameOfRun<'a> = &'a dyn Fn(&RunStarted) -> Option<String>;

/// Finds a run by the shortest unique beginning of its id, by its name, or as `latest`. Of several runs with one name, it is
/// the last that has asked something, or else the last. If another one was still recorded when that began, as on two machines that
/// began at once, nobody can tell which is meant.
///
/// # Errors
/// [`FindError`].
pub fn find(log: &dyn Backend, name: &str, name_of: NameOfRun<'_>) -> Result<RunMatch, FindError> {
    let mut reader = log.reader()?;
    let reader = reader.as_mut();
    let gone = |finding| FindError::Gone { log: log.name(), finding: Box::new(finding) };
    let runs = match reader.runs() {
        Ok(runs) => runs,
        // The ledger and the high-water marks name the runs as well.
        Err(error @ LogError::Damaged { .. }) => {
            let named = deleted_runs(log)?.into_iter().rfind(|one| is_named(one, name));
            return Err(named.map_or_else(|| error.into(), gone));
        }
        Err(error) => return Err(error.into()),
    };
    // A log without runs that is known to be damaged had some.
    let nothing_left = log.damage().filter(|_| runs.is_empty());
    if name == LATEST {
        return match (runs.into_iter().last(), nothing_left) {
            (None, Some(finding)) => Err(gone(finding)),
            (last, _) => latest(log, last),
        };
    }
    let found = |head| RunMatch { head, may_be_earlier: false };
    let prefix = name.to_ascii_lowercase();
    if name.is_empty() || !name.chars().all(|c| c.is_ascii_hexdigit()) {
        let named = by_name(reader, &runs, name, name_of)?;
        return named.map(found).ok_or_else(|| FindError::NotARun { name: name.to_owned() });
    }
    let begins: Vec<&RunHead> =
        runs.iter().filter(|head| head.run.to_string().starts_with(&prefix)).collect();
    // Names are not looked for where runs are shown with so many digits: that would read the beginning of each run.
    let named = match begins.is_empty() || prefix.len() < SHOWN_DIGITS {
        true => by_name(reader, &runs, name, name_of)?,
        false => None,
    };
    let of = |begins: &[&RunHead]| begins.iter().map(|head| head.run).collect();
    let is_begun = |named: &RunHead| begins.iter().any(|head| head.run == named.run);
    // No id is shown with fewer digits.
    let is_name = begins.is_empty() || prefix.len() < LEAST_DIGITS;
    if let Some(named) = named.filter(|named| is_name || !is_begun(named)) {
        if is_name {
            return Ok(found(named));
        }
        let (name, runs) = (name.to_owned(), of(&begins));
        return Err(FindError::NameAndId { name, named: named.run, runs });
    }
    match begins.as_slice() {
        [only] => Ok(found((*only).clone())),
        [] => {
            let deleted = deleted_runs(log)?.into_iter().find(|one| is_named(one, name));
            let (name, log) = (name.to_owned(), log.name());
            Err(deleted.or(nothing_left).map_or(FindError::NoSuchRun { name, log }, gone))
        }
        several => Err(FindError::Ambiguous { name: name.to_owned(), runs: of(several) }),
    }
}

/// The latest run, unless it was deleted or may have been lost: the `last` of those that are left is another one.
fn latest(log: &dyn Backend, last: Option<RunHead>) -> Result<RunMatch, FindError> {
    if let Some(finding) = deleted_latest(log)? {
        return Err(FindError::Gone { log: log.name(), finding: Box::new(finding) });
    }
    let head = last.ok_or_else(|| FindError::NoRuns { log: log.name() })?;
    let lost = log.losses();
    // The high-water marks name the newest run, if there are any.
    let may_be_earlier = !lost.is_empty() && lost.iter().all(|lost| lost.run.is_none());
    Ok(RunMatch { head, may_be_earlier })
}

/// The last run with a name.
pub fn find_last_named(
    reader: &mut dyn Reader,
    runs: &[RunHead],
    name: &str,
    name_of: NameOfRun<'_>,
) -> Option<RunHead> {
    runs.iter().rev().find(|head| is_called(reader, head.run, name, name_of)).cloned()
}

/// The last of them that has asked something, or else the last: one that broke off before its first call has nothing to
/// be shown.
///
/// # Errors
/// [`FindError::AtTheSameTime`] if another one that has asked something was still written when it began.
fn by_name(
    reader: &mut dyn Reader,
    runs: &[RunHead],
    name: &str,
    name_of: NameOfRun<'_>,
) -> Result<Option<RunHead>, FindError> {
    let (mut last, mut found, mut others) = (None, None::<&RunHead>, Vec::new());
    for head in runs.iter().rev() {
        if !is_called(reader, head.run, name, name_of) {
            continue;
        }
        match found {
            None if has_asked(reader, head.run) => found = Some(head),
            None => last = last.or(Some(head)),
            Some(found) if ended_after(reader, head, found.started) => {
                others.extend(has_asked(reader, head.run).then_some(head.run));
            }
            Some(_) => {}
        }
    }
    let Some(found) = found else { return Ok(last.cloned()) };
    if others.is_empty() {
        return Ok(Some(found.clone()));
    }
    let runs = others.into_iter().rev().chain([found.run]).collect();
    Err(FindError::AtTheSameTime { name: name.to_owned(), runs })
}

/// Whether a run has an event that happened after a time. Of a damaged run, that is not known.
fn ended_after(reader: &mut dyn Reader, head: &RunHead, time: Time) -> bool {
    let last = reader.events(head.run, Seq(head.head.seq.0.saturating_sub(1)), 1);
    last.is_ok_and(|last| last.first().is_some_and(|last| last.time > time))
}

/// Whether a run has this name. A damaged run has none.
fn is_called(reader: &mut dyn Reader, run: RunId, name: &str, name_of: NameOfRun<'_>) -> bool {
    let started = retold::run::run_start(reader, run);
    started.is_ok_and(|started| name_of(&started).is_some_and(|its_name| its_name == name))
}

/// Whether a run has asked something, as far as it can be read.
pub fn has_asked(reader: &mut dyn Reader, run: RunId) -> bool {
    let mut events = RunEvents::new(run);
    std::iter::from_fn(|| events.next(reader).ok().flatten()).any(|event| event.is_question())
}

/// Whether a user means a run of which nothing is left.
fn is_named(deleted: &Finding, name: &str) -> bool {
    let prefix = name.to_ascii_lowercase();
    let is_it = |run: RunId| name == "latest" || run.to_string().starts_with(&prefix);
    deleted.run.is_some_and(is_it)
}

/// The shortest unique prefix of a run's id, with at least four digits.
///
/// # Errors
/// [`LogError`] if the runs cannot be listed.
pub fn short_name(reader: &mut dyn Reader, run: RunId) -> Result<String, LogError> {
    let whole = run.to_string();
    let others: Vec<String> =
        reader.runs()?.iter().map(|head| head.run.to_string()).filter(|id| *id != whole).collect();
    let unique = |n: &usize| !others.iter().any(|other| other.starts_with(&whole[..*n]));
    Ok(whole[..(LEAST_DIGITS..whole.len()).find(unique).unwrap_or(whole.len())].to_owned())
}
