//! The version of the log format.

use std::fmt;
use std::str::FromStr;

/// `major.minor` of the log format.
///
/// - 1.0: the first.
/// - 1.1: the tables `ledger` and `event_index`, and a view `runs` that shows how runs were abandoned. The first
///   release that knows them and writes to a file of 1.0 adds them, the ledger with an entry for each run that is
///   there, and raises the format of the file to 1.1 in the same transaction; the index follows with what is written
///   next, some of it at a time. A release that knows 1.0 reads such a file like any of a newer minor.
/// - 2.0: requests that begin with the same messages share them, and events may say more: see
///   [`Format::keeps_declarations`]. A file of 1.x stays one: it is read and written as it is.
///
/// A newer minor is readable (unknown kinds and columns are kept as they are), a newer major is not. It may add
/// tables, columns, plain indexes and triggers, but nothing that is computed when it is read. What an
/// older release writes to a file of a newer minor is sound, but its new runs are not in the ledger, and
/// verification names them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Format {
    /// Raised when an older release could misread the file.
    pub major: u32,
    /// Raised when something is added.
    pub minor: u32,
}

/// The format of the logs that this release makes.
pub const FORMAT: Format = Format { major: 2, minor: 0 };

impl Format {
    /// The last format before 2.0, to which files of 1.0 are raised.
    pub(super) const LAST_OF_1: Format = Format { major: 1, minor: 1 };

    /// Whether events may have the optional fields that came with 2.0: what a prompt was made from
    /// (`RequestSent`), digests of the state and of output files and the Merkle root (`RunFinished`), and a fork's
    /// parent (`RunStarted`). What is written to an older log is as older releases write it.
    pub fn keeps_declarations(self) -> bool {
        self.major >= 2
    }

    /// Whether requests share their first messages.
    pub(super) fn shares_messages(self) -> bool {
        self.major >= 2
    }

    /// Whether it may say more than this release knows.
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
