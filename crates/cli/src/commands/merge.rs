//! `retold merge`.

use crate::error::{CliError, Status};
use crate::global::Global;
use crate::output::Output;
use crate::runs::folder::FolderArgs;
use crate::runs::merge::merge;
use crate::select;
use retold::id::RunId;

/// Make one run of the shards of a study, as if one machine had run it.
///
/// The whole study is run again, and each answer is taken from the shard that has it (`retold run CONFIG --shard 3/16`
/// records one). Nothing is asked: if no shard has an answer, the merge stops and says which shard to continue. Afterwards, the
/// same command continues. The outcome digest is that of a single run with the same settings, and so are its tables and figures.
///
/// All shards are in one log; `retold copy` brings those of other machines there. If a study needs the answers of all
/// participants for what comes next, as a deliberation does for its clusters, the merged run stops after the last phase that
/// the shards have, and `retold run --resume RUN` continues it.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The shards, all of them, in any order: first digits of their ids, or their names, such as pilot-3of16.
    #[arg(value_name = "RUN", required = true)]
    runs: Vec<String>,
    /// Write no output folder: `retold export RUN --as outputs` makes it later.
    #[arg(long)]
    no_outputs: bool,
    /// If the output folder exists, write the next free one (outputs/NAME-2, and so on) instead of refusing to start.
    #[arg(long, conflicts_with = "no_outputs")]
    new_folder: bool,
}

pub(crate) fn run(args: Args, global: &Global, output: &Output) -> Result<Status, CliError> {
    let Args { runs, no_outputs, new_folder } = args;
    let log = select::open(global)?;
    let found = runs.iter().map(|name| Ok(select::find(&log, name, global)?.run));
    let found = select::each_once(found.collect::<Result<Vec<RunId>, CliError>>()?, |run| *run);
    let folder = FolderArgs::starting(no_outputs, new_folder);
    merge(&log, &found, folder, global)?.go(global, output)
}
