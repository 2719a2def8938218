//! The error for an execution that stopped before its end, with what to do next.

use crate::error::{CliError, Status};
use retold::log::{LogError, NoRoom};
use retold::model::FailureKind;
use retold::run::{ExecutionResult, Finish, OverBudget, Stop};

/// Whether it stopped because the person left, which is not an error.
pub(super) fn is_left(stop: &Stop) -> bool {
    matches!(stop, Stop::Model { failure, .. } if failure.kind == FailureKind::Left)
}

/// The error for an execution that stopped, with what to do next: the command that continues it, without the program's name
/// and with any limit that it has to raise.
pub(crate) fn stop_error(ended: ExecutionResult, go_on: &str) -> Option<CliError> {
    let Finish::Stopped(stop) = ended.finish else { return None };
    match stop {
        Stop::Interrupted | Stop::Reached { .. } | Stop::Held => None,
        stop if is_left(&stop) => None,
        stop => {
            // An error in the experiment itself would recur after a resume.
            let resumable = !matches!(
                stop,
                Stop::Diverged(_)
                    | Stop::Invalid { .. }
                    | Stop::AskedTwice { .. }
                    | Stop::NotInShards { .. }
                    | Stop::Refused { .. }
            );
            if let Stop::Log(LogError::Full { why, .. }) = &stop {
                let hint = make_room(*why, go_on);
                return Some(CliError::new(Status::Io, stop.to_string()).hint(hint));
            }
            if higher_limit(&stop).is_some() {
                let hint = format!(
                    "everything recorded so far is kept and counts: `retold {go_on}` continues with a higher limit"
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

/// The option that raises the limit which was reached: twice as much, or as often twice as it takes to go on. `None` if no
/// limit was reached that an option raises.
pub(super) fn higher_limit(stop: &Stop) -> Option<String> {
    let Stop::OverBudget(over) = stop else { return None };
    match *over {
        OverBudget::Tokens { used, max } | OverBudget::TokensOfAll { used, max } => {
            let mut more = max.max(1).saturating_mul(2);
            while more <= used {
                more = more.saturating_mul(2);
            }
            Some(format!(" --max-tokens {more}"))
        }
        OverBudget::Cost { used, max } | OverBudget::CostOfAll { used, max } => {
            let mut more = 2.0 * max.max(1e-6);
            while more <= used {
                more *= 2.0;
            }
            Some(format!(" --max-cost {more}"))
        }
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
    use super::{NoRoom, OverBudget, higher_limit, make_room};

    #[test]
    fn a_limit_is_raised_above_what_was_used() {
        let tokens = |used, max| higher_limit(&OverBudget::Tokens { used, max }.into());
        assert_eq!(tokens(950, 900).as_deref(), Some(" --max-tokens 1800"));
        assert_eq!(tokens(1800, 900).as_deref(), Some(" --max-tokens 3600"));
        let cost = |used, max| higher_limit(&OverBudget::CostOfAll { used, max }.into());
        assert_eq!(cost(0.31, 0.15).as_deref(), Some(" --max-cost 0.6"));
        assert_eq!(cost(0.0, 0.0).as_deref(), Some(" --max-cost 0.000002"));
        assert_eq!(higher_limit(&OverBudget::Uncounted.into()), None);
    }

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
