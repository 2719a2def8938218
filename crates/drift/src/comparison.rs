//! Old and new decisions, compared within each prompt.

use std::collections::{BTreeMap, BTreeSet};

use rand_chacha::ChaCha12Rng;
use retold::run::{below, rng_for};
use serde::Serialize;
use serde_json::Value;

use crate::LEVEL;
use crate::permutation::two_sided;

/// How many permutations are drawn where they cannot all be counted.
const DRAWN: usize = 9999;

/// From so many different numbers on, it is their mean that is compared, and not the share of each.
const AS_NUMBERS: usize = 8;

/// The value of a decision about one recorded answer, and those about the new answers to the same prompt.
#[derive(Debug, Clone, PartialEq)]
pub struct ComparedAnswer {
    /// The old value; null if the parser found none.
    pub old: Value,
    /// The new ones.
    pub new: Vec<Value>,
}

/// The decisions of one name, old and new.
#[derive(Debug, Clone, PartialEq)]
pub struct ComparedDecision {
    /// Its name.
    pub name: String,
    /// What decided.
    pub by: String,
    /// The values.
    pub answers: Vec<ComparedAnswer>,
}

/// What became of a decision since.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DriftComparison {
    /// The name of the decision.
    pub name: String,
    /// What decided about old and new answers.
    pub by: String,
    /// Recorded answers that have a new one.
    pub answers: usize,
    /// New answers.
    pub new: usize,
    /// The share of each value, or the mean of numbers.
    pub values: Vec<ShiftedValue>,
    /// How likely a difference such as the greatest one is at most, if nothing changed: among all decisions of the look.
    pub p: f64,
}

/// A share or a mean, then and now.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ShiftedValue {
    /// The value; `None` for the mean of numbers.
    pub value: Option<Value>,
    /// In the recorded answers.
    pub then: f64,
    /// In the new ones.
    pub now: f64,
    /// How likely such a difference is, by itself.
    pub p: f64,
}

impl DriftComparison {
    /// Compares the decisions of a look; those with nothing new to be compared with are left out. `seed` is for permutations that
    /// are drawn. Each is one of so many that could seem to have changed, so each p is times their number (Bonferroni).
    pub fn of_look(decisions: &[ComparedDecision], seed: u64) -> Vec<Self> {
        let mut found: Vec<Self> =
            decisions.iter().filter_map(|of| DriftComparison::of(of, seed)).collect();
        let tested = found.len() as f64;
        found.iter_mut().for_each(|of| of.p = (of.p * tested).min(1.0));
        found
    }

    fn of(decision: &ComparedDecision, seed: u64) -> Option<Self> {
        let answers: Vec<&ComparedAnswer> =
            decision.answers.iter().filter(|of| !of.new.is_empty()).collect();
        if answers.is_empty() {
            return None;
        }
        let (values, p) = match are_many_numbers(&answers) {
            true => numbers(&answers, seed),
            false => shares(&answers),
        };
        Some(DriftComparison {
            name: decision.name.clone(),
            by: decision.by.clone(),
            answers: answers.len(),
            new: answers.iter().map(|of| of.new.len()).sum(),
            values,
            p,
        })
    }

    /// Whether it is said to have changed.
    pub fn has_changed(&self) -> bool {
        self.p <= LEVEL
    }
}

impl ComparedAnswer {
    /// The old value, then the new ones.
    fn values(&self) -> impl Iterator<Item = &Value> {
        std::iter::once(&self.old).chain(&self.new)
    }

    /// The old value and the new ones without those that are missing, if that leaves both.
    fn numbers(&self) -> Option<Vec<f64>> {
        self.old.as_f64()?;
        let numbers: Vec<f64> = self.values().filter_map(Value::as_f64).collect();
        (numbers.len() > 1).then_some(numbers)
    }
}

/// Whether all values that are not missing are numbers, and many different ones.
fn are_many_numbers(answers: &[&ComparedAnswer]) -> bool {
    let mut different: BTreeSet<u64> = BTreeSet::new();
    for value in answers.iter().flat_map(|of| of.values()).filter(|value| !value.is_null()) {
        match value.as_f64() {
            Some(number) => different.insert(number.to_bits()),
            None => return false,
        };
    }
    different.len() >= AS_NUMBERS
}

/// The mean of numbers, and the share of those that are missing, if any are.
fn numbers(answers: &[&ComparedAnswer], seed: u64) -> (Vec<ShiftedValue>, f64) {
    let all: Vec<Vec<f64>> = answers.iter().filter_map(|of| of.numbers()).collect();
    let mean = (!all.is_empty()).then(|| mean_shift(&all, seed));
    let are_missing = answers.iter().flat_map(|of| of.values()).any(Value::is_null);
    let missing = are_missing.then(|| share(answers, &Value::Null).0);
    let found: Vec<ShiftedValue> = mean.into_iter().chain(missing).collect();
    let smallest = found.iter().map(|of| of.p).fold(1.0, f64::min);
    let p = (smallest * found.len() as f64).min(1.0);
    (found, p)
}

