//! The error for an execution that stopped before its end, with what to do next.

use crate::error::{CliError, Status};
use retold::log::{LogError, NoRoom};
use retold::model::FailureKind;
use retold::run::{ExecutionResult, Finish, OverBudget, Stop};

/// Whether it stopped because the person left, which is not an error.
pub(super) fn is_left(stop: &Stop) -> bool {
    matches!(stop, Stop::Model { failure, .. } if failure.kind == FailureKind::Left)
}

/// The error for an execution that stopped, with what to do next: the command that continues it,
/// without the program's name.
pub(crate) fn stopped(ended: ExecutionResult, go_on: &str) -> Option<CliError> {
    let Finish::Stopped(stop) = ended.finish else { return None };
    match stop {
        Stop::Interrupted | Stop::Reached { .. } => None,
        stop if is_left(&stop) => None,
        stop => {
            // An error in the experiment itself would recur after a resume.
            let resumable = !matches!(
                stop,
                Stop::Diverged(_)
                    | Stop::Invalid { .. }
                    | Stop::AskedTwice { .. }
                    | Stop::NotInShards { .. }
            );
            if let Stop::Log(LogError::Full { why, .. }) = &stop {
                let hint = make_room(*why, go_on);
                return Some(CliError::new(Status::Io, stop.to_string()).hint(hint));
            }
            if let Stop::OverBudget(over) = &stop
                && let Some(flag) = flag_of(over)
            {
                let hint = format!(
                    "everything recorded so far is kept and counts: `retold {go_on} {flag}` continues with a \
                     higher limit"
                );
                return Some(CliError::from(stop).hint(hint));
            }
            let of_log = matches!(stop, Stop::Log(_));
            let error = CliError::from(stop);
            Some(if resumable && (of_log || error.hints.is_empty()) {
                error.hint(format!(
                    "everything recorded so far is safe: fix the problem, then run `retold {go_on}` to continue"
                ))
            } else {
                error
            })
        }
    }
}

/// The flag that raises the limit that was reached.
fn flag_of(over: &OverBudget) -> Option<&'static str> {
    match over {
        OverBudget::Tokens { .. } | OverBudget::TokensOfAll { .. } => Some("--max-tokens N"),
        OverBudget::Cost { .. } | OverBudget::CostOfAll { .. } => Some("--max-cost DOLLARS"),
        _ => None,
    }
}

/// What to do where there is no room to write.
fn make_room(why: NoRoom, go_on: &str) -> String {
    let limit = match why {
        NoRoom::Limit(_) | NoRoom::DiskOrLimit(_) => " (or raise --log-limit)",
        _ => "",
    };
    format!(
        "everything recorded so far is safe: make room{limit}, then `retold {go_on}`, or the same \
         command again if the run is not in `retold log`"
    )
}

#[cfg(test)]
mod tests {
    use super::{NoRoom, make_room};

    #[test]
    fn a_full_disk_names_the_command_that_continues() {
        assert_eq!(
            make_room(NoRoom::Disk, "import public-goods run --resume 0a1b"),
            "everything recorded so far is safe: make room, then `retold import public-goods run \
             --resume 0a1b`, or the same command again if the run is not in `retold log`"
        );
        assert_eq!(
            make_room(NoRoom::DiskOrLimit(9), "run --resume 0a1b"),
            "everything recorded so far is safe: make room (or raise --log-limit), then `retold \
             run --resume 0a1b`, or the same command again if the run is not in `retold log`"
        );
    }
}
