//! The tables of a log: as Arrow's stream, and as rows of plain values. A run ends before the first event that cannot be
//! trusted: reading on is an error that names it.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use arrow_array::cast::AsArray;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::{Float64Type, Int64Type, TimestampMillisecondType};
use arrow_array::{Array, RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};
use retold::event::RunStarted;
use retold::id::{RunId, Time};
use retold::log::{CheckedReader, LogError, SharedBackend, SqliteOptions};
use retold_archive::{Archive, find};
use retold_tables::{Column, ColumnKind, LabelColumns, RunTables, Table, TableError, TableOptions};

use crate::{convert, value_error};

/// The ids of the runs of these names; of all runs if there are no names.
#[pyfunction]
pub(crate) fn run_ids(
    py: Python<'_>,
    log: PathBuf,
    names: Option<Vec<String>>,
) -> PyResult<Vec<String>> {
    py.detach(|| {
        let archive = open_log(&log)?;
        let Some(names) = names else {
            let heads = archive.backend().reader().and_then(|mut reader| reader.runs());
            return Ok(heads.map_err(log_error)?.iter().map(|head| head.run.to_string()).collect());
        };
        let id = |name: &String| {
            let found =
                find(archive.backend().as_ref(), name, &recorded_name).map_err(value_error)?;
            Ok(found.head.run.to_string())
        };
        names.iter().map(id).collect()
    })
}

/// A table of some runs of a log, as Arrow's C stream interface has it.
#[pyfunction]
pub(crate) fn stream<'py>(
    py: Python<'py>,
    log: PathBuf,
    runs: Vec<String>,
    table: &str,
    prompts: bool,
    recorded: bool,
) -> PyResult<Bound<'py, PyCapsule>> {
    let batches =
        py.detach(|| Batches::open(&log, &runs, table, TableOptions { prompts, recorded }))?;
    let stream = FFI_ArrowArrayStream::new(Box::new(batches));
    PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
}

/// The same as rows of plain values.
#[pyfunction]
pub(crate) fn rows<'py>(
    py: Python<'py>,
    log: PathBuf,
    runs: Vec<String>,
    table: &str,
    prompts: bool,
    recorded: bool,
) -> PyResult<Vec<Bound<'py, PyDict>>> {
    let mut batches =
        py.detach(|| Batches::open(&log, &runs, table, TableOptions { prompts, recorded }))?;
    let mut rows = Vec::new();
    while let Some(batch) = py.detach(|| batches.step()).map_err(table_error)? {
        for row in 0..batch.num_rows() {
            rows.push(plain_row(py, &batches.columns, &batch, row)?);
        }
    }
    Ok(rows)
}

/// A table that is read run by run.
struct Batches {
    table: Table,
    columns: Vec<Column>,
    labels: LabelColumns,
    options: TableOptions,
    schema: SchemaRef,
    left: VecDeque<(SharedBackend, RunId)>,
    open: Option<RunTables>,
}

impl Batches {
    fn open(log: &Path, runs: &[String], table: &str, options: TableOptions) -> PyResult<Self> {
        let table =
            Table::by_name(table).ok_or_else(|| value_error(format!("no table {table}")))?;
        let archive = open_log(log)?;
        let run = |name: &String| named_run(&archive, name);
        let left = runs.iter().map(run).collect::<PyResult<VecDeque<_>>>()?;
        let mut labels = LabelColumns::default();
        if table.has_labels() {
            for (backend, run) in &left {
                let mut reader = backend.reader().map_err(log_error)?;
                labels.add(reader.as_mut(), *run).map_err(log_error)?;
            }
        }
        let columns = table.columns(&labels, options.prompts);
        let schema = retold_tables::schema(&columns);
        Ok(Batches { table, columns, labels, options, schema, left, open: None })
    }

    /// The next rows.
    fn step(&mut self) -> Result<Option<RecordBatch>, TableError> {
        loop {
            if let Some(open) = &mut self.open {
                if let Some(next) = open.next_batch()? {
                    return Ok(Some(next.batch));
                }
                self.open = None;
            }
            let Some((backend, run)) = self.left.pop_front() else { return Ok(None) };
            let (wanted, labels) = ([self.table], self.labels.clone());
            let reader = Box::new(CheckedReader::new(backend.reader()?));
            self.open = Some(RunTables::new(reader, run, &wanted, labels, self.options)?);
        }
    }
}

impl Iterator for Batches {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let external = |error: TableError| ArrowError::ExternalError(Box::new(error));
        self.step().map_err(external).transpose()
    }
}

impl RecordBatchReader for Batches {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }
}

/// The name that is recorded with a run. Of studies' runs that were recorded before names were, only the studies know it, and
/// they would double the size of the module.
fn recorded_name(started: &RunStarted) -> Option<String> {
    started.name().map(str::to_owned)
}

fn open_log(log: &Path) -> PyResult<Archive> {
    Archive::open_unchanged(log, SqliteOptions::default()).map_err(log_error)
}

/// The run that somebody names. Reading it is an error where it is damaged.
fn named_run(archive: &Archive, name: &str) -> PyResult<(SharedBackend, RunId)> {
    let found = find(archive.backend().as_ref(), name, &recorded_name).map_err(value_error)?;
    Ok((archive.backend().clone(), found.head.run))
}

/// A row as a dictionary: JSON as values of Python, times in RFC 3339.
fn plain_row<'py>(
    py: Python<'py>,
    columns: &[Column],
    batch: &RecordBatch,
    row: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let dictionary = PyDict::new(py);
    for (column, values) in columns.iter().zip(batch.columns()) {
        let value = match column.kind {
            _ if values.is_null(row) => py.None().into_bound(py),
            ColumnKind::Text => values.as_string::<i32>().value(row).into_bound_py_any(py)?,
            ColumnKind::Json => {
                let json = serde_json::from_str(values.as_string::<i32>().value(row));
                convert::value(py, &json.map_err(value_error)?)?
            }
            ColumnKind::Integer => {
                values.as_primitive::<Int64Type>().value(row).into_bound_py_any(py)?
            }
            ColumnKind::Real => {
                values.as_primitive::<Float64Type>().value(row).into_bound_py_any(py)?
            }
            ColumnKind::Truth => values.as_boolean().value(row).into_bound_py_any(py)?,
            ColumnKind::Time => {
                let time = values.as_primitive::<TimestampMillisecondType>().value(row);
                Time(time).to_string().into_bound_py_any(py)?
            }
        };
        dictionary.set_item(&*column.name, value)?;
    }
    Ok(dictionary)
}

fn log_error(error: LogError) -> PyErr {
    PyOSError::new_err(error.to_string())
}

fn table_error(error: TableError) -> PyErr {
    PyOSError::new_err(error.to_string())
}
