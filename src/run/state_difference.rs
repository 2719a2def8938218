//! How two states differ.

use std::fmt;

use serde::Serialize;

use crate::escaping::printable;
use crate::id::StateDigest;

/// An entry of a state that is not as it was recorded, at the first place where it differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StateDifference {
    /// The mark; `None` at the end of the run.
    pub mark: Option<String>,
    /// The top-level entry; `None` if only the record or only this execution has the mark.
    pub entry: Option<String>,
    /// Its recorded digest, if there is one.
    pub recorded: Option<StateDigest>,
    /// Its digest now, if there is one.
    pub now: Option<StateDigest>,
}

impl fmt::Display for StateDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.mark {
            Some(mark) => write!(f, "mark {}", printable(mark, 100))?,
            None => f.write_str("at the end")?,
        }
        let Some(entry) = &self.entry else {
            return f.write_str(": only one of record and re-execution has it");
        };
        write!(f, ", entry {}: ", printable(entry, 100))?;
        match (self.recorded, self.now) {
            (Some(recorded), Some(now)) => {
                write!(f, "recorded {}, now {}", recorded.short(12), now.short(12))
            }
            (Some(_), None) => f.write_str("recorded, and missing now"),
            (None, _) => f.write_str("not recorded"),
        }
    }
}
