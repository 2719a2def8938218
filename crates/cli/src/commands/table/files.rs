//! Writes tables to files, or prints one.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use rayon::prelude::*;
use retold_tables::write::{TableFormat, WriteError, writer};
use retold_tables::{LabelColumns, RunTables, Table, TableError, TableOptions};

use super::printed::Printed;
use crate::error::{CliError, Status};
use crate::output::Output;
use crate::select::RunSelection;
use crate::table_draft::{TableDraft, unwritten};

/// The runs that are written, and how.
pub(super) struct WrittenTables<'a> {
    pub(super) runs: &'a [RunSelection],
    pub(super) labels: &'a LabelColumns,
    /// Whether exchanges have their whole requests.
    pub(super) options: TableOptions,
}

/// A file that has a table.
pub(super) struct TableFile {
    pub(super) table: Table,
    /// Its path or its URL.
    pub(super) file: PathBuf,
    pub(super) rows: u64,
    /// Whether it was written now, and not there already.
    pub(super) is_new: bool,
}

/// A table on its way into its file.
struct OpenTable {
    table: Table,
    draft: TableDraft,
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

    /// Writes one table of all runs to a file.
    pub(super) fn file(
        &self,
        table: Table,
        format: TableFormat,
        file: &Path,
    ) -> Result<TableFile, CliError> {
        let mut open = self.open(table, format, file)?;
        for run in self.runs {
            write_rows(self.tables(run, &[table])?, std::slice::from_mut(&mut open))?;
        }
        open.finish()
    }

    /// Writes tables of each run to a folder: `TABLE/RUN.parquet`. The files of a run appear when all of them are
    /// complete.
    pub(super) fn folder(
        &self,
        wanted: &[Table],
        format: TableFormat,
        folder: &Path,
    ) -> Result<Vec<TableFile>, CliError> {
        self.of_each_run(|run| self.run_in_folder(run, wanted, format, folder))
    }

    /// Writes tables of one run to a folder.
    pub(super) fn run_in_folder(
        &self,
        run: &RunSelection,
        wanted: &[Table],
        format: TableFormat,
        folder: &Path,
    ) -> Result<Vec<TableFile>, CliError> {
        let name = format!("{}.{}", run.run, format.ending());
        let open = |table: &Table| {
            let folder = folder.join(table.name());
            fs::create_dir_all(&folder).map_err(|error| unwritten(&folder, error.into()))?;
            self.open(*table, format, &folder.join(&name))
        };
        let mut open = wanted.iter().map(open).collect::<Result<Vec<_>, CliError>>()?;
        write_rows(self.tables(run, wanted)?, &mut open)?;
        open.into_iter().map(OpenTable::finish).collect()
    }

    /// Writes the files of each run, on all cores. Of several runs that cannot be written, the first is named.
    pub(super) fn of_each_run(
        &self,
        write: impl Fn(&RunSelection) -> Result<Vec<TableFile>, CliError> + Send + Sync,
    ) -> Result<Vec<TableFile>, CliError> {
        let written: Vec<_> = self.runs.par_iter().map(write).collect();
        let files = written.into_iter().collect::<Result<Vec<_>, CliError>>()?;
        Ok(files.into_iter().flatten().collect())
    }

    fn tables(&self, of: &RunSelection, tables: &[Table]) -> Result<RunTables, CliError> {
        let reader = Box::new(of.checked_reader()?);
        Ok(RunTables::new(reader, of.run, tables, self.labels.clone(), self.options)?)
    }

    fn open(&self, table: Table, format: TableFormat, file: &Path) -> Result<OpenTable, CliError> {
        let columns = table.columns(self.labels, self.options.prompts);
        Ok(OpenTable { table, draft: TableDraft::new(file, format, &columns)? })
    }
}

/// Writes the rows of a run to its tables.
fn write_rows(mut tables: RunTables, open: &mut [OpenTable]) -> Result<(), CliError> {
    while let Some(next) = tables.next_batch()? {
        if let Some(of) = open.iter_mut().find(|open| open.table == next.table) {
            of.draft.write(&next.batch)?;
        }
    }
    Ok(())
}

impl OpenTable {
    /// Moves the complete file into its place.
    fn finish(self) -> Result<TableFile, CliError> {
        let OpenTable { table, draft } = self;
        let (file, rows) = draft.finish()?;
        Ok(TableFile { table, file, rows, is_new: true })
    }
}

fn printing(error: WriteError) -> CliError {
    CliError::new(Status::Io, format!("cannot write to stdout: {error}"))
}

impl From<TableError> for CliError {
    fn from(error: TableError) -> Self {
        match error {
            TableError::Log(error) => error.into(),
            other => CliError::new(Status::Io, other.to_string()),
        }
    }
}
