//! What groups are named by.

use std::cmp::Ordering;
use std::fmt;

use retold::escaping::printable;
use serde::{Serialize, Serializer};

/// The longest value of a label that is shown.
const LONGEST: usize = 60;

/// A value by which values are grouped. Values are sorted as people sort them: `2` before `10`, and runs in the order
/// in which they were named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GroupValue {
    /// The value of a label.
    Label(String),
    /// The calls lack the label.
    Unlabelled,
    /// A run.
    Run {
        /// Its place among the runs.
        place: usize,
        /// Its name.
        name: String,
    },
}

impl GroupValue {
    /// The value of a label that calls may lack.
    pub fn of_label(value: Option<String>) -> Self {
        value.map_or(GroupValue::Unlabelled, GroupValue::Label)
    }

    /// It as text; `None` if the calls lack the label.
    pub fn text(&self) -> Option<&str> {
        match self {
            GroupValue::Label(text) | GroupValue::Run { name: text, .. } => Some(text),
            GroupValue::Unlabelled => None,
        }
    }
}

impl Ord for GroupValue {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (GroupValue::Label(one), GroupValue::Label(other)) => natural_order(one, other),
            (GroupValue::Unlabelled, GroupValue::Unlabelled) => Ordering::Equal,
            (GroupValue::Run { place: one, .. }, GroupValue::Run { place: other, .. }) => {
                one.cmp(other)
            }
            _ => self.rank().cmp(&other.rank()),
        }
    }
}

impl GroupValue {
    /// The kinds of values in their order.
    fn rank(&self) -> u8 {
        match self {
            GroupValue::Label(_) => 0,
            GroupValue::Unlabelled => 1,
            GroupValue::Run { .. } => 2,
        }
    }
}

impl PartialOrd for GroupValue {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The value, inert. What would look like a missing one is in quotation marks.
impl fmt::Display for GroupValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.text() {
            None => f.write_str("(none)"),
            Some(text) if text.trim().is_empty() || text == "(none)" => {
                write!(f, "\"{}\"", printable(text, LONGEST))
            }
            Some(text) => f.write_str(&printable(text, LONGEST)),
        }
    }
}

/// As its text; `null` if the calls lack the label.
impl Serialize for GroupValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.text().serialize(serializer)
    }
}

/// The order in which numbers within texts count as numbers: `day 2` is before `day 10`.
pub fn natural_order(one: &str, other: &str) -> Ordering {
    let mut parts = parts(one).zip(parts(other));
    let different = parts.find_map(|(one, other)| {
        let order = match (is_number(one), is_number(other)) {
            (true, true) => {
                let (one, other) = (one.trim_start_matches('0'), other.trim_start_matches('0'));
                one.len().cmp(&other.len()).then_with(|| one.cmp(other))
            }
            _ => one.cmp(other),
        };
        order.is_ne().then_some(order)
    });
    // Where one is the beginning of the other, or they differ in zeros alone.
    different.unwrap_or_else(|| {
        self::parts(one).count().cmp(&self::parts(other).count()).then_with(|| one.cmp(other))
    })
}

fn is_number(part: &str) -> bool {
    part.starts_with(|c: char| c.is_ascii_digit())
}

/// Splits a text into runs of digits and the parts between them.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?.is_ascii_digit();
        let end = rest.find(|c: char| c.is_ascii_digit() != first).unwrap_or(rest.len());
        let (part, after) = rest.split_at(end);
        rest = after;
        Some(part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn values_are_sorted_as_people_sort_them() {
        let mut days = ["day 10", "day 2", "10", "2", "01", "1", "", "a", "1.5", "day 2b"]
            .map(|text| GroupValue::Label(text.to_owned()))
            .to_vec();
        days.push(GroupValue::Unlabelled);
        days.sort();
        let sorted: Vec<String> = days.iter().map(ToString::to_string).collect();
        let expected =
            ["\"\"", "01", "1", "1.5", "2", "10", "a", "day 2", "day 2b", "day 10", "(none)"];
        assert_eq!(sorted, expected);
        let run = |place, name: &str| GroupValue::Run { place, name: name.to_owned() };
        assert!(run(0, "treatment") < run(1, "control"));
    }

    #[test]
    fn what_looks_like_a_missing_label_is_in_quotation_marks() {
        let shown = |text: &str| GroupValue::of_label(Some(text.to_owned())).to_string();
        assert_eq!(shown("(none)"), "\"(none)\"");
        assert_eq!(shown(" "), "\" \"");
        assert_eq!(GroupValue::of_label(None).to_string(), "(none)");
        assert_eq!(serde_json::json!(GroupValue::Unlabelled), serde_json::Value::Null);
    }

    proptest! {
        #[test]
        fn the_order_is_total(texts in proptest::collection::vec("[ab019]{0,4}", 3)) {
            let order = |one: usize, other: usize| natural_order(&texts[one], &texts[other]);
            prop_assert_eq!(order(0, 1), order(1, 0).reverse());
            prop_assert_eq!(order(0, 1).is_eq(), texts[0] == texts[1]);
            if order(0, 1).is_le() && order(1, 2).is_le() {
                prop_assert!(order(0, 2).is_le());
            }
        }
    }
}
