//! What is done and printed at the end of an execution.

use serde_json::{Value, json};

use crate::again::{begins, typed};
use crate::error::{CliError, Status, write_err};
use crate::global::Global;
use crate::output::{Output, counted, grouped};
use crate::runs::behind;
use crate::runs::config;
use crate::runs::continuation;
use crate::runs::folder::{OutputFolder, WrittenFolder};
use crate::runs::phase_files::PhaseFiles;
use crate::runs::shards;
use crate::select::{self, SIMULATED};
use retold::escaping::printable;
use retold::event::Event;
use retold::id::{RunId, Seq};
use retold::log::{Log, LogError, NoRoom};
use retold::model::FailureKind;
use retold::run::{ExecutionResult, Finish, OverBudget, Progress, RunRecord, Stop};
use retold_study::error::BoxError;
use retold_study::study::{SettingsOf, StoreResult};

/// What is to be done and said when a run has ended.
pub(crate) struct RunConclusion {
    pub(crate) log: Log,
    pub(crate) run: RunId,
    pub(crate) experiment: String,
    pub(crate) simulated: bool,
    pub(crate) folder: Option<OutputFolder>,
    /// What it leaves while it is not finished.
    pub(crate) phase_files: Option<PhaseFiles>,
    /// The share of failed calls up to which it is still a success.
    pub(crate) max_failed: Option<f64>,
    /// Where its settings came from.
    pub(crate) settings_of: SettingsOf,
    /// Its seed, if nobody chose it.
    pub(crate) drawn_seed: Option<u64>,
    /// What a command that asks the model again has to name: see [`ModelArgs::named_again`](crate::model::ModelArgs::named_again).
    pub(crate) servers: String,
}

/// A run that has ended, its outputs written, and what is said of it.
pub(crate) struct ConcludedRun {
    pub(crate) ended: ExecutionResult,
    pub(crate) log: Log,
    pub(crate) run: RunId,
    /// The run, as a command names it.
    pub(crate) name: String,
    /// The command that continues it, without the program's name.
    pub(crate) go_on: String,
    pub(crate) experiment: String,
    /// Whether parsers of the study decided, which may have later versions.
    has_parsers: bool,
    pub(crate) simulated: bool,
    written: Option<WrittenFolder>,
    /// Why its outputs could not be written.
    unwritten: Option<CliError>,
    /// Why a finished run has no usable result.
    error: Option<CliError>,
    pub(crate) warnings: Vec<String>,
    drawn_seed: Option<u64>,
    settings_of: SettingsOf,
    /// How to make one run of it and the other shards, if it is one.
    merge: Option<String>,
    /// What to do about an answer that no shard has.
    behind: Vec<String>,
}

/// Concludes a run that was executed alone, and prints how it ended and what to do next.
pub(crate) fn conclude(
    ended: ExecutionResult,
    conclusion: RunConclusion,
    global: &Global,
    output: &Output,
) -> Result<Status, CliError> {
    let concluded = conclusion.of(ended, global)?;
    match output.is_json() {
        true => output.object(&concluded.as_json())?,
        false => output.text(&concluded.text())?,
    }
    for warning in &concluded.warnings {
        write_err(&typed(warning));
    }
    concluded.store(global)?;
    concluded.result()
}

impl RunConclusion {
    /// Writes the outputs of a finished run or resume. If they cannot be written, the run is not affected.
    pub(crate) fn of(
        self,
        ended: ExecutionResult,
        global: &Global,
    ) -> Result<ConcludedRun, CliError> {
        let RunConclusion {
            log,
            run,
            experiment,
            simulated,
            folder,
            phase_files,
            max_failed,
            settings_of,
            drawn_seed,
            servers,
        } = self;
        let mut ended = begun(ended, &log, run)?;
        let name = retold_archive::short_name(log.reader()?.as_mut(), run)?;
        let folder = folder.filter(|_| matches!(ended.finish, Finish::Finished));
        let made = ended.outputs.take();
        let written = folder.map(|folder| folder.write(global.studies, &log, run, made));
        let (written, unwritten) = match written.transpose() {
            Ok(written) => (written, None),
            Err(e) => (None, Some(e)),
        };
        // They can be made from the log at any time, even if the folder could not be written.
        if let (Finish::Finished, Some(phase_files)) = (&ended.finish, phase_files) {
            phase_files.remove();
        }
        let hints = Hints { name: &name, servers: &servers };
        let nothing = nothing(&ended, &log, run, hints)?;
        let error = nothing.or(too_many_failed(&ended, hints, max_failed));
        let some_failed = some_failed(&ended, hints).filter(|_| error.is_none());
        let others = [some_unreadable(&ended, &name), some_unfinished(&ended, &name)];
        let warnings = some_failed.into_iter().chain(others.into_iter().flatten()).collect();
        let started = select::started(log.reader()?.as_mut(), run)?;
        let (go_on, behind) = match &ended.finish {
            Finish::Stopped(Stop::NotInShards { labels, .. }) => {
                let behind = behind::hints(&log, &started, labels, global)?;
                (behind::merge_again(log.reader()?.as_mut(), &started)?, behind)
            }
            _ => {
                let go_on = continuation::command(global.studies, &started, &name);
                (format!("{go_on}{servers}"), Vec::new())
            }
        };
        let is_done = match &ended.finish {
            Finish::Finished => true,
            Finish::Stopped(Stop::Reached { phase }) => {
                shards::goes_no_further(&started, phase, global)
            }
            _ => false,
        };
        let merge = shards::merge_when_done(&started, global).filter(|_| is_done);
        Ok(ConcludedRun {
            ended,
            log,
            run,
            name,
            go_on,
            has_parsers: has_parsers(&experiment, global),
            experiment,
            simulated,
            written,
            unwritten,
            error,
            warnings,
            drawn_seed,
            settings_of,
            merge,
            behind,
        })
    }
}

