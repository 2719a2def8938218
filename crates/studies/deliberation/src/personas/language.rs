//! Detects whether a persona is written in English.

use whatlang::{Detector, Lang};

/// The languages that are distinguished: those in which persona collections are written. With fewer
/// candidates, short texts are recognised more reliably.
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

/// Words that almost every English description of a person contains and that the other languages do
/// not have (unlike `a` and `in`).
const COMMON: &[&str] = &[
    "the", "who", "and", "with", "is", "are", "has", "his", "her", "their", "from", "about", "at",
    "by", "whose", "which", "been", "as", "always", "wants", "loves",
];

/// Words that other languages have as well: they count if the detection is not certain.
const ARTICLES: &[&str] = &["a", "an", "of", "for", "to", "in"];

/// Whether a text is English, by language detection. Personas are short, and the detection takes
/// one in twenty for another language; therefore a text in Latin letters that it does not consider
/// English is judged by its common words.
pub fn is_english(text: &str) -> bool {
    let detected = Detector::with_allowlist(CANDIDATES.to_vec()).detect(text);
    let Some(info) = detected else { return false };
    if info.lang() == Lang::Eng {
        return true;
    }
    if info.script() != whatlang::Script::Latin {
        return false;
    }
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let share = |list: &[&str]| {
        let listed = words.clone().filter(|word| list.contains(&word.to_lowercase().as_str()));
        listed.count() as f64 / words.clone().count().max(1) as f64
    };
    share(COMMON) > 1.0 / 15.0 || !info.is_reliable() && text.is_ascii() && share(ARTICLES) > 0.07
}
