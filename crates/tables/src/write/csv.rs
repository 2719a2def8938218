//! Tables as CSV (RFC 4180).

use std::io::Write;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;

use super::{TableWriter, WriteError};

pub(super) struct CsvTable<W: Write>(arrow_csv::Writer<W>);

impl<W: Write> CsvTable<W> {
    pub(super) fn new(out: W, schema: &SchemaRef) -> Result<Self, WriteError> {
        let mut writer = arrow_csv::WriterBuilder::new().with_header(true).build(out);
        // A table without rows has a header as well.
        writer.write(&RecordBatch::new_empty(schema.clone()))?;
        Ok(CsvTable(writer))
    }
}

impl<W: Write> TableWriter for CsvTable<W> {
    fn write(&mut self, batch: &RecordBatch) -> Result<(), WriteError> {
        Ok(self.0.write(batch)?)
    }

    fn finish(self: Box<Self>) -> Result<(), WriteError> {
        Ok(self.0.into_inner().flush()?)
    }
}
