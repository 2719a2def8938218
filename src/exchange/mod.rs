//! Exchange formats: runs to files and back.
//!
//! - [`export_recording`], [`read_recording`]: a whole run with its hash chain, as JSON Lines that
//!   diff well.
//! - [`import_recording`]: adds a recording to a log, checked link by link, all or nothing.
//! - [`rescue_run`]: what is left of a damaged run, as a new run.
//! - [`LineWriter`], [`LineReader`]: the lines of a recording, for whoever keeps them elsewhere.
//! - [`AcceptedRun`]: decisions that were made again, as a run of their own; [`store_statement`]: a run that only states something.
//! - [`export_exchanges`], [`read_exchanges`]: requests and answers alone, one per line.
//! - [`Collector`]: a run that is put together from a file of any format.

mod accepted_chain;
mod accepted_run;
mod collected_run;
mod error;
mod exchanges;
mod export;
mod import;
mod line_fault;
mod line_label;
mod line_reader;
mod line_writer;
mod recorded_line;
mod recording;
mod requests;
mod rescue;
mod stash;

pub(crate) use accepted_chain::AcceptedChain;
pub use accepted_chain::{accepted_about, decides_about};
pub use accepted_run::{AcceptedDecision, AcceptedRun, DECISIONS, store_statement};
pub use collected_run::{CollectedRun, Collector};
pub use error::ImportError;
pub use exchanges::{EXCHANGES, Exchanges, ExportedExchanges, export_exchanges, read_exchanges};
pub use export::export_recording;
pub use import::{ImportResult, import_recording};
pub use line_fault::LineFault;
pub use line_label::GOLD;
pub use line_reader::{LineProblem, LineReader};
pub use line_writer::{LineOfEvent, LineWriter};
pub use recording::{Recording, is_recording, read_recording, read_recording_to_damage};
pub use rescue::{RescuedRun, lost_events, rescue_run};
