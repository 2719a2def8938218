//! What counts as a value.

use serde_json::{Number, Value};

use super::candidate::Candidate;
use super::doubt::ReadingDoubt;
use super::fields::{NumberFields, StrategyFields};
use super::number_first;
use super::numerals::{Numeral, numerals};
use super::options::Options;
use super::rules::FileRules;
use crate::config::{ConfigProblem, figure};
use retold::patterns::PatternBudget;

/// A form of values.
pub(super) enum Shape {
    /// The text without white space around it, or the JSON value as it is.
    Any,
    Number(NumberFields, FileRules),
    OneOf(Options),
}

impl Shape {
    /// The shape, and its part of the method.
    pub(super) fn new(
        fields: &StrategyFields,
        rules: FileRules,
        patterns: &mut PatternBudget,
        key: &str,
    ) -> Result<(Shape, Option<&'static str>), ConfigProblem> {
        match (&fields.number, &fields.one_of) {
            (Some(_), Some(_)) => {
                let message = "a value is a number or one of some options, not both";
                Err(ConfigProblem::new(&format!("{key}.one_of"), message))
            }
            (None, None) => Ok((Shape::Any, None)),
            (Some(range), None) => {
                let NumberFields { from, to, whole: _ } = *range;
                let ends = [from, to].into_iter().flatten();
                if ends.clone().any(|end| !end.is_finite()) {
                    let message = "the ends of the range are numbers";
                    return Err(ConfigProblem::new(&format!("{key}.number"), message));
                }
                if let (Some(from), Some(to)) = (from, to)
                    && from > to
                {
                    let message = format!("no number is from {} to {}", figure(from), figure(to));
                    return Err(ConfigProblem::new(&format!("{key}.number"), message));
                }
                Ok((Shape::Number(*range, rules), Some("number")))
            }
            (None, Some(options)) => {
                let options = Options::new(options, rules, patterns, &format!("{key}.one_of"))?;
                Ok((Shape::OneOf(options), Some("one_of")))
            }
        }
    }

    /// What may be the value in a piece of text.
    pub(super) fn in_text<'t>(&'t self, text: &'t str) -> Box<dyn Iterator<Item = Candidate> + 't> {
        match self {
            Shape::Any => {
                let text = text.trim();
                let found = (!text.is_empty()).then(|| Candidate::Certain(text.into()));
                Box::new(found.into_iter())
            }
            Shape::Number(range, FileRules::First) => {
                let found = number_first::numbers(text).filter_map(|text| range.read(&text));
                Box::new(found.map(Candidate::Certain))
            }
            Shape::Number(range, FileRules::Second) => {
                Box::new(numerals(text).filter_map(|numeral| match numeral {
                    Numeral::Certain(number) => range.read(&number).map(Candidate::Certain),
                    Numeral::Doubtful(written) => {
                        Some(Candidate::Doubtful(ReadingDoubt::Number(written)))
                    }
                }))
            }
            Shape::OneOf(options) => {
                let found = options.find_all(text).into_iter();
                Box::new(found.map(|option| Candidate::Certain(option.into())))
            }
        }
    }

    /// What may be the value in the last line that is not empty.
    pub(super) fn in_last_line<'t>(
        &'t self,
        text: &'t str,
    ) -> Box<dyn Iterator<Item = Candidate> + 't> {
        if let Shape::OneOf(options) = self {
            let found = options.found_in_last_line(text).into_iter();
            return Box::new(found.map(|option| Candidate::Certain(option.into())));
        }
        let line = text.lines().rev().find(|line| !line.trim().is_empty());
        self.in_text(line.unwrap_or(""))
    }

    /// What may be the value in a JSON value.
    pub(super) fn in_json(&self, value: &Value) -> Vec<Candidate> {
        match (self, value) {
            (_, Value::Null) => Vec::new(),
            (Shape::Any, value) => vec![Candidate::Certain(value.clone())],
            (Shape::Number(range, _), Value::Number(number)) => {
                range.read(&number.to_string()).map(Candidate::Certain).into_iter().collect()
            }
            (_, Value::String(text)) => self.in_text(text).collect(),
            _ => Vec::new(),
        }
    }
}

impl NumberFields {
    /// A number, if it is in range. A whole number stays one.
    fn read(&self, text: &str) -> Option<Value> {
        let NumberFields { from, to, whole } = *self;
        let value: f64 = text.parse().ok().filter(|value: &f64| value.is_finite())?;
        let fits = from.is_none_or(|from| value >= from)
            && to.is_none_or(|to| value <= to)
            && (!whole || value.fract() == 0.0);
        let number = || match text.parse::<i64>() {
            Ok(whole) => Some(Number::from(whole)),
            Err(_) => Number::from_f64(value),
        };
        fits.then(number)?.map(Value::Number)
    }
}
