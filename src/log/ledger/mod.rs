//! The ledger: which runs a log has held.
//!
//! The chain of a run proves that its events are the ones that were written. It cannot prove that
//! there was not another run beside it. So a log keeps a chain of its own, with one entry each time
//! that a run was started, resumed, finished or imported, appended in the same transaction. An
//! entry holds the run and the end of its chain at that moment. A run that is deleted, truncated or
//! replaced is therefore reported, and so is one that was added without the program.
//!
//! The ledger is not part of any run: run heads are the same in every log that holds the run, and a
//! recording has no ledger.
//!
//! # How to recompute it
//!
//! `hash = BLAKE3(domain ‖ hash of the previous entry ‖ canonical entry)`, where the domain is the
//! 17 bytes `retold ledger v1\n`, hashes are their 32 bytes (zeros before the first entry), and the
//! canonical entry is this RFC 8785 JSON:
//!
//! ```json
//! {"head":"<64 hex digits>","number":3,"run":"<16 hex digits>","seq":17,"what":"finished"}
//! ```
//!
//! `number` counts from 1, `head` is the hash of the run's event `seq`. In an SQLite log the
//! entries are the rows of the table `ledger`.
//!
//! # Limits
//!
//! Somebody who can write to the file can compute a new ledger for the runs that they leave in it. This can be detected only
//! with a copy of the hash in other hands: deposit the hash that `retold verify head` prints somewhere else, and pass it to
//! `retold verify --checkpoint` later.

mod claims;
mod entry;

pub use claims::{Ledger, LedgerCheckpoint};
pub(super) use claims::{Milestone, milestone};
pub use entry::{LEDGER_DOMAIN, LedgerChange, LedgerEntry, LedgerHead};
