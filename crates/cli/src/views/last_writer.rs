//! Who wrote the last events of a run that has not ended, for those who may resume it: on another machine, its process may
//! still be running.

use crate::error::CliError;
use retold::id::RunId;
use retold::log::{LastWriter, Log, LogError};

/// A sentence about it; `None` if the store does not keep who writes.
///
/// # Errors
/// [`CliError`] if the store cannot be read.
pub(crate) fn sentence(log: &Log, run: RunId) -> Result<Option<String>, CliError> {
    Ok(last_writer(log, run)?.as_ref().map(of))
}

fn last_writer(log: &Log, run: RunId) -> Result<Option<LastWriter>, CliError> {
    match log.backend().last_writer(run) {
        // Damage is reported with the run.
        Err(LogError::Corrupt { .. }) => Ok(None),
        found => Ok(found?),
    }
}

/// The same of a run that was last written on another machine, of which nothing is known here.
///
/// # Errors
/// As [`sentence`].
pub(crate) fn elsewhere(log: &Log, run: RunId) -> Result<Option<String>, CliError> {
    let writer = last_writer(log, run)?.filter(|writer| writer.is_alive.is_none());
    Ok(writer.as_ref().map(of))
}

fn of(writer: &LastWriter) -> String {
    match writer.is_alive {
        Some(true) => format!("{writer} wrote its last events, and is still running"),
        Some(false) => format!("{writer} wrote its last events, and has ended"),
        None => format!(
            "{writer} wrote its last events: check there whether it is still running before you resume the run, since of two \
             writers, the one that stores its next event first continues and the other stops"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::of;
    use retold::id::Time;
    use retold::log::LastWriter;

    #[test]
    fn what_is_not_known_here_is_said_to_be_found_out_there() {
        let said = |is_alive| {
            let (host, at) = ("node\u{1b}[7m".to_owned(), Time(1_700_000_000_000));
            of(&LastWriter { host, pid: 12, at, is_alive })
        };
        let who = "process 12 on node\\u{1b}[7m at 2023-11-14T22:13:20.000Z wrote its last events";
        assert_eq!(said(Some(true)), format!("{who}, and is still running"));
        assert_eq!(said(Some(false)), format!("{who}, and has ended"));
        assert!(said(None).starts_with(&format!("{who}: check there whether")), "{}", said(None));
    }
}
