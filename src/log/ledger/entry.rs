//! An entry and its hash.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::event::chain::Head;
use crate::id::{EventHash, LedgerHash, RunId, Seq};

/// Separates this use of BLAKE3 from every other. Changes only with a new format.
pub const LEDGER_DOMAIN: &[u8] = b"retold ledger v1\n";

/// What happened to a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
#[non_exhaustive]
pub enum LedgerChange {
    /// Its first event was appended.
    Started,
    /// It was resumed.
    Resumed,
    /// It ended for good.
    Finished,
    /// Events were imported: the run up to here was written elsewhere.
    Imported,
    /// Something that a later release records.
    Other(String),
}

impl LedgerChange {
    /// The word in the entry.
    pub fn as_str(&self) -> &str {
        match self {
            LedgerChange::Started => "started",
            LedgerChange::Resumed => "resumed",
            LedgerChange::Finished => "finished",
            LedgerChange::Imported => "imported",
            LedgerChange::Other(what) => what,
        }
    }

    /// The change that an event makes, if it is one that the ledger records.
    pub fn new(seq: Seq, kind: &str) -> Option<Self> {
        match kind {
            _ if seq == Seq(1) => Some(LedgerChange::Started),
            "RunResumed" => Some(LedgerChange::Resumed),
            "RunFinished" => Some(LedgerChange::Finished),
            _ => None,
        }
    }

    /// Whether it vouches for the whole run up to its seq, whatever other entries there are for
    /// that part.
    pub fn covers_what_came_before(&self) -> bool {
        *self == LedgerChange::Imported
    }
}

impl From<&str> for LedgerChange {
    fn from(what: &str) -> Self {
        let known = [
            LedgerChange::Started,
            LedgerChange::Resumed,
            LedgerChange::Finished,
            LedgerChange::Imported,
        ];
        let found = known.into_iter().find(|known| known.as_str() == what);
        found.unwrap_or_else(|| LedgerChange::Other(what.to_owned()))
    }
}

impl From<String> for LedgerChange {
    fn from(what: String) -> Self {
        LedgerChange::from(what.as_str())
    }
}

impl From<LedgerChange> for String {
    fn from(change: LedgerChange) -> Self {
        change.as_str().to_owned()
    }
}

impl fmt::Display for LedgerChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The end of a ledger, or a position in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LedgerHead {
    /// How many entries there are up to here.
    pub number: u64,
    /// The hash of the last of them.
    pub hash: LedgerHash,
}

impl LedgerHead {
    /// Before the first entry.
    pub const START: LedgerHead = LedgerHead { number: 0, hash: LedgerHash([0; 32]) };
}

/// One entry of the ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerEntry {
    /// Its place, from 1.
    pub number: u64,
    /// What happened.
    pub change: LedgerChange,
    /// The run that it happened to.
    pub run: RunId,
    /// Where the run's chain ended at that time.
    pub head: Head,
    /// The link to the previous entry.
    pub hash: LedgerHash,
}

impl LedgerEntry {
    /// The entry that follows `previous`.
    pub fn after(previous: LedgerHead, change: LedgerChange, run: RunId, head: Head) -> Self {
        let number = previous.number + 1;
        let mut entry = LedgerEntry { number, change, run, head, hash: previous.hash };
        entry.hash = entry.hash_after(previous.hash);
        entry
    }

    /// The end of the ledger once this entry is in it.
    pub fn ledger_head(&self) -> LedgerHead {
        LedgerHead { number: self.number, hash: self.hash }
    }

    /// The bytes that are hashed after the domain and the previous entry's hash.
    pub fn canonical(&self) -> String {
        let LedgerEntry { number, change, run, head: Head { seq, hash: EventHash(head) }, hash: _ } =
            self;
        // The word is the only text that may need escapes, in a file that we did not write.
        let what = serde_json::Value::from(change.as_str());
        let head = EventHash(*head);
        format!(r#"{{"head":"{head}","number":{number},"run":"{run}","seq":{seq},"what":{what}}}"#)
    }

    /// The hash that it must have after an entry with the hash `previous`.
    pub fn hash_after(&self, previous: LedgerHash) -> LedgerHash {
        let mut hasher = blake3::Hasher::new();
        hasher.update(LEDGER_DOMAIN).update(&previous.0).update(self.canonical().as_bytes());
        LedgerHash(*hasher.finalize().as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_can_be_recomputed_without_our_code() {
        let head = Head { seq: Seq(17), hash: EventHash([0xab; 32]) };
        let entry =
            LedgerEntry::after(LedgerHead::START, LedgerChange::Finished, RunId([1; 8]), head);
        let canonical = format!(
            r#"{{"head":"{}","number":1,"run":"0101010101010101","seq":17,"what":"finished"}}"#,
            "ab".repeat(32)
        );
        assert_eq!(entry.canonical(), canonical);
        let bytes = [&b"retold ledger v1\n"[..], &[0; 32], canonical.as_bytes()].concat();
        assert_eq!(entry.hash.0, *blake3::hash(&bytes).as_bytes());
    }
}
