//! The first JSON object of a text. The place where a full repair of malformed JSON belongs.

use serde_json::{Deserializer, Map, Value};

/// How many opening braces are tried: the work stays linear in the text.
const TRIES: usize = 8;

/// The first object that can be read, whatever stands around it. An object without its end is
/// closed; a comma before the end is dropped.
pub(super) fn first_object(text: &str) -> Option<Map<String, Value>> {
    let starts = text.match_indices('{').map(|(at, _)| at).take(TRIES);
    starts.filter_map(|at| text.get(at..)).find_map(|rest| read(rest).or_else(|| mended(rest)))
}

fn read(text: &str) -> Option<Map<String, Value>> {
    Deserializer::from_str(text).into_iter().next()?.ok()
}

/// Flat objects only: what is asked for holds no others.
fn mended(text: &str) -> Option<Map<String, Value>> {
    let end = text.find('}').unwrap_or(text.len());
    let body = text.get(..end)?.trim_end().trim_end_matches(['`', ',']).trim_end();
    read(&format!("{}}}", body.trim_end_matches(',')))
        .or_else(|| read(&format!("{body}}}").replace('\'', "\"").replace(['“', '”'], "\"")))
}
