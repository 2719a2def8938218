//! The form of a value, and the parts of a text that have it.

use serde_json::{Number, Value};

use super::ballot::{Ballot, BallotKind};
use super::candidate::{Candidate, Mention, agreed};
use super::doubt::{Excerpt, ReadingDoubt};
use super::fields::{NumberFields, Pick, StrategyFields};
use super::numerals::numerals;
use super::options::Options;
use super::scale;
use super::searched::{Place, SearchedText};
use crate::config::{ConfigProblem, figure};

/// The largest whole number up to which floating-point numbers are whole numbers.
const MOST_EXACT: f64 = 9_007_199_254_740_992.0;

/// A form of values.
pub(super) enum Shape {
    /// The text without white space around it, or the JSON value as it is.
    Any,
    Number(NumberFields),
    /// A number on a scale.
    Scale(NumberFields),
    OneOf(Options),
    /// Several options at once.
    Ballot(Ballot),
}

impl Shape {
    /// The shape, and its part of the method.
    pub(super) fn new(
        fields: &StrategyFields,
        key: &str,
    ) -> Result<(Shape, Option<&'static str>), ConfigProblem> {
        let StrategyFields { number, scale, one_of, case, count, .. } = fields;
        let mut ballots = BallotKind::of(fields);
        let ballot = ballots.next();
        let of_numbers = [number.map(|_| "number"), scale.map(|_| "scale")];
        let of_options = [one_of.as_ref().map(|_| "one_of"), ballot.map(|(kind, _)| kind.key())];
        let another = ballots.next().map(|(kind, _)| kind.key());
        let given = of_numbers.into_iter().chain(of_options).chain([another]).flatten();
        let given: Vec<&'static str> = given.collect();
        if let [_, .., last] = given.as_slice() {
            let message = "a value is a number, on a scale, one of some options or several of them, only one of these";
            return Err(ConfigProblem::new(&format!("{key}.{last}"), message));
        }
        if case.is_some() && one_of.is_none() && ballot.is_none() {
            let message = "case is for options";
            return Err(ConfigProblem::new(&format!("{key}.case"), message));
        }
        if count.is_some() && ballot.is_none() {
            let message = "count is for choices, ranking and points";
            return Err(ConfigProblem::new(&format!("{key}.count"), message));
        }
        let shape = if let Some(range) = number {
            range.check(&format!("{key}.number"))?;
            Shape::Number(*range)
        } else if let Some(range) = scale {
            range.check(&format!("{key}.scale"))?;
            if range.from.is_none() || range.to.is_none() {
                let message = "a scale has both ends: {from: 1, to: 10}";
                return Err(ConfigProblem::new(&format!("{key}.scale"), message));
            }
            Shape::Scale(*range)
        } else if let Some(options) = one_of {
            Shape::OneOf(Options::new(options, *case, &format!("{key}.one_of"))?)
        } else if let Some((kind, options)) = ballot {
            Shape::Ballot(Ballot::new(kind, options, *case, *count, key)?)
        } else {
            Shape::Any
        };
        Ok((shape, given.first().copied()))
    }

    /// The candidate of each place of a text; a text that counts as it is has one in each.
    pub(super) fn in_places(&self, text: &str, places: &[Place]) -> Vec<Option<Candidate>> {
        if let Shape::Any = self {
            let piece = |place: &Place| text.get(place.at.clone()).unwrap_or("").trim();
            let found = places
                .iter()
                .map(piece)
                .map(|text| (!text.is_empty()).then(|| Candidate::Certain(text.into())));
            return found.collect();
        }
        if let Shape::Ballot(ballot) = self {
            return ballot.in_places(text, places);
        }
        let searched = SearchedText::new(text, places);
        searched.candidates(&self.mentions(&searched))
    }

    /// The candidates in one place of a text, each of them a place of its own; a ballot is all that the place has.
    pub(super) fn in_each_mention(&self, text: &str, place: Place) -> Vec<Option<Candidate>> {
        if let Shape::Any | Shape::Ballot(_) = self {
            return self.in_places(text, &[place]);
        }
        let searched = SearchedText::new(text, &[place]);
        searched.mentioned(&self.mentions(&searched))
    }

