//! What can be wrong with the file that a store keeps its events in.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::{Fault, Finding};

/// A fault in the file of a log, or in the files beside it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FileFault {
    /// A field of the header of the file.
    #[error("the header of the file: its {field}")]
    Header {
        /// The field and its fault.
        field: Cow<'static, str>,
    },
    /// The end of the file is missing.
    #[error("the file was cut off: it has {has} of {of} bytes")]
    CutOff {
        /// How many bytes there are.
        has: u64,
        /// How many there should be.
        of: u64,
    },
    /// There is no file.
    #[error("the file is missing")]
    Gone,
    /// There is no file, or an empty one, and the files beside it show that it had events.
    #[error(
        "the file is empty or missing, but its WAL has {} and its mark {}",
        crate::counted::count_of(*.frames, "frame"), crate::counted::count_of(*.runs, "run")
    )]
    Emptied {
        /// How many committed frames the WAL has.
        frames: u64,
        /// How many runs have a high-water mark.
        runs: u64,
    },
    /// The file is not a log any more.
    #[error("{why}")]
    NotALog {
        /// What shows that.
        why: String,
    },
    /// In the words of the database.
    #[error("{says}")]
    Database {
        /// The message.
        says: String,
    },
    /// An entry of the schema cannot be read, in the words of the database.
    #[error("{says}")]
    Schema {
        /// The message.
        says: String,
    },
    /// The pages of the file form a cycle.
    #[error("reading it takes more steps than a log of its size can need: its pages form a cycle")]
    Endless,
    /// The format of the log is not stated.
    #[error("table meta: it does not name the format of the log")]
    NoFormat,
    /// The format of the log was changed.
    #[error("table meta: the format and its seal do not match")]
    Seal,
    /// None of the tables is left.
    #[error("it has none of its tables")]
    NoTables,
    /// Something else has the name of a table.
    #[error("{name} is not a table")]
    NotATable {
        /// The name.
        name: String,
    },
    /// A table that runs code when it is read.
    #[error("{name} is a virtual table")]
    VirtualTable {
        /// The name.
        name: String,
    },
    /// A column that runs code when it is read.
    #[error("the column {name} is computed")]
    ComputedColumn {
        /// The name.
        name: String,
    },
    /// An index that runs code when it is written.
    #[error("the index {name} is computed")]
    ComputedIndex {
        /// The name.
        name: String,
    },
    /// A table, index or view that was changed.
    #[error("the {kind} {name} was changed")]
    Changed {
        /// Table, index or view.
        kind: String,
        /// The name.
        name: String,
    },
    /// A table, index or view of the log.
    #[error("the {kind} {name} is missing or changed")]
    MissingOrChanged {
        /// Table, index or view.
        kind: String,
        /// The name.
        name: String,
    },
    /// A trigger that refuses changes.
    #[error("the trigger {name} that refuses changes is missing or changed")]
    Trigger {
        /// The name.
        name: String,
    },
    /// Several triggers that refuse changes.
    #[error("{count} triggers that refuse changes are missing or changed, {first} and others")]
    Triggers {
        /// How many.
        count: usize,
        /// The name of one.
        first: String,
    },
    /// A trigger of somebody else.
    #[error("the trigger {name} does not belong to the log")]
    StrangeTrigger {
        /// The name.
        name: String,
    },
    /// The structure of the file, in the words of the database.
    #[error("the SQLite file is damaged: {says}")]
    Structure {
        /// The message.
        says: String,
    },
    /// A check of the file ended early, in the words of the database.
    #[error("the file cannot be read to its end: {says}")]
    Unreadable {
        /// The message.
        says: String,
    },
    /// The runs cannot be listed.
    #[error("the runs cannot be read: {why}")]
    Runs {
        /// The fault in the file.
        why: Box<Fault>,
    },
    /// The runs cannot be listed, so a run that something else names cannot be found.
    #[error("the list of runs cannot be read: {why}")]
    RunList {
        /// The fault in the file.
        why: Box<Fault>,
    },
    /// The WAL.
    #[error("the WAL is damaged{copy}: {wal}")]
    Wal {
        /// The fault in it.
        wal: WalFault,
        /// What became of a copy of it.
        copy: WalCopy,
    },
    /// A copy of a WAL that was damaged earlier.
    #[error("{path} is a copy of {}", earlier(wal))]
    EarlierWal {
        /// Where the copy is.
        path: String,
        /// The fault in it; `None` if its last events were lost otherwise.
        wal: Option<WalFault>,
    },
    /// The file lost something, and the rest is not a log.
    #[error("{lost}; {why}")]
    LostAndDamaged {
        /// The loss.
        lost: Box<Fault>,
        /// The fault in the file.
        why: Box<Fault>,
    },
    /// Several things were lost.
    #[error("{first}{}", others(*.more))]
    Several {
        /// The first of them.
        first: Box<Finding>,
        /// How many more there are.
        more: usize,
    },
}

fn others(more: usize) -> String {
    match more {
        0 => String::new(),
        n => format!(" (and {n} more)"),
    }
}

fn earlier(wal: &Option<WalFault>) -> String {
    match wal {
        Some(fault) => format!("a damaged WAL: {fault}"),
        None => "a WAL whose last events were lost".to_owned(),
    }
}

/// Where a WAL is damaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WalFault {
    /// In its header: SQLite reads none of it.
    #[error("its header does not match its checksum, so none of it can be read")]
    Header,
    /// In a frame: SQLite reads nothing from there on.
    #[error(
        "frame {number} does not match its checksum, so it and the {later} frames after it cannot be read"
    )]
    Frame {
        /// Its number, from 1.
        number: u64,
        /// How many frames from the same use of the file come after it.
        later: u64,
    },
}

/// What became of the copy of a damaged WAL.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WalCopy {
    /// None was to be made.
    #[error("")]
    None,
    /// It is there.
    #[error(" (copied to {0})")]
    At(String),
    /// It could not be made.
    #[error(" (it could not be copied: {0})")]
    Failed(String),
}
