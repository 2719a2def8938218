//! `retold export`: `file` writes a run to one file of text, `transcripts` to one of Inspect Scout,
//! `outputs` writes the output files of a study to a folder, and `deposit` the folder that goes beside a paper.

mod deposit;
mod file;
mod outputs;
mod transcripts;

use std::path::PathBuf;

use clap::ValueEnum;

use crate::error::{CliError, Status};
use crate::global::Global;
use crate::output::Output;
use crate::runs::run_figures::FiguresArgs;

/// Write a run to a file, or what belongs to it to a folder.
///
/// A recording can be replayed and imported; the other formats have a part of the run, and what they
/// cannot hold is listed. The output files of a study are tables (CSV) and JSON files for other
/// programs. They are computed from the log, and no model is asked; for an unfinished run, they cover
/// what it has so far.
///
/// A deposit is the folder that goes beside a paper, of one run or of several of one experiment: RUN.. FOLDER. It has their
/// recordings with the plan and the decisions that were accepted, their figures (those of --figure and --figures, or else those
/// that `stats` shows) with scripts that compute and draw them again, tables in Parquet and CSV with a description in Croissant 1.1,
/// the report with all texts, the prompts, CITATION.cff, and the checklists of GUIDE-LLM, ACL and NeurIPS, filled from the log; what
/// only the authors know is marked. `retold import FOLDER` replays it and compares each figure. With --without-texts, it has tables
/// and figures, no text, and a salted commitment to each; the nonces that open them are written beside the folder, for the
/// authors to keep. The same log gives the same bytes, but for commitments.
///
/// A damaged run is not exported. If only its last events were lost with a WAL, or if it is not known
/// whether it had more, a file gets what is left (exit code 1). A run whose ledger says that it had
/// more is not exported.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The run: first digits of its id, its name, or `latest`; for outputs, also a recording's file.
    #[arg(default_value = "latest")]
    run: String,
    /// The file; names ending in .gz or .zst are compressed. Standard output if left out or `-`. For
    /// outputs, the folder to create, which must not exist; outputs/NAME if left out, with the name
    /// from the run's config, or else the run's id. For a deposit, more runs, and last the folder to create.
    #[arg(value_name = "TO")]
    to: Vec<PathBuf>,
    /// What to write.
    #[arg(long = "as", value_enum, default_value = "recording")]
    format: ExportFormat,
    /// Replace the file if it exists.
    #[arg(long)]
    force: bool,
    /// Also write the key of the run's redactions, to FILE-key. Without it, a replay of the file does
    /// not find requests with a redacted value; with it, guesses at these values can be tested.
    #[arg(long, requires = "to")]
    with_key: bool,
    /// For a cassette: the base URL of an upstream, if it is not the recorded one. Can be repeated.
    #[arg(long = "upstream", value_name = "NAME=URL")]
    upstreams: Vec<String>,
    #[command(flatten)]
    deposit: DepositArgs,
}

/// Options of deposits.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Deposits")]
struct DepositArgs {
    #[command(flatten)]
    figures: FiguresArgs,
    /// Leave out all prompts and answers: no recording, and tables without texts.
    #[arg(long)]
    without_texts: bool,
    /// Put this seal of one of the runs into the deposit (`retold verify seal`). Can be repeated.
    #[arg(long = "seal", value_name = "FILE")]
    seals: Vec<PathBuf>,
}

impl DepositArgs {
    fn is_given(&self) -> bool {
        !self.figures.is_empty() || self.without_texts || !self.seals.is_empty()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ExportFormat {
    /// Everything, including the hash chain.
    Recording,
    /// Requests and answers, one exchange per line.
    Exchanges,
    /// A cassette: the exchanges of a program's run as YAML, for tests and for review. The same answers give
    /// the same bytes.
    Cassette,
    /// A cassette of vcrpy, in YAML, or in JSON if the file's name ends in .json. For runs of
    /// programs.
    Vcrpy,
    /// JSON Lines for fine-tuning at OpenAI: each conversation with its answer.
    FineTuning,
    /// A trace of OpenTelemetry, as the collector's file exporter writes it: a span per exchange.
    Otlp,
    /// Transcripts for Inspect Scout, in Parquet: a row per dialogue, with its messages and labels.
    InspectScout,
    /// A folder with the output files of a study: tables and JSON files.
    Outputs,
    /// A folder to put beside a paper, which `retold import` replays.
    Deposit,
}

pub(crate) fn run(args: Args, global: &Global, output: &Output) -> Result<Status, CliError> {
    let Args { run, mut to, format, force, with_key, upstreams, deposit } = args;
    if format != ExportFormat::Deposit {
        if deposit.is_given() {
            let message = "--figure, --figures, --without-texts and --seal are for deposits";
            return Err(CliError::usage(message).hint("leave them out, or add --as deposit"));
        }
        if to.len() > 1 {
            return Err(CliError::usage("one run is written to one file or folder")
                .hint("`--as deposit` takes several runs, and last a folder"));
        }
    }
    let last = to.pop();
    let format = match format {
        ExportFormat::Recording => file::FileFormat::Recording,
        ExportFormat::Exchanges => file::FileFormat::Exchanges,
        ExportFormat::Cassette => file::FileFormat::Cassette,
        ExportFormat::Vcrpy => file::FileFormat::Vcrpy,
        ExportFormat::FineTuning => file::FileFormat::FineTuning,
        ExportFormat::Otlp => file::FileFormat::Otlp,
        ExportFormat::InspectScout => {
            if with_key || !upstreams.is_empty() {
                let message = "--with-key and --upstream are for files that can be replayed";
                return Err(CliError::usage(message).hint("leave them out"));
            }
            return transcripts::run(&run, last, force, global, output);
        }
        ExportFormat::Outputs => {
            if force || with_key || !upstreams.is_empty() {
                return Err(CliError::usage(
                    "--force, --with-key and --upstream are for files, and outputs are a new folder",
                )
                .hint("leave them out, and name a folder that does not exist"));
            }
            return outputs::run(&run, last, global, output);
        }
        ExportFormat::Deposit => {
            if force || with_key || !upstreams.is_empty() {
                return Err(CliError::usage(
                    "--force, --with-key and --upstream are for files, and a deposit is a new folder",
                )
                .hint("leave them out, and name a folder that does not exist"));
            }
            let DepositArgs { figures, without_texts, seals } = deposit;
            let others = to.into_iter().map(|run| run.display().to_string());
            let runs = std::iter::once(run).chain(others).collect();
            let texts = !without_texts;
            let export = deposit::DepositExport { runs, folder: last, figures, texts, seals };
            return deposit::run(export, global, output);
        }
    };
    file::run(
        file::FileExport { run, file: last, format, force, with_key, upstreams },
        global,
        output,
    )
}
