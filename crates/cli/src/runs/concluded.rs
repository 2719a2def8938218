//! A run that has ended: the report about it, as text and as an object.

use serde_json::{Value, json};

use crate::again::{begins, spell_commands};
use crate::error::{CliError, Status, write_err};
use crate::global::Global;
use crate::output::{Output, count_of, group_digits};
use crate::runs::batches::batch_line;
use crate::runs::config;
use crate::runs::folder::WrittenFolder;
use crate::runs::kept::store;
use crate::runs::stopped::{is_left, stop_error};
use crate::select::SIMULATED;
use retold::batch::WaitingBatch;
use retold::id::RunId;
use retold::log::Log;
use retold::members::Members;
use retold::run::{ExecutionResult, Finish, OverBudget, Progress, Stop};
use retold_study::study::SettingsOf;

/// A run that has ended, with its outputs written, and the messages about it.
pub(crate) struct ConcludedRun {
    pub(crate) ended: ExecutionResult,
    pub(crate) log: Log,
    pub(crate) run: RunId,
    /// The run, as a command names it.
    pub(crate) name: String,
    /// The command that continues it, without the program's name.
    pub(crate) go_on: String,
    /// Its options, each after a space: servers to be named again, and a higher limit.
    pub(crate) options: String,
    pub(crate) experiment: String,
    /// Whether parsers of the study decided, which may have later versions.
    pub(super) has_parsers: bool,
    pub(crate) simulated: bool,
    pub(super) written: Option<WrittenFolder>,
    /// Why its outputs could not be written.
    pub(super) unwritten: Option<CliError>,
    /// Why a finished run has no usable result.
    pub(super) error: Option<CliError>,
    pub(crate) warnings: Vec<String>,
    pub(super) drawn_seed: Option<u64>,
    pub(super) settings_of: SettingsOf,
    /// What to do next with its shards, or with it and the other shards: lines of commands.
    pub(super) shard_steps: Option<String>,
    /// What to do about the error with which it stopped.
    pub(super) hints: Vec<String>,
    /// The batches that it waits for.
    pub(super) batches: Vec<WaitingBatch>,
}

impl ConcludedRun {
    /// How it ended, in a word.
    pub(crate) fn outcome(&self) -> &str {
        match &self.ended.finish {
            Finish::Finished => "finished",
            Finish::EndOfRecord | Finish::Rehearsed(_) => "unfinished",
            Finish::Closed(outcome) => outcome.as_str(),
            Finish::Stopped(Stop::Interrupted) => "interrupted",
            Finish::Stopped(Stop::Held) => "waiting",
            Finish::Stopped(stop) if is_left(stop) => "left",
            Finish::Stopped(_) => "stopped",
        }
    }

    /// True if it stopped because the runs of the command had used up their shared budget.
    pub(crate) fn is_limited_with_others(&self) -> bool {
        use OverBudget::{CostOfAll, TokensOfAll};
        let Finish::Stopped(Stop::OverBudget(over)) = &self.ended.finish else { return false };
        matches!(over, TokensOfAll { .. } | CostOfAll { .. })
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
            "refused_answers": progress.refused,
            "cut_off_answers": progress.cut_off,
            "decisions": progress.decisions,
            "outcome_digest": matches!(finish, Finish::Finished).then_some(outcome_digest),
            "seconds": took.as_secs_f64(),
            "simulated": self.simulated,
            "report": report.json,
            "error": stop.or(self.error.as_ref().map(|e| e.message.clone())),
        });
        if let Finish::Stopped(Stop::Reached { phase }) = finish {
            object.set("stopped_after", phase.as_str().into());
        }
        if !self.batches.is_empty() {
            let batches = self.batches.iter().map(|batch| {
                let WaitingBatch { number, server, model, id, status, done, lines, expires } = batch;
                json!({
                    "batch": number, "server": server, "model": model, "id": id, "status": status,
                    "done": done, "questions": lines, "expires": expires.map(|time| time.to_string()),
                })
            });
            object.set("batches", batches.collect());
        }
        if let Some(WrittenFolder { folder, .. }) = &self.written {
            object.set("outputs", folder.as_str().into());
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
        for batch in &self.batches {
            text.push_str(&format!("{}\n", batch_line(batch)));
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
            let files = count_of(*files as u64, "file");
            text.push_str(&format!("\noutputs: {files} in {folder}\n"));
        }
        // The error has the hints for failed calls, and for refusals by a server.
        let is_refused = matches!(finish, Finish::Stopped(Stop::Refused { .. }));
        if self.error.is_none() && !is_refused {
            let next = next_steps(outcome, &self.name, &self.go_on, self.has_parsers);
            text.push_str(match &self.shard_steps {
                // By itself it would stop there again.
                Some(_) if !is_finished => "\nnext:\n",
                _ => &next,
            });
            text.push_str(self.shard_steps.as_deref().unwrap_or_default());
        }
        text
    }

    /// Prints how it ended and what to do next, for a run that was executed alone.
    pub(crate) fn report(self, global: &Global, output: &Output) -> Result<Status, CliError> {
        match output.is_json() {
            true => output.object(&self.as_json())?,
            false => output.text(&self.text())?,
        }
        self.end(global)
    }

    /// Stores what it leaves, and says what it warns of.
    pub(crate) fn end(self, global: &Global) -> Result<Status, CliError> {
        self.store(global)?;
        for warning in &self.warnings {
            write_err(&spell_commands(warning));
        }
        self.result()
    }

    /// The exit code, or the error that it ended with.
    pub(crate) fn result(self) -> Result<Status, CliError> {
        let ConcludedRun { ended, go_on, unwritten, error, hints, .. } = self;
        let status = match &ended.finish {
            Finish::Stopped(Stop::Interrupted) => Status::Interrupted,
            Finish::Stopped(Stop::Held) => Status::Waiting,
            _ => Status::Fine,
        };
        let stopped =
            stop_error(ended, &go_on).map(|error| hints.into_iter().fold(error, CliError::hint));
        stopped.or(unwritten).or(error).map_or(Ok(status), Err)
    }

    /// Stores the data that it leaves for later runs, and says so on stderr.
    pub(crate) fn store(&self, global: &Global) -> Result<(), CliError> {
        store(&self.log, self.run, self.settings_of, global)
    }
}

/// How many answers there are.
fn answers(progress: &Progress) -> String {
    let Progress { exchanges, live, .. } = *progress;
    format!("{}, {} of them new", count_of(exchanges, "answer"), group_digits(live))
}

/// How far an execution has come that did not get to its end. Failed calls are counted here, in one
/// place; those of a finished run are reported with what to do about them.
fn so_far(progress: &Progress) -> String {
    let Progress { exchanges, failed, expected, .. } = *progress;
    let done = exchanges + failed;
    let of = match expected {
        0 => count_of(done, "call"),
        expected => format!("{} of {}", group_digits(done), count_of(expected.max(done), "call")),
    };
    let failed = match failed {
        0 => String::new(),
        n => format!(", and {} that failed", count_of(n, "call")),
    };
    format!(" after {of}: {}{failed}", answers(progress))
}

/// Whether a study has parsers of its own, or is not known here. Those of a judge are in its config, and have no later versions.
pub(super) fn has_parsers(experiment: &str, global: &Global) -> bool {
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
        "waiting" => format!(
            "\nnext:\n  {command:<25}   collect what has been answered by then, and continue; --wait stays until all has\n"
        ),
        "left" => format!("\nnext:\n  {command:<25}   continue where you left off\n"),
        _ => format!("\nnext:\n  {command:<25}   continue where it stopped\n"),
    }
}
