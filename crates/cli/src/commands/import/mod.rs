//! `retold import`.

mod columns;
mod deposit;
mod original;
mod traffic;
mod unrecognised;

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use serde_json::json;

use crate::again::begins;
use crate::error::{CliError, NOTHING_IMPORTED, Status};
use crate::global::Global;
use crate::output::{Output, count_of};
use crate::redaction::{self, RunRedactionKey};
use crate::run_id::new_run_id;
use crate::runs::program::next_command;
use crate::select;
use retold::event::PLAN;
use retold::exchange::{
    DECISIONS, EXCHANGES, Exchanges, ImportError, ImportResult, Recording, import_recording,
    is_recording, read_exchanges, read_recording,
};
use retold::id::{RunId, Seq};
use retold::jsonl::{JsonlReader, beginning};
use retold::log::{Reader, SqliteBackend, verify_run};
use retold::run::clock;
use retold_traffic::{BEGINNING, Format};
use retold_wire::{PROGRAM, ProgramSettings};

use columns::{ColumnArgs, ReadTable};
use traffic::TrafficArgs;
use unrecognised::format_error;

/// Import a recording, exchanges, what another tool recorded, or a deposit.
///
/// It becomes a run in the log. An original run of another program is run again.
///
/// The key of a recording's redactions is taken over if it is beside the file (FILE-key).
///
/// A file is checked first. It is imported completely or not at all, and its format is recognised by
/// its content.
///
/// What another tool recorded becomes a run like those of `retold record`, which
/// `retold replay RUN -- CMD` serves: cassettes of vcrpy, go-vcr, langchain-tests, Ruby's VCR and Betamax, HTTP
/// Archives (HAR) and the recordings of Polly.js, recordings of nock, the files of OpenAI's and
/// Anthropic's batches, and logs of Inspect AI and of Simon Willison's llm. Traces of OpenTelemetry are shown
/// and parsed, but not replayed. Of any other CSV, JSON Lines or JSON, `--answer` and `--prompt` name the columns. What a run cannot represent is listed. The input, output and error files of a batch are given together, and so are those of a batch
/// that continued it.
///
/// Of the folder of a deposit (`retold export --as deposit`), each file is compared with its hash, and the recordings become
/// runs of the log. Each run of a study is replayed, decisions are made again by their parsers, and each figure is computed and
/// compared with the deposited one, without a network and without a key: exit code 1 if anything differs.
///
/// `retold import EXPERIMENT FOLDER` runs the experiment with the settings found in the folder, and
/// answers each of its questions with the original answer. It reports what the original did not
/// record, and compares our outputs with the original's: exit code 1 if they differ. Several folders become a run each, with one
/// summary.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The file (plain or .gz or .zst; `-` for standard input), the folder of a deposit, or the experiment of an original run.
    file: PathBuf,
    /// The original run's folder or file (several become a run each); or more files that are imported into the same run.
    #[arg(value_name = "ORIGINAL")]
    more: Vec<PathBuf>,
    /// Continue this unfinished import of an original run: first digits of its id, its name, or `latest`.
    #[arg(long, value_name = "RUN", requires = "more")]
    resume: Option<String>,
    /// The format, if it is not recognised.
    #[arg(long, value_enum)]
    format: Option<FormatArg>,
    #[command(flatten)]
    traffic: TrafficArgs,
    #[command(flatten)]
    columns: ColumnArgs,
}

/// The formats that can be imported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FormatArg {
    /// A recording of `retold export`.
    Recording,
    /// Requests and answers, one exchange per line.
    Exchanges,
    /// A cassette of retold.
    Cassette,
    /// A cassette of vcrpy, in YAML or JSON, of go-vcr, or of langchain-tests.
    Vcrpy,
    /// A cassette of Ruby's VCR or of Betamax, in YAML or JSON.
    Vcr,
    /// An HTTP Archive, as browsers and proxies write it, or a recording of Polly.js.
    Har,
    /// A recording of nock, a list of JSON.
    Nock,
    /// Input, output and error files of OpenAI's Batch API, or requests and results of Anthropic's.
    Batch,
    /// A log of Inspect AI, .eval or .json.
    Inspect,
    /// Traces of OpenTelemetry in JSON, as the collector's file exporter writes them.
    Otlp,
    /// The log of Simon Willison's llm, logs.db.
    Llm,
}

