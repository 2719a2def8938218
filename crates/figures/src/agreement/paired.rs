//! How well the raters of a run's answers agree: all of them together, and each two.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::Value;

use super::rated::{RatedAnswer, RatedAnswers, RatedPlace, RatingChoice};
use super::{Agreement, MeasurementLevel, ValueMatrix, cohens_kappa, krippendorffs_alpha};

/// Somebody who decided.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Rater {
    /// The rater, with the name of its decisions.
    pub rater: String,
    /// How many answers have a value of theirs.
    pub values: u64,
    /// For how many they found nothing: the value is null, or the parser's last resort.
    pub missing: u64,
}

/// Two raters, and how well they agree.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RaterPair {
    /// One.
    pub one: String,
    /// The other.
    pub other: String,
    /// How many answers both have a value for.
    pub both: u64,
    /// How many of these values are the same.
    pub same: u64,
    /// Cohen's kappa, if it can be given.
    pub kappa: Option<Agreement>,
    /// Which values they gave; `None` if these are too many to be read.
    pub matrix: Option<ValueMatrix>,
}

/// The raters of a run's answers, two by two.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PairedRaters {
    /// Who they are.
    pub raters: Vec<Rater>,
    /// Krippendorff's alpha of all of them, if it can be given.
    pub alpha: Option<Agreement>,
    /// What differences between values mean for alpha.
    pub level: MeasurementLevel,
    /// How many values are left out of alpha, because they are not numbers.
    pub not_numbers: u64,
    /// Each two of them.
    pub pairs: Vec<RaterPair>,
    /// How many answers have values of two raters or more.
    pub rated: u64,
    /// Of these, the answers whose raters differ, in the order of the run.
    #[serde(skip)]
    pub differing: Vec<RatedPlace>,
    /// The others.
    #[serde(skip)]
    pub agreed: Vec<RatedPlace>,
    /// Whether any of the raters is a simulated judge.
    pub simulated: bool,
}

impl RatedAnswers {
    /// How well raters agree.
    pub fn agreement(&self, choice: &RatingChoice, level: MeasurementLevel) -> PairedRaters {
        let given = |rater| {
            self.answers
                .values()
                .flat_map(|answer| choice.of(answer))
                .filter(move |it| it.rater == rater)
        };
        let used: Vec<u32> =
            choice.raters.iter().copied().filter(|rater| given(*rater).next().is_some()).collect();
        let raters = used.iter().map(|rater| {
            let missing = given(*rater).filter(|rating| rating.value.is_none()).count() as u64;
            let values = given(*rater).count() as u64 - missing;
            Rater { rater: self.rater(*rater).to_owned(), values, missing }
        });
        let raters = raters.collect();
        let pairs = used.iter().enumerate().flat_map(|(after, one)| {
            used.iter().skip(after + 1).map(|other| self.pair(choice, *one, *other))
        });
        let pairs = pairs.collect();
        let (units, not_numbers) = self.units(choice, level);
        let (mut differing, mut agreed) = (Vec::new(), Vec::new());
        for (place, answer) in &self.answers {
            let mut values = values(choice, answer);
            let Some(first) = values.next() else { continue };
            let others: BTreeSet<u32> = values.collect();
            match others.iter().any(|value| *value != first) {
                true => differing.push(*place),
                false if others.is_empty() => {}
                false => agreed.push(*place),
            }
        }
        let rated = (differing.len() + agreed.len()) as u64;
        let alpha = krippendorffs_alpha(&units, level);
        let simulated = used.iter().any(|rater| self.simulated.contains(rater));
        PairedRaters {
            raters,
            alpha,
            level,
            not_numbers,
            pairs,
            rated,
            differing,
            agreed,
            simulated,
        }
    }

    fn pair(&self, choice: &RatingChoice, one: u32, other: u32) -> RaterPair {
        let both = self.answers.values().filter_map(|answer| {
            let of = |rater| choice.of(answer).find(|it| it.rater == rater).and_then(|it| it.value);
            Some((of(one)?, of(other)?))
        });
        let both: Vec<(u32, u32)> = both.collect();
        let same = both.iter().filter(|(one, other)| one == other).count() as u64;
        let kappa = cohens_kappa(both.iter().copied());
        let name = |rater: u32| self.rater(rater).to_owned();
        let value = |at: u32| self.values.get(at).unwrap_or(&Value::Null);
        let matrix = ValueMatrix::new(both.iter().map(|(one, other)| (value(*one), value(*other))));
        let (one, other) = (name(one), name(other));
        RaterPair { one, other, both: both.len() as u64, same, kappa, matrix }
    }

    /// The values of each answer as numbers, and how many have none.
    fn units(&self, choice: &RatingChoice, level: MeasurementLevel) -> (Vec<Vec<f64>>, u64) {
        let mut not_numbers = 0;
        let mut number = |value: u32| match level {
            MeasurementLevel::Nominal => Some(f64::from(value)),
            MeasurementLevel::Ordinal | MeasurementLevel::Interval => {
                let number = self.values.get(value).and_then(Value::as_f64);
                not_numbers += u64::from(number.is_none());
                number
            }
        };
        let units = self
            .answers
            .values()
            .map(|answer| values(choice, answer).filter_map(&mut number).collect::<Vec<f64>>());
        let units = units.collect();
        (units, not_numbers)
    }
}

/// The values that raters found in an answer.
fn values(choice: &RatingChoice, answer: &RatedAnswer) -> impl Iterator<Item = u32> {
    choice.of(answer).filter_map(|rating| rating.value)
}
