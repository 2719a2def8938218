//! Proofs: that a decision, its answer and its prompt are in a run, for people who do not have the
//! log.
//!
//! A proof is a canonical JSON file. It holds the events that led to a decision, whole, and for each
//! of them the nodes of the run's Merkle tree that lead from it to the root; the last event of the
//! run, which states this root, gives the head of its chain. Whoever knows the root or the head from
//! somewhere else can check the proof with nothing but the file; `docs/format.md` says how.
//!
//! - [`prove`]: makes one. [`verify`]: checks one.

mod error;
mod event_fault;
mod format;
mod make;
mod verify;

pub use error::{ProofError, ProveError};
pub use event_fault::ProofEventFault;
pub use make::prove;
pub use verify::{ProofStatement, verify};
