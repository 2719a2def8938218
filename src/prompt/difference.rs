//! Where two requests part: the heart of every divergence report.

use std::fmt;

use serde_json::{Map, Value};

use super::request::{Api, Request};
use crate::inert::inert;

/// The longest excerpt, in characters.
const LONGEST: usize = 80;

/// The first point where two requests differ. `before` is what was recorded, `after` what is asked
/// now; both are excerpts, safe to show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Difference {
    /// A message has another role or another text.
    Message {
        /// Which message, from 0.
        index: usize,
        /// The role and the text around the first differing character, recorded.
        before: (String, String),
        /// The same of the request asked now.
        after: (String, String),
    },
    /// All messages of the shorter conversation are alike; the other goes on.
    Length {
        /// How many messages were recorded.
        before: usize,
        /// How many are asked now.
        after: usize,
        /// Role and beginning of the first message that only one of them has.
        next: (String, String),
    },
    /// The messages are alike; a parameter differs.
    Field {
        /// The name of the parameter, or `api`.
        name: String,
        /// The value recorded, as JSON; `None` if it was not given.
        before: Option<String>,
        /// The value asked now.
        after: Option<String>,
    },
}

/// The first difference of two requests: messages first, in order, then parameters by name.
/// `None` if they are the same request.
pub fn first_difference(before: &Request, after: &Request) -> Option<Difference> {
    if before.hash() == after.hash() {
        return None;
    }
    if before.api() != after.api() {
        return Some(Difference::Field {
            name: "api".to_owned(),
            before: Some(api_name(before.api()).to_owned()),
            after: Some(api_name(after.api()).to_owned()),
        });
    }
    messages(before, after).or_else(|| fields(before, after))
}

/// How many messages two requests share from the start.
pub(crate) fn shared_messages(a: &Request, b: &Request) -> usize {
    a.messages().iter().zip(&b.messages()).take_while(|(x, y)| x == y).count()
}

fn messages(before: &Request, after: &Request) -> Option<Difference> {
    let (old, new) = (before.messages(), after.messages());
    let differing = old.iter().zip(&new).position(|(x, y)| x != y);
    if let Some(index) = differing {
        let (x, y) = excerpts(&old[index].1, &new[index].1);
        return Some(Difference::Message {
            index,
            before: (inert(&old[index].0, 40), x),
            after: (inert(&new[index].0, 40), y),
        });
    }
    let next = old.get(new.len()).or_else(|| new.get(old.len()))?;
    Some(Difference::Length {
        before: old.len(),
        after: new.len(),
        next: (inert(&next.0, 40), inert(&next.1, LONGEST)),
    })
}

fn fields(before: &Request, after: &Request) -> Option<Difference> {
    let none = Map::new();
    let old = before.body().as_object().unwrap_or(&none);
    let new = after.body().as_object().unwrap_or(&none);
    let mut names: Vec<&String> = old.keys().chain(new.keys()).collect();
    // The messages read alike, but may differ in a part that is not shown as text: last, so that a
    // parameter is preferred.
    names.sort_by_key(|name| (matches!(name.as_str(), "messages" | "input"), *name));
    let name = names.into_iter().find(|name| !alike(old.get(*name), new.get(*name)))?;
    let (x, y) = (old.get(name).map(Value::to_string), new.get(name).map(Value::to_string));
    let (before, after) = match (x, y) {
        (Some(x), Some(y)) => {
            let (x, y) = excerpts(&x, &y);
            (Some(x), Some(y))
        }
        (x, y) => (x.map(|x| inert(&x, LONGEST)), y.map(|y| inert(&y, LONGEST))),
    };
    Some(Difference::Field { name: inert(name, 80), before, after })
}

/// Equal as canonical JSON: `1` and `1.0` are the same number.
fn alike(a: Option<&Value>, b: Option<&Value>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => a == b || super::canonical(a) == super::canonical(b),
        (None, None) => true,
        _ => false,
    }
}

/// Both texts around their first differing character.
fn excerpts(a: &str, b: &str) -> (String, String) {
    const LEAD: usize = 30;
    let common: usize =
        a.chars().zip(b.chars()).take_while(|(x, y)| x == y).map(|(x, _)| x.len_utf8()).sum();
    let lead: usize = a[..common].chars().rev().take(LEAD).map(char::len_utf8).sum();
    let start = common - lead;
    let cut = |text: &str| {
        let dots = if start > 0 { "…" } else { "" };
        format!("{dots}{}", inert(&text[start..], LONGEST))
    };
    (cut(a), cut(b))
}

fn api_name(api: Api) -> &'static str {
    match api {
        Api::Chat => "chat",
        Api::Embedding => "embedding",
    }
}

impl fmt::Display for Difference {
    /// Two lines to be read one below the other, after a line that says where.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Difference::Message { index, before: (old_role, old), after: (new_role, new) } => {
                writeln!(f, "first difference in message {}:", index + 1)?;
                writeln!(f, "  recorded  {old_role}: {old}")?;
                write!(f, "  asked now {new_role}: {new}")
            }
            Difference::Length { before, after, next: (role, text) } => {
                let (shared, side) =
                    if before < after { (before, "asked now") } else { (after, "recorded ") };
                let alike = match shared {
                    1 => "the first message is the same".to_owned(),
                    n => format!("the first {n} messages are the same"),
                };
                writeln!(f, "{alike}; {before} recorded, {after} asked now:")?;
                write!(f, "  {side} {role}: {text}")
            }
            Difference::Field { name, before, after } => {
                let shown = |value: &Option<String>| {
                    value.clone().unwrap_or_else(|| "(not given)".to_owned())
                };
                writeln!(f, "first difference in \"{name}\":")?;
                writeln!(f, "  recorded  {}", shown(before))?;
                write!(f, "  asked now {}", shown(after))
            }
        }
    }
}
