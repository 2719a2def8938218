//! What to do about an answer that no shard has: which shards may lack it, and how to continue them and the merge.

use crate::error::CliError;
use crate::global::Global;
use crate::runs::shards::{LISTED, shard_of};
use crate::select;
use retold::escaping::printable;
use retold::event::{CLUSTERS, Event, Labels, RunOutcome, RunStarted};
use retold::id::RunId;
use retold::log::{Log, Reader, RunEvents};
use retold::run::how_it_ended;

/// The command that continues a merge, without the name of the program.
pub(crate) fn merge_again(
    reader: &mut dyn Reader,
    started: &RunStarted,
) -> Result<String, CliError> {
    let names = started.merged_from.iter().map(|run| retold_archive::short_name(reader, *run));
    Ok(format!("merge {}", names.collect::<Result<Vec<String>, _>>()?.join(" ")))
}

/// The commands that continue the shards which may lack the answer to a call with these labels.
pub(crate) fn hints(
    log: &Log,
    started: &RunStarted,
    labels: &Labels,
    global: &Global,
) -> Result<Vec<String>, CliError> {
    let mut reader = log.reader()?;
    let mut unfinished = Vec::new();
    for run in &started.merged_from {
        let ended = how_it_ended(reader.as_mut(), *run)?;
        if ended != Some(RunOutcome::Finished) {
            unfinished.push((*run, ended));
        }
    }
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
        for (run, ended) in &unfinished {
            if asks_about(reader.as_mut(), *run, label, labels)? {
                having.push((*run, ended.clone()));
            }
        }
    }
    let shown = if having.is_empty() { unfinished } else { having };
    let mut hints = Vec::new();
    for (run, ended) in shown.iter().take(LISTED) {
        let Some(shard) = shard_of(&select::started(reader.as_mut(), *run)?) else { continue };
        hints.push(match ended {
            None => format!(
                "run {run}, shard {shard}, is not finished: `retold run --resume {}` continues it",
                run.short(8)
            ),
            Some(outcome) => format!(
                "run {run}, shard {shard}, was {}: `retold run CONFIG --shard {shard}` records it again",
                outcome.as_str()
            ),
        });
    }
    if shown.iter().all(|(_, ended)| ended.is_none()) {
        let again = merge_again(reader.as_mut(), started)?;
        hints.push(format!("then `retold {again}` continues here"));
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