    /// The candidates in the matches of a pattern: if none of them is picked, a ballot is what all of them have together.
    pub(super) fn in_matches(
        &self,
        text: &str,
        places: &[Place],
        pick: Pick,
    ) -> Vec<Option<Candidate>> {
        match self {
            Shape::Ballot(ballot) if pick == Pick::Only => vec![ballot.in_all_places(text, places)],
            _ => self.in_places(text, places),
        }
    }

    /// Everything in a text that may be the value, in order.
    fn mentions(&self, searched: &SearchedText<'_>) -> Vec<Mention> {
        let (text, cuts) = (&*searched.plain.text, searched.cuts.as_slice());
        match self {
            Shape::Any | Shape::Ballot(_) => Vec::new(),
            Shape::OneOf(options) => options.candidates(text, cuts),
            Shape::Scale(scale) => scale::values(scale, text, cuts),
            Shape::Number(range) => {
                let found = numerals(text, range.decimal, cuts).into_iter();
                let candidate = |at: std::ops::Range<usize>, number: Option<String>| match number {
                    Some(number) => range.read(&number).map(Candidate::Certain),
                    None => {
                        let written = Excerpt::new(text.get(at).unwrap_or("").trim());
                        Some(Candidate::Doubtful(ReadingDoubt::Number(written)))
                    }
                };
                let found = found.filter_map(|it| {
                    let candidate = candidate(it.at.clone(), it.number)?;
                    Some(Mention { at: it.at, candidate })
                });
                found.collect()
            }
        }
    }

    /// What may be the value in a JSON value.
    pub(super) fn in_json(&self, value: &Value) -> Option<Candidate> {
        let in_text = |text: &str| {
            let all = Place::of(0..text.len());
            agreed(self.in_each_mention(text, all).into_iter().flatten())
        };
        match (self, value) {
            (_, Value::Null) => None,
            (Shape::Any, value) => Some(Candidate::Certain(value.clone())),
            (Shape::Ballot(ballot), value) => ballot.in_json(value),
            (Shape::Number(range) | Shape::Scale(range), Value::Number(number)) => {
                range.read(&number.to_string()).map(Candidate::Certain)
            }
            (Shape::OneOf(_), Value::Bool(value)) => in_text(&value.to_string()),
            (Shape::OneOf(_), Value::Number(number)) => {
                let integer =
                    number.as_f64().and_then(|value| integer_of(value, &number.to_string()));
                in_text(&integer.unwrap_or_else(|| number.clone()).to_string())
            }
            (_, Value::String(text)) => in_text(text),
            _ => None,
        }
    }
}

impl NumberFields {
    fn check(&self, key: &str) -> Result<(), ConfigProblem> {
        let NumberFields { from, to, .. } = *self;
        if [from, to].into_iter().flatten().any(|end| !end.is_finite()) {
            return Err(ConfigProblem::new(key, "the ends of the range are numbers"));
        }
        match (from, to) {
            (Some(from), Some(to)) if from > to => {
                let message = format!("no number is from {} to {}", figure(from), figure(to));
                Err(ConfigProblem::new(key, message))
            }
            _ => Ok(()),
        }
    }

    /// A number, if it is in range.
    pub(super) fn read(&self, text: &str) -> Option<Value> {
        let NumberFields { from, to, whole: is_whole, decimal: _ } = *self;
        let value: f64 = text.parse().ok().filter(|value: &f64| value.is_finite())?;
        let fits = from.is_none_or(|from| value >= from)
            && to.is_none_or(|to| value <= to)
            && (!is_whole || value.fract() == 0.0);
        let number = || integer_of(value, text).or_else(|| Number::from_f64(value));
        fits.then(number)?.map(Value::Number)
    }
}

/// A number as JSON has it: `8.0` is 8.
pub(super) fn number_value(value: f64) -> Value {
    let number = integer_of(value, "").or_else(|| Number::from_f64(value));
    number.map_or(Value::Null, Value::Number)
}

/// A number as a whole one, if it is: `8.0` is 8.
fn integer_of(value: f64, text: &str) -> Option<Number> {
    let exact = || (value.fract() == 0.0 && value.abs() <= MOST_EXACT).then_some(value as i64);
    let unsigned = || text.parse::<u64>().ok().map(Number::from);
    text.parse::<i64>()
        .ok()
        .map(Number::from)
        .or_else(unsigned)
        .or_else(|| exact().map(Number::from))
}
