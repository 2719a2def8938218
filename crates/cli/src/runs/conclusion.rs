//! The end of an execution: writes the outputs, and collects the messages about the run.

use crate::again::begins;
use crate::error::CliError;
use crate::global::Global;
use crate::runs::batches::waiting;
use crate::runs::concluded::{ConcludedRun, has_parsers};
use crate::runs::continuation;
use crate::runs::folder::OutputFolder;
use crate::runs::phase_files::PhaseFiles;
use crate::runs::refused::{leave_nothing, refusal_hints};
use crate::runs::shards::merge_command;
use crate::runs::shortfalls::{
    FailedCallHints, longer, no_result, some_failed, some_unfinished, some_unreadable,
    too_many_failed,
};
use crate::runs::stopped::higher_limit;
use crate::runs::unfinished_shards::{hints_for_call, merge_again, next_steps};
use crate::select;
use retold::id::RunId;
use retold::log::Log;
use retold::model::Limits;
use retold::run::{ExecutionResult, Finish, Stop};
use retold_study::study::SettingsOf;

/// The share of calls or parts, such as participants, that may fail if no setting says otherwise. Made-up failures are wanted.
const MOST_FAILED: f64 = 0.1;

/// A run that is to be concluded, with the settings for its end.
pub(crate) struct RunConclusion {
    /// Whether it began with this command.
    pub(crate) is_new: bool,
    pub(crate) log: Log,
    pub(crate) run: RunId,
    pub(crate) experiment: String,
    pub(crate) simulated: bool,
    pub(crate) folder: Option<OutputFolder>,
    /// The files that it leaves while it is not finished.
    pub(crate) phase_files: Option<PhaseFiles>,
    /// How long it waits for an answer, and which share of failed calls is still a success.
    pub(crate) limits: Limits,
    /// Where its settings came from.
    pub(crate) settings_of: SettingsOf,
    /// Its seed, if nobody chose it.
    pub(crate) drawn_seed: Option<u64>,
    /// The options that a command has to repeat to ask the model again: see
    /// [`ModelArgs::named_again`](crate::model::ModelArgs::named_again).
    pub(crate) servers: String,
}

impl RunConclusion {
    /// Writes the outputs of a finished run or resume. If they cannot be written, the run is not affected.
    pub(crate) fn of(
        self,
        ended: ExecutionResult,
        global: &Global,
    ) -> Result<ConcludedRun, CliError> {
        let RunConclusion {
            is_new,
            log,
            run,
            experiment,
            simulated,
            folder,
            phase_files,
            limits,
            settings_of,
            drawn_seed,
            servers,
        } = self;
        let mut ended = refuse_unrecorded(ended, &log, run)?;
        let name = retold_archive::short_name(log.reader()?.as_mut(), run)?;
        let refused = match &ended.finish {
            Finish::Stopped(Stop::Refused { model, refusal, .. }) => {
                let is_empty = is_new && ended.progress.exchanges == 0;
                if is_empty {
                    leave_nothing(&log, run, folder.as_ref(), phase_files.as_ref())?;
                }
                Some(refusal_hints(refusal, model, is_empty, &name, &servers))
            }
            _ => None,
        };
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
        let longer = match ended.progress.timed_out {
            0 => String::new(),
            _ => longer(&limits),
        };
        let hints = FailedCallHints { name: &name, servers: &servers, longer: &longer };
        let no_result = no_result(&ended, &log, run, hints)?;
        let max_failed = limits.max_failed.or((!simulated).then_some(MOST_FAILED));
        let error = no_result.or(too_many_failed(&ended, hints, max_failed));
        let some_failed = some_failed(&ended, hints).filter(|_| error.is_none());
        let others = [some_unreadable(&ended, &name), some_unfinished(&ended, &name)];
        // What failed is said last.
        let warnings = others.into_iter().flatten().chain(some_failed).collect();
        let started = select::run_start(log.reader()?.as_mut(), run)?;
        let mut reader = log.reader()?;
        let hints = match &ended.finish {
            Finish::Stopped(Stop::NotInShards { labels, .. }) => {
                hints_for_call(&log, &started, labels, global)?
            }
            _ => refused.unwrap_or_default(),
        };
        let is_finished = matches!(ended.finish, Finish::Finished);
        let shard_steps = match is_finished {
            true => merge_command(&started, global.studies).map(|merge| {
                format!("  {} {merge}   when all shards are recorded: one run of them\n", begins())
            }),
            // The hints name the shards that matter.
            false if !hints.is_empty() => None,
            false => next_steps(reader.as_mut(), &started)?,
        };
        let raised = match &ended.finish {
            Finish::Stopped(stop) => higher_limit(stop),
            _ => None,
        };
        let options = servers + raised.as_deref().unwrap_or_default();
        let is_refused = matches!(ended.finish, Finish::Stopped(Stop::Refused { .. }));
        let go_on = match (hints.is_empty() || is_refused) && (is_finished || shard_steps.is_none())
        {
            true => continuation::command(global.studies, &started, &name) + &options,
            // No model is asked for what its shards would have asked.
            false => merge_again(reader.as_mut(), &started)?,
        };
        drop(reader);
        let batches = match &ended.finish {
            Finish::Stopped(Stop::Held) => waiting(&log, run)?,
            _ => Vec::new(),
        };
        Ok(ConcludedRun {
            batches,
            ended,
            log,
            run,
            name,
            go_on,
            options,
            has_parsers: has_parsers(&experiment, global),
            experiment,
            simulated,
            written,
            unwritten,
            error,
            warnings,
            drawn_seed,
            settings_of,
            shard_steps,
            hints,
        })
    }
}

/// Refuses to speak of a run of which nothing was recorded, because its log could not be written.
pub(crate) fn refuse_unrecorded(
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
