//! Which texts cannot name a run.

/// What commands take for the last run, whatever its name is.
pub const LATEST: &str = "latest";

/// Why a text cannot be the name of a run: commands would read something else in its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RunNameError {
    /// It is empty.
    #[error("a name has at least one character")]
    Empty,
    /// It is `latest`.
    #[error("`latest` stands for the last run, whatever its name is")]
    Latest,
    /// It begins with a hyphen.
    #[error("a name that begins with '-' would be read as an option")]
    LikeAnOption,
}

/// The name of a new run, by which commands are to find it.
///
/// # Errors
/// [`RunNameError`].
pub fn new_run_name(text: &str) -> Result<String, RunNameError> {
    match text {
        "" => Err(RunNameError::Empty),
        LATEST => Err(RunNameError::Latest),
        text if text.starts_with('-') => Err(RunNameError::LikeAnOption),
        name => Ok(name.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::{RunNameError, new_run_name};

    #[test]
    fn what_commands_read_differently_is_not_a_name() {
        for (name, due) in [
            ("", Err(RunNameError::Empty)),
            ("latest", Err(RunNameError::Latest)),
            ("-x", Err(RunNameError::LikeAnOption)),
            ("--json", Err(RunNameError::LikeAnOption)),
            ("pilot-1", Ok(())),
            ("the latest", Ok(())),
        ] {
            assert_eq!(new_run_name(name).map(drop), due, "{name:?}");
        }
    }
}
