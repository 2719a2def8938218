//! What a look at a model can find, before it is paid for.

use rand_chacha::ChaCha12Rng;
use rand_chacha::rand_core::Rng;
use retold::run::rng_for;
use serde::Serialize;

use crate::LEVEL;
use crate::permutation::two_sided;

/// How many looks are simulated. The standard error of a power of one half is then 0.7 percentage points.
const LOOKS: u32 = 5000;

/// The changes of a share whose power is shown.
const SHIFTS: [f64; 3] = [0.1, 0.2, 0.3];

/// How often a look says that a decision changed, by simulation. The decision has two values, each with a share of one half
/// before: there it varies most.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DriftPower {
    /// Recorded answers.
    pub answers: usize,
    /// New answers for each.
    pub times: u32,
    /// How often it says so if nothing changed.
    pub level: f64,
    /// How often it says so if the share changed by so much: shift and power.
    pub power: Vec<(f64, f64)>,
}

impl DriftPower {
    /// That of a look at so many recorded answers with so many new ones each. The same numbers give the same power.
    pub fn of(answers: usize, times: u32) -> Self {
        let found = |shift: f64| {
            let mut rng = rng_for(0, &format!("drift {answers} {times} {shift}"));
            let found =
                (0..LOOKS).filter(|_| simulated_p(answers, times, shift, &mut rng) <= LEVEL);
            found.count() as f64 / f64::from(LOOKS)
        };
        let power = SHIFTS.map(|shift| (shift, found(shift))).to_vec();
        DriftPower { answers, times, level: found(0.0), power }
    }

    /// The same in a sentence.
    pub fn text(&self) -> String {
        let percent = |share: f64| format!("{:.1}", share * 100.0);
        let list = |each: Vec<String>| each.join(", ");
        let shifts = list(self.power.iter().map(|(shift, _)| shift.to_string()).collect());
        let powers = list(self.power.iter().map(|(_, power)| percent(*power)).collect());
        format!(
            "{} x {}: says by mistake that something changed in {} % of looks, and finds a shift of {shifts} in {powers} % (a decision with two values, each with a share of one half before; {LOOKS} simulated looks)",
            self.answers,
            self.times,
            percent(self.level),
        )
    }
}

/// The p of one simulated look.
fn simulated_p(answers: usize, times: u32, shift: f64, rng: &mut ChaCha12Rng) -> f64 {
    let (mut shares, mut old_with_it) = (Vec::with_capacity(answers), 0);
    for _ in 0..answers {
        let old = happens(0.5, rng);
        let new = (0..times).filter(|_| happens(0.5 + shift, rng)).count();
        shares.push((usize::from(old) + new) as f64 / f64::from(times + 1));
        old_with_it += usize::from(old);
    }
    two_sided(&shares, old_with_it)
}

fn happens(probability: f64, rng: &mut ChaCha12Rng) -> bool {
    // 53 bits, as many as a float has.
    let draw = (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
    draw < probability
}