impl FormatArg {
    /// A format that is read as traffic.
    fn of_others(self) -> Option<Format> {
        match self {
            FormatArg::Recording | FormatArg::Exchanges => None,
            FormatArg::Cassette => Some(Format::Cassette),
            FormatArg::Vcrpy => Some(Format::Vcrpy),
            FormatArg::Vcr => Some(Format::Vcr),
            FormatArg::Nock => Some(Format::Nock),
            FormatArg::Har => Some(Format::Har),
            FormatArg::Batch => Some(Format::Batch),
            FormatArg::Inspect => Some(Format::Inspect),
            FormatArg::Otlp => Some(Format::Otlp),
            FormatArg::Llm => Some(Format::Llm),
        }
    }
}

pub(crate) fn run(args: Args, global: &Global, output: &Output) -> Result<Status, CliError> {
    let Args { file, more, resume, format, traffic, columns } = args;
    if columns.is_given() {
        traffic.refuse_unused()?;
        if !more.is_empty() {
            let message = "tables whose columns are named are imported one by one";
            return Err(CliError::usage(message).hint(NOTHING_IMPORTED));
        }
        let ReadTable { exchanges: read, without_answer } = columns.read(&file)?;
        return exchanges(read, without_answer, &file.display().to_string(), global, output);
    }
    if format.is_none() && resume.is_none() && more.is_empty() && deposit::is_one(&file) {
        traffic.refuse_unused()?;
        return deposit::run(&file, global, output);
    }
    let is_original = format.is_none() && !file.exists();
    if let ([original], true) = (more.as_slice(), is_original || resume.is_some()) {
        let experiment = file.to_string_lossy();
        return original::run(&experiment, original, resume.as_deref(), global, output);
    }
    let shown = file.display();
    let knows_originals = global.studies.knows_originals(&file.to_string_lossy());
    if is_original && knows_originals && !more.is_empty() {
        if resume.is_some() {
            let message =
                format!("--resume continues one import, and {} originals are named", more.len());
            return Err(CliError::usage(message).hint("name the original of that run alone"));
        }
        return original::run_all(&file.to_string_lossy(), &more, global, output);
    }
    if is_original && knows_originals {
        let message = format!("import {shown}: which original run?");
        return Err(CliError::usage(message)
            .hint(format!("give its folder or file: `retold import {shown} PATH`")));
    }
    let begin = beginning(&file, BEGINNING);
    if SqliteBackend::is_log(&begin) {
        let message = format!("{shown} is itself a log: its runs are read with `--log {shown}`");
        let hint =
            format!("to copy one, `retold --log {shown} export RUN FILE`, and import that file");
        return Err(CliError::usage(message).hint(hint));
    }
    let of_others = match format {
        Some(format) => format.of_others(),
        None => Format::recognise(&begin),
    };
    if let Some(format) = of_others {
        let files: Vec<PathBuf> = std::iter::once(file).chain(more).collect();
        return traffic::run(format, &files, traffic, global, output);
    }
    // Said only of a file that is one of these: otherwise what is wrong with the file is.
    let alone = |shown: &str| {
        traffic.refuse_unused()?;
        if more.is_empty() {
            return Ok(());
        }
        let message =
            format!("import {shown}: recordings and exchanges files are imported one by one");
        Err(CliError::usage(message).hint(NOTHING_IMPORTED))
    };
    // Opened only once, because a pipe can be read only once.
    let mut lines = JsonlReader::open(&file).map_err(ImportError::from)?;
    let shown = lines.path().display().to_string();
    let is_recording = match format {
        Some(format) => format == FormatArg::Recording,
        None => is_recording(&mut lines),
    };
    match is_recording {
        true => {
            // Read whole and checked before the log is touched.
            let read = read_recording(lines)?;
            alone(&shown)?;
            recording(&read, &file, &shown, global, output)
        }
        false => {
            let read = read_exchanges(lines, clock::now()).map_err(|error| match format {
                Some(_) => error.into(),
                None => format_error(&shown, &begin, error),
            })?;
            alone(&shown)?;
            exchanges(read, 0, &shown, global, output)
        }
    }
}