/// The share of each value. The p of all of them together is the smallest, times the number of values that are tested: of two
/// values, one is the rest of the other (Bonferroni). Values so rare that nothing could come of them are not counted (Tarone
/// 1990).
fn shares(answers: &[&ComparedAnswer]) -> (Vec<ShiftedValue>, f64) {
    // By their text: values have no order of their own.
    let mut values: BTreeMap<String, &Value> = BTreeMap::new();
    for value in answers.iter().flat_map(|of| of.values()) {
        values.insert(value.to_string(), value);
    }
    let found: Vec<(ShiftedValue, f64)> =
        values.values().map(|value| share(answers, value)).collect();
    let could =
        |tested: usize| found.iter().filter(move |(_, least)| *least <= LEVEL / tested as f64);
    let tested = (1..found.len()).find(|tested| could(*tested).count() <= *tested);
    let tested = if found.len() <= 2 { 1 } else { tested.unwrap_or(found.len()) };
    let tried = could(tested).map(|(of, _)| of.p);
    let p = (tried.fold(1.0, f64::min) * tested as f64).min(1.0);
    (found.into_iter().map(|(of, _)| of).collect(), p)
}

/// The share of one value, and the smallest p that could come of it.
fn share(answers: &[&ComparedAnswer], value: &Value) -> (ShiftedValue, f64) {
    let among = |of: &ComparedAnswer| of.new.iter().filter(|new| *new == value).count();
    let has_it = |of: &ComparedAnswer| usize::from(of.old == *value);
    let in_all = |of: &&ComparedAnswer| (has_it(of) + among(of)) as f64 / (of.new.len() + 1) as f64;
    let share_now = |of: &&ComparedAnswer| among(of) as f64 / of.new.len() as f64;
    let old_with_it: usize = answers.iter().map(|of| has_it(of)).sum();
    let all: Vec<f64> = answers.iter().map(in_all).collect();
    let n = answers.len() as f64;
    let at_most = all.iter().filter(|share| **share > 0.0).count();
    let least = two_sided(&all, 0).min(two_sided(&all, at_most));
    let of = ShiftedValue {
        value: Some(value.clone()),
        then: old_with_it as f64 / n,
        now: answers.iter().map(share_now).sum::<f64>() / n,
        p: two_sided(&all, old_with_it),
    };
    (of, least)
}

