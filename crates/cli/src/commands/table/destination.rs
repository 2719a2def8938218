//! Where tables go, and in which format.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use retold_tables::write::TableFormat;

use crate::error::CliError;
use crate::output::Output;

/// The formats, by the endings of files.
const FORMATS: [TableFormat; 4] =
    [TableFormat::Csv, TableFormat::Jsonl, TableFormat::Parquet, TableFormat::Arrow];

/// Where tables go.
#[derive(Debug)]
pub(super) enum Destination {
    Stdout(TableFormat),
    File(PathBuf, TableFormat),
    Folder(PathBuf, TableFormat),
}

impl Destination {
    /// What is meant by a path and a format.
    pub(super) fn new(
        to: Option<PathBuf>,
        format: Option<TableFormat>,
        output: &Output,
    ) -> Result<Self, CliError> {
        let Some(to) = to.filter(|to| to != Path::new("-")) else {
            let plain = if output.is_json() { TableFormat::Jsonl } else { TableFormat::Csv };
            let format = format.unwrap_or(plain);
            if !format.is_text() && std::io::stdout().is_terminal() {
                let ending = format.ending();
                let message = format!("a terminal cannot show {ending}");
                return Err(CliError::usage(message)
                    .hint(format!("name a file: --to TABLE.{ending}, or print --as csv")));
            }
            return Ok(Destination::Stdout(format));
        };
        let ending = to.extension().and_then(|ending| ending.to_str());
        let Some(ending) = ending.filter(|_| !to.is_dir()) else {
            return Ok(Destination::Folder(to, format.unwrap_or(TableFormat::Parquet)));
        };
        let named = FORMATS.into_iter().find(|format| format.ending().eq_ignore_ascii_case(ending));
        match (named, format) {
            (Some(named), None) => Ok(Destination::File(to, named)),
            (Some(named), Some(format)) if named == format => Ok(Destination::File(to, named)),
            (None, Some(format)) => Ok(Destination::File(to, format)),
            (Some(named), Some(format)) => {
                let (is, wanted) = (named.ending(), format.ending());
                let message = format!(
                    "{} is named like a {is} file, and --as {wanted} is another format",
                    to.display()
                );
                Err(CliError::usage(message)
                    .hint(format!("leave out --as, or let the name end in .{wanted}")))
            }
            (None, None) => {
                let message = format!("no format of tables has files that end in .{ending}");
                Err(CliError::usage(message)
                    .hint("let the name end in .csv, .jsonl, .parquet or .arrow, or name a folder"))
            }
        }
    }

    /// Refuses a file that exists, unless it may be replaced.
    pub(super) fn refuse_existing(&self, force: bool) -> Result<(), CliError> {
        match self {
            Destination::File(file, _) if !force && file.symlink_metadata().is_ok() => {
                Err(CliError::usage(format!("{} already exists", file.display()))
                    .hint("choose another name, or replace it with --force"))
            }
            Destination::Folder(folder, _) if folder.exists() && !folder.is_dir() => {
                Err(CliError::usage(format!("{} is a file", folder.display()))
                    .hint("name a folder, or a file that ends in .csv, .jsonl, .parquet or .arrow"))
            }
            _ => Ok(()),
        }
    }

    /// Its path, for people.
    pub(super) fn place(&self) -> String {
        match self {
            Destination::Stdout(_) => "standard output".to_owned(),
            Destination::File(path, _) | Destination::Folder(path, _) => path.display().to_string(),
        }
    }
}
