//! The shards of a merged run that have not finished: how to continue them, and then the merged run.

use std::fmt::Write;

use crate::again::begins;
use crate::error::CliError;
use crate::global::Global;
use crate::runs::shards::{LISTED, shard_of};
use crate::select;
use retold::escaping::printable;
use retold::event::{CLUSTERS, Event, Labels, RunOutcome, RunStarted};
use retold::id::RunId;
use retold::log::{Log, Reader, RunEvents};
use retold::run::how_it_ended;
use retold_archive::short_name;
use retold_study::shard::Shard;

/// A shard that has not finished.
pub(crate) struct UnfinishedShard {
    run: RunId,
    shard: Shard,
    /// How it was ended for good; `None` if it can be continued.
    ended: Option<RunOutcome>,
}

impl UnfinishedShard {
    /// What to do about it.
    pub(crate) fn hint(&self) -> String {
        let UnfinishedShard { run, shard, ended } = self;
        match ended {
            None => format!(
                "run {run}, shard {shard}, is not finished: `retold run --resume {}` continues it",
                run.short(8)
            ),
            Some(outcome) => format!(
                "run {run}, shard {shard}, was {}: `retold run CONFIG --shard {shard}` records it again",
                outcome.as_str()
            ),
        }
    }
}

/// The shards in the log that a run is merged from and that have not finished; none if it is not merged.
pub(crate) fn unfinished_shards(
    reader: &mut dyn Reader,
    started: &RunStarted,
) -> Result<Vec<UnfinishedShard>, CliError> {
    let mut unfinished = Vec::new();
    if started.merged_from.is_empty() {
        return Ok(unfinished);
    }
    let heads = reader.runs()?;
    for &run in &started.merged_from {
        if !heads.iter().any(|head| head.run == run) {
            continue;
        }
        let ended = how_it_ended(reader, run)?;
        if ended == Some(RunOutcome::Finished) {
            continue;
        }
        if let Some(shard) = shard_of(&select::run_start(reader, run)?) {
            unfinished.push(UnfinishedShard { run, shard, ended });
        }
    }
    Ok(unfinished)
}

/// Refuses to ask a model for a merged run while one of its shards may record the same calls.
pub(crate) fn refuse_to_ask(
    reader: &mut dyn Reader,
    run: RunId,
    started: &RunStarted,
) -> Result<(), CliError> {
    let mut unfinished = unfinished_shards(reader, started)?;
    unfinished.retain(|shard| shard.ended.is_none());
    if unfinished.is_empty() {
        return Ok(());
    }
    let message =
        format!("run {run} is merged from shards that are not finished; nothing was asked");
    let hints = unfinished.iter().take(LISTED).map(UnfinishedShard::hint);
    let error = hints.fold(CliError::usage(message), CliError::hint);
    Err(error.hint(then_merge(reader, started)?))
}

/// The command that continues a merge, without the name of the program.
pub(crate) fn merge_again(
    reader: &mut dyn Reader,
    started: &RunStarted,
) -> Result<String, CliError> {
    let names = started.merged_from.iter().map(|run| short_name(reader, *run));
    Ok(format!("run --merge {}", names.collect::<Result<Vec<String>, _>>()?.join(" ")))
}

fn then_merge(reader: &mut dyn Reader, started: &RunStarted) -> Result<String, CliError> {
    let again = merge_again(reader, started)?;
    Ok(format!("then `retold {again}` continues here"))
}

/// The commands that continue the shards of a run which was merged as far as they have come, to be printed as its next
/// steps; `None` if all shards have finished.
pub(crate) fn next_steps(
    reader: &mut dyn Reader,
    started: &RunStarted,
) -> Result<Option<String>, CliError> {
    let unfinished = unfinished_shards(reader, started)?;
    let mut steps = String::new();
    let continued = unfinished.iter().filter(|shard| shard.ended.is_none()).take(LISTED);
    for UnfinishedShard { run, shard, .. } in continued {
        // Writing to a string cannot fail, here and below.
        let _ = writeln!(
            steps,
            "  {} run --resume {}   shard {shard} is not finished",
            begins(),
            run.short(8)
        );
    }
    if steps.is_empty() {
        return Ok(None);
    }
    let again = merge_again(reader, started)?;
    let _ = writeln!(steps, "  {} {again}   continue the merged run with what they add", begins());
    Ok(Some(steps))
}

/// What to do if no shard has the answer to a call with these labels: the shards that may lack it.
pub(crate) fn hints_for_call(
    log: &Log,
    started: &RunStarted,
    labels: &Labels,
    global: &Global,
) -> Result<Vec<String>, CliError> {
    let mut reader = log.reader()?;
    let unfinished = unfinished_shards(reader.as_mut(), started)?;
    if unfinished.is_empty() {
        let by = printable(&started.program, 100);
        return Ok(vec![format!(
            "all of them are finished, so this release asks something else than {by}, which recorded them: merge them with that"
        )]);
    }
    let study = global.studies.find(&started.experiment);
    let own = study.and_then(|study| study.independent_by());
    let label = own.into_iter().chain(CLUSTERS).find(|label| labels.contains_key(*label));
    let mut having = Vec::new();
    if let Some(label) = label {
        for shard in &unfinished {
            if asks_about(reader.as_mut(), shard.run, label, labels)? {
                having.push(shard);
            }
        }
    }
    let shown = if having.is_empty() { unfinished.iter().collect() } else { having };
    let mut hints: Vec<String> = shown.iter().take(LISTED).map(|shard| shard.hint()).collect();
    if shown.iter().all(|shard| shard.ended.is_none()) {
        hints.push(then_merge(reader.as_mut(), started)?);
    }
    Ok(hints)
}

/// Whether a run asked anything with the same value of a label.
fn asks_about(
    reader: &mut dyn Reader,
    run: RunId,
    label: &str,
    labels: &Labels,
) -> Result<bool, CliError> {
    let mut events = RunEvents::new(run);
    while let Some(event) = events.next(reader)? {
        if event.kind != "RequestSent" {
            continue;
        }
        if let Ok(Event::RequestSent(sent)) = event.event()
            && sent.labels.get(label) == labels.get(label)
        {
            return Ok(true);
        }
    }
    Ok(false)
}
