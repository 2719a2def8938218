//! `retold table`: runs as tables. `destination` decides where they go and in which format, `crate::table_files` writes
//! them; `printed` is standard output, `sent` a bucket.

mod destination;
mod printed;
mod sent;

use std::path::PathBuf;

use clap::ValueEnum;
use serde_json::json;

use crate::error::{CliError, Status};
use crate::gate;
use crate::global::Global;
use crate::output::{Output, count_of};
use crate::select::{self, RunSelection};
use crate::table_files::{TableFile, WrittenTables, labels_of};
use destination::Destination;
use retold::log::Log;
use retold_tables::write::TableFormat;
use retold_tables::{Table, TableOptions};

/// Write runs as tables: exchanges, decisions, facts.
///
/// Every run has the same tables: runs, exchanges, messages, contents, decisions, facts and attempts. Each label of a
/// call is a column. docs/tables.md has all columns.
///
/// Without --to, one table is printed. A folder gets all tables, each with a file per run, which DuckDB, Polars, pandas and
/// Spark read as one: FOLDER/exchanges/RUN.parquet. The folder can be in a bucket: --to s3://BUCKET/PREFIX, and likewise
/// gs:// and az://. There, a file appears when it is complete, and the one in `runs` after the others of its run. A file
/// that is there already is left alone if it is the same; if it is not, the command stops, unless --force is given.
///
/// A dialogue repeats its earlier messages in each request, so a prompt is kept as the messages that it adds; --prompts
/// adds a column with the whole requests.
///
/// The decisions about an answer are those in force: recorded in its run, or accepted since (`retold check --accept`).
///
/// CSV has texts as they are, for programs: a spreadsheet computes those that begin with =, +, - or @, so import the columns of
/// answers as text. The CSV of the page of `retold serve` and of reports is made for spreadsheets.
///
/// Of a damaged run, the rows before the damage are written (exit code 1).
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The runs: first digits of their ids, their names, `latest`, or recordings' files.
    #[arg(default_value = "latest")]
    runs: Vec<String>,
    /// All runs of the log.
    #[arg(long, conflicts_with = "runs")]
    all: bool,
    /// The table: exchanges, unless another is named; all of them in a folder.
    #[arg(long = "table", value_enum)]
    table: Option<TableName>,
    /// A file or a folder. A name without an ending, or that of a folder that exists, is a folder's, and so is the URL of
    /// a place in a bucket.
    #[arg(long, value_name = "PATH")]
    to: Option<PathBuf>,
    /// The format: as the file's name ends; otherwise Parquet in a folder, and CSV in print.
    #[arg(long = "as", value_enum)]
    format: Option<FormatName>,
    /// Add a column with the whole request of each exchange.
    #[arg(long)]
    prompts: bool,
    /// Of decisions, write those that the runs have themselves, instead of those that are in force.
    #[arg(long)]
    recorded: bool,
    /// Replace what is there. In a folder that is not in a bucket, the files of these runs are always replaced.
    #[arg(long)]
    force: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum TableName {
    Runs,
    Exchanges,
    Messages,
    Contents,
    Decisions,
    Facts,
    Attempts,
}

impl From<TableName> for Table {
    fn from(name: TableName) -> Self {
        match name {
            TableName::Runs => Table::Runs,
            TableName::Exchanges => Table::Exchanges,
            TableName::Messages => Table::Messages,
            TableName::Contents => Table::Contents,
            TableName::Decisions => Table::Decisions,
            TableName::Facts => Table::Facts,
            TableName::Attempts => Table::Attempts,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FormatName {
    /// Comma-separated values.
    Csv,
    /// A JSON object per line.
    Jsonl,
    /// Parquet.
    Parquet,
    /// Arrow's stream format.
    Arrow,
}

impl From<FormatName> for TableFormat {
    fn from(name: FormatName) -> Self {
        match name {
            FormatName::Csv => TableFormat::Csv,
            FormatName::Jsonl => TableFormat::Jsonl,
            FormatName::Parquet => TableFormat::Parquet,
            FormatName::Arrow => TableFormat::Arrow,
        }
    }
}

pub(crate) fn run(args: Args, global: &Global, output: &Output) -> Result<Status, CliError> {
    let Args { runs, all, table, to, format, prompts, recorded, force } = args;
    let options = TableOptions { prompts, recorded };
    let destination = Destination::new(to, format.map(TableFormat::from), output)?;
    destination.refuse_existing(force)?;
    if let Destination::Stdout(_) = destination {
        output.is_a_document();
    }
    let selected: Vec<RunSelection> = match all {
        true => all_runs(select::open_to_read(global)?)?,
        false => select::runs_to_read(global, &runs)?,
    };
    let selected = select::each_once(selected, |of| of.run);
    let named: Vec<_> = selected.iter().map(|of| (&of.log, of.run)).collect();
    let views = gate::views(&named)?;
    let runs: Vec<RunSelection> = views.iter().map(RunSelection::up_to_damage).collect();
    gate::through(&views, output, || {
        let labels = labels_of(&runs)?;
        let tables = WrittenTables { runs: &runs, labels: &labels, options, is_kept: None };
        let one = table.map_or(Table::Exchanges, Table::from);
        let files = match &destination {
            Destination::Stdout(format) => {
                tables.print(one, *format, output)?;
                return Ok(Status::Fine);
            }
            Destination::File(file, format) => vec![tables.file(one, *format, file)?],
            Destination::Folder(folder, format) => {
                let wanted = table.map_or(Table::ALL.to_vec(), |_| vec![one]);
                tables.folder(&wanted, *format, folder)?
            }
            Destination::Bucket(bucket, _, format) => {
                let wanted = table.map_or(Table::ALL.to_vec(), |_| vec![one]);
                tables.send(&wanted, *format, bucket, force)?
            }
        };
        say(&destination, &files, &runs, output)
    })
}

/// All runs of a log, in the order in which they were started.
fn all_runs(log: Log) -> Result<Vec<RunSelection>, CliError> {
    let heads = log.reader()?.runs()?;
    Ok(heads.into_iter().map(|head| RunSelection { log: log.clone(), run: head.run }).collect())
}

/// Says what was written: how many rows each table has.
fn say(
    destination: &Destination,
    files: &[TableFile],
    runs: &[RunSelection],
    output: &Output,
) -> Result<Status, CliError> {
    let place = destination.place();
    if output.is_json() {
        let named = |file: &TableFile| {
            let TableFile { table, file, rows, is_new } = file;
            let file = file.display().to_string();
            json!({"table": table.name(), "file": file, "rows": rows, "written": is_new})
        };
        let runs: Vec<_> = runs.iter().map(|of| of.run).collect();
        let files: Vec<_> = files.iter().map(named).collect();
        output.object(&json!({"runs": runs, "to": place, "files": files}))?;
        return Ok(Status::Fine);
    }
    let known = files.iter().filter(|file| !file.is_new).count() as u64;
    let known = match known {
        0 => String::new(),
        1 => "; 1 file was there already".to_owned(),
        _ => format!("; {} were there already", count_of(known, "file")),
    };
    let mut text = format!("{} written to {place}{known}\n", count_of(runs.len() as u64, "run"));
    for table in Table::ALL {
        let mut of_table = files.iter().filter(|file| file.table == table).peekable();
        if of_table.peek().is_some() {
            let rows: u64 = of_table.map(|file| file.rows).sum();
            text.push_str(&format!("  {:<10} {}\n", table.name(), count_of(rows, "row")));
        }
    }
    output.text(&text)?;
    Ok(Status::Fine)
}
