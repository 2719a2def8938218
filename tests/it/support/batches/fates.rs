//! How a batch ends.

/// How one batch ends, where it differs from the best case.
#[derive(Debug, Clone, Default)]
pub(crate) struct Fate {
    /// Its time runs out when this many lines have been answered.
    pub(crate) expires_after: Option<usize>,
    /// Its input is refused while it is validated.
    pub(crate) fails: bool,
    /// Its results can no longer be read.
    pub(crate) gone: bool,
    /// Lines, by their place in the input from 0, that end with an error of this status.
    pub(crate) errors: Vec<(usize, u16)>,
}
