//! The integration tests, in one binary: one link, shared helpers.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a failing test panics; clippy.toml allows it in test functions, this in their helpers"
)]

mod game24_parsers;
mod parsers_lock;
mod support;
