//! Rows on their way into record batches.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use arrow_array::builder::{
    BooleanBuilder, Float64Builder, Int64Builder, StringBuilder, TimestampMillisecondBuilder,
};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, Schema, SchemaRef};

use crate::column::{Cell, Column, ColumnKind, UTC};
use crate::table::Table;

/// How many rows a batch has, unless they are long.
const ROWS: usize = 8192;

/// How many bytes of text a batch has at most, but for its last row.
const BYTES: usize = 8 << 20;

/// Rows of a table.
#[derive(Debug, Clone)]
pub struct TableBatch {
    /// Which table.
    pub table: Table,
    /// The rows, in the order in which questions were asked, or events happened.
    pub batch: RecordBatch,
}

/// The rows of the tables that are wanted.
pub(crate) struct WantedRows {
    tables: BTreeMap<Table, Rows>,
    ready: VecDeque<TableBatch>,
}

impl WantedRows {
    pub(crate) fn new(wanted: impl Iterator<Item = (Table, Vec<Column>)>) -> Self {
        let tables = wanted.map(|(table, columns)| (table, Rows::new(&columns))).collect();
        WantedRows { tables, ready: VecDeque::new() }
    }

    /// Whether one of these tables is wanted.
    pub(crate) fn any(&self, tables: &[Table]) -> bool {
        tables.iter().any(|table| self.tables.contains_key(table))
    }

    /// Adds a row: a value for each column of the table, in their order.
    pub(crate) fn add(&mut self, table: Table, row: &[Cell<'_>]) -> Result<(), ArrowError> {
        let Some(rows) = self.tables.get_mut(&table) else { return Ok(()) };
        rows.add(row);
        if rows.is_full() {
            self.ready.extend(rows.take()?.map(|batch| TableBatch { table, batch }));
        }
        Ok(())
    }

    /// Makes batches of all rows that are left.
    pub(crate) fn finish(&mut self) -> Result<(), ArrowError> {
        for (table, rows) in &mut self.tables {
            self.ready.extend(rows.take()?.map(|batch| TableBatch { table: *table, batch }));
        }
        Ok(())
    }

    /// The next batch that is complete.
    pub(crate) fn next(&mut self) -> Option<TableBatch> {
        self.ready.pop_front()
    }
}

/// Columns as Arrow has them.
pub fn schema(columns: &[Column]) -> SchemaRef {
    Arc::new(Schema::new(columns.iter().map(Column::field).collect::<Vec<_>>()))
}

/// The rows of one table that are not in a batch yet.
pub(crate) struct Rows {
    schema: SchemaRef,
    columns: Vec<Builder>,
    rows: usize,
    bytes: usize,
}

enum Builder {
    Text(StringBuilder),
    Integer(Int64Builder),
    Real(Float64Builder),
    Truth(BooleanBuilder),
    Time(TimestampMillisecondBuilder),
}

impl Builder {
    fn new(kind: ColumnKind) -> Self {
        match kind {
            ColumnKind::Text | ColumnKind::Json => Builder::Text(StringBuilder::new()),
            ColumnKind::Integer => Builder::Integer(Int64Builder::new()),
            ColumnKind::Real => Builder::Real(Float64Builder::new()),
            ColumnKind::Truth => Builder::Truth(BooleanBuilder::new()),
            ColumnKind::Time => {
                Builder::Time(TimestampMillisecondBuilder::new().with_timezone(UTC))
            }
        }
    }

    /// Adds a value of the column's kind; any other would be a mistake in this crate and is left out.
    fn add(&mut self, cell: &Cell<'_>) {
        match (self, cell) {
            (Builder::Text(column), Cell::Text(text)) => column.append_value(text),
            (Builder::Text(column), _) => column.append_null(),
            (Builder::Integer(column), Cell::Integer(number)) => column.append_value(*number),
            (Builder::Integer(column), _) => column.append_null(),
            (Builder::Real(column), Cell::Real(number)) => column.append_value(*number),
            (Builder::Real(column), _) => column.append_null(),
            (Builder::Truth(column), Cell::Truth(truth)) => column.append_value(*truth),
            (Builder::Truth(column), _) => column.append_null(),
            (Builder::Time(column), Cell::Time(time)) => column.append_value(*time),
            (Builder::Time(column), _) => column.append_null(),
        }
    }

    fn finish(&mut self) -> ArrayRef {
        match self {
            Builder::Text(column) => Arc::new(column.finish()),
            Builder::Integer(column) => Arc::new(column.finish()),
            Builder::Real(column) => Arc::new(column.finish()),
            Builder::Truth(column) => Arc::new(column.finish()),
            Builder::Time(column) => Arc::new(column.finish()),
        }
    }
}

impl Rows {
    pub(crate) fn new(columns: &[Column]) -> Self {
        let schema = schema(columns);
        let columns = columns.iter().map(|column| Builder::new(column.kind)).collect();
        Rows { schema, columns, rows: 0, bytes: 0 }
    }

    pub(crate) fn add(&mut self, row: &[Cell<'_>]) {
        assert_eq!(row.len(), self.columns.len(), "a value for each column");
        for (column, cell) in self.columns.iter_mut().zip(row) {
            column.add(cell);
            if let Cell::Text(text) = cell {
                self.bytes += text.len();
            }
        }
        self.rows += 1;
    }

    /// Whether there are enough rows for a batch.
    pub(crate) fn is_full(&self) -> bool {
        self.rows >= ROWS || self.bytes >= BYTES
    }

    /// All rows that were added since the last batch; `None` if there are none.
    pub(crate) fn take(&mut self) -> Result<Option<RecordBatch>, ArrowError> {
        if self.rows == 0 {
            return Ok(None);
        }
        (self.rows, self.bytes) = (0, 0);
        let columns = self.columns.iter_mut().map(Builder::finish).collect();
        RecordBatch::try_new(self.schema.clone(), columns).map(Some)
    }
}
