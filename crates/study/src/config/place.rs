//! Finds where a key is in a config file.

use std::fmt;
use std::path::Path;

use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use serde_saphyr::Spanned;

use super::error::{ConfigError, snippet};

/// Adds the line to an error that names only its key ([`ConfigError::Value`]): the line of the key
/// in the file, or of the nearest group around it. A value from `--set` is reported as such,
/// because it is in no line. Keys are written with dots and list items in brackets, from 0:
/// `topic.options[2]`.
pub fn located(error: ConfigError, file: &Path, text: &str, overrides: &[String]) -> ConfigError {
    let ConfigError::Value { path, key, message } = error else { return error };
    let place = key.split('[').next().unwrap_or(&key).to_owned();
    if let Some(setting) = overrides.iter().rev().find(|setting| sets(setting, &place)) {
        let (name, _) = setting.split_once('=').unwrap_or((setting, ""));
        let message = if name == key { message } else { format!("{key}: {message}") };
        return ConfigError::of_override(setting, message);
    }
    // A mistake in another file, or one that is not in the file's text.
    let found = if path == file.display().to_string() { find(text, &key) } else { None };
    match found {
        None => ConfigError::Value { path, key, message },
        Some((line, column)) => {
            let snippet = snippet(text, line);
            ConfigError::Invalid {
                path,
                line,
                column,
                message: format!("{key}: {message}"),
                snippet,
            }
        }
    }
}

/// Whether a `KEY=VALUE` sets a key, a group around it, or a part of it.
fn sets(setting: &str, key: &str) -> bool {
    let name = setting.split('=').next().unwrap_or("");
    let within = |part: &str, whole: &str| {
        part.strip_prefix(whole).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    within(key, name) || within(name, key)
}

/// Line and column, from 1, of a key or of the nearest group around it.
fn find(text: &str, key: &str) -> Option<(u64, u64)> {
    let Outline(root) = Outline::new(text)?;
    let (mut node, mut rest, mut place) = (&root.value, key, None);
    while !rest.is_empty() {
        let Some((next, at, left)) = step(node, rest) else { break };
        (node, rest, place) = (next, left, Some(at));
    }
    place
}

/// One step down a key: the node, its place, and the rest of the key.
fn step<'a, 'k>(node: &'a YamlNode, key: &'k str) -> Option<(&'a YamlNode, (u64, u64), &'k str)> {
    match node {
        YamlNode::Leaf(_) => None,
        YamlNode::List(items) => {
            let (number, left) = key.strip_prefix('[')?.split_once(']')?;
            let item = items.get(number.parse::<usize>().ok()?)?;
            Some((&item.value, at(item), left.trim_start_matches('.')))
        }
        // A key may itself contain dots: the longest match is used.
        YamlNode::Map(entries) => {
            let fitting = entries.iter().filter_map(|(name, value)| {
                let left = key.strip_prefix(name.value.as_str())?;
                let ends = left.is_empty() || left.starts_with(['.', '[']);
                ends.then_some((name, value, left.strip_prefix('.').unwrap_or(left)))
            });
            let (name, value, left) = fitting.max_by_key(|(name, ..)| name.value.len())?;
            Some((&value.value, at(name), left))
        }
    }
}

/// A YAML file's keys and values, and where they are.
enum YamlNode {
    Map(Vec<(Spanned<String>, Spanned<YamlNode>)>),
    List(Vec<Spanned<YamlNode>>),
    Leaf(Value),
}

/// A value in a config.
pub(super) struct ConfigValue {
    /// Where it is in [`Outline::value`], as a JSON pointer.
    pub(super) pointer: String,
    /// With dots; list items in brackets, from 0. Empty for the whole config.
    pub(super) key: String,
    /// Line and column of its key, or of the list item; 1 and 1 for the whole config.
    pub(super) place: (u64, u64),
}

/// The contents of a file, with their places.
pub(super) struct Outline(Spanned<YamlNode>);

impl Outline {
    /// The outline of a YAML text.
    pub(super) fn new(text: &str) -> Option<Outline> {
        serde_saphyr::from_str(text).ok().map(Outline)
    }

    /// The whole config as a value.
    pub(super) fn value(&self) -> Value {
        self.0.value.value()
    }

    /// The value that begins at a place.
    pub(super) fn value_at(&self, place: (u64, u64)) -> Option<ConfigValue> {
        self.search(&|node| at(node) == place)
    }

    /// The group that has a key at a place, or that is empty and begins there.
    pub(super) fn group_at(&self, place: (u64, u64)) -> Option<ConfigValue> {
        self.search(&|node| match &node.value {
            YamlNode::Map(entries) if entries.is_empty() => at(node) == place,
            YamlNode::Map(entries) => entries.iter().any(|(name, _)| at(name) == place),
            _ => false,
        })
    }

    fn search(&self, is_it: &dyn Fn(&Spanned<YamlNode>) -> bool) -> Option<ConfigValue> {
        let first = match &self.0.value {
            YamlNode::Map(entries) => entries.first().map(|(name, _)| at(name)),
            _ => None,
        };
        let place = first.unwrap_or_else(|| at(&self.0));
        inner(&self.0, ConfigValue { pointer: String::new(), key: String::new(), place }, is_it)
    }
}

/// The innermost node that satisfies a condition.
fn inner(
    node: &Spanned<YamlNode>,
    here: ConfigValue,
    is_it: &dyn Fn(&Spanned<YamlNode>) -> bool,
) -> Option<ConfigValue> {
    let below = match &node.value {
        YamlNode::Leaf(_) => None,
        YamlNode::List(items) => items.iter().enumerate().find_map(|(number, item)| {
            let pointer = format!("{}/{number}", here.pointer);
            let key = format!("{}[{number}]", here.key);
            inner(item, ConfigValue { pointer, key, place: at(item) }, is_it)
        }),
        YamlNode::Map(entries) => entries.iter().find_map(|(name, value)| {
            let escaped = name.value.replace('~', "~0").replace('/', "~1");
            let pointer = format!("{}/{escaped}", here.pointer);
            let dot = if here.key.is_empty() { "" } else { "." };
            let key = format!("{}{dot}{}", here.key, name.value);
            inner(value, ConfigValue { pointer, key, place: at(name) }, is_it)
        }),
    };
    below.or_else(|| is_it(node).then_some(here))
}

/// Line and column of a node.
fn at<T>(spanned: &Spanned<T>) -> (u64, u64) {
    (spanned.referenced.line(), spanned.referenced.column())
}

impl YamlNode {
    fn value(&self) -> Value {
        match self {
            YamlNode::Leaf(value) => value.clone(),
            YamlNode::List(items) => items.iter().map(|item| item.value.value()).collect(),
            YamlNode::Map(entries) => {
                let entries = entries.iter();
                Value::Object(entries.map(|(k, v)| (k.value.clone(), v.value.value())).collect())
            }
        }
    }
}

impl<'de> Deserialize<'de> for YamlNode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NodeVisitor)
    }
}