/// The mean of numbers; of each answer, the first is the old one.
fn mean_shift(numbers: &[Vec<f64>], seed: u64) -> ShiftedValue {
    let mut rng = rng_for(seed, "drift permutations");
    let difference = |old_at: &mut dyn FnMut(&[f64]) -> usize| {
        let each = numbers.iter().map(|all| {
            let old = all[old_at(all)];
            let others = all.iter().sum::<f64>() - old;
            others / (all.len() - 1) as f64 - old
        });
        each.sum::<f64>()
    };
    let found = difference(&mut |_| 0);
    let draw = |rng: &mut ChaCha12Rng| difference(&mut |all| below(all.len(), rng));
    // Sums in another order may differ in their last bits.
    let least = found.abs() * (1.0 - 1e-12);
    let as_far = (0..DRAWN).filter(|_| draw(&mut rng).abs() >= least).count();
    let n = numbers.len() as f64;
    let then = numbers.iter().map(|all| all[0]).sum::<f64>() / n;
    // What was found is one of the permutations (Phipson and Smyth 2010).
    let p = (as_far + 1) as f64 / (DRAWN + 1) as f64;
    ShiftedValue { value: None, then, now: then + found / n, p }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DriftPower;
    use rand_chacha::rand_core::Rng;
    use serde_json::json;

    fn decision(answers: Vec<ComparedAnswer>) -> ComparedDecision {
        ComparedDecision { name: "vote".into(), by: "vote@1".into(), answers }
    }

    fn answers(n: usize, old: &Value, new: &[Value]) -> Vec<ComparedAnswer> {
        vec![ComparedAnswer { old: old.clone(), new: new.to_vec() }; n]
    }

    #[test]
    fn what_stays_is_no_change_and_what_turns_is_one() {
        let same = decision(answers(40, &json!("yes"), &[json!("yes"), json!("yes")]));
        let same = DriftComparison::of(&same, 1).unwrap();
        assert_eq!((same.p, same.has_changed()), (1.0, false));
        let turned = decision(answers(10, &json!("yes"), &[json!("no"), json!("no")]));
        let turned = DriftComparison::of(&turned, 1).unwrap();
        assert!(turned.has_changed(), "{turned:?}");
        let shown: Vec<_> = turned.values.iter().map(|of| (of.then, of.now)).collect();
        assert_eq!(shown, [(0.0, 1.0), (1.0, 0.0)]);
        assert_eq!(DriftComparison::of(&decision(Vec::new()), 1), None);
        assert_eq!(DriftComparison::of(&decision(answers(3, &json!(1), &[])), 1), None);
    }

    /// Of texts that are all different, nothing can be said, and they do not hide what can.
    #[test]
    fn values_that_nobody_repeats_are_not_counted() {
        let text = |at: i32| json!(format!("text {at}"));
        let each = (0..30).map(|at| ComparedAnswer {
            old: text(at),
            new: vec![Value::Null, Value::Null, text(at + 1000)],
        });
        let lost = DriftComparison::of(&decision(each.collect()), 1).unwrap();
        assert!(lost.has_changed(), "{}", lost.p);
        let each = (0..30).map(|at| ComparedAnswer { old: text(at), new: vec![text(at + 1000)] });
        let other = DriftComparison::of(&decision(each.collect()), 1).unwrap();
        assert_eq!(other.p, 1.0);
    }

    #[test]
    fn a_missing_value_is_a_value() {
        let lost = decision(answers(12, &json!(3), &[Value::Null, Value::Null, json!(3)]));
        let lost = DriftComparison::of(&lost, 1).unwrap();
        assert!(lost.has_changed(), "{lost:?}");
    }

    #[test]
    fn of_many_numbers_the_mean_is_compared() {
        let of = |shift: f64| {
            let each = (0..20_u32).map(|at| {
                let level = f64::from(at);
                let new = [level + shift, level + shift + 0.1, level + shift - 0.1];
                ComparedAnswer { old: json!(level), new: new.map(|it| json!(it)).to_vec() }
            });
            DriftComparison::of(&decision(each.collect()), 7).unwrap()
        };
        assert!(!of(0.0).has_changed());
        let moved = of(2.0);
        assert!(moved.has_changed() && moved.values.len() == 1);
        assert!((moved.values[0].now - moved.values[0].then - 2.0).abs() < 1e-9);
        assert_eq!(moved, of(2.0), "the same seed draws the same permutations");
    }

    #[test]
    fn a_missing_number_does_not_hide_that_the_others_moved() {
        let each = (0..30_u32).map(|at| {
            let level = f64::from(at);
            let new = vec![json!(level + 3.0), json!(level + 3.5), Value::Null];
            ComparedAnswer { old: json!(level), new }
        });
        let moved = DriftComparison::of(&decision(each.collect()), 7).unwrap();
        assert!(moved.has_changed() && moved.values.len() == 2, "{moved:?}");
        assert!((moved.values[0].now - moved.values[0].then - 3.25).abs() < 1e-9);
        assert_eq!(moved.values[1].value, Some(Value::Null));
    }

    /// Of many decisions, one may seem to have changed: a look that has twenty errs no more often than one that has one.
    #[test]
    fn many_decisions_are_one_look() {
        let mut answers = answers(6, &json!("yes"), &[json!("no"), json!("no")]);
        answers.extend(self::answers(1, &json!("no"), &[json!("yes"), json!("no")]));
        let alone = DriftComparison::of_look(&[decision(answers.clone())], 1);
        assert!(alone[0].has_changed(), "{alone:?}");
        let many = DriftComparison::of_look(&vec![decision(answers); 20], 1);
        assert!(many.iter().all(|of| !of.has_changed() && of.p > alone[0].p), "{many:?}");
    }

    /// Looks of which it is known how often they should say that something changed: as often as is printed before.
    #[test]
    fn level_and_power_are_those_that_are_printed() {
        let looks = 2000_u32;
        for (n, times) in [(40, 5), (20, 3)] {
            let printed = DriftPower::of(n, times);
            let mut due = vec![(0.0, printed.level)];
            due.extend(printed.power);
            for (shift, power) in due {
                let mut rng = rng_for(u64::from(times), &format!("looks {n} {shift}"));
                let mut draw = |p: f64| (rng.next_u64() as f64) < p * 2_f64.powi(64);
                let found = (0..looks).filter(|_| {
                    let each = (0..n).map(|_| ComparedAnswer {
                        old: draw(0.5).into(),
                        new: (0..times).map(|_| draw(0.5 + shift).into()).collect(),
                    });
                    DriftComparison::of(&decision(each.collect()), 1)
                        .is_some_and(|of| of.has_changed())
                });
                let share = found.count() as f64 / f64::from(looks);
                // Four standard errors of the difference of two such shares.
                let error = 4.0
                    * (2.0 * power.max(0.01) * (1.0 - power).max(0.01) / f64::from(looks)).sqrt();
                assert!(
                    (share - power).abs() <= error,
                    "{n} x {times}, {shift}: {share}, printed {power}"
                );
            }
        }
    }

    #[test]
    fn what_a_look_can_find_is_said() {
        let power = DriftPower::of(40, 5);
        assert!(power.level < LEVEL, "{power:?}");
        let text = power.text();
        assert!(text.starts_with("40 x 5: says by mistake that something changed in 3."), "{text}");
    }
}
