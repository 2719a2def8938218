//! The integration tests, in one binary: one link, shared helpers.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a helper that fails fails its test")]
#![expect(clippy::print_stderr, reason = "figures of a test, shown with --nocapture")]

mod append_only;
mod conformance;
mod crash;
mod divergence;
mod format;
mod game24_parsers;
mod parsers_lock;
mod processes;
mod replay;
mod resume;
mod roundtrip;
mod support;
mod tamper;
mod views;
