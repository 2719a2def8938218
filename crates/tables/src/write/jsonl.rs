//! Tables as JSON Lines.

use std::io::Write;

use arrow_array::RecordBatch;
use retold::id::Time;
use serde::ser::{Serialize, SerializeMap as _, Serializer as _};

use super::cells::rows;
use super::{TableWriter, WriteError};
use crate::column::{Cell, Column};

pub(super) struct JsonlTable<W: Write> {
    out: W,
    columns: Vec<Column>,
}

impl<W: Write> JsonlTable<W> {
    pub(super) fn new(out: W, columns: &[Column]) -> Self {
        JsonlTable { out, columns: columns.to_vec() }
    }
}

impl<W: Write> TableWriter for JsonlTable<W> {
    fn write(&mut self, batch: &RecordBatch) -> Result<(), WriteError> {
        let mut lines = Vec::new();
        for row in rows(&self.columns, batch) {
            let mut json = serde_json::Serializer::new(&mut lines);
            // Every line has every column, so that a reader need not guess them from the first.
            let mut object = json.serialize_map(None)?;
            for (column, cell) in self.columns.iter().zip(row) {
                object.serialize_entry(&column.name, &cell)?;
            }
            object.end()?;
            lines.push(b'\n');
        }
        Ok(self.out.write_all(&lines)?)
    }

    fn finish(mut self: Box<Self>) -> Result<(), WriteError> {
        Ok(self.out.flush()?)
    }
}

impl Serialize for Cell<'_> {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Cell::Missing => to.serialize_unit(),
            Cell::Text(text) => to.serialize_str(text),
            Cell::Integer(number) => to.serialize_i64(*number),
            Cell::Real(number) => to.serialize_f64(*number),
            Cell::Truth(it) => to.serialize_bool(*it),
            Cell::Time(time) => to.collect_str(&Time(*time)),
        }
    }
}
