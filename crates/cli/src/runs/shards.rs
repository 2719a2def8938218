//! The shards of a study: which runs they are, and whether they belong together.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::again::begins;
use crate::error::CliError;
use crate::global::Global;
use crate::output::counted;
use crate::runs::settings::differing;
use crate::select;
use retold::escaping::printable;
use retold::event::{CLUSTERS, Event, Labels, RunOutcome, RunStarted};
use retold::id::RunId;
use retold::log::{Log, Reader, RunEvents};
use retold::run::how_it_ended;
use retold_study::settings::ExperimentSettings;
use retold_study::shard::Shard;

/// A run of a shard.
#[derive(Debug)]
pub(crate) struct ShardRun {
    pub(crate) run: RunId,
    pub(crate) started: RunStarted,
    shard: Shard,
    /// The settings of the study that it is a part of.
    whole: Value,
}

/// The shard that a run is, if it is one.
pub(crate) fn shard_of(started: &RunStarted) -> Option<Shard> {
    let settings: ExperimentSettings = started.settings.get("experiment")?.clone().into();
    settings.shard()
}

impl ShardRun {
    /// A run, which must be one of a shard.
    pub(crate) fn new(reader: &mut dyn Reader, run: RunId) -> Result<Self, CliError> {
        let started = select::started(reader, run)?;
        let Some(shard) = shard_of(&started) else {
            return Err(CliError::usage(format!("run {run} is not a shard of a study"))
                .hint("`retold run CONFIG --shard 3/16` records one"));
        };
        let settings: ExperimentSettings = started.settings["experiment"].clone().into();
        let whole = settings.with_shard(None).and_then(|settings| settings.to_json());
        let whole = whole.map_err(|e| CliError::usage(format!("settings: {e}")))?;
        Ok(ShardRun { run, started, shard, whole })
    }

    /// The settings of the study that it is a part of.
    pub(crate) fn whole(&self) -> ExperimentSettings {
        self.whole.clone().into()
    }

    /// Why two runs are not shards of the same run.
    fn other_than(&self, first: &ShardRun) -> Option<String> {
        let (run, of) = (self.run, first.run);
        if self.started.experiment != first.started.experiment {
            return Some(format!("run {run} and run {of} are of different experiments"));
        }
        if self.whole != first.whole || self.started.seed != first.started.seed {
            let differing = differing(&first.whole, &self.whole);
            return Some(format!(
                "run {run} was recorded with other settings than run {of}: {differing}"
            ));
        }
        if self.shard.of() != first.shard.of() {
            let (shard, first) = (self.shard, first.shard);
            return Some(format!("run {run} is shard {shard}, and run {of} is shard {first}"));
        }
        if self.started.is_simulated() != first.started.is_simulated() {
            return Some(format!("of run {run} and run {of}, only one has simulated answers"));
        }
        None
    }
}

/// The shards in their order, if they are all that a study was divided into, each of them once.
pub(crate) fn complete(mut shards: Vec<ShardRun>) -> Result<Vec<ShardRun>, CliError> {
    shards.sort_by_key(|shard| shard.shard);
    let Some(first) = shards.first() else {
        return Err(CliError::usage("there is nothing to merge"));
    };
    if let Some(why) = shards.iter().find_map(|shard| shard.other_than(first)) {
        return Err(CliError::usage(why).hint("only the shards of one study can be merged"));
    }
    for pair in shards.windows(2) {
        if let [one, other] = pair
            && one.shard == other.shard
        {
            let ShardRun { run, shard, .. } = other;
            let message = format!("run {} and run {run} are both shard {shard}", one.run);
            return Err(CliError::usage(message).hint("name only one of them"));
        }
    }
    let of = first.shard.of();
    let there: BTreeSet<u32> = shards.iter().map(|shard| shard.shard.number()).collect();
    let missing: Vec<String> =
        (1..=of).filter(|n| !there.contains(n)).map(|n| format!("{n}/{of}")).collect();
    let Some(one) = missing.first() else { return Ok(shards) };
    let (is, list) = match missing.as_slice() {
        [only] => ("shard", only.clone()),
        many => ("shards", first_few(many)),
    };
    let message = format!("{is} {list} {} missing", if missing.len() == 1 { "is" } else { "are" });
    Err(CliError::usage(message).hint(format!(
        "`retold run CONFIG --shard {one}` records it; `retold copy` brings it here from another log"
    )))
}

/// The most that are listed in a message.
const LISTED: usize = 16;

fn first_few(all: &[String]) -> String {
    let rest = all.len().saturating_sub(LISTED);
    let mut list = all.iter().take(LISTED).cloned().collect::<Vec<_>>().join(", ");
    if rest > 0 {
        list.push_str(&format!(" and {}", counted(rest as u64, "other")));
    }
    list
}

/// The command that continues a merge, without the name of the program.
pub(crate) fn merge_again(
    reader: &mut dyn Reader,
    started: &RunStarted,
) -> Result<String, CliError> {
    let names = started.merged_from.iter().map(|run| retold_archive::short_name(reader, *run));
    Ok(format!("merge {}", names.collect::<Result<Vec<String>, _>>()?.join(" ")))
}

/// Whether a run that stopped after a phase is a shard that goes no further, because the next phase needs all shards.
pub(crate) fn goes_no_further(started: &RunStarted, phase: &str, global: &Global) -> bool {
    let settings = started.settings["experiment"].clone().into();
    let study = global.studies.find(&started.experiment).filter(|_| shard_of(started).is_some());
    study.is_some_and(|study| study.phases(&settings).last().is_some_and(|last| last == phase))
}

/// What to do when a shard and all others are recorded: a line to be printed after its next steps.
pub(crate) fn merge_when_done(started: &RunStarted, global: &Global) -> Option<String> {
    let shard = shard_of(started)?;
    let of = shard.of();
    let name = global.studies.run_name(started)?;
    // The folder's number may follow.
    let base = name.rsplit_once(&format!("-{}of{of}", shard.number()))?.0;
    Some(format!(
        "  {} merge {base}-{{1..{of}}}of{of}   when all {of} shards are recorded: one run of them\n",
        begins()
    ))
}

/// What to do about an answer that no shard has: the commands that continue the shards which may lack it, by the labels of
/// its call.
pub(crate) fn behind(
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
