//! Randomness for experiments: one stream per name, so that a new use does not affect existing
//! ones.

use rand_chacha::ChaCha12Rng;
use rand_chacha::rand_core::SeedableRng;

/// Separates this use of BLAKE3 from all others. Changing it would change every seeded study.
const CONTEXT: &str = "retold 2026-11 run rng v1";

/// The ChaCha stream of a seed and a name.
pub fn rng_for(seed: u64, name: &str) -> ChaCha12Rng {
    let mut hasher = blake3::Hasher::new_derive_key(CONTEXT);
    hasher.update(&seed.to_le_bytes()).update(name.as_bytes());
    ChaCha12Rng::from_seed(*hasher.finalize().as_bytes())
}