/// The error for a run that finished without a usable result, which must not look like a success to
/// a script.
fn nothing(
    ended: &ExecutionResult,
    log: &Log,
    run: RunId,
    hints: Hints<'_>,
) -> Result<Option<CliError>, CliError> {
    let ExecutionResult { finish: Finish::Finished, progress, report, .. } = ended else {
        return Ok(None);
    };
    if progress.exchanges == 0 && progress.failed > 0 {
        let mut message = format!("every one of {} failed", counted(progress.failed, "call"));
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

/// The error for a finished run in which more calls have failed than allowed.
fn too_many_failed(
    ended: &ExecutionResult,
    hints: Hints<'_>,
    max_failed: Option<f64>,
) -> Option<CliError> {
    let failed = failed_of(ended)?;
    let (max, all) = (max_failed?, ended.progress.failed + ended.progress.exchanges);
    let share = ended.progress.failed as f64 / all as f64;
    let message = format!("{failed}, more than the {max} that --max-failed allows");
    let error = CliError::new(Status::Model, message);
    (share > max).then(|| error.hint(hints.ask_again()).hint(hints.failed_attempts()))
}

/// The warning for a finished run in which some calls have failed.
fn some_failed(ended: &ExecutionResult, hints: Hints<'_>) -> Option<String> {
    let (ask_again, attempts) = (hints.ask_again(), hints.failed_attempts());
    Some(format!("warning: {}\n  hint: {ask_again}\n  hint: {attempts}\n", failed_of(ended)?))
}

/// The warning for a run with answers that could not be read.
fn some_unreadable(ended: &ExecutionResult, name: &str) -> Option<String> {
    let all = counted(ended.progress.exchanges, "answer");
    let unreadable = grouped(ended.progress.unreadable);
    (ended.progress.unreadable > 0).then(|| {
        format!(
            "warning: {unreadable} of {all} could not be read and were parsed as empty text; their bytes are kept\n  \
             hint: `retold log {name}` shows them, each with the reason\n"
        )
    })
}

/// The warning for a run with blank or cut-off answers.
fn some_unfinished(ended: &ExecutionResult, name: &str) -> Option<String> {
    let Progress { blank, cut_off, exchanges, .. } = ended.progress;
    let all = counted(exchanges, "answer");
    let (is, was) =
        (|n| if n == 1 { "is" } else { "are" }, |n| if n == 1 { "was" } else { "were" });
    let blank = (blank > 0).then(|| format!("{} {} blank", grouped(blank), is(blank)));
    let cut_off = (cut_off > 0)
        .then(|| format!("{} {} cut off at the limit of tokens", grouped(cut_off), was(cut_off)));
    let more = match &cut_off {
        Some(_) => "; a higher \"max_tokens\" leaves room for more",
        None => "",
    };
    let said = [blank, cut_off].into_iter().flatten().collect::<Vec<_>>().join(", ");
    (!said.is_empty()).then(|| {
        format!(
            "warning: of {all}, {said}\n  hint: `retold show {name} CALL#SAMPLE` marks each of them{more}\n"
        )
    })
}

/// How many of a finished run's calls have failed, if any.
fn failed_of(ended: &ExecutionResult) -> Option<String> {
    let ExecutionResult { finish: Finish::Finished, progress, .. } = ended else { return None };
    let all = counted(progress.failed + progress.exchanges, "call");
    (progress.failed > 0).then(|| format!("{} of {all} failed", grouped(progress.failed)))
}

/// What to do about calls that failed.
#[derive(Clone, Copy)]
struct Hints<'a> {
    /// The run, as a command names it.
    name: &'a str,
    /// What a command that asks the model again has to name.
    servers: &'a str,
}

impl Hints<'_> {
    fn ask_again(self) -> String {
        let Hints { name, servers } = self;
        format!(
            "`retold fork {name} --retry-failed{servers}` asks them again, in a new run that shares all other answers"
        )
    }

    fn failed_attempts(self) -> String {
        format!("`retold log {} --failed` shows the failed attempts", self.name)
    }
}