/// Imports a recording.
fn recording(
    recording: &Recording,
    file: &Path,
    shown: &str,
    global: &Global,
    output: &Output,
) -> Result<Status, CliError> {
    sound(recording, shown)?;
    let backend = global.open_or_create()?;
    let ImportResult { added, known } = import_recording(backend.as_ref(), recording)?;
    let run = recording.run;
    let key = key(recording, file, global)?;
    if output.is_json() {
        output.object(&json!({"run": run, "events": added, "known": known}))?;
    } else if added == 0 {
        output.text(&format!("the whole run {run} is already in the log\n{key}"))?;
    } else {
        let added = count_of(added, "event");
        let next = next_step(recording.log.reader()?.as_mut(), run)?;
        output.text(&format!(
            "run {run}: {added} imported from {shown}\n{key}\nnext:\n  {} {next}\n",
            begins()
        ))?;
    }
    Ok(Status::Fine)
}

/// Takes over the key of the run's redactions, if it is beside the recording, and says where it is.
fn key(recording: &Recording, file: &Path, global: &Global) -> Result<String, CliError> {
    let started = select::run_start(recording.log.reader()?.as_mut(), recording.run)?;
    // Another experiment has no such settings.
    let Ok(settings) = serde_json::from_value::<ProgramSettings>(started.settings) else {
        return Ok(String::new());
    };
    let (theirs, place) = (redaction::keys(file)?, redaction::place(&global.log));
    let place = place.display();
    Ok(match redaction::of_run(&settings, &theirs) {
        None => String::new(),
        Some(RunRedactionKey::Known(key)) => {
            // The first key is the log's own.
            redaction::own(&global.log)?;
            match redaction::add(&global.log, std::slice::from_ref(key))? {
                true => format!("the key of its redactions was added to {place}\n"),
                false => String::new(),
            }
        }
        Some(RunRedactionKey::Missing) => {
            match redaction::of_run(&settings, &redaction::keys(&global.log)?) {
                Some(RunRedactionKey::Missing) => format!(
                    "it was recorded with --redact, and its key is neither in {} nor in {place}: a replay does not find \
                     requests with a redacted value\n",
                    theirs.place
                ),
                _ => String::new(),
            }
        }
    })
}

/// Imports bare exchanges.
fn exchanges(
    exchanges: Exchanges,
    without_answer: u64,
    shown: &str,
    global: &Global,
    output: &Output,
) -> Result<Status, CliError> {
    let (run, count, simulated) = (new_run_id()?, exchanges.count, exchanges.simulated);
    exchanges.store(global.open_or_create()?.as_ref(), run)?;
    if output.is_json() {
        output.object(&json!({
            "run": run, "exchanges": count, "simulated": simulated, "rows_without_answer": without_answer,
        }))?
    } else {
        let said = if simulated { select::SIMULATED } else { "" };
        let count = count_of(count, "exchange");
        let left_out = match without_answer {
            0 => String::new(),
            n => format!("left out: {} without an answer\n", count_of(n, "row")),
        };
        output.text(&format!("run {run}: {count} imported from {shown}\n{said}{left_out}"))?;
    }
    Ok(Status::Fine)
}

/// What to do with an imported run, after `retold`: what has no experiment is not replayed.
fn next_step(reader: &mut dyn Reader, run: RunId) -> Result<String, CliError> {
    let name = run.short(8);
    let started = select::run_start(reader, run)?;
    Ok(match started.experiment.as_str() {
        DECISIONS => format!("check {name}"),
        PLAN => format!("show {name}"),
        EXCHANGES => format!("check {name} --parser NAME@VERSION"),
        PROGRAM => next_command("replay", run, &[], &started),
        _ => format!("replay {name}"),
    })
}

/// A hash chain can be valid although its events make no sense. Such a run, which `verify` would
/// always reject, is not imported, because nothing can be removed from a log.
fn sound(recording: &Recording, path: &str) -> Result<(), CliError> {
    let mut reader = recording.log.reader()?;
    let first = reader.events(recording.run, Seq(0), 1)?.pop();
    let begins = first.is_some_and(|first| first.kind == "RunStarted");
    let what = match verify_run(reader.as_mut(), recording.run, None)?.finding {
        Some(finding) => finding.to_string(),
        None if !begins => "its first event is not the start of a run".to_owned(),
        None => return select::run_start(reader.as_mut(), recording.run).map(drop),
    };
    Err(CliError::new(Status::Difference, format!("{path}: {what}")).hint(NOTHING_IMPORTED))
}
