//! Lists of options and points of options among the decisions of one name.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::census::ValueShape;
use crate::definition::{OptionQuantity, options_of};

/// The most options of ballots that are summed up.
const MOST: usize = 50;

/// A summary of ballots.
#[derive(Debug, Clone, Default)]
pub(super) struct BallotCensus {
    lists: u64,
    points: u64,
    /// Each option, with its number.
    options: BTreeMap<String, usize>,
    /// Options that a list has before others.
    before: BTreeSet<(usize, usize)>,
}

impl BallotCensus {
    /// Counts a value if it is a ballot.
    pub(super) fn add(&mut self, value: &Value) -> bool {
        let is_points = OptionQuantity::Points.each(value).is_some_and(|given| !given.is_empty());
        let (true, Some(options)) = (value.is_array() || is_points, options_of(value)) else {
            return false;
        };
        self.lists += u64::from(!is_points);
        self.points += u64::from(is_points);
        let mut numbers: Vec<usize> = Vec::new();
        for option in options {
            let next = self.options.len();
            if next > MOST {
                return true;
            }
            let number = *self.options.entry(option).or_insert(next);
            if !is_points {
                self.before.extend(numbers.iter().map(|before| (*before, number)));
                numbers.push(number);
            }
        }
        true
    }

    pub(super) fn is_any(&self) -> bool {
        self.lists + self.points > 0
    }

    /// How they can be summed up.
    pub(super) fn shape(&self) -> ValueShape {
        let is_reversed =
            |(one, other): &(usize, usize)| one != other && self.before.contains(&(*other, *one));
        match (self.lists, self.points) {
            _ if self.options.is_empty() || self.options.len() > MOST => ValueShape::Other,
            (1.., 0) if self.before.iter().any(is_reversed) => ValueShape::Rankings,
            (1.., 0) => ValueShape::Lists,
            (0, 1..) => ValueShape::Points,
            _ => ValueShape::Other,
        }
    }
}
