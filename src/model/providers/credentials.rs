//! Keys in the bodies of requests and answers: where the APIs have them, and how such a body is kept without them.
//!
//! Only the fields that an API documents for a credential hold one. A field of the same name elsewhere (in the schema of a tool, in
//! a message, in the arguments of a call) is content. Each API's fields are in its own file ([`Dialect::credentials`](super::Dialect::credentials),
//! [`Dialect::credential_paths`](super::Dialect::credential_paths)); this one reads them, in JSON, in forms and in parts of forms.

use std::ops::Range;

use super::json_texts::{JsonStep, each_text, unescape};
use super::other::GRANTS;
use super::{dialects, ends_like};
use crate::model::key_names::{is_a_key, is_placeholder, percent_decoded};

/// A key in a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Credential {
    /// Where it stands.
    pub place: Range<usize>,
    /// The key, with its escapes undone.
    pub text: String,
}

/// Stands in a place for each name that means a key.
const A_KEY: &str = "{key}";

/// Stands in a wrapper for an item of a list.
const ITEM: &str = "[]";

/// The wrappers of a request: a line or an item of a batch, a session, an item of a list of requests for several providers.
const WRAPPERS: &[&[&str]] = &[
    &[],
    &[ITEM],
    &[ITEM, "query"],
    &["body"],
    &["request"],
    &["session"],
    &["requests", ITEM, "params"],
    &["requests", ITEM, "request"],
];

/// The keys in the body of a request to this path.
pub fn in_request(path: &str, content_type: &str, body: &[u8]) -> Vec<Credential> {
    let everywhere = dialects().flat_map(|dialect| dialect.credentials().iter().copied());
    let fields: Vec<Vec<&str>> = everywhere.chain(at_path(GRANTS, path)).map(steps).collect();
    of_fields(content_type, body, &fields, WRAPPERS)
}

/// The keys that the answer to a request to this path brings.
pub fn in_answer(path: &str, content_type: &str, body: &[u8]) -> Vec<Credential> {
    let issued = dialects().flat_map(|dialect| at_path(dialect.credential_paths(), path));
    let fields: Vec<Vec<&str>> = issued.map(steps).collect();
    match fields.is_empty() {
        true => Vec::new(),
        false => of_fields(content_type, body, &fields, &WRAPPERS[..1]),
    }
}

/// The fields that are listed for a path.
fn at_path<'a>(
    all: &'static [(&'static str, &'static [&'static str])],
    path: &'a str,
) -> impl Iterator<Item = &'static str> + use<'a> {
    let at_path = all.iter().filter(move |(end, _)| ends_like(path, end));
    at_path.flat_map(|(_, fields)| fields.iter().copied())
}

pub(super) fn steps(place: &str) -> Vec<&str> {
    place.split('.').collect()
}

fn of_fields(
    content_type: &str,
    body: &[u8],
    fields: &[Vec<&str>],
    wrappers: &[&[&str]],
) -> Vec<Credential> {
    let kind = content_type.trim_start().to_ascii_lowercase();
    let names = || fields.iter().filter(|field| field.len() == 1).filter_map(|field| field.first());
    let is_field = |name: &str| names().any(|field| *field == name);
    let mut found = Vec::new();
    let mut add = |place: Range<usize>, text: String| {
        if !is_placeholder(&text) {
            found.push(Credential { place, text });
        }
    };
    if kind.starts_with("application/x-www-form-urlencoded") {
        each_form_field(body, &is_field, &mut add);
    } else if kind.starts_with("multipart/") {
        each_part(body, |name, part| match name {
            Some(name) if is_field(&name) => {
                add(part.clone(), String::from_utf8_lossy(&body[part]).trim().to_owned());
            }
            // A file with a request in each line, for example.
            _ => each_field(&body[part.clone()], fields, wrappers, &mut |place, text| {
                add(part.start + place.start..part.start + place.end, text);
            }),
        });
    } else {
        each_field(body, fields, wrappers, &mut add);
    }
    found
}

