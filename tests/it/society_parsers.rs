//! The parsers of the agent society.

mod document_program;
mod real_logs;
mod rules;
