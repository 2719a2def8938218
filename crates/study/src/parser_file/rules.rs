//! The rules by which the strategies of a parser file read.

use crate::config::ConfigProblem;

/// A decision names the rules that it was made with, so that it can be made again: a file that says
/// `rules: 1` is read as it was before there were others.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum FileRules {
    /// A number may be a piece of another (`−3` is 3, and `1e3` nothing), and an option a piece of
    /// a compound (`no-one` is `no`).
    First,
    /// Numbers and options as a person reads them, and warnings where that is not certain.
    #[default]
    Second,
}

impl FileRules {
    /// The rules that a file names.
    ///
    /// # Errors
    /// If there are none with that number.
    pub(super) fn new(number: Option<u32>) -> Result<Self, ConfigProblem> {
        match number {
            None => Ok(FileRules::default()),
            Some(1) => Ok(FileRules::First),
            Some(2) => Ok(FileRules::Second),
            Some(other) => {
                let message = format!("there are no rules {other}: write 1 or 2, or leave it out");
                Err(ConfigProblem::new("rules", message))
            }
        }
    }

    /// The number that is recorded with decisions; those of the first rules have none.
    pub(super) fn number(self) -> Option<u32> {
        match self {
            FileRules::First => None,
            FileRules::Second => Some(2),
        }
    }
}
