//! Messages for the errors of a log.

use std::path::Path;

use super::{ANOTHER_COPY, CliError, LOST, NAMES_DAMAGE, Status, is_of_recording};
use crate::log_place;
use retold::id::RunId;
use retold::log::{Fault, LogError, SegmentFault};
use retold_archive::{BucketUrl, BucketUrlError, Damage, is_of_compaction};

impl From<LogError> for CliError {
    fn from(error: LogError) -> Self {
        let message = error.to_string();
        let (status, hint) = match &error {
            LogError::Missing { path } => (Status::Io, log_place::missing(path)),
            LogError::NotALog { .. } => {
                (Status::Io, "give the path of a log that retold wrote, or of a new one".to_owned())
            }
            LogError::NewerFormat { .. } => (
                Status::Io,
                "install the release of retold that wrote it, or a later one".to_owned(),
            ),
            LogError::CannotOpen { source, .. } if source.is::<BucketUrlError>() => {
                // A command here would be printed with the URL.
                (Status::Usage, "--log takes the path of a file, or such a URL".to_owned())
            }
            LogError::CannotOpen { path, .. } => (Status::Io, log_place::unreachable(path)),
            LogError::Failed { path, .. } if BucketUrl::is_one(Path::new(path)) => {
                let reach = log_place::unreachable(path);
                (Status::Io, format!("{reach}; what was recorded so far is safe"))
            }
            LogError::NotOurs { path, .. } => (
                Status::Io,
                format!(
                    "nothing was changed: if no retold is running, remove {path} and try again"
                ),
            ),
            LogError::Busy { seconds, .. } => (
                Status::Io,
                format!(
                    "wait longer than {seconds} s with --log-wait SECONDS, or let fewer programs write \
                     to it at once"
                ),
            ),
            LogError::NoWal { .. } => (
                Status::Io,
                "keep the log on a local disk, with --log PATH or RETOLD_LOG: network and shared folders often \
                 cannot do this"
                    .to_owned(),
            ),
            LogError::Gone { .. } => (
                Status::Io,
                "put the file back if it was moved, with its -wal and -shm, and `retold run --resume RUN`; what \
                 was recorded in a file that was deleted is lost"
                    .to_owned(),
            ),
            LogError::InUse { run, .. } => (
                Status::Io,
                format!(
                    "wait for it or stop it first; then `retold show {}` says how to continue it",
                    run.short(8)
                ),
            ),
            LogError::Full { .. } => (
                Status::Io,
                "everything recorded so far is safe: make room (or raise --log-limit), then do the \
                 same again"
                    .to_owned(),
            ),
            LogError::Conflict { .. } => {
                (Status::Io, "`retold verify` shows what is in the log".to_owned())
            }
            LogError::Damaged { fault, .. } => {
                (Status::Difference, put_back(fault).unwrap_or_else(|| NAMES_DAMAGE.to_owned()))
            }
            LogError::Corrupt { fault, .. } if is_of_recording(fault) => {
                (Status::Difference, ANOTHER_COPY.to_owned())
            }
            LogError::Corrupt { run, fault, .. } if let Some(hint) = without_compaction(*run, fault) => {
                (Status::Difference, hint)
            }
            LogError::Corrupt { .. }
            | LogError::CorruptLedger { .. }
            | LogError::CorruptRequest { .. } => (Status::Difference, NAMES_DAMAGE.to_owned()),
            LogError::Lost { .. } => (Status::Difference, LOST.to_owned()),
            LogError::NoSuchRun { .. } => (Status::Usage, "`retold log` lists the runs".to_owned()),
            LogError::RunExists { .. } => (Status::Usage, "`retold log` lists the runs".to_owned()),
            // Including `Failed`.
            _ => {
                (Status::Io, "`retold verify` shows whether the file is damaged".to_owned())
            }
        };
        let met = match error {
            LogError::Corrupt { run, seq, fault } => Some((run, Damage { seq, fault: *fault })),
            _ => None,
        };
        CliError { met: met.map(Box::new), ..CliError::new(status, message).hint(hint) }
    }
}

/// How to make a place a log again.
fn put_back(fault: &Fault) -> Option<String> {
    let Fault::Segment(SegmentFault::Unmarked { object, holds }) = fault else { return None };
    Some(format!("put {object} back, which holds {holds}"))
}

/// What to do about an object that `copy --compact` made.
pub(crate) fn without_compaction(run: RunId, fault: &Fault) -> Option<String> {
    let (Fault::Segment(SegmentFault::Missing { object })
    | Fault::Segment(SegmentFault::Changed { object, .. })) = fault
    else {
        return None;
    };
    let (folder, _) = object.rsplit_once('/').filter(|_| is_of_compaction(object))?;
    Some(format!(
        "if the objects in runs/{run} are still there, delete {folder}: the run is read from them again, and `retold copy {} \
         --compact` compacts it again",
        run.short(8)
    ))
}
