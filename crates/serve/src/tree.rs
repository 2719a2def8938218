//! A JSON value as a tree that can be unfolded, cut where it would be too much to look at.

use retold::escaping::printable;
use serde::Serialize;
use serde_json::Value;

/// The most nodes of a tree.
const MOST_NODES: usize = 1_500;

/// The most entries of one list or object.
const MOST_ENTRIES: usize = 100;

/// How deep a tree goes.
const DEEPEST: usize = 8;

/// The longest text of a value, in characters.
const LONGEST_TEXT: usize = 400;

/// A node of a tree.
#[derive(Debug, Serialize)]
pub struct TreeNode {
    /// Its key or number.
    pub key: String,
    /// A value as JSON, or how many entries there are.
    pub text: String,
    /// Whether it has entries.
    pub has_entries: bool,
    /// Whether it, or something in it, differs from the value before.
    pub changed: bool,
    /// The entries that are shown.
    pub entries: Vec<TreeNode>,
    /// How many more there are.
    pub more: usize,
    /// Its JSON pointer.
    pub pointer: String,
}

/// The tree of a value. Its differences from the value `before` are marked.
pub(crate) fn tree(value: &Value, before: Option<&Value>) -> TreeNode {
    let mut left = MOST_NODES;
    node("state", value, before.map(Some), String::new(), 0, &mut left)
}

/// The outer option says whether there is anything to compare with.
fn node(
    key: &str,
    value: &Value,
    before: Option<Option<&Value>>,
    pointer: String,
    depth: usize,
    left: &mut usize,
) -> TreeNode {
    *left = left.saturating_sub(1);
    let changed = before.is_some_and(|before| before != Some(value));
    let (text, has_entries) = match value {
        Value::Object(fields) => (format!("{{{}}}", fields.len()), !fields.is_empty()),
        Value::Array(items) => (format!("[{}]", items.len()), !items.is_empty()),
        other => (printable(&other.to_string(), LONGEST_TEXT), false),
    };
    let mut entries = Vec::new();
    let mut more = 0;
    let all: Vec<(String, &Value)> = match value {
        Value::Object(fields) => fields.iter().map(|(key, value)| (key.clone(), value)).collect(),
        Value::Array(items) => {
            items.iter().enumerate().map(|(at, value)| (at.to_string(), value)).collect()
        }
        _ => Vec::new(),
    };
    let of = |key: &str| match before {
        Some(Some(Value::Object(fields))) => Some(fields.get(key)),
        Some(Some(Value::Array(items))) => {
            Some(key.parse().ok().and_then(|at: usize| items.get(at)))
        }
        Some(_) => Some(None),
        None => None,
    };
    // What changed is shown in any case: it is what one looks for.
    let is_changed =
        |(key, value): &&(String, &Value)| of(key).is_some_and(|before| before != Some(*value));
    let mut shown: Vec<&(String, &Value)> = all.iter().take(MOST_ENTRIES).collect();
    shown.extend(all.iter().skip(MOST_ENTRIES).filter(is_changed).take(MOST_ENTRIES));
    for (key, value) in shown {
        if depth >= DEEPEST || *left == 0 {
            break;
        }
        let step = key.replace('~', "~0").replace('/', "~1");
        let pointer = format!("{pointer}/{step}");
        entries.push(node(key, value, of(key), pointer, depth + 1, left));
    }
    more += all.len() - entries.len();
    TreeNode { key: key.to_owned(), text, has_entries, changed, entries, more, pointer }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_changed_is_marked_up_to_the_root_and_never_cut() {
        let mut before = json!({"a": {"x": 1, "y": [1, 2]}, "list": vec![0; 500]});
        let now = {
            let mut now = before.clone();
            now["a"]["y"][1] = json!(3);
            now["list"][400] = json!(1);
            now
        };
        let shown = tree(&now, Some(&before));
        assert!(shown.changed && shown.entries[0].changed);
        let a = &shown.entries[0];
        assert!(!a.entries[0].changed && a.entries[1].entries[1].changed);
        let list = &shown.entries[1];
        assert_eq!((list.entries.len(), list.more), (MOST_ENTRIES + 1, 399));
        assert_eq!(list.entries.last().unwrap().pointer, "/list/400");
        before["new"] = json!(1);
        assert!(tree(&now, Some(&before)).changed && !tree(&now, Some(&now)).changed);
        assert!(!tree(&now, None).changed);
    }

    #[test]
    fn a_large_value_is_cut() {
        let wide: Vec<Vec<u32>> = vec![vec![1; 200]; 200];
        let shown = tree(&json!(wide), None);
        fn nodes(node: &TreeNode) -> usize {
            1 + node.entries.iter().map(nodes).sum::<usize>()
        }
        assert!(nodes(&shown) <= MOST_NODES + 1);
    }
}
