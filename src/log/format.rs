//! The version of the log format.

/// The format of logs and recordings, one number: a file that states another one is refused. Kinds of event that a
/// release does not know are kept as they are, so that a new kind needs no new format.
///
/// A new format is a decision in writing, in `docs/decisions`.
pub const FORMAT: u32 = 1;
