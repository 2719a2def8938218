//! `retold audit`.

use crate::error::{CliError, Status};
use crate::global::Global;
use crate::output::Output;
use crate::{select, views};
use retold::audit::Target;

/// Show how a decision came about: decision, method, parser, answer, prompt, and what the prompt
/// was made from, each with its place in the log and its hash.
///
/// "Declared" is what the experiment says its prompts were made from: earlier decisions and facts,
/// traced back to the first prompt. It is part of the log's hash chain, and a replay compares it.
/// "The same text" is listed separately: answers and facts whose text (32 bytes or more) is in the
/// prompt word for word, and how rare that text is; a text that is common in the run is left out.
/// Runs of earlier formats declare nothing.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The run (first digits of its id, or `latest`), or a recording's file.
    run: String,
    /// The decision: its call (with the parts in any order), CALL#SAMPLE, or its seq.
    decision: Target,
}

pub(crate) fn run(args: Args, global: &Global, output: &Output) -> Result<Status, CliError> {
    let selected = select::run_or_file(global, &args.run)?;
    views::audit::show(&selected, &args.decision, global, output)
}
