//! A table on its way into a file, which appears when it is complete.

use std::fs::{self, File};
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use retold::draft::Draft;
use retold_tables::write::{TableFormat, TableWriter, WriteError, writer};
use retold_tables::{Column, RecordBatch};

use crate::error::{CliError, Status};

/// A table that is being written.
pub(crate) struct TableDraft {
    file: PathBuf,
    draft: Draft,
    writer: Box<dyn TableWriter>,
    rows: u64,
}

impl TableDraft {
    pub(crate) fn new(
        file: &Path,
        format: TableFormat,
        columns: &[Column],
    ) -> Result<Self, CliError> {
        let (draft, out) = Draft::file(file).map_err(|error| unwritten(file, error.into()))?;
        let writer =
            writer(format, columns, BufWriter::new(out)).map_err(|error| unwritten(file, error))?;
        Ok(TableDraft { file: file.to_owned(), draft, writer, rows: 0 })
    }

    pub(crate) fn write(&mut self, batch: &RecordBatch) -> Result<(), CliError> {
        self.rows += batch.num_rows() as u64;
        self.writer.write(batch).map_err(|error| unwritten(&self.file, error))
    }

    /// Moves the complete file into its place, and returns it with the number of its rows.
    pub(crate) fn finish(self) -> Result<(PathBuf, u64), CliError> {
        let TableDraft { file, draft, writer, rows } = self;
        let placed = writer.finish().and_then(|()| {
            File::open(draft.path())?.sync_all()?;
            Ok(fs::rename(draft.path(), &file)?)
        });
        placed.map_err(|error| unwritten(&file, error))?;
        Ok((file, rows))
    }
}

/// The error of a file that cannot be written.
pub(crate) fn unwritten(place: &Path, error: WriteError) -> CliError {
    CliError::new(Status::Io, format!("{} cannot be written: {error}", place.display()))
}
