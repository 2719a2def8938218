//! `retold check`: `runs` decides again about the answers of recorded runs, and `results` shows what
//! changes, which `shown` prints run by run; `snapshots` keeps the decisions about one run as files; `text` decides about answers
//! that are in no run; `list` says which parsers there are; `again` asks recorded prompts again, and `drift` compares what is
//! decided about the answers then and now.

mod again;
mod drift;
mod list;
mod made_elsewhere;
mod results;
mod runs;
mod shown;
mod snapshots;
mod text;

use std::path::PathBuf;

use clap::{ArgGroup, ValueEnum};

use self::again::{AgainArgs, PRICED};
use crate::error::{CliError, Status};
use crate::global::Global;
use crate::output::Output;
use crate::parser::ParserArgs;
use retold::decide::Choices;
use retold::id::CallPath;

/// The options that only make sense for runs.
const FOR_RUNS: [&str; 12] = [
    "ask_again", "name", "params_from", "call", "choice", "accept", "refold", "prices", "fail_on",
    "most", "snapshots", "decisions",
];

/// Parse recorded answers again and show which decisions change.
///
/// That is: value, method, reasoning or warnings. A decision whose value changes is a flip. If you
/// name a parser, it also decides about answers that have no decision yet, such as those of imported
/// exchanges, and about answers that another program's parser decided. Exit code 1 if anything
/// changes, or only for what --fail-on names.
///
/// With --snapshots, the decisions about a run are compared with those in a folder, one file per
/// answer, as `cargo insta` has them: the answer, and the value, method, reasoning and warnings of the
/// decision about it. Missing files are written. If a file differs, it is not changed: the new version
/// is written next to it, as .snap.new, the difference is shown, and the exit code is 1. To accept the
/// new version, rename it to the name of the old one; to reject it, delete it. In a Cargo project,
/// `cargo insta review` (from `cargo install cargo-insta`) goes through them one by one.
///
/// With --text or --jsonl, a parser decides about answers that are in no run. Nothing is recorded, and
/// no log is needed. --list shows the parsers.
#[derive(Debug, clap::Args)]
#[command(group = ArgGroup::new("checked").required(true).args(["runs", "text", "jsonl", "list"]))]
#[command(group = ArgGroup::new(PRICED).args(["refold", "ask_again"]))]
#[command(mut_args(AgainArgs::with_ask_again))]
pub(crate) struct Args {
    /// Runs (first digits of their ids, their names, or `latest`) or files (recordings or exchanges).
    runs: Vec<String>,
    #[command(flatten)]
    parser: ParserArgs,
    /// Only answers to this call or to calls below it.
    #[arg(long, value_name = "CALL")]
    call: Option<CallPath>,
    /// Which choices of an answer that has several (`n`, `candidateCount`): `first`, `all`, or the
    /// number of one, counted from 0. Each is one text to parse, and has its own decision.
    #[arg(long, value_name = "WHICH", default_value = "first")]
    choice: Choices,
    /// Record the new decisions as a new run, which refers to the original run and its answers. They
    /// are in force instead of those with the same name, beside those with other names. The
    /// original run is not changed. With this, changes do not affect the exit code. No run is
    /// recorded if the original run already has the same decisions, or if the same ones were the
    /// last to be accepted.
    #[arg(long)]
    accept: bool,
    /// Also run the experiment again with the new decisions, answered from the log: which facts
    /// change, which later prompts would differ, the headline figures before and after, and what
    /// would have to be asked again, with tokens and cost. Only for runs of studies.
    #[arg(long)]
    refold: bool,
    /// Exit with code 1 only for this, also with --accept. Can be repeated.
    #[arg(long, value_enum, value_name = "WHAT")]
    fail_on: Vec<FailOn>,
    /// How many changed decisions, and how many new ones, to list as text; --json lists all.
    #[arg(long, value_name = "N", default_value_t = 20)]
    most: usize,
    /// Compare the decisions about one run with the snapshots in this folder, which is created if it
    /// does not exist.
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["accept", "refold", "fail_on"])]
    snapshots: Option<PathBuf>,
    /// Compare decisions that were made elsewhere, by a function in Python for example, with those of the same name that are
    /// in force; with --accept, they are recorded. The file has one JSON object per line (`-` for standard input):
    /// {"answer_seq","choice","value","method","reasoning","warnings"}, of which the value and the seq of the answer
    /// are required; "call" and "sample" can name the answer instead.
    #[arg(long, value_name = "FILE", requires = "name")]
    #[arg(conflicts_with_all = ["parser", "parser_cmd", "parsers", "params", "params_from", "call", "choice", "refold",
        "fail_on", "snapshots"])]
    decisions: Option<PathBuf>,
    /// The name of the new decisions, instead of their parser's: they are compared with the recorded ones of this name, and
    /// replace only these once they are accepted. For --decisions, with a version, such as vote@4.
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// With --decisions: what decided, such as the function `votes.last_word`. It is recorded with them.
    #[arg(long, value_name = "WHAT", requires = "decisions")]
    function: Option<String>,
    /// Parse the text in this file as one answer (`-` for standard input): show the value, the method
    /// that found it, the reasoning and the warnings.
    #[arg(long, value_name = "FILE", conflicts_with_all = FOR_RUNS)]
    #[arg(help_heading = "Answers that are in no run")]
    text: Option<PathBuf>,
    /// Parse one answer per line of this file (`-` for standard input): a JSON text, or an object with
    /// "text", "content" or "response" (with "content", as in an exchanges file; embeddings are left
    /// alone). "params" in the object has the settings for that line and overrides --params; "call",
    /// "sample", "request", "label", "simulated" and "error" are also allowed, but no other key.
    ///
    /// Each line is answered before the next one comes: with --json by one object, {"line", ..}, which
    /// says what is "left" if there is nothing to parse on the line. With --parser-cmd, 10,000 lines are
    /// decided together.
    #[arg(long, value_name = "FILE", conflicts_with_all = FOR_RUNS)]
    #[arg(help_heading = "Answers that are in no run")]
    jsonl: Option<PathBuf>,
    /// How many lines of --jsonl are parsed at the same time. Their order stays. The default is the
    /// number of cores.
    #[arg(long, value_name = "N", requires = "jsonl")]
    #[arg(conflicts_with_all = ["runs", "text", "parser_cmd"])]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=1024))]
    #[arg(help_heading = "Answers that are in no run")]
    jobs: Option<u16>,
    /// List the parsers: their versions, the strategies of each in the order in which they are tried, their settings
    /// and the studies that use them. With --parser, only that parser.
    #[arg(long, conflicts_with_all = FOR_RUNS)]
    #[arg(conflicts_with_all = ["parser_cmd", "parsers", "params"])]
    list: bool,
    // Last, because clap puts everything that follows under its heading.
    #[command(flatten)]
    again: AgainArgs,
}

/// What makes a check fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FailOn {
    /// A value changes.
    Flips,
    /// Fewer decisions are found by a strategy, and more by a parser's last resort.
    MethodDrop,
}

pub(crate) fn run(args: Args, global: &Global, output: &Output) -> Result<Status, CliError> {
    let parsers = global.studies.parsers();
    if let Some(file) = &args.decisions {
        return made_elsewhere::run(file, &args, global, output);
    }
    if args.list {
        return list::show(args.parser.parser.as_deref(), global, output);
    }
    if args.again.is_asked() {
        return again::run(&args, global, output);
    }
    match (&args.text, &args.jsonl, &args.snapshots) {
        (Some(file), ..) => text::whole(file, &args.parser, parsers, output),
        (None, Some(file), _) => text::lines(file, &args.parser, args.jobs, parsers, output),
        (None, None, Some(folder)) => snapshots::run(folder, &args, global, output),
        (None, None, None) => runs::run(&args, global, output),
    }
}
