//! Randomness for experiments: one stream per name, so that a new use does not affect existing
//! ones. Draws never change: with a library that changed its algorithm, every seeded study would change.

use rand_chacha::ChaCha12Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// Separates this use of BLAKE3 from all others. Changing it would change every seeded study.
const CONTEXT: &str = "retold 2026-11 run rng v1";

/// The ChaCha stream of a seed and a name.
pub fn rng_for(seed: u64, name: &str) -> ChaCha12Rng {
    let mut hasher = blake3::Hasher::new_derive_key(CONTEXT);
    hasher.update(&seed.to_le_bytes()).update(name.as_bytes());
    ChaCha12Rng::from_seed(*hasher.finalize().as_bytes())
}

/// Shuffles things (Fisher and Yates).
pub fn shuffle<T>(things: &mut [T], rng: &mut ChaCha12Rng) {
    for last in (1..things.len()).rev() {
        things.swap(last, below(last + 1, rng));
    }
}

/// A number below a bound, all equally likely: draws that would favour some are discarded.
pub fn below(bound: usize, rng: &mut ChaCha12Rng) -> usize {
    let bound = bound.max(1) as u64;
    let fair = u64::MAX - u64::MAX % bound;
    loop {
        let draw = rng.next_u64();
        if draw < fair {
            #[expect(clippy::cast_possible_truncation, reason = "it is below a usize")]
            return (draw % bound) as usize;
        }
    }
}
