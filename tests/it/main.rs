//! The integration tests, in one binary: one link, shared helpers.

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
