//! `retold export`.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use serde_json::json;

use crate::error::CliError;
use crate::error::Status;
use crate::global::Global;
use crate::output::{Output, counted};
use crate::select;
use retold::exchange::{export_exchanges, export_recording};
use retold::id::RunId;
use retold::jsonl::{IfExists, JsonlWriter};
use retold::log::{LogError, Reader};

/// Write a run to a file: a recording that can be replayed, or only its exchanges.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The run: first digits of its id, or `latest`.
    run: String,
    /// The file; names ending in .gz or .zst are compressed. Standard output if left out or `-`.
    file: Option<PathBuf>,
    /// What to write.
    #[arg(long = "as", value_enum, default_value = "recording")]
    format: Format,
    /// Replace the file if it exists.
    #[arg(long)]
    force: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Everything, including the hash chain.
    Recording,
    /// Requests and answers, one exchange per line.
    Exchanges,
}

impl Format {
    fn write<E: From<LogError>>(
        self,
        reader: &mut dyn Reader,
        run: RunId,
        line: &mut dyn FnMut(&str) -> Result<(), E>,
    ) -> Result<u64, E> {
        match self {
            Format::Recording => export_recording(reader, run, line),
            Format::Exchanges => export_exchanges(reader, run, line),
        }
    }

    fn noun(self) -> &'static str {
        match self {
            Format::Recording => "event",
            Format::Exchanges => "exchange",
        }
    }
}

pub(crate) fn run(args: Args, global: &Global, output: &Output) -> Result<Status, CliError> {
    let Args { run, file, format, force } = args;
    let file = file.filter(|path| path != Path::new("-"));
    file.as_deref().map_or(Ok(()), named_as_written)?;
    let selected = select::run(global, &run)?;
    let mut reader = selected.log.reader()?;
    let Some(path) = file else {
        format.write::<CliError>(reader.as_mut(), selected.run, &mut |line| {
            output.raw(format!("{line}\n").as_bytes())
        })?;
        return Ok(Status::Fine);
    };
    let if_exists = if force { IfExists::Replace } else { IfExists::Refuse };
    let mut writer = JsonlWriter::create(&path, if_exists)?;
    let count = format.write::<CliError>(reader.as_mut(), selected.run, &mut |line| {
        Ok(writer.write_line(line)?)
    })?;
    let lines = writer.finish()?;
    let path = path.display();
    if output.is_json() {
        output.object(&json!({"run": selected.run, "file": path.to_string(),
            "lines": lines, format!("{}s", format.noun()): count}))?
    } else {
        output.text(&format!("{} written to {path}\n", counted(count, format.noun())))?
    }
    Ok(Status::Fine)
}

/// File endings of other formats, and how to get such a file instead.
const OTHERS: &[(&[&str], &str)] = &[
    (
        &["csv", "tsv", "xls", "xlsx", "ods"],
        "`retold outputs RUN --to FOLDER` writes tables as CSV",
    ),
    (&["parquet", "arrow", "feather"], "DuckDB can convert JSON Lines, or read the log itself"),
    (&["db", "sqlite", "sqlite3"], "`retold backup FILE` writes a log"),
    (
        &["xz", "bz2", "zip", "7z", "tar", "tgz"],
        "use a name that ends in .gz or .zst for a compressed file",
    ),
    (
        &["yaml", "yml", "html", "md", "txt", "pdf"],
        "export JSON Lines, and convert them with any JSON tool",
    ),
];

/// Refuses a file name that promises another format.
fn named_as_written(path: &Path) -> Result<(), CliError> {
    let ending = path.extension().and_then(|end| end.to_str()).unwrap_or("");
    let ending = ending.to_ascii_lowercase();
    let Some((_, hint)) = OTHERS.iter().find(|(endings, _)| endings.contains(&&*ending)) else {
        return Ok(());
    };
    let shown = path.display();
    Err(CliError::usage(format!("{shown}: exports are JSON Lines, and .{ending} is not"))
        .hint(*hint)
        .hint("for JSON Lines, let the name end in .jsonl, .jsonl.gz or .jsonl.zst"))
}
