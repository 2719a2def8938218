//! `retold audit`.

use crate::error::{CliError, Status};
use crate::global::Global;
use crate::output::Output;
use crate::{select, views};
use retold::audit::Target;

/// Show the chain from a decision to its prompt: decision, method, parser, answer, prompt, and what the
/// prompt was made from, each with its place in the log and its hash.
///
/// "Declared" is what the experiment says its prompts were made from: earlier decisions and facts, followed back to
/// the first prompt. It is part of the log's chain, and a replay compares it. "The same text" is shown
/// apart: answers and facts whose text (32 bytes or more) stands in the prompt word for word, with how rare
/// it is; a text that is common in the run is left out. A run of an earlier format declares nothing.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The run (first digits of its id, or `latest`), or a recording's file.
    run: String,
    /// The decision: its call (its parts in any order), CALL#SAMPLE, or its seq.
    decision: Target,
}

pub(crate) fn run(args: Args, global: &Global, output: &Output) -> Result<Status, CliError> {
    let selected = select::run_or_file(global, &args.run)?;
    views::audit::show(&selected, &args.decision, global, output)
}
