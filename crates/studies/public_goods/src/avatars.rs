//! The players' avatars.

use rand_chacha::ChaCha12Rng;

use retold::run::shuffle;

/// All avatars: the names that players use for each other in the original answers.
pub const AVATARS: [&str; 20] = [
    "DOG", "CHICKEN", "CAT", "FISH", "BIRD", "RABBIT", "TURTLE", "HAMSTER", "FROG", "MOUSE",
    "SNAKE", "BEAR", "LION", "TIGER", "ELEPHANT", "MONKEY", "PANDA", "KOALA", "WOLF", "FOX",
];

/// Draws different avatars.
pub(super) fn draw(count: u32, rng: &mut ChaCha12Rng) -> Vec<String> {
    let mut avatars = AVATARS.to_vec();
    shuffle(&mut avatars, rng);
    avatars.into_iter().take(count as usize).map(str::to_owned).collect()
}
