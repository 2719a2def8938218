//! How the time of each parser grows with the length of a text, and the texts that could make it
//! grow faster. Used by the test `totality` and the bench `growth`.

pub(crate) mod measure;
mod parsers;
pub(crate) mod shapes;

pub(crate) use measure::is_linear;
pub(crate) use parsers::parsers;
pub(crate) use shapes::{Shape, random, systematic};
