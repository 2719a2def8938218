//! The repair of malformed JSON.

mod rules;
mod vectors;
