//! Tables as JSON Lines.

use std::io::Write;

use arrow_array::RecordBatch;
use arrow_json::writer::{LineDelimited, Writer, WriterBuilder};

use super::{TableWriter, WriteError};

pub(super) struct JsonlTable<W: Write>(Writer<W, LineDelimited>);

impl<W: Write> JsonlTable<W> {
    pub(super) fn new(out: W) -> Self {
        // Every line has every column, so that a reader need not guess them from the first.
        JsonlTable(WriterBuilder::new().with_explicit_nulls(true).build(out))
    }
}

impl<W: Write> TableWriter for JsonlTable<W> {
    fn write(&mut self, batch: &RecordBatch) -> Result<(), WriteError> {
        Ok(self.0.write(batch)?)
    }

    fn finish(mut self: Box<Self>) -> Result<(), WriteError> {
        self.0.finish()?;
        Ok(self.0.into_inner().flush()?)
    }
}
