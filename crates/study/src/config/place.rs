//! Finds where a key is in a config file.

use std::path::Path;

use super::error::{ConfigError, snippet};
use super::node::{Place, YamlContent, YamlNode};

/// Adds the line to an error that names only its key ([`ConfigError::Value`]): the line of the key
/// in the file, or of the nearest group around it. A value from `--set` is reported as such,
/// because it is in no line. Keys are written with dots and list items in brackets, from 0:
/// `topic.options[2]`.
pub fn locate(error: ConfigError, file: &Path, text: &str, overrides: &[String]) -> ConfigError {
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

/// The place of a key or of the nearest group around it.
fn find(text: &str, key: &str) -> Option<Place> {
    let root = YamlNode::read(text).ok()?;
    let (mut node, mut rest, mut place) = (&root, key, None);
    while !rest.is_empty() {
        let Some((next, at, left)) = step(node, rest) else { break };
        (node, rest, place) = (next, left, at);
    }
    place
}

/// One step down a key: the node, its place, and the rest of the key.
fn step<'a, 'k>(
    node: &'a YamlNode,
    key: &'k str,
) -> Option<(&'a YamlNode, Option<Place>, &'k str)> {
    match &node.content {
        YamlContent::Text(_) | YamlContent::Plain(..) => None,
        YamlContent::List(items) => {
            let (number, left) = key.strip_prefix('[')?.split_once(']')?;
            let item = items.get(number.parse::<usize>().ok()?)?;
            Some((item, item.place, left.trim_start_matches('.')))
        }
        // A key may itself contain dots: the longest match is used.
        YamlContent::Group(entries) => {
            let fitting = entries.iter().filter_map(|(key_here, value)| {
                let left = key.strip_prefix(key_here.name.as_str())?;
                let ends = left.is_empty() || left.starts_with(['.', '[']);
                ends.then_some((key_here, value, left.strip_prefix('.').unwrap_or(left)))
            });
            let (found, value, left) = fitting.max_by_key(|(key, ..)| key.name.len())?;
            Some((value, found.place, left))
        }
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
