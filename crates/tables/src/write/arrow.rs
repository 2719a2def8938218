//! Tables in Arrow's stream format.

use std::io::Write;

use arrow_array::RecordBatch;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::SchemaRef;

use super::{TableWriter, WriteError};

pub(super) struct ArrowTable<W: Write>(StreamWriter<W>);

impl<W: Write> ArrowTable<W> {
    pub(super) fn new(out: W, schema: &SchemaRef) -> Result<Self, WriteError> {
        Ok(ArrowTable(StreamWriter::try_new(out, schema)?))
    }
}

impl<W: Write> TableWriter for ArrowTable<W> {
    fn write(&mut self, batch: &RecordBatch) -> Result<(), WriteError> {
        Ok(self.0.write(batch)?)
    }

    fn finish(mut self: Box<Self>) -> Result<(), WriteError> {
        self.0.finish()?;
        self.0.flush()?;
        Ok(())
    }
}
