//! `retold export`.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use serde_json::json;

use super::Global;
use super::error::CliError;
use super::error::Status;
use super::output::{Output, counted};
use super::select;
use crate::exchange::{export_exchanges, export_recording};
use crate::id::RunId;
use crate::jsonl::{IfExists, JsonlWriter};
use crate::log::{LogError, Reader};

/// Write a run to a file: a recording that can be replayed, or its exchanges alone.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The run: first digits of its id, or `latest`.
    run: String,
    /// The file; .gz and .zst are compressed. Standard output if not given, or `-`.
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
    /// Everything, chain and all.
    Recording,
    /// Questions and answers, one a line.
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

pub(super) fn run(args: Args, global: &Global, output: &Output) -> Result<Status, CliError> {
    let Args { run, file, format, force } = args;
    let selected = select::run(global, &run)?;
    let mut reader = selected.log.reader()?;
    let Some(path) = file.filter(|path| path != Path::new("-")) else {
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
    match output.is_json() {
        true => output.object(&json!({"run": selected.run, "file": path.to_string(),
            "lines": lines, format!("{}s", format.noun()): count}))?,
        false => output.text(&format!("{} written to {path}\n", counted(count, format.noun())))?,
    }
    Ok(Status::Fine)
}
