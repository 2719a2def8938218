//! The values of a batch, one by one, for formats that are written in rows.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, TimestampMillisecondType};
use arrow_array::{Array, ArrayRef, RecordBatch};

use crate::column::{Cell, Column, ColumnKind};

/// The rows of a batch with these columns, as the values that they were made of.
pub(super) fn rows<'a>(
    columns: &'a [Column],
    batch: &'a RecordBatch,
) -> impl Iterator<Item = impl Iterator<Item = Cell<'a>>> {
    (0..batch.num_rows()).map(move |row| {
        let columns = columns.iter().zip(batch.columns());
        columns.map(move |(column, values)| cell(column.kind, values, row))
    })
}

fn cell(kind: ColumnKind, values: &ArrayRef, row: usize) -> Cell<'_> {
    if values.is_null(row) {
        return Cell::Missing;
    }
    match kind {
        ColumnKind::Text | ColumnKind::Json => values.as_string::<i32>().value(row).into(),
        ColumnKind::Integer => Cell::Integer(values.as_primitive::<Int64Type>().value(row)),
        ColumnKind::Real => Cell::Real(values.as_primitive::<Float64Type>().value(row)),
        ColumnKind::Truth => Cell::Truth(values.as_boolean().value(row)),
        ColumnKind::Time => {
            Cell::Time(values.as_primitive::<TimestampMillisecondType>().value(row))
        }
    }
}
