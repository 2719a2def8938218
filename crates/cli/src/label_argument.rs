//! A label as an argument of commands, such as `condition=treated`.

use retold::log::{NAME_AND_VALUE, name_and_value};

/// As clap wants it.
pub(crate) fn label(text: &str) -> Result<(String, String), &'static str> {
    name_and_value(text).ok_or(NAME_AND_VALUE)
}
