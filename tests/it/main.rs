//! All integration tests, in one binary: it links once and shares its support code.
#![cfg(test)] // so that clippy knows the support code for test code, too

mod answer_parsers;
mod append_only;
mod conformance;
mod crash;
mod deliberation;
mod deliberation_prompts;
mod divergence;
mod game24_parsers;
mod jsonl;
mod models;
mod parsers_lock;
mod processes;
mod prompt_hash;
mod replay;
mod resume;
mod stats;
mod support;
mod tamper;
mod vectors;
mod views;
