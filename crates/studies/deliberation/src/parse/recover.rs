//! Finds the first JSON object in a text. A full repair of malformed JSON would belong here.

use serde_json::{Deserializer, Map, Value};

/// How many opening braces are tried, which keeps the time linear.
const TRIES: usize = 8;

/// The first object that can be read, whatever surrounds it. An object without an end is closed; a
/// comma before the end is dropped.
pub(super) fn first_object(text: &str) -> Option<Map<String, Value>> {
    let starts = text.match_indices('{').map(|(at, _)| at).take(TRIES);
    starts.filter_map(|at| text.get(at..)).find_map(|rest| read(rest).or_else(|| mend(rest)))
}

fn read(text: &str) -> Option<Map<String, Value>> {
    Deserializer::from_str(text).into_iter().next()?.ok()
}

/// Flat objects only: the requested object contains no others.
fn mend(text: &str) -> Option<Map<String, Value>> {
    let end = text.find('}').unwrap_or(text.len());
    let body = text.get(..end)?.trim_end().trim_end_matches(['`', ',']).trim_end();
    read(&format!("{}}}", body.trim_end_matches(',')))
        .or_else(|| read(&format!("{body}}}").replace('\'', "\"").replace(['“', '”'], "\"")))
}
