//! Batches of a run: what is held is handed to servers in pieces, and collected when they have answered it.
//!
//! A batch is a fold over the events of its run, so that any process with the same log and key goes on with it, wherever the last one
//! ended. Nothing is created twice: before anything leaves, the log says so ([`BatchStep::Planned`](crate::event::BatchStep)), and a batch
//! whose submission got no reply is looked for at the server.
//!
//! - [`RunBatches`]: the batches of a run, and what became of their lines.
//! - [`settle`]: plans what is held, and brings every batch as far as it goes.
//! - `lines`, `plan`: the lines of batches, as files. `submit`, `collect`: one batch, out and back.
//! - [`cancel`]: asks servers to begin nothing more.

mod cancel;
mod collect;
mod error;
mod lines;
mod news;
mod plan;
mod run_batches;
mod settle;
mod submit;

pub use cancel::cancel;
pub use error::BatchError;
pub use news::{BatchNews, WaitingBatch};
pub use run_batches::{LineFailures, RunBatch, RunBatches};
pub use settle::{BatchesOf, Settled, settle};
