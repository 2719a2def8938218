//! A table on standard output: inert where somebody may read it.

use std::io::{self, IsTerminal, Stdout, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use retold::escaping::{inert_json, inert_lines};
use retold_tables::Table;
use retold_tables::write::{TableFormat, WriteError, writer};

use crate::error::{CliError, Status};
use crate::output::Output;
use crate::table_files::WrittenTables;

/// Standard output, in whole lines. JSON is always escaped, which changes nothing for a program that reads it; CSV has no
/// escapes, and is changed on a terminal only.
pub(super) struct Printed {
    out: Stdout,
    escape: Option<fn(&str) -> String>,
    line: Vec<u8>,
    /// Whether nobody reads it any more: the formats report that as an error of their own.
    left: Arc<AtomicBool>,
}

impl Printed {
    /// Standard output, and what says that nobody reads it any more.
    pub(super) fn new(format: TableFormat) -> (Self, Arc<AtomicBool>) {
        let out = io::stdout();
        let escape: Option<fn(&str) -> String> = match format {
            TableFormat::Jsonl => Some(inert_json),
            TableFormat::Csv => out.is_terminal().then_some(inert_lines as fn(&str) -> String),
            TableFormat::Parquet | TableFormat::Arrow => None,
        };
        let left = Arc::<AtomicBool>::default();
        (Printed { out, escape, line: Vec::new(), left: left.clone() }, left)
    }

    fn note<T>(&self, written: io::Result<T>) -> io::Result<T> {
        written.inspect_err(|error| {
            let is_left = error.kind() == io::ErrorKind::BrokenPipe;
            self.left.fetch_or(is_left, Ordering::Relaxed);
        })
    }

    /// Prints all lines that are complete.
    fn lines(&mut self, escape: fn(&str) -> String) -> io::Result<()> {
        let Some(end) = self.line.iter().rposition(|byte| *byte == b'\n') else { return Ok(()) };
        let lines: Vec<u8> = self.line.drain(..=end).collect();
        let lines = String::from_utf8_lossy(&lines);
        lines.lines().try_for_each(|line| writeln!(self.out, "{}", escape(line)))
    }
}

impl Write for Printed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(escape) = self.escape else {
            let written = self.out.write(bytes);
            return self.note(written);
        };
        self.line.extend_from_slice(bytes);
        let written = self.lines(escape);
        self.note(written)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = self.out.flush();
        self.note(flushed)
    }
}

impl WrittenTables<'_> {
    /// Prints one table of all runs.
    pub(super) fn print(
        &self,
        table: Table,
        format: TableFormat,
        output: &Output,
    ) -> Result<(), CliError> {
        let (out, left) = Printed::new(format);
        let printed = self.print_rows(table, format, out);
        if left.load(Ordering::Relaxed) {
            output.mark_unread();
            return Ok(());
        }
        printed
    }

    fn print_rows(&self, table: Table, format: TableFormat, out: Printed) -> Result<(), CliError> {
        let columns = table.columns(self.labels, self.options.prompts);
        let mut writer = writer(format, &columns, out).map_err(printing)?;
        for run in self.runs {
            let mut tables = self.tables(run, &[table])?;
            while let Some(next) = tables.next_batch()? {
                writer.write(&next.batch).map_err(printing)?;
            }
        }
        writer.finish().map_err(printing)
    }
}

fn printing(error: WriteError) -> CliError {
    CliError::new(Status::Io, format!("cannot write to stdout: {error}"))
}
