//! Answers that are taken as they are: texts, turns of a moderator, vectors.

pub mod free_text;
pub mod moderator;
pub mod vector;
