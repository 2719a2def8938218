//! Options of one letter, which may also be words: `A car` and `I think` name no option.

use super::words::Word;

/// Letters that are words in some language.
const WORDS: &str = "aeiouyAEIOUY";

/// Words after which a letter names an option.
const BEFORE: [&str; 18] = [
    "is", "be", "answer", "answers", "option", "options", "choice", "choose", "chose", "select",
    "pick", "vote", "letter", "say", "ist", "antwort", "est", "es",
];

/// Words that follow the name of an option, and no article or pronoun.
const AFTER: [&str; 16] = [
    "is", "isn", "was", "has", "because", "since", "as", "and", "or", "but", "would", "seems",
    "does", "doesn", "cannot", "ist",
];

/// The most marks that may stand between a letter and the end of its line.
const MOST_MARKS: usize = 8;

/// The meaning of a word that is an option.
pub(super) enum LetterMention {
    Option,
    Word,
    /// Either, as it is written.
    Unclear(String),
}

impl LetterMention {
    /// The meaning of the word at `at`: of more than one letter, it is always the option.
    pub(super) fn new(text: &str, words: &[Word<'_>], at: usize) -> Self {
        let word = &words[at];
        let mut letters = word.text.chars();
        let (Some(letter), None) = (letters.next(), letters.next()) else {
            return LetterMention::Option;
        };
        let before = text.get(..word.at).unwrap_or("");
        let after = text.get(word.end()..).unwrap_or("");
        let previous = at.checked_sub(1).map(|at| &words[at]);
        let next = words.get(at + 1);
        if word.is_spaceless() {
            // A letter of a longer word.
            let is_beside = |other: Option<&Word<'_>>| other.is_some_and(Word::is_spaceless);
            let is_before = before.ends_with(char::is_alphanumeric) && is_beside(previous);
            let is_after = after.starts_with(char::is_alphanumeric) && is_beside(next);
            return if is_before || is_after { LetterMention::Word } else { LetterMention::Option };
        }
        if letter.is_alphabetic() && is_in_name(before, after) {
            return LetterMention::Word;
        }
        if !WORDS.contains(letter) || is_marked(text, words, at) {
            return LetterMention::Option;
        }
        let is_one_of = |word: Option<&Word<'_>>, known: &[&str]| {
            word.is_some_and(|word| known.contains(&word.text.to_lowercase().as_str()))
        };
        // A word that follows at once, on the same line.
        let following =
            next.filter(|next| !next.is_symbol() && !has_line_end(text, word.end(), next.at));
        let is_followed = following.is_some_and(|next| !is_one_of(Some(next), &AFTER));
        let previous = previous.filter(|it| !has_line_end(text, it.end(), word.at));
        let is_named = is_one_of(previous, &BEFORE)
            || previous.is_some_and(Word::is_spaceless)
            || !is_followed && before.trim_end().ends_with([':', '=']);
        if letter == 'I' || letter.is_lowercase() {
            let is_option = is_named && !is_followed || is_one_of(following, &["is"]);
            return if is_option { LetterMention::Option } else { LetterMention::Word };
        }
        let is_first = previous.is_none_or(|it| it.is_symbol() && ![",", ";"].contains(&it.text));
        match (is_named || !is_followed, is_first) {
            (true, _) => LetterMention::Option,
            (false, true) => LetterMention::Word,
            (false, false) => {
                let end = following.map_or(word.end(), Word::end);
                LetterMention::Unclear(text.get(word.at..end).unwrap_or("").to_owned())
            }
        }
    }
}

/// True if a letter is part of an abbreviation, a name or a grade: `U.S.A.`, `C++`, `B-`.
fn is_in_name(before: &str, after: &str) -> bool {
    let earlier = before.strip_suffix('.').or_else(|| before.strip_suffix('&'));
    let is_abbreviated = earlier.is_some_and(|earlier| earlier.ends_with(char::is_alphabetic));
    let later = after.strip_prefix('.').or_else(|| after.strip_prefix('&'));
    let continues = later.is_some_and(|later| {
        let mut next = later.chars();
        next.next().is_some_and(char::is_alphabetic) && next.next() == Some('.')
    });
    is_abbreviated || continues || after.starts_with(['+', '#', '-', '\u{2212}'])
}

/// True if brackets, quotes, emphasis or a line of its own mark a letter.
fn is_marked(text: &str, words: &[Word<'_>], at: usize) -> bool {
    let word = &words[at];
    let before = text.get(..word.at).unwrap_or("");
    let after = text.get(word.end()..).unwrap_or("");
    let is_opened = before.ends_with(['(', '[', '{', '"', '\'', '“', '‘', '«', '*', '_', '`', '$']);
    let is_closed =
        after.starts_with([')', ']', '}', '"', '\'', '”', '’', '»', '*', '_', '`', '$']);
    let is_label = after.starts_with([')', ']', ':', '.']);
    let begins_line = || {
        let symbols = words[..at].iter().rev().take(MOST_MARKS).take_while(|word| word.is_symbol());
        let first = at - symbols.count();
        first == 0 || has_line_end(text, words[first - 1].end(), words[at].at)
    };
    let ends_line = || {
        let symbols = words[at + 1..].iter().take(MOST_MARKS).take_while(|word| word.is_symbol());
        let next = words.get(at + 1 + symbols.count());
        next.is_none_or(|next| has_line_end(text, word.end(), next.at))
    };
    is_opened && (is_closed || is_label) || begins_line() && (is_label || ends_line())
}

fn has_line_end(text: &str, start: usize, end: usize) -> bool {
    text.get(start..end).is_some_and(|between| between.contains('\n'))
}
