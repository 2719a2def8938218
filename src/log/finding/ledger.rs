//! What can be wrong with the ledger, or with a run that differs from it.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::{Fault, FieldFault};
use crate::event::chain::Head;
use crate::id::EventHash;
use crate::log::ledger::LedgerChange;

/// A fault in the ledger, or in a run that differs from it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum LedgerFault {
    /// An entry does not follow from the one before it.
    #[error(
        "entry {number} of the ledger: its hash does not match: it, or the entry before it, was changed"
    )]
    Hash {
        /// The number of the entry.
        number: u64,
    },
    /// Entries are missing.
    #[error("{}", gap(*first, *last))]
    Gap {
        /// The first that is missing.
        first: u64,
        /// The last that is missing.
        last: u64,
    },
    /// A column of an entry.
    #[error("entry {number} of the ledger is damaged: its {field} {is}")]
    Field {
        /// The number of the entry.
        number: u64,
        /// The name of the column.
        field: Cow<'static, str>,
        /// The fault in its value.
        is: FieldFault,
    },
    /// Another entry is where this one should be.
    #[error("entry {number} of the ledger is damaged: another entry is in its place")]
    Displaced {
        /// The number of the entry.
        number: u64,
    },
    /// The log has runs, and the ledger has none of them.
    #[error("the ledger names none of the runs")]
    NamesNoRun,
    /// The ledger does not name the run.
    #[error("the ledger does not name it: it was added without retold")]
    NotNamed,
    /// The ledger cannot be read.
    #[error("the ledger cannot be read: {why}")]
    Unreadable {
        /// The fault in the file.
        why: Box<Fault>,
    },
    /// The run ends before an entry that the ledger has about it.
    #[error(
        "the run ends before it, but entry {number} of the ledger ({change}) says that it had seq {}, head {}",
        .head.seq, .head.hash.short(12)
    )]
    Shorter {
        /// The number of the entry.
        number: u64,
        /// The change that the entry records.
        change: LedgerChange,
        /// The end of the run at the entry.
        head: Head,
    },
    /// The log has nothing of a run that the ledger names.
    #[error(
        "it was deleted: entry {number} of the ledger ({change}) says that it had seq {}, head {}",
        .head.seq, .head.hash
    )]
    Deleted {
        /// The number of the last entry about the run.
        number: u64,
        /// The change that the entry records.
        change: LedgerChange,
        /// The end of the run at the entry.
        head: Head,
    },
    /// The ledger has another hash of an event.
    #[error(
        "entry {number} of the ledger ({change}) says that the hash was {} here: another history is in its place",
        .hash.short(12)
    )]
    OtherHistory {
        /// The number of the entry.
        number: u64,
        /// The change that the entry records.
        change: LedgerChange,
        /// The hash that the entry has.
        hash: EventHash,
    },
    /// The ledger has no entry about an event that needs one.
    #[error("the ledger does not say that it was {change}")]
    NotRecorded {
        /// The change that the entry would record.
        change: LedgerChange,
    },
    /// The ledger cannot vouch for the end of a run whose events match their hashes.
    #[error("{why}. Its events match their hashes; whether it once had more is not known")]
    Unconfirmed {
        /// The fault in the ledger.
        why: Box<Fault>,
    },
}

fn gap(first: u64, last: u64) -> String {
    match first == last {
        true => format!("entry {first} of the ledger is missing"),
        false => format!("entries {first} to {last} of the ledger are missing"),
    }
}

impl LedgerFault {
    /// The ledger cannot be read because of this.
    pub fn unreadable(why: impl Into<Fault>) -> Self {
        LedgerFault::Unreadable { why: Box::new(why.into()) }
    }
}
