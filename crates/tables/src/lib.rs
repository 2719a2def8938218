//! A run as tables, the same for every run: a study's, a program's, an import's.
//!
//! [`RunTables`] reads the events of a run once and gives the rows of the tables that are asked for in Arrow's record
//! batches, as it goes. Its memory does not grow with the run, except for 16 bytes for each message and content that was
//! listed. [`mod@write`] writes them: Parquet, Arrow's stream, CSV, JSON Lines.
//!
//! - [`Table`]: the tables and their columns. All columns are flat; what has a structure is JSON.
//! - [`LabelColumns`]: each label of a call is a column.
//! - [`Transcripts`]: the dialogues of a run, as Inspect Scout reads them.

mod asked;
mod batches;
mod column;
mod decision;
mod exchange;
mod labels;
mod messages;
mod run_row;
mod run_tables;
mod table;
mod transcripts;
pub mod write;

pub use arrow_array::RecordBatch;
pub use batches::{TableBatch, schema};
pub use column::{Column, ColumnKind};
pub use labels::LabelColumns;
pub use run_tables::{RunTables, TableError, TableOptions};
pub use table::Table;
pub use transcripts::{Transcripts, transcript_columns};
