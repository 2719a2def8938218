//! Something in a log that is not as it was written.

use std::fmt;

use crate::id::{RunId, Seq};

/// Something in the log that is not as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The run, unless the problem concerns the whole file.
    pub run: Option<RunId>,
    /// The event, unless the problem concerns the whole run.
    pub seq: Option<Seq>,
    /// What is wrong.
    pub what: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.run, self.seq) {
            (Some(run), Some(seq)) => write!(f, "run {run}, seq {seq}: {}", self.what),
            (Some(run), None) => write!(f, "run {run}: {}", self.what),
            _ => f.write_str(&self.what),
        }
    }
}
