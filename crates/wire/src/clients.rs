//! The variables that a program finds in its environment besides those of its SDKs.

/// The placeholder for a key in a replay, where none is needed.
pub const NO_KEY: &str = "retold-replay-needs-no-key";

/// The variable in which programs find our own address.
pub const OURS: &str = "RETOLD_URL";
