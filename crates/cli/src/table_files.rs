//! Writes tables of runs to files.

use std::fs;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use retold_tables::write::TableFormat;
use retold_tables::{Column, LabelColumns, RunTables, Table, TableError, TableOptions};

use crate::error::{CliError, Status};
use crate::select::RunSelection;
use crate::table_draft::{TableDraft, unwritten};

/// The runs that are written, and how.
pub(crate) struct WrittenTables<'a> {
    pub(crate) runs: &'a [RunSelection],
    pub(crate) labels: &'a LabelColumns,
    /// Whether exchanges have their whole requests.
    pub(crate) options: TableOptions,
    /// Which columns of a table are written; all of them if it is not said.
    pub(crate) is_kept: Option<ColumnFilter>,
}

/// Whether a column of a table is written. The labels say which columns are theirs.
pub(crate) type ColumnFilter = fn(Table, &str, &LabelColumns) -> bool;

/// A file that has a table.
pub(crate) struct TableFile {
    pub(crate) table: Table,
    /// Its path or its URL.
    pub(crate) file: PathBuf,
    pub(crate) rows: u64,
    /// Whether it was written now, and not there already.
    pub(crate) is_new: bool,
}

/// A table on its way into its file.
struct OpenTable {
    table: Table,
    draft: TableDraft,
    /// The places of its columns, if some are left out.
    kept: Option<Vec<usize>>,
}

impl WrittenTables<'_> {
    /// Writes one table of all runs to a file.
    pub(crate) fn file(
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
    pub(crate) fn folder(
        &self,
        wanted: &[Table],
        format: TableFormat,
        folder: &Path,
    ) -> Result<Vec<TableFile>, CliError> {
        self.of_each_run(|run| self.run_in_folder(run, wanted, format, folder))
    }

    /// Writes tables of one run to a folder.
    pub(crate) fn run_in_folder(
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
    pub(crate) fn of_each_run(
        &self,
        write: impl Fn(&RunSelection) -> Result<Vec<TableFile>, CliError> + Send + Sync,
    ) -> Result<Vec<TableFile>, CliError> {
        let written: Vec<_> = self.runs.par_iter().map(write).collect();
        let files = written.into_iter().collect::<Result<Vec<_>, CliError>>()?;
        Ok(files.into_iter().flatten().collect())
    }

    pub(crate) fn tables(
        &self,
        of: &RunSelection,
        tables: &[Table],
    ) -> Result<RunTables, CliError> {
        let reader = Box::new(of.checked_reader()?);
        Ok(RunTables::new(reader, of.run, tables, self.labels.clone(), self.options)?)
    }

    fn open(&self, table: Table, format: TableFormat, file: &Path) -> Result<OpenTable, CliError> {
        let columns = self.columns(table);
        let kept = self.is_kept.map(|is_kept| {
            let all = table.columns(self.labels, self.options.prompts).into_iter().enumerate();
            all.filter(|(_, it)| is_kept(table, &it.name, self.labels)).map(|(at, _)| at).collect()
        });
        Ok(OpenTable { table, draft: TableDraft::new(file, format, &columns)?, kept })
    }

    /// The columns of a table that are written.
    pub(crate) fn columns(&self, table: Table) -> Vec<Column> {
        let mut columns = table.columns(self.labels, self.options.prompts);
        if let Some(is_kept) = self.is_kept {
            columns.retain(|column| is_kept(table, &column.name, self.labels));
        }
        columns
    }
}

/// Writes the rows of a run to its tables.
fn write_rows(mut tables: RunTables, open: &mut [OpenTable]) -> Result<(), CliError> {
    while let Some(next) = tables.next_batch()? {
        if let Some(of) = open.iter_mut().find(|open| open.table == next.table) {
            match &of.kept {
                Some(kept) => {
                    of.draft.write(&next.batch.project(kept).map_err(TableError::from)?)?
                }
                None => of.draft.write(&next.batch)?,
            }
        }
    }
    Ok(())
}

impl OpenTable {
    /// Moves the complete file into its place.
    fn finish(self) -> Result<TableFile, CliError> {
        let OpenTable { table, draft, kept: _ } = self;
        let (file, rows) = draft.finish()?;
        Ok(TableFile { table, file, rows, is_new: true })
    }
}

impl From<TableError> for CliError {
    fn from(error: TableError) -> Self {
        match error {
            TableError::Log(error) => error.into(),
            other => CliError::new(Status::Io, other.to_string()),
        }
    }
}

/// The labels of all runs, which are read on all cores.
pub(crate) fn labels_of(runs: &[RunSelection]) -> Result<LabelColumns, CliError> {
    let of_each = runs.par_iter().map(|RunSelection { log, run }| {
        let mut labels = LabelColumns::default();
        labels.add(log.reader()?.as_mut(), *run)?;
        Ok::<_, CliError>(labels)
    });
    let of_each: Vec<_> = of_each.collect();
    of_each.into_iter().try_fold(LabelColumns::default(), |all, labels| Ok(all.with(labels?)))
}