struct NodeVisitor;

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = YamlNode;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("YAML")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<YamlNode, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(YamlNode::Map(entries))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<YamlNode, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element()? {
            items.push(item);
        }
        Ok(YamlNode::List(items))
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<YamlNode, E> {
        Ok(YamlNode::Leaf(value.into()))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<YamlNode, E> {
        Ok(YamlNode::Leaf(value.into()))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<YamlNode, E> {
        Ok(YamlNode::Leaf(value.into()))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<YamlNode, E> {
        Ok(YamlNode::Leaf(value.into()))
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<YamlNode, E> {
        Ok(YamlNode::Leaf(value.into()))
    }

    fn visit_unit<E: de::Error>(self) -> Result<YamlNode, E> {
        Ok(YamlNode::Leaf(Value::Null))
    }
}

#[cfg(test)]
mod tests {
    use super::find;

    const TEXT: &str = "a: 1\nb:\n  c: x # c\n  \"d.e\": [1, 2.5]\nl:\n  - k: 1\n  - ~\n";

    #[test]
    fn a_key_is_found_at_any_depth() {
        assert_eq!(find(TEXT, "a"), Some((1, 1)));
        assert_eq!(find(TEXT, "b.c"), Some((3, 3)));
        assert_eq!(find(TEXT, "b.d.e[1]"), Some((4, 14)), "a key may have dots");
        assert_eq!(find(TEXT, "l[0].k"), Some((6, 5)));
        assert_eq!(find(TEXT, "l[1]"), Some((7, 5)));
    }

    #[test]
    fn what_is_missing_is_placed_in_the_nearest_group() {
        assert_eq!(find(TEXT, "b.x"), Some((2, 1)));
        assert_eq!(find(TEXT, "l[7].k"), Some((5, 1)));
        assert_eq!(find(TEXT, "x.y"), None);
        assert_eq!(find("", "a"), None);
    }
}
