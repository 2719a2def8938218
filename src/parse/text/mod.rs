//! Answers that are taken as they are: texts, turns of a moderator, vectors.

pub mod free_text;
pub mod moderator;
pub mod vector;

use super::ParserFamily;

/// A text as it is.
pub static FREE_TEXT: ParserFamily = ParserFamily {
    name: "free_text",
    versions: &[1],
    make: |spec| free_text::from_params(&spec.params),
};

/// A turn of a moderator.
pub static MODERATOR: ParserFamily = ParserFamily {
    name: "moderator",
    versions: &[1],
    make: |spec| moderator::from_params(&spec.params),
};

/// Whether a vector came.
pub static VECTOR: ParserFamily =
    ParserFamily { name: "vector", versions: &[1], make: |spec| vector::from_params(&spec.params) };
