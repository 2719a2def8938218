//! The shards of a study: which runs they are, and whether they belong together.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::again::quote;
use crate::error::CliError;
use crate::output::count_of;
use crate::runs::settings::differing;
use crate::select;
use retold::event::RunStarted;
use retold::id::RunId;
use retold::log::Reader;
use retold_study::settings::ExperimentSettings;
use retold_study::shard::Shard;
use retold_study::studies::Studies;

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
        let started = select::run_start(reader, run)?;
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
pub(crate) const LISTED: usize = 16;

fn first_few(all: &[String]) -> String {
    let rest = all.len().saturating_sub(LISTED);
    let mut list = all.iter().take(LISTED).cloned().collect::<Vec<_>>().join(", ");
    if rest > 0 {
        list.push_str(&format!(" and {}", count_of(rest as u64, "other")));
    }
    list
}

/// The command that makes one run of a shard and all others, without the name of the program.
pub(crate) fn merge_command(started: &RunStarted, studies: &Studies) -> Option<String> {
    let shard = shard_of(started)?;
    let of = shard.of();
    let name = studies.run_name(started)?;
    // The folder's number may follow.
    let base = name.rsplit_once(&format!("-{}of{of}", shard.number()))?.0;
    // A name that cannot be typed as shown is foreign text.
    let base = quote(base)?;
    Some(format!("run --merge {base}-{{1..{of}}}of{of}"))
}
