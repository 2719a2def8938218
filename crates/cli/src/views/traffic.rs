//! What `import` and `export` share for files of other tools.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::{Value, json};

use crate::error::CliError;
use retold::escaping::printable;
use retold_traffic::Notes;

/// Base URLs by upstream, as they are given.
pub(crate) fn upstream_urls(given: &[String]) -> Result<BTreeMap<String, String>, CliError> {
    let divided = |given: &String| {
        let (name, url) = given.split_once('=').ok_or_else(|| {
            CliError::usage(
                "--upstream is given as NAME=URL, as in mistral=https://api.mistral.ai/v1",
            )
        })?;
        Ok((name.to_owned(), url.to_owned()))
    };
    given.iter().map(divided).collect()
}

/// What could not be represented.
pub(crate) fn write_notes(text: &mut String, notes: &Notes) {
    for (at, note) in notes.all().enumerate() {
        if at == 0 {
            text.push_str("not represented:\n");
        }
        let _ = write!(text, "  {}", printable(&note.what, 1_000));
        let more = if note.times > note.places.len() { ", .." } else { "" };
        if !note.places.is_empty() {
            let places = note.places.iter().map(|place| printable(place, 100));
            let _ = write!(text, " ({}{more})", places.collect::<Vec<_>>().join(", "));
        }
        text.push('\n');
    }
}

/// The same for programs.
pub(crate) fn as_json(notes: &Notes) -> Value {
    let notes = notes
        .all()
        .map(|note| json!({"what": note.what, "times": note.times, "places": note.places}));
    notes.collect()
}
