//! Negations: in `not correct` and `I do not agree`, nothing says `correct` or `agree`.

use std::ops::Range;

use super::words::{Joint, Word};

/// Words that deny something after them in the same clause, or directly before them.
const NEGATORS: [&str; 30] = [
    "not", "never", "cannot", "dont", "doesnt", "isnt", "wont", "cant", "didnt", "arent", "wasnt",
    "wouldnt", "wrong", "incorrect", "nicht", "kein", "keine", "keinen", "keiner", "nie",
    "niemals", "falsch", "pas", "jamais", "nunca", "não", "niet", "inte", "ikke", "не",
];

/// Words that deny only what comes after them.
const NEGATORS_ONWARD: [&str; 23] = [
    "no", "nor", "neither", "nobody", "none", "without", "hardly", "barely", "scarcely", "except",
    "unlikely", "instead", "than", "doubt", "far", "fails", "refuse", "weder", "ne", "ni", "non",
    "geen", "ни",
];

/// Letters that deny what comes after them, where words have no spaces between them.
const SIGNS_ONWARD: [&str; 6] = ["不", "没", "沒", "未", "勿", "非"];

/// Endings that deny what comes before them.
const ENDINGS: [&str; 6] = ["ない", "ません", "않", "아니", "아닙", "못"];

/// Words that begin a clause of their own.
const CONJUNCTIONS: [&str; 12] = [
    "but", "because", "so", "therefore", "thus", "hence", "since", "sondern", "aber", "mais",
    "pero", "sino",
];

/// The number of words after something that may deny it: `B is not`.
const WORDS_AFTER: usize = 3;

/// The number of letters after something that may have an ending that denies it.
const LETTERS_AFTER: usize = 20;

/// The words of a text, and which of them are denied.
pub(super) struct Clauses<'w, 't> {
    text: &'t str,
    words: &'w [Word<'t>],
    /// For each word, the last one before it in its clause that denies what comes after.
    denying: Vec<Option<usize>>,
}

impl<'w, 't> Clauses<'w, 't> {
    pub(super) fn new(text: &'t str, words: &'w [Word<'t>]) -> Self {
        let mut clauses = Clauses { text, words, denying: Vec::with_capacity(words.len()) };
        let mut denying = None;
        for (at, word) in words.iter().enumerate() {
            match at.checked_sub(1).map(|before| clauses.line_ends(before)) {
                // A word at the end of a line may deny the one that begins the next.
                Some(Some(1)) => denying = denying.filter(|it| it + 1 == at),
                Some(Some(_)) => denying = None,
                _ => {}
            }
            clauses.denying.push(denying);
            let lower = word.text.to_lowercase();
            if clauses.is_negator(at)
                || NEGATORS_ONWARD.contains(&&*lower)
                || SIGNS_ONWARD.contains(&&*lower)
            {
                denying = Some(at);
            } else if ends_clause(word) {
                denying = None;
            }
        }
        clauses
    }

    /// The text in which some of its words are denied.
    pub(super) fn negation(&self, found: Range<usize>) -> Option<&'t str> {
        let (first, last) =
            (self.words.get(found.start)?, self.words.get(found.end.checked_sub(1)?)?);
        let said = |start: usize, end: usize| self.text.get(start..end);
        if let Some(at) = self.denying[found.start] {
            return said(self.words[at].at, last.end());
        }
        // An option that is a negation itself is not denied by one that explains it.
        if found.clone().any(|at| self.is_negator(at)) {
            return None;
        }
        let after = self.words.get(found.end..)?;
        let is_closing = |word: &&Word<'_>| [")", "]", "\"", "'", "”"].contains(&word.text);
        let closing = after.iter().take_while(is_closing).count();
        let rest = (found.end + closing..self.words.len()).take(LETTERS_AFTER);
        let clause = rest
            .take_while(|at| !ends_clause(&self.words[*at]) && self.line_ends(*at - 1).is_none());
        let clause: Vec<usize> = clause.collect();
        // `B) not` may be a label and its text.
        let denies = |(n, at): (usize, &usize)| {
            (self.is_negator(*at) && (n > 0 || closing == 0)).then_some(*at)
        };
        if let Some(at) = clause.iter().take(WORDS_AFTER).enumerate().find_map(denies) {
            return said(first.at, self.words[at].end());
        }
        let (start, end) = (*clause.first()?, *clause.last()?);
        let ending = self.text.get(self.words[start].at..self.words[end].end())?;
        let is_denied = self.words[start].is_spaceless()
            && ENDINGS.iter().any(|denial| ending.contains(denial));
        is_denied.then(|| said(first.at, self.words[end].end()))?
    }

    /// The number of lines that end after a word, if the next one does not continue its sentence.
    fn line_ends(&self, at: usize) -> Option<usize> {
        let (word, next) = (self.words.get(at)?, self.words.get(at + 1)?);
        let lines = self.text.get(word.end()..next.at)?.matches('\n').count();
        let continues = lines == 1 && next.text.starts_with(char::is_lowercase);
        (lines > 0 && !continues).then_some(lines)
    }

    /// True if a word denies, also the `t` of `don't`.
    fn is_negator(&self, at: usize) -> bool {
        let word = &self.words[at];
        let before = || at.checked_sub(1).map(|before| &self.words[before]);
        let is_short = word.text.eq_ignore_ascii_case("t")
            && word.joint == Joint::Joined
            && before().is_some_and(|before| before.text.ends_with(['n', 'N']));
        is_short || NEGATORS.contains(&word.text.to_lowercase().as_str())
    }
}

fn ends_clause(word: &Word<'_>) -> bool {
    match word.is_symbol() {
        true => word.text.contains([
            '.', ',', ';', ':', '!', '?', '…', '。', '、', '|', '=', '>', '<', '—', '–', '→',
        ]),
        false => CONJUNCTIONS.contains(&word.text.to_lowercase().as_str()),
    }
}
