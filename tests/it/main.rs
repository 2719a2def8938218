//! All integration tests, in one binary: it links once and shares its support code.

mod jsonl;
mod models;
mod prompt_hash;
mod support;
mod vectors;
