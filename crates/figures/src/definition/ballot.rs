//! Ballots: lists of options (those that apply, or a ranking) and objects that give options points.

use std::fmt;

use serde::Serialize;
use serde_json::Value;

/// What a ballot says of an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum OptionQuantity {
    /// Its place in a list, from 1.
    Rank,
    /// Its points in an object.
    Points,
}

impl OptionQuantity {
    pub(super) const ALL: [OptionQuantity; 2] = [OptionQuantity::Rank, OptionQuantity::Points];

    pub(super) fn as_str(self) -> &'static str {
        match self {
            OptionQuantity::Rank => "rank",
            OptionQuantity::Points => "points",
        }
    }

    /// The number of each option that a ballot names; `None` if the value is not such a ballot.
    pub(crate) fn each(self, ballot: &Value) -> Option<Vec<(String, f64)>> {
        match self {
            OptionQuantity::Rank => Some(
                list(ballot)?.zip(1_u32..).map(|(name, rank)| (name, f64::from(rank))).collect(),
            ),
            OptionQuantity::Points => Some(points(ballot)?.collect()),
        }
    }

    /// The number of one option: an option without points has 0, one without a rank has none.
    pub(crate) fn of(self, option: &str, ballot: &Value) -> Option<f64> {
        let found = self.each(ballot)?.into_iter().find(|(name, _)| name == option);
        match self {
            OptionQuantity::Rank => found.map(|(_, rank)| rank),
            OptionQuantity::Points => Some(found.map_or(0.0, |(_, points)| points)),
        }
    }
}

impl fmt::Display for OptionQuantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The options that a ballot has, those with 0 points left out; `None` if the value is not a ballot.
pub(crate) fn options_of(ballot: &Value) -> Option<Vec<String>> {
    if let Some(list) = list(ballot) {
        return Some(list.collect());
    }
    let given = points(ballot)?.filter(|(_, points)| *points > 0.0);
    Some(given.map(|(name, _)| name).collect())
}

/// Whether a ballot has an option; `None` if the value is not a ballot.
pub(crate) fn contains(ballot: &Value, option: &str) -> Option<bool> {
    options_of(ballot).map(|options| options.iter().any(|it| it == option))
}

/// The items of a list of texts, numbers or truth values.
fn list(ballot: &Value) -> Option<impl Iterator<Item = String>> {
    let items = ballot.as_array()?;
    let is_option = |item: &Value| item.is_string() || item.is_number() || item.is_boolean();
    let name = |item: &Value| item.as_str().map_or_else(|| item.to_string(), str::to_owned);
    items.iter().all(is_option).then(|| items.iter().map(name))
}

/// The members of an object of numbers.
fn points(ballot: &Value) -> Option<impl Iterator<Item = (String, f64)>> {
    let members = ballot.as_object()?;
    members.values().all(Value::is_number).then(|| {
        members.iter().map(|(name, points)| (name.clone(), points.as_f64().unwrap_or(0.0)))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_option_has_a_rank_or_points_only_in_a_ballot_of_that_kind() {
        use OptionQuantity::{Points, Rank};
        let (order, given) = (json!(["b", "a", 3]), json!({"a": 4, "b": 0}));
        for (quantity, option, ballot, number) in [
            (Rank, "b", &order, Some(1.0)),
            (Rank, "3", &order, Some(3.0)),
            (Rank, "c", &order, None),
            (Rank, "a", &given, None),
            (Points, "a", &given, Some(4.0)),
            (Points, "b", &given, Some(0.0)),
            (Points, "c", &given, Some(0.0)),
            (Points, "a", &order, None),
            (Points, "a", &json!({"a": "4"}), None),
            (Rank, "a", &json!("a"), None),
        ] {
            assert_eq!(quantity.of(option, ballot), number, "{quantity} of {option} in {ballot}");
        }
        assert_eq!(options_of(&given), Some(vec!["a".to_owned()]));
        assert_eq!(options_of(&json!([["a"]])), None);
    }
}
