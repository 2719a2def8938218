//! Which values two raters gave to the same answers.

use std::collections::{BTreeMap, BTreeSet};

use retold::counted::group_digits;
use retold::escaping::printable;
use serde::Serialize;
use serde_json::Value;

use super::RaterPair;
use crate::table::natural_order;

/// The most values of a matrix: more cannot be read.
const MOST: usize = 12;

/// The longest value that is shown, in characters, and the longest in a terminal.
const LONGEST: usize = 40;
const COLUMNS: usize = 12;

/// How dark a cell is, by the share of its row.
const SHADES: [char; 4] = ['░', '▒', '▓', '█'];

/// How often one rater gave a value where the other gave another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ValueMatrix {
    /// The values, as people sort them.
    pub values: Vec<String>,
    /// For each value of the first rater, how often the second gave each value.
    pub counts: Vec<Vec<u64>>,
}

impl ValueMatrix {
    /// Of the values that both gave to each answer; `None` if there are none, or too many different ones.
    pub(super) fn new<'a>(both: impl Iterator<Item = (&'a Value, &'a Value)>) -> Option<Self> {
        let mut counts: BTreeMap<(String, String), u64> = BTreeMap::new();
        for (one, other) in both {
            *counts.entry((value_text(one), value_text(other))).or_default() += 1;
        }
        let values: BTreeSet<&String> =
            counts.keys().flat_map(|(one, other)| [one, other]).collect();
        if values.is_empty() || values.len() > MOST {
            return None;
        }
        let mut values: Vec<String> = values.into_iter().cloned().collect();
        values.sort_by(|one, other| natural_order(one, other));
        let row = |one: &String| {
            let count = |other: &String| counts.get(&(one.clone(), other.clone())).copied();
            values.iter().map(|other| count(other).unwrap_or(0)).collect()
        };
        Some(ValueMatrix { counts: values.iter().map(row).collect(), values: values.clone() })
    }

    /// The share of a cell in its row, from 0 to 1.
    pub fn share(&self, row: usize, column: usize) -> f64 {
        let Some(row) = self.counts.get(row) else { return 0.0 };
        let all: u64 = row.iter().sum();
        row.get(column).copied().unwrap_or(0) as f64 / all.max(1) as f64
    }

    /// The values, inert.
    pub fn names(&self) -> impl Iterator<Item = String> {
        self.values.iter().map(|value| printable(value, LONGEST))
    }
}

/// A value as text. What looks like a text or a number of another type is in its JSON form.
fn value_text(value: &Value) -> String {
    match value {
        Value::String(text) if serde_json::from_str::<Value>(text).is_err() => text.clone(),
        other => other.to_string(),
    }
}

impl RaterPair {
    /// How often they gave the same value: `the same for 33 of 36 answers`.
    pub fn same_text(&self) -> String {
        format!("the same for {} of {} answers", group_digits(self.same), group_digits(self.both))
    }

    /// Its matrix in a terminal: a row for each value of the first rater, with how often the second gave each value. Empty
    /// without a matrix.
    pub fn matrix_lines(&self) -> Vec<String> {
        let Some(matrix) = &self.matrix else { return Vec::new() };
        let names: Vec<String> =
            matrix.names().map(|name| name.chars().take(COLUMNS).collect()).collect();
        let name_width = |name: &String| name.chars().count();
        let first = names.iter().map(name_width).max().unwrap_or(0);
        let widths = names.iter().zip(0..).map(|(name, column): (_, usize)| {
            let counts = matrix.counts.iter().filter_map(|row| row.get(column));
            let longest = counts.map(|count| group_digits(*count).len() + 2).max().unwrap_or(0);
            longest.max(name_width(name))
        });
        let widths: Vec<usize> = widths.collect();
        let heads = names.iter().zip(&widths).map(|(name, width)| format!("  {name:>width$}"));
        let row = |(at, name): (usize, &String)| {
            let cells = widths.iter().enumerate().map(|(column, width)| {
                let count = matrix.counts.get(at).and_then(|row| row.get(column)).copied();
                let count = count.unwrap_or(0);
                let cell = format!("{}{}", shade(matrix.share(at, column)), group_digits(count));
                format!("  {cell:>width$}")
            });
            format!("  {name:<first$}{}", cells.collect::<String>())
        };
        let (one, other) = (printable(&self.one, LONGEST), printable(&self.other, LONGEST));
        let title = format!("rows: {one}; columns: {other}");
        let heads = format!("  {:first$}{}", "", heads.collect::<String>());
        [title, heads].into_iter().chain(names.iter().enumerate().map(row)).collect()
    }
}

/// A shade and a space for a share; nothing for none.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "one of four shades")]
fn shade(share: f64) -> String {
    if share <= 0.0 {
        return String::new();
    }
    let at = ((share * SHADES.len() as f64).ceil() as usize).clamp(1, SHADES.len());
    SHADES.get(at - 1).map_or_else(String::new, |shade| format!("{shade} "))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn pair(both: &[(Value, Value)]) -> RaterPair {
        let (one, other) = ("vote".to_owned(), "ada".to_owned());
        let same = both.iter().filter(|(one, other)| one == other).count() as u64;
        let matrix = ValueMatrix::new(both.iter().map(|(one, other)| (one, other)));
        RaterPair { one, other, both: both.len() as u64, same, kappa: None, matrix }
    }

    #[test]
    fn a_matrix_has_a_row_for_each_value_of_the_first_rater() {
        let mut both = vec![(json!("yes"), json!("yes")); 20];
        both.extend(vec![(json!("no"), json!("no")); 12]);
        both.push((json!("no"), json!("yes")));
        both.push((json!("do not know"), json!(2)));
        let pair = pair(&both);
        insta::assert_snapshot!(pair.matrix_lines().join("\n"));
        assert_eq!(pair.same_text(), "the same for 32 of 34 answers");
    }

    #[test]
    fn numbers_are_sorted_as_such_and_a_text_is_not_a_number() {
        let both = [10, 9, 100].map(|value| (json!(value), json!(value)));
        assert_eq!(pair(&both).matrix.unwrap().values, ["9", "10", "100"]);
        let matrix = pair(&[(json!("1"), json!(1)), (json!(true), json!("true"))]).matrix.unwrap();
        assert_eq!(matrix.values.len(), 4, "{:?}", matrix.values);
    }

    #[test]
    fn nothing_and_too_many_values_have_no_matrix() {
        assert_eq!(pair(&[]).matrix, None);
        let many: Vec<(Value, Value)> = (0..13).map(|value| (json!(value), json!(value))).collect();
        assert_eq!(pair(&many).matrix, None);
        assert!(pair(&many).matrix_lines().is_empty());
    }
}
