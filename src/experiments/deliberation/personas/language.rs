//! Whether a persona is written in English.

use whatlang::{Detector, Lang};

/// The languages told apart: those that persona collections are written in. Fewer candidates make
/// short texts more certain.
const CANDIDATES: &[Lang] = &[
    Lang::Eng,
    Lang::Spa,
    Lang::Fra,
    Lang::Deu,
    Lang::Por,
    Lang::Ita,
    Lang::Nld,
    Lang::Rus,
    Lang::Cmn,
    Lang::Jpn,
    Lang::Kor,
    Lang::Ara,
    Lang::Hin,
    Lang::Tur,
    Lang::Pol,
];

/// Words that an English description of a person can hardly do without.
const COMMON: &[&str] = &["a", "an", "the", "who", "of", "and", "with", "in", "is", "for", "to"];

/// Whether a text is English, by language detection. A short text on which the detection is not
/// sure is judged by its common words.
pub fn is_english(text: &str) -> bool {
    let detected = Detector::with_allowlist(CANDIDATES.to_vec()).detect(text);
    let Some(info) = detected else { return false };
    if info.lang() == Lang::Eng {
        return true;
    }
    if info.is_reliable() && info.script() != whatlang::Script::Latin {
        return false;
    }
    let words: Vec<&str> =
        text.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()).collect();
    let common = words.iter().filter(|word| COMMON.contains(&word.to_lowercase().as_str()));
    // A quarter of the words of English prose are on the list; of other languages hardly any, but
    // for `a`, `in` and `an`.
    text.is_ascii() && common.count() * 5 >= words.len().max(1)
}