impl ConcludedRun {
    /// How it ended, in a word.
    pub(crate) fn outcome(&self) -> &str {
        match &self.ended.finish {
            Finish::Finished => "finished",
            Finish::EndOfRecord | Finish::Rehearsed(_) => "unfinished",
            Finish::Closed(outcome) => outcome.as_str(),
            Finish::Stopped(Stop::Interrupted) => "interrupted",
            Finish::Stopped(stop) if is_left(stop) => "left",
            Finish::Stopped(_) => "stopped",
        }
    }

    /// The object that a program reads.
    pub(crate) fn as_json(&self) -> Value {
        let ExecutionResult { finish, progress, outcome_digest, report, took, .. } = &self.ended;
        let stop = match finish {
            Finish::Stopped(Stop::Reached { .. }) => None,
            Finish::Stopped(stop) if self.outcome() == "stopped" => Some(stop.to_string()),
            _ => None,
        };
        let mut object = json!({
            "run": self.run,
            "experiment": self.experiment,
            "outcome": self.outcome(),
            "exchanges": progress.exchanges,
            "model_calls": progress.model_calls,
            "failed_calls": progress.failed,
            "unreadable_answers": progress.unreadable,
            "blank_answers": progress.blank,
            "cut_off_answers": progress.cut_off,
            "decisions": progress.decisions,
            "outcome_digest": matches!(finish, Finish::Finished).then_some(outcome_digest),
            "seconds": took.as_secs_f64(),
            "simulated": self.simulated,
            "report": report.json,
            "error": stop.or(self.error.as_ref().map(|e| e.message.clone())),
        });
        if let Finish::Stopped(Stop::Reached { phase }) = finish {
            object["stopped_after"] = phase.as_str().into();
        }
        if let Some(WrittenFolder { folder, .. }) = &self.written {
            object["outputs"] = folder.as_str().into();
        }
        object
    }

    fn text(&self) -> String {
        let ExecutionResult { finish, progress, outcome_digest, report, took, .. } = &self.ended;
        let is_finished = matches!(finish, Finish::Finished);
        let (run, outcome) = (self.run, self.outcome());
        let how_far = match finish {
            Finish::Finished => format!(": {}", answers(progress)),
            Finish::Stopped(Stop::Reached { phase }) => {
                format!(" after {phase}: {}", answers(progress))
            }
            _ => so_far(progress),
        };
        let mut text = format!("run {run} {outcome}{how_far}, in {:.2} s\n", took.as_secs_f64());
        if self.simulated {
            text.push_str(SIMULATED);
        }
        // The digest of an unfinished run has nothing to be compared with.
        if is_finished {
            text.push_str(&format!("outcome digest {outcome_digest}\n"));
        }
        if let Some(seed) = self.drawn_seed {
            text.push_str(&config::drawn_seed(seed));
        }
        text.push('\n');
        if !is_finished && !report.text.is_empty() {
            text.push_str("the result so far, without what was not complete yet:\n");
        }
        text.push_str(&report.text);
        if let Some(WrittenFolder { folder, files }) = &self.written {
            let files = counted(*files as u64, "file");
            text.push_str(&format!("\noutputs: {files} in {folder}\n"));
        }
        // The error has the hints for failed calls.
        if self.error.is_none() {
            let next = next_steps(outcome, &self.name, &self.go_on, self.has_parsers);
            text.push_str(match &self.merge {
                // It would stop there again.
                Some(_) if !is_finished => "\nnext:\n",
                _ => &next,
            });
            text.push_str(self.merge.as_deref().unwrap_or_default());
        }
        text
    }

    /// The exit code, or the error that it ended with.
    pub(crate) fn result(self) -> Result<Status, CliError> {
        let ConcludedRun { ended, go_on, unwritten, error, behind, .. } = self;
        let status = match &ended.finish {
            Finish::Stopped(Stop::Interrupted) => Status::Interrupted,
            _ => Status::Fine,
        };
        let stopped = stopped(ended, &go_on)
            .map(|error| behind.into_iter().fold(error, |error, hint| error.hint(hint)));
        stopped.or(unwritten).or(error).map_or(Ok(status), Err)
    }

