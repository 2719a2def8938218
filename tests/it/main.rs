//! The integration tests, in one binary: one link, shared helpers.

mod game24_parsers;
mod parsers_lock;
mod replay;
mod support;
