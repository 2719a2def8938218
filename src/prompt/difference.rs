//! The first difference between two requests: the heart of every divergence report.

use std::fmt;

use super::request::{Api, Request};
use crate::escaping::{inert_lines, printable};
use crate::text_diff::{WordDifference, unified_diff};
use serde_json::{Map, Value};

/// The longest excerpt, in characters.
const LONGEST: usize = 80;

/// The first point where two requests differ. `before` is the recorded side, `after` the current
/// one; both are complete and unescaped. There are two safe ways to show them: [`fmt::Display`]
/// shows two short excerpts, [`Difference::diff`] everything that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Difference {
    /// A message has another role or another text.
    Message {
        /// Which message, from 0.
        index: usize,
        /// Its role and text as recorded.
        before: (String, String),
        /// Its role and text as asked now.
        after: (String, String),
    },
    /// All messages of the shorter conversation are the same, but the other one continues.
    Length {
        /// How many messages were recorded.
        before: usize,
        /// How many are asked now.
        after: usize,
        /// Role and text of the first message that only one of them has.
        next: (String, String),
    },
    /// The messages are the same, but a parameter differs.
    Field {
        /// The name of the parameter, or `api`.
        name: String,
        /// The recorded value; `None` if there was none.
        before: Option<Value>,
        /// The value asked now; `None` if there is none.
        after: Option<Value>,
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
            before: Some(api_name(before.api()).into()),
            after: Some(api_name(after.api()).into()),
        });
    }
    messages(before, after).or_else(|| fields(before, after))
}

/// How many messages two requests share, counted from the first.
pub(crate) fn shared_messages(a: &Request, b: &Request) -> usize {
    a.messages().iter().zip(&b.messages()).take_while(|(x, y)| x == y).count()
}

fn messages(before: &Request, after: &Request) -> Option<Difference> {
    let (old, new) = (before.messages(), after.messages());
    let differing = old.iter().zip(&new).position(|(x, y)| x != y);
    if let Some(index) = differing {
        let (before, after) = (old[index].clone(), new[index].clone());
        return Some(Difference::Message { index, before, after });
    }
    let next = old.get(new.len()).or_else(|| new.get(old.len()))?.clone();
    Some(Difference::Length { before: old.len(), after: new.len(), next })
}

fn fields(before: &Request, after: &Request) -> Option<Difference> {
    let none = Map::new();
    let old = before.body().as_object().unwrap_or(&none);
    let new = after.body().as_object().unwrap_or(&none);
    let mut names: Vec<&String> = old.keys().chain(new.keys()).collect();
    // The messages read the same, but may differ in a part that is not shown as text: last, so that
    // a parameter takes precedence.
    names.sort_by_key(|name| (matches!(name.as_str(), "messages" | "input"), *name));
    let name = names.into_iter().find(|name| !alike(old.get(*name), new.get(*name)))?;
    let (before, after) = (old.get(name).cloned(), new.get(name).cloned());
    Some(Difference::Field { name: name.clone(), before, after })
}

/// Whether they are equal as canonical JSON, where `1` and `1.0` are the same number.
fn alike(a: Option<&Value>, b: Option<&Value>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) if a == b => true,
        (Some(a), Some(b)) => {
            matches!((super::canonical(a), super::canonical(b)), (Ok(a), Ok(b)) if a == b)
        }
        (None, None) => true,
        _ => false,
    }
}

/// Both texts around the first character that differs.
fn excerpts(a: &str, b: &str) -> (String, String) {
    const LEAD: usize = 30;
    let common: usize =
        a.chars().zip(b.chars()).take_while(|(x, y)| x == y).map(|(x, _)| x.len_utf8()).sum();
    let lead: usize = a[..common].chars().rev().take(LEAD).map(char::len_utf8).sum();
    let start = common - lead;
    let cut = |text: &str| {
        let dots = if start > 0 { "…" } else { "" };
        format!("{dots}{}", printable(&text[start..], LONGEST))
    };
    (cut(a), cut(b))
}

fn api_name(api: Api) -> &'static str {
    match api {
        Api::Chat => "chat",
        Api::Embedding => "embedding",
        Api::Tool => "tool",
    }
}

