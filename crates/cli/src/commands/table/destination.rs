//! Where tables go, and in which format.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use retold_bucket::{BucketFolder, BucketUrl, MARKER};
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
    /// A folder in a bucket, with its URL.
    Bucket(BucketFolder, String, TableFormat),
}

impl Destination {
    /// The destination for a path and a format.
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
        let to = match BucketUrl::is_one(&to) {
            false => to,
            true => match in_bucket(&to, format)? {
                InBucket::Folder(folder) => folder,
                InBucket::Bucket(destination) => return Ok(destination),
            },
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

    /// Refuses a file that exists, unless it may be replaced, and the place of a log.
    pub(super) fn refuse_existing(&self, force: bool) -> Result<(), CliError> {
        let is_log = match self {
            Destination::Folder(folder, _) => folder.join(MARKER).exists(),
            Destination::Bucket(bucket, ..) => bucket.is_log()?,
            _ => false,
        };
        if is_log {
            let message = format!("{} is a log, which has files of its own", self.place());
            return Err(CliError::usage(message).hint("name another folder for the tables"));
        }
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
            Destination::Bucket(_, url, _) => url.clone(),
        }
    }
}

/// The destination for a URL.
enum InBucket {
    /// A folder like any other.
    Folder(PathBuf),
    Bucket(Destination),
}

fn in_bucket(to: &Path, format: Option<TableFormat>) -> Result<InBucket, CliError> {
    let text = to.to_string_lossy();
    // The URL may be wrong because it has a secret, so only its beginning is repeated.
    let (scheme, _) = text.split_once(":/").unwrap_or((&text, ""));
    let url = BucketUrl::parse(&text)
        .map_err(|why| CliError::usage(format!("--to {scheme}://...: {why}")))?;
    let is_file = |format: &TableFormat| text.ends_with(&format!(".{}", format.ending()));
    if FORMATS.iter().any(is_file) {
        return Err(CliError::usage(format!("{url} has the name of a file"))
            .hint("name a folder: it gets a folder for each table, with a file for each run"));
    }
    if let Some(folder) = url.folder() {
        return Ok(InBucket::Folder(folder));
    }
    let (bucket, format) = (url.files()?, format.unwrap_or(TableFormat::Parquet));
    Ok(InBucket::Bucket(Destination::Bucket(bucket, url.to_string(), format)))
}
