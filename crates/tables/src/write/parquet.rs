//! Tables as Parquet.

use std::io::Write;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;

use super::{TableWriter, WriteError};

/// How many rows a group has at most. A reader takes a group at a time, and so does the writer's memory.
const GROUP_ROWS: usize = 1 << 18;

/// How many bytes of encoded rows are kept before a group is written.
const GROUP_BYTES: usize = 32 << 20;

pub(super) struct ParquetTable<W: Write + Send>(ArrowWriter<W>);

impl<W: Write + Send> ParquetTable<W> {
    pub(super) fn new(out: W, schema: SchemaRef) -> Result<Self, WriteError> {
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_max_row_group_row_count(Some(GROUP_ROWS))
            .set_created_by(concat!("retold ", env!("CARGO_PKG_VERSION")).to_owned())
            .build();
        Ok(ParquetTable(ArrowWriter::try_new(out, schema, Some(properties))?))
    }
}

impl<W: Write + Send> TableWriter for ParquetTable<W> {
    fn write(&mut self, batch: &RecordBatch) -> Result<(), WriteError> {
        self.0.write(batch)?;
        if self.0.in_progress_size() >= GROUP_BYTES {
            self.0.flush()?;
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<(), WriteError> {
        let mut out = self.0.into_inner()?;
        Ok(out.flush()?)
    }
}
