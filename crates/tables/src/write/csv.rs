//! Tables as CSV (RFC 4180).

use std::borrow::Cow;
use std::io::Write;

use arrow_array::RecordBatch;
use retold::id::Time;

use super::cells::rows;
use super::{TableWriter, WriteError};
use crate::column::{Cell, Column};

pub(super) struct CsvTable<W: Write> {
    out: csv::Writer<W>,
    columns: Vec<Column>,
}

impl<W: Write> CsvTable<W> {
    pub(super) fn new(out: W, columns: &[Column]) -> Result<Self, WriteError> {
        let mut out = csv::Writer::from_writer(out);
        // A table without rows has a header as well.
        out.write_record(columns.iter().map(|column| column.name.as_bytes()))?;
        Ok(CsvTable { out, columns: columns.to_vec() })
    }
}

impl<W: Write> TableWriter for CsvTable<W> {
    fn write(&mut self, batch: &RecordBatch) -> Result<(), WriteError> {
        for row in rows(&self.columns, batch) {
            for cell in row {
                self.out.write_field(text(cell).as_bytes())?;
            }
            self.out.write_record(None::<&[u8]>)?;
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<(), WriteError> {
        Ok(self.out.flush()?)
    }
}

fn text(cell: Cell<'_>) -> Cow<'_, str> {
    match cell {
        Cell::Missing => "".into(),
        Cell::Text(text) => text,
        Cell::Integer(number) => number.to_string().into(),
        // With a decimal point or an exponent, so that a reader that guesses sees that these are no integers.
        Cell::Real(number) => format!("{number:?}").into(),
        Cell::Truth(it) => it.to_string().into(),
        Cell::Time(time) => Time(time).to_string().into(),
    }
}
