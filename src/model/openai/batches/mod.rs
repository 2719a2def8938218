//! Batches: many requests that a server takes at once and answers later, at half the price.
//!
//! - [`BatchServer`]: what can be asked of a server about batches. Nothing here retries, and nothing is remembered: what a batch is, is in
//!   the log.
//! - `openai`, `anthropic`, `gemini`: one API each, with its limits, its words for states, and the form of its lines. The facts are from
//!   the pages that [`BatchApi`](crate::model::providers::BatchApi) names.
//! - `transfer`: files up and down, in pieces.

mod anthropic;
mod gemini;
mod openai;
mod reply;
mod report;
mod server;
mod transfer;

pub use reply::{BatchLine, BatchReply, LineEnd, PostedLine};
pub use report::{BatchLimits, BatchPhase, BatchReport, BatchTicket, FoundBatch};
pub use server::BatchServer;
