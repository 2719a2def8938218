//! The parsers of the program `retold`.

use retold::parse::registry::RegistryError;
use retold::parse::{AnyParser, ParserSpec};

use super::program::studies;

pub(crate) fn all() -> impl Iterator<Item = (&'static str, u32)> {
    studies().parsers().all()
}

pub(crate) fn parser(spec: &ParserSpec) -> Result<Box<dyn AnyParser>, RegistryError> {
    studies().parsers().parser(spec)
}

pub(crate) fn versions(name: &str) -> Result<Vec<u32>, RegistryError> {
    studies().parsers().versions(name).map(<[u32]>::to_vec)
}