/// Passes on each text of JSON at one of these places.
pub(super) fn each_field(
    body: &[u8],
    fields: &[Vec<&str>],
    wrappers: &[&[&str]],
    add: &mut impl FnMut(Range<usize>, String),
) {
    each_text(body, |way, place| {
        let is_one = |field: &Vec<&str>| {
            let wrapped = way.len().checked_sub(field.len()).map(|at| way.split_at(at));
            wrapped.is_some_and(|(wrapper, rest)| {
                are_at(rest, field) && wrappers.iter().any(|known| are_at(wrapper, known))
            })
        };
        if fields.iter().any(is_one) {
            let text = unescape(&body[place.clone()]).into_owned();
            add(place, text);
        }
    });
}

/// Whether the way to a text is this one: `*` is any step, and [`A_KEY`] is a field whose name means a key.
fn are_at(way: &[JsonStep<'_>], place: &[&str]) -> bool {
    // The last steps tell most places apart.
    way.len() == place.len()
        && way.iter().zip(place).rev().all(|(step, due)| match (step, *due) {
            (_, "*") | (JsonStep::Item, ITEM) => true,
            (JsonStep::Field(name), A_KEY) => is_a_key(name),
            (JsonStep::Field(name), due) => name == due,
            (JsonStep::Item, _) => false,
        })
}

/// Passes on the values of these fields of a form.
fn each_form_field(
    body: &[u8],
    is_field: &dyn Fn(&str) -> bool,
    add: &mut impl FnMut(Range<usize>, String),
) {
    let mut at = 0;
    for pair in body.split(|byte| *byte == b'&') {
        let begin = at;
        at += pair.len() + 1;
        let Some(equals) = pair.iter().position(|byte| *byte == b'=') else { continue };
        let said = |part: &[u8]| {
            let part = String::from_utf8_lossy(part).trim().replace('+', " ");
            String::from_utf8_lossy(&percent_decoded(&part)).into_owned()
        };
        if is_field(&said(&pair[..equals])) {
            add(begin + equals + 1..begin + pair.len(), said(&pair[equals + 1..]));
        }
    }
}

/// Passes on each part of a form: its name, and where its body stands. The boundary is that of the first line.
fn each_part(body: &[u8], mut each: impl FnMut(Option<String>, Range<usize>)) {
    let Some(first) = memchr::memmem::find(body, b"--") else { return };
    let line = body[first..].split(|byte| matches!(byte, b'\r' | b'\n')).next().unwrap_or_default();
    let begins: Vec<usize> = memchr::memmem::find_iter(&body[first..], line).collect();
    for (number, begin) in begins.iter().enumerate() {
        let begin = first + begin + line.len();
        let end = begins.get(number + 1).map_or(body.len(), |next| first + next);
        let part = &body[begin.min(end)..end];
        let blank = [&b"\r\n\r\n"[..], b"\n\n"]
            .into_iter()
            .filter_map(|blank| memchr::memmem::find(part, blank).map(|at| (at, at + blank.len())));
        let Some((head, from)) = blank.min() else { continue };
        let text = part[from..].strip_suffix(b"\n").unwrap_or(&part[from..]);
        let text = text.strip_suffix(b"\r").unwrap_or(text);
        let head = String::from_utf8_lossy(&part[..head]);
        each(part_name(&head), begin + from..begin + from + text.len());
    }
}

/// The name of a part, in its `Content-Disposition`.
fn part_name(head: &str) -> Option<String> {
    let line = head.lines().find(|line| {
        line.get(..20).is_some_and(|begin| begin.eq_ignore_ascii_case("content-disposition:"))
    })?;
    let named =
        |it: &str| it.trim().strip_prefix("name=").map(|name| name.trim_matches('"').to_owned());
    line.split(';').find_map(named)
}

/// A body with `by` in place of each of these keys. Nothing else in it changes.
pub fn replace(body: &[u8], keys: &[Credential], by: &[u8]) -> Vec<u8> {
    let (mut out, mut from) = (Vec::with_capacity(body.len()), 0);
    for Credential { place, .. } in keys {
        out.extend_from_slice(&body[from..place.start]);
        out.extend_from_slice(by);
        from = place.end;
    }
    out.extend_from_slice(&body[from..]);
    out
}