    /// Stores what it leaves for later runs, and says so on stderr.
    pub(crate) fn store(&self, global: &Global) -> Result<(), CliError> {
        store(&self.log, self.run, self.settings_of, global)
    }
}

/// How many answers there are.
fn answers(progress: &Progress) -> String {
    let Progress { exchanges, live, .. } = *progress;
    format!("{}, {} of them new", counted(exchanges, "answer"), grouped(live))
}

/// How far an execution has come that did not get to its end. Failed calls are counted here, in one
/// place; those of a finished run are reported with what to do about them.
fn so_far(progress: &Progress) -> String {
    let Progress { exchanges, failed, expected, .. } = *progress;
    let done = exchanges + failed;
    let of = match expected {
        0 => counted(done, "call"),
        expected => format!("{} of {}", grouped(done), counted(expected.max(done), "call")),
    };
    let failed = match failed {
        0 => String::new(),
        n => format!(", and {} that failed", counted(n, "call")),
    };
    format!(" after {of}: {}{failed}", answers(progress))
}

/// Stores what a run leaves for later runs.
fn store(log: &Log, run: RunId, settings_of: SettingsOf, global: &Global) -> Result<(), CliError> {
    let mut reader = log.reader()?;
    let started = select::started(reader.as_mut(), run)?;
    let Some(study) = global.studies.find(&started.experiment) else { return Ok(()) };
    if !study.stores(&started.settings["experiment"]) {
        return Ok(());
    }
    let failed = |e: BoxError| {
        let again =
            format!("the run itself is safe: `retold run --resume {}` tries again", run.short(8));
        CliError::new(Status::Io, e.to_string()).hint(again)
    };
    let record = RunRecord::read(reader.as_mut(), run)?;
    match study.store(&record, settings_of).map_err(failed)? {
        StoreResult::Added { added, what, path } if !global.quiet => {
            let count = grouped(added as u64);
            write_err(&format!("{count} {what} added to {}\n", path.display()));
        }
        StoreResult::Nothing | StoreResult::Added { .. } => {}
        StoreResult::NotNamed { what, path } => {
            let path = printable(&path.display().to_string(), 200);
            let hint = match started.forked_from {
                None => {
                    "`retold run CONFIG --resume`, with the config that names the file, adds them"
                        .to_owned()
                }
                // A fork does not start from a config.
                Some(_) => {
                    let name = run.short(8);
                    format!(
                        "`retold export {name} FOLDER --as outputs` writes them to a folder of your choice"
                    )
                }
            };
            let hint = typed(&hint);
            write_err(&format!(
                "its {what} were not added to {path}, a file that only its recorded settings name\n  hint: {hint}\n"
            ));
        }
    }
    Ok(())
}

/// Whether a study has parsers of its own, or is not known here. Those of a judge are in its config, and have no later versions.
fn has_parsers(experiment: &str, global: &Global) -> bool {
    global.studies.find(experiment).is_none_or(|study| !study.parsers().is_empty())
}

fn next_steps(outcome: &str, name: &str, go_on: &str, has_parsers: bool) -> String {
    let retold = begins();
    let command = format!("{retold} {go_on}");
    let check = match has_parsers {
        true => format!("  {retold} check {name}           re-parse with the latest parsers\n"),
        false => String::new(),
    };
    match outcome {
        "finished" => format!(
            "\nnext:\n  \
             {retold} replay {name}          prove that the outcome is identical, offline\n\
             {check}  \
             {retold} show {name}            what is in the run\n  \
             {retold} export {name} FILE     write it to a file (.jsonl, .jsonl.gz, .jsonl.zst)\n"
        ),
        "left" => format!("\nnext:\n  {command:<25}   continue where you left off\n"),
        _ => format!("\nnext:\n  {command:<25}   continue where it stopped\n"),
    }
}

/// Whether it stopped because the person left, which is not an error.
fn is_left(stop: &Stop) -> bool {
    matches!(stop, Stop::Model { failure, .. } if failure.kind == FailureKind::Left)
}

/// Refuses to speak of a run of which nothing was recorded, because its log could not be written.
pub(crate) fn begun(
    ended: ExecutionResult,
    log: &Log,
    run: RunId,
) -> Result<ExecutionResult, CliError> {
    if let Finish::Stopped(Stop::Log(_)) = ended.finish
        && !log.reader()?.runs()?.iter().any(|head| head.run == run)
        && let Finish::Stopped(stop) = ended.finish
    {
        return Err(CliError::from(stop)
            .hint("nothing was recorded: fix the problem, then do the same again"));
    }
    Ok(ended)
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
