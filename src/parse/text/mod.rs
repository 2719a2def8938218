//! Answers that are taken unchanged: texts, turns of a moderator, vectors.

pub mod free_text;
pub mod moderator;
pub mod vector;

use self::free_text::FreeTextParams;
use super::ParserFamily;

/// A text, unchanged.
pub static FREE_TEXT: ParserFamily = ParserFamily {
    name: "free_text",
    versions: &[1],
    make: |spec| {
        let FreeTextParams {} = spec.settings()?;
        Ok(Box::new(free_text::parser()?))
    },
};

/// A turn of a moderator.
pub static MODERATOR: ParserFamily = ParserFamily {
    name: "moderator",
    versions: &[1],
    make: |spec| {
        let FreeTextParams {} = spec.settings()?;
        Ok(Box::new(moderator::parser()?))
    },
};

/// Whether the answer is a vector.
pub static VECTOR: ParserFamily = ParserFamily {
    name: "vector",
    versions: &[1],
    make: |spec| {
        let FreeTextParams {} = spec.settings()?;
        Ok(Box::new(vector::parser()?))
    },
};
