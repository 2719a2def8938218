//! Exchange formats: runs to files and back.
//!
//! - [`export_recording`], [`read_recording`]: a whole run, chain and all, as JSON Lines that diff well.
//! - [`import_recording`]: a recording into a log, checked link by link, all or nothing.
//! - [`Accepted`]: decisions that were made again, as a run of their own.
//! - [`export_exchanges`], [`read_exchanges`]: questions and answers alone, one a line.

mod accepted;
mod error;
mod exchanges;
mod export;
mod import;
mod recording;
mod requests;
mod stash;

pub use accepted::{Accepted, AcceptedDecision, DECISIONS};
pub use error::ImportError;
pub use exchanges::{EXCHANGES, Exchanges, export_exchanges, read_exchanges};
pub use export::export_recording;
pub use import::{Imported, import_recording};
pub use recording::{Recording, is_recording, read_recording};
