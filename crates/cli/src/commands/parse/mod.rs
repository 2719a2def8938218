//! `retold parse`.

mod decision;
mod line;
mod queue;
mod streamed;

use std::io::Read;
use std::path::PathBuf;

use serde_json::json;

use crate::error::{CliError, Status};
use crate::global::Global;
use crate::output::Output;
use crate::parser::{ParserArgs, parser_file};
use decision::{Deciding, Decision, Outcome};
use line::Line;
use retold::encoding::decode;
use retold::model::Response;

/// The longest answer that is read, in bytes.
const LONGEST: u64 = 64 << 20;

/// Parse an answer from standard input: show the value, the method that found it, the reasoning and
/// the warnings.
///
/// Nothing is recorded, and no log is needed.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    parser: ParserArgs,
    /// Parse with the parsers of this YAML file: one answer with each of them, or with --jsonl each line
    /// with the first parser that fits its "call" and its "request". docs/parsers.md describes the file.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["parser", "parser_cmd", "params"])]
    parsers: Option<PathBuf>,
    /// Parse one answer per line: a JSON text, or an object with "text", "content" or "response"
    /// (with "content", as in an exchanges file; embeddings are left alone). "params" in the object
    /// has the settings for that line and overrides --params; "call", "sample", "request", "label",
    /// "simulated" and "error" are also allowed, but no other key.
    ///
    /// Each line is answered before the next one comes: with --json by one object, {"line", ..}, which
    /// says what is "left" if there is nothing to parse on the line. With --parser-cmd, 10,000 lines are
    /// decided together.
    #[arg(long)]
    jsonl: bool,
    /// How many lines are parsed at the same time. Their order stays. The default is the number of cores.
    #[arg(long, value_name = "N", requires = "jsonl", conflicts_with = "parser_cmd")]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
}

pub(crate) fn run(args: Args, global: &Global, output: &Output) -> Result<Status, CliError> {
    let parsers = global.studies.parsers();
    let file = args.parsers.as_ref().map(|path| parser_file(path, parsers)).transpose()?;
    let deciding = || match &file {
        Some(file) => Ok(Deciding::file(file)),
        None => Deciding::parser(&args.parser, parsers),
    };
    if args.jsonl {
        return streamed::run(&args, &deciding, output);
    }
    let answer = Some(Response::text(whole(std::io::stdin().lock())?));
    let outcome = deciding()?.one(&Line { answer, ..Line::default() })?;
    let Outcome::Decided(decisions) = outcome else { return Ok(Status::Fine) };
    match (output.is_json(), &file) {
        (true, None) => output.object(&decisions.last().map(Decision::object))?,
        (true, Some(_)) => {
            let decisions: Vec<_> = decisions.iter().map(Decision::object).collect();
            output.object(&json!({"decisions": decisions, "left": 0, "without_answer": 0}))?;
        }
        (false, _) => {
            let texts = decisions.iter().map(Decision::text).collect::<Vec<_>>();
            output.text(&texts.join("\n"))?;
        }
    }
    Ok(Status::Fine)
}

/// Reads the whole input as one answer.
fn whole(input: impl Read) -> Result<String, CliError> {
    let mut bytes = Vec::new();
    let read = input.take(LONGEST + 1).read_to_end(&mut bytes);
    read.map_err(|e| CliError::new(Status::Io, format!("cannot read standard input: {e}")))?;
    if bytes.len() as u64 > LONGEST {
        let most = LONGEST >> 20;
        return Err(CliError::usage(format!("standard input is longer than {most} MB"))
            .hint("--jsonl reads one answer per line"));
    }
    decode(bytes).map_err(|e| CliError::usage(e.sentence("standard input")))
}
