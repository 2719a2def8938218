//! Vectors of texts for simulated models: the sum of the directions of their words, so that texts
//! with the same words are close to each other.

use retold::model::simulated::Dice;

/// The length of a simulated vector. Short, because more numbers would not make it better.
const WIDTH: usize = 48;

/// Words that carry no information about reasons.
const EMPTY: &[&str] = &[
    "the", "a", "an", "and", "of", "to", "it", "is", "in", "for", "this", "that", "with", "who",
    "on", "they",
];

/// The vector of a text, of length 1.
pub fn vector(text: &str) -> Vec<f32> {
    let mut sum = [0.0_f64; WIDTH];
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    for word in words.map(str::to_lowercase).filter(|word| !EMPTY.contains(&word.as_str())) {
        let mut direction = Dice::new(&word);
        sum.iter_mut().for_each(|x| *x += direction.share() - 0.5);
    }
    let length = sum.iter().map(|x| x * x).sum::<f64>().sqrt();
    let length = if length > 0.0 { length } else { 1.0 };
    #[expect(clippy::cast_possible_truncation, reason = "vectors are 32-bit floats")]
    let vector = sum.iter().map(|x| (x / length) as f32).collect();
    vector
}
