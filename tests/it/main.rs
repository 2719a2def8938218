//! The integration tests, in one binary: one link, shared helpers.

mod append_only;
mod conformance;
mod crash;
mod divergence;
mod game24_parsers;
mod parsers_lock;
mod processes;
mod replay;
mod resume;
mod support;
mod tamper;
mod views;