impl Difference {
    /// All differences: a line that says where, and a unified diff with two lines of context.
    pub fn diff(&self) -> String {
        match self {
            Difference::Message { index, before: (old_role, old), after: (new_role, new) } => {
                let place = format!("first difference: message {}", index + 1);
                if old_role == new_role {
                    format!("{place} ({})\n{}", printable(old_role, 40), inert_diff(old, new))
                } else {
                    format!("{place}, its role\n{}", inert_diff(old_role, new_role))
                }
            }
            Difference::Length { before, after, next: (role, text) } => {
                let (old, new) =
                    if before < after { ("", text.as_str()) } else { (text.as_str(), "") };
                let lengths = self.lengths(*before, *after);
                format!("{lengths}, the next ({})\n{}", printable(role, 40), inert_diff(old, new))
            }
            Difference::Field { name, before, after } => {
                let lines = |value: &Option<Value>| match value {
                    Some(value) => format!("{value:#}"),
                    None => String::new(),
                };
                let name = printable(name, LONGEST);
                format!("first difference: {name}\n{}", inert_diff(&lines(before), &lines(after)))
            }
        }
    }

    /// What differs, word by word.
    pub fn words(&self) -> Option<WordDifference> {
        match self {
            Difference::Message { index, before: (old_role, old), after: (new_role, new) } => {
                let of = format!("message {} ({})", index + 1, printable(new_role, 40));
                match old_role == new_role {
                    true => WordDifference::new(of, old, new),
                    false => {
                        let (old, new) =
                            (format!("{old_role}: {old}"), format!("{new_role}: {new}"));
                        WordDifference::new(of, &old, &new)
                    }
                }
            }
            Difference::Length { before, after, next: (role, text) } => {
                let (number, role) = (before.min(after) + 1, printable(role, 40));
                let of = format!("message {number} ({role}), which only one of the prompts has");
                let (old, new) =
                    if before < after { ("", text.as_str()) } else { (text.as_str(), "") };
                WordDifference::new(of, old, new)
            }
            Difference::Field { name, before, after } => {
                let text = |value: &Option<Value>| {
                    value.as_ref().map_or_else(String::new, ToString::to_string)
                };
                WordDifference::new(printable(name, 60), &text(before), &text(after))
            }
        }
    }

    fn lengths(&self, before: usize, after: usize) -> String {
        let alike = match before.min(after) {
            1 => "the first message is the same".to_owned(),
            n => format!("the first {n} messages are the same"),
        };
        format!("{alike}; {before} recorded, {after} asked now")
    }
}

/// A unified diff with two lines of context, made safe to show.
pub(crate) fn inert_diff(old: &str, new: &str) -> String {
    unified_diff(&inert_lines(old), &inert_lines(new), ["recorded", "now"])
}

impl fmt::Display for Difference {
    /// A line that says where, and two lines to compare.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Difference::Message { index, before: (old_role, old), after: (new_role, new) } => {
                let (old, new) = excerpts(old, new);
                writeln!(f, "first difference in message {}:", index + 1)?;
                writeln!(f, "  recorded  {}: {old}", printable(old_role, 40))?;
                write!(f, "  asked now {}: {new}", printable(new_role, 40))
            }
            Difference::Length { before, after, next: (role, text) } => {
                let side = if before < after { "asked now" } else { "recorded " };
                writeln!(f, "{}:", self.lengths(*before, *after))?;
                write!(f, "  {side} {}: {}", printable(role, 40), printable(text, LONGEST))
            }
            Difference::Field { name, before, after } => {
                let (old, new) = match (before, after) {
                    (Some(old), Some(new)) => excerpts(&old.to_string(), &new.to_string()),
                    (old, new) => {
                        let shown = |value: &Option<Value>| match value {
                            Some(value) => printable(&value.to_string(), LONGEST),
                            None => "(not given)".to_owned(),
                        };
                        (shown(old), shown(new))
                    }
                };
                writeln!(f, "first difference in \"{}\":", printable(name, LONGEST))?;
                writeln!(f, "  recorded  {old}")?;
                write!(f, "  asked now {new}")
            }
        }
    }
}
