//! Tables as files and streams: one format per file.

mod arrow;
mod cells;
mod csv;
mod jsonl;
mod parquet;

use std::io::{self, Write};

use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, SchemaRef};

use crate::batches::schema;
use crate::column::Column;

/// A format of tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TableFormat {
    /// Comma-separated, with a header; missing values are empty.
    Csv,
    /// A JSON object per line; missing values are null.
    Jsonl,
    /// Apache Parquet, compressed with zstd.
    Parquet,
    /// Arrow's stream format.
    Arrow,
}

impl TableFormat {
    /// The ending of a file's name.
    pub fn ending(self) -> &'static str {
        match self {
            TableFormat::Csv => "csv",
            TableFormat::Jsonl => "jsonl",
            TableFormat::Parquet => "parquet",
            TableFormat::Arrow => "arrow",
        }
    }

    /// Whether a terminal can show it.
    pub fn is_text(self) -> bool {
        matches!(self, TableFormat::Csv | TableFormat::Jsonl)
    }
}

/// Why a table cannot be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The file, or whoever reads the stream, does not take it.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The rows do not fit the format.
    #[error(transparent)]
    Arrow(#[from] ArrowError),
    /// A row cannot be written as CSV.
    #[error(transparent)]
    Csv(#[from] ::csv::Error),
    /// A row cannot be written as JSON.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// Parquet cannot be written.
    #[error(transparent)]
    Parquet(#[from] ::parquet::errors::ParquetError),
}

/// Writes the rows of one table.
pub trait TableWriter {
    /// Writes some rows.
    ///
    /// # Errors
    /// [`WriteError`].
    fn write(&mut self, batch: &RecordBatch) -> Result<(), WriteError>;

    /// Writes what comes after the last row. Without it, the table is not complete.
    ///
    /// # Errors
    /// [`WriteError`].
    fn finish(self: Box<Self>) -> Result<(), WriteError>;
}

/// A writer of a table with these columns.
///
/// # Errors
/// [`WriteError`] if the beginning cannot be written.
pub fn writer<'a>(
    format: TableFormat,
    columns: &[Column],
    out: impl Write + Send + 'a,
) -> Result<Box<dyn TableWriter + 'a>, WriteError> {
    let schema: SchemaRef = schema(columns);
    Ok(match format {
        TableFormat::Csv => Box::new(csv::CsvTable::new(out, columns)?),
        TableFormat::Jsonl => Box::new(jsonl::JsonlTable::new(out, columns)),
        TableFormat::Parquet => Box::new(parquet::ParquetTable::new(out, schema)?),
        TableFormat::Arrow => Box::new(arrow::ArrowTable::new(out, &schema)?),
    })
}
