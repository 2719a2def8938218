//! The shortfalls of a run: calls that failed, and answers that are unusable.

use crate::error::{CliError, Status};
use crate::output::{count_of, group_digits};
use retold::escaping::printable;
use retold::event::Event;
use retold::id::{RunId, Seq};
use retold::log::Log;
use retold::model::Limits;
use retold::run::{ExecutionResult, FailedParts, Finish, Progress};

/// The error for a run that finished without a usable result, which must not look like a success to
/// a script.
pub(super) fn no_result(
    ended: &ExecutionResult,
    log: &Log,
    run: RunId,
    hints: FailedCallHints<'_>,
) -> Result<Option<CliError>, CliError> {
    let ExecutionResult { finish: Finish::Finished, progress, report, .. } = ended else {
        return Ok(None);
    };
    if progress.exchanges == 0 && progress.failed > 0 {
        let mut message = format!("every one of {} failed", count_of(progress.failed, "call"));
        if let Some(cause) = last_failure(log, run)? {
            message.push_str(&format!("; the last failure: {}", printable(&cause, 600)));
        }
        let error = CliError::new(Status::Model, message);
        return Ok(Some(error.hint(hints.ask_again()).hint(hints.failed_attempts())));
    }
    let name = hints.name;
    let hint = format!("`retold export {name} FOLDER --as outputs` gives the reason for each call");
    Ok(report.empty_because.clone().map(|reason| CliError::new(Status::Model, reason).hint(hint)))
}

/// Why the last failed attempt of a run failed, as the log has it.
fn last_failure(log: &Log, run: RunId) -> Result<Option<String>, CliError> {
    const AT_ONCE: u16 = 256;
    let mut reader = log.reader()?;
    let mut end = reader.runs()?.iter().find(|head| head.run == run).map_or(0, |h| h.head.seq.0);
    // It is near the end, so the run is read backwards, in pieces.
    while end > 0 {
        let start = end.saturating_sub(u64::from(AT_ONCE));
        let (mut after, mut last) = (Seq(start), None);
        while after.0 < end {
            let events = reader.events(run, after, usize::from(AT_ONCE))?;
            let Some(latest) = events.last() else { break };
            after = latest.seq;
            let failure = events.iter().rev().find_map(|stored| match stored.event() {
                Ok(Event::AttemptFailed(failed)) => Some(failed.details.error),
                _ => None,
            });
            last = failure.or(last);
        }
        if last.is_some() {
            return Ok(last);
        }
        end = start;
    }
    Ok(None)
}

/// The error for a finished run in which more calls, or more of its parts, have failed than allowed.
pub(super) fn too_many_failed(
    ended: &ExecutionResult,
    hints: FailedCallHints<'_>,
    max_failed: Option<f64>,
) -> Option<CliError> {
    let (failed, max) = (failed_of(ended)?, max_failed?);
    let Progress { failed: calls, exchanges, .. } = ended.progress;
    let parts = ended.report.failed.map(|parts| (parts.failed, parts.of));
    let shares = [Some((calls, calls + exchanges)), parts];
    let share = |(failed, of): (u64, u64)| if of == 0 { 0.0 } else { failed as f64 / of as f64 };
    let is_too_many = shares.into_iter().flatten().any(|counts| share(counts) > max);
    let message = format!("{failed}, more than the {max} that --max-failed allows");
    let error = CliError::new(Status::Model, message);
    is_too_many.then(|| hints.all(ended).into_iter().fold(error, CliError::hint))
}

/// The warning for a finished run in which some calls, or some of its parts, have failed.
pub(super) fn some_failed(ended: &ExecutionResult, hints: FailedCallHints<'_>) -> Option<String> {
    let failed = failed_of(ended)?;
    let hints: String = hints.all(ended).iter().map(|hint| format!("  hint: {hint}\n")).collect();
    Some(format!("warning: {failed}\n{hints}"))
}

