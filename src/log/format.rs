//! The version of the log format.

use std::fmt;
use std::str::FromStr;

/// `major.minor` of the log format.
///
/// - 1.0: the first.
/// - 1.1: the tables `ledger` and `event_index`, and a view `runs` that shows how runs were
///   abandoned. The first later release that writes to a file of format 1.0 adds them, with a
///   ledger entry for each existing run, and raises the format of the file to 1.1 in the same
///   transaction. The index follows bit by bit with later writes. A release that knows only 1.0
///   reads such a file as it reads any newer minor.
/// - 2.0: requests that begin with the same messages share them, and events have more optional
///   fields: see [`Format::keeps_declarations`]. A 1.x file stays 1.x: it is read and written as it
///   is.
///
/// A newer minor is readable (unknown kinds and columns are kept as they are); a newer major is
/// not. A minor may add tables, columns, plain indexes and triggers, but nothing that is computed
/// on reading. What an older release writes to a file of a newer minor is sound, but its new runs
/// are not in the ledger, and verification reports them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Format {
    /// Raised when an older release could misread the file.
    pub major: u32,
    /// Raised when something is added.
    pub minor: u32,
}

/// The format of the logs that this release creates.
pub const FORMAT: Format = Format { major: 2, minor: 0 };

impl Format {
    /// The last format before 2.0, to which files of format 1.0 are raised.
    pub(super) const LAST_OF_1: Format = Format { major: 1, minor: 1 };

    /// Whether events may have the optional fields that came with 2.0: what a prompt was made from
    /// (`RequestSent`), digests of the state and of output files and the Merkle root
    /// (`RunFinished`), and a fork's parent (`RunStarted`). Older logs are written as older
    /// releases wrote them.
    pub fn keeps_declarations(self) -> bool {
        self.major >= 2
    }

    /// Whether requests share their first messages.
    pub(super) fn shares_messages(self) -> bool {
        self.major >= 2
    }

    /// Whether it may contain more than this release knows.
    pub(super) fn is_newer(self) -> bool {
        match self.major {
            1 => self > Format::LAST_OF_1,
            _ => self > FORMAT,
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

impl FromStr for Format {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (major, minor) = text.split_once('.').ok_or(())?;
        let part = |text: &str| text.parse().map_err(|_| ());
        Ok(Format { major: part(major)?, minor: part(minor)? })
    }
}
