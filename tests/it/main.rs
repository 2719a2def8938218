//! All integration tests, in one binary: it links once and shares its support code.
#![cfg(test)] // so that clippy knows the support code for test code, too

mod cli;
mod game24_parsers;
mod jsonl;
mod models;
mod parsers_lock;
mod prompt_hash;
mod readme;
mod replay;
mod support;
mod vectors;