/// The warning for a run with answers that could not be read.
pub(super) fn some_unreadable(ended: &ExecutionResult, name: &str) -> Option<String> {
    let all = count_of(ended.progress.exchanges, "answer");
    let unreadable = group_digits(ended.progress.unreadable);
    (ended.progress.unreadable > 0).then(|| {
        format!(
            "warning: {unreadable} of {all} could not be read and were parsed as empty text; their bytes are kept\n  \
             hint: `retold log {name}` shows them, each with the reason\n"
        )
    })
}

/// The warning for a run with blank, refused or cut-off answers.
pub(super) fn some_unfinished(ended: &ExecutionResult, name: &str) -> Option<String> {
    let Progress { blank, refused, cut_off, exchanges, .. } = ended.progress;
    let all = count_of(exchanges, "answer");
    let (is, was) =
        (|n| if n == 1 { "is" } else { "are" }, |n| if n == 1 { "was" } else { "were" });
    let blank = (blank > 0).then(|| format!("{} {} blank", group_digits(blank), is(blank)));
    let refused =
        (refused > 0).then(|| format!("{} {} refused", group_digits(refused), was(refused)));
    let cut_off = (cut_off > 0).then(|| {
        format!("{} {} cut off at the limit of tokens", group_digits(cut_off), was(cut_off))
    });
    let more = match &cut_off {
        Some(_) => "; a higher \"max_tokens\" leaves room for more",
        None => "",
    };
    let said = [blank, refused, cut_off].into_iter().flatten().collect::<Vec<_>>().join(", ");
    (!said.is_empty()).then(|| {
        format!(
            "warning: of {all}, {said}\n  hint: `retold show {name} CALL#SAMPLE` marks each of them{more}\n"
        )
    })
}

/// How many of a finished run's calls, and of its parts, have failed, if any.
fn failed_of(ended: &ExecutionResult) -> Option<String> {
    let ExecutionResult { finish: Finish::Finished, progress, report, .. } = ended else {
        return None;
    };
    let all = count_of(progress.failed + progress.exchanges, "call");
    let calls =
        (progress.failed > 0).then(|| format!("{} of {all}", group_digits(progress.failed)));
    let parts = report.failed.filter(|parts| parts.failed > 0);
    let parts = parts.map(|FailedParts { failed, of, what }| {
        format!("{} of {} {what}", group_digits(failed), group_digits(of))
    });
    let both: Vec<String> = parts.into_iter().chain(calls).collect();
    (!both.is_empty()).then(|| format!("{} failed", both.join(" and ")))
}

/// What to do about calls that failed.
#[derive(Clone, Copy)]
pub(super) struct FailedCallHints<'a> {
    /// The run, as a command names it.
    pub(super) name: &'a str,
    /// The options that a command has to repeat to ask the model again.
    pub(super) servers: &'a str,
    /// The option that waits longer, if some calls failed because no answer came in time.
    pub(super) longer: &'a str,
}

/// The option that waits twice as long for an answer, with a space before it.
pub(super) fn longer(limits: &Limits) -> String {
    format!(" --set limits.timeout_seconds={}", (2.0 * limits.timeout_seconds).min(86_400.0))
}

impl FailedCallHints<'_> {
    /// What to do: a part may also have failed because no answer of its call could be used.
    fn all(self, ended: &ExecutionResult) -> Vec<String> {
        match ended.progress.failed {
            0 => {
                let name = self.name;
                vec![format!(
                    "`retold export {name} FOLDER --as outputs` gives the reason for each"
                )]
            }
            _ => vec![self.ask_again(), self.failed_attempts()],
        }
    }

    fn ask_again(self) -> String {
        let FailedCallHints { name, servers, longer } = self;
        format!(
            "`retold fork {name} --retry-failed{servers}{longer}` asks them again, in a new run that shares all other answers"
        )
    }

    fn failed_attempts(self) -> String {
        format!("`retold log {} --failed` shows the failed attempts", self.name)
    }
}
