//! The names of the JSON Schemas that there are.

use crate::global::Global;

/// The name of the schema of parser files.
pub(crate) const PARSERS: &str = "parsers";

/// The experiments whose configs have a schema, and [`PARSERS`].
pub(crate) fn schema_names(global: &Global) -> impl Iterator<Item = &'static str> {
    let described = global.studies.iter().filter(|study| study.config_schema().is_some());
    described.map(|study| study.name()).chain([PARSERS])
}
