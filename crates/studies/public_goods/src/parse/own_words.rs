//! A player's statements about itself: a text without its clauses about the gifts of others.
//!
//! A clause is about others if it has a verb of giving, nobody says `I` in it, and it names others
//! or is in the past (`DOG gave 4`). A label (`Contributed: 10`) and a verb at the beginning
//! (`Contributed 10.`) are the player's own. A clause ends with its sentence, and before the comma
//! of a part that says `I` or starts a new clause (`.., so 5 from me`).

use super::lexicon::{FIRST_PERSON, GAVE, GIVING, OTHERS, OWN};
use super::sentence::bare;

/// Words after a comma that begin a clause of its own.
const CONJUNCTIONS: [&str; 14] = [
    "so", "but", "therefore", "thus", "hence", "also", "aber", "deshalb", "donc", "mais", "pero",
    "ma", "mas", "dus",
];

/// The clauses of a text that are not about others. Numbers beside letters of a script without
/// spaces stand apart, so that they are words of their own.
pub(super) fn own_words(text: &str) -> String {
    let text = add_spaces(text);
    let mut own = String::with_capacity(text.len());
    for sentence in sentences(&text) {
        let mut clause = String::new();
        for part in sentence.split_inclusive(',') {
            if !clause.is_empty() && (begins(part) || is_about_others(part)) {
                keep(&mut own, &clause);
                clause.clear();
            }
            clause.push_str(part);
        }
        keep(&mut own, &clause);
    }
    own
}

/// Sentences with what ends them. A point between digits ends none.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let mut ends = rest.char_indices().filter(|(at, c)| {
            let next = || rest.as_bytes().get(at + 1);
            matches!(c, '!' | '?' | ';' | '\n' | '。' | '！' | '？')
                || *c == '.' && next().is_none_or(u8::is_ascii_whitespace)
        });
        let end = ends.next().map_or(rest.len(), |(at, c)| at + c.len_utf8());
        let (sentence, after) = rest.split_at_checked(end)?;
        rest = after;
        (!sentence.is_empty()).then_some(sentence)
    })
}

fn begins(part: &str) -> bool {
    let is_conjunction = |word: &str| CONJUNCTIONS.iter().any(|it| word.eq_ignore_ascii_case(it));
    part.split_whitespace().next().is_some_and(|word| is_conjunction(bare(word))) || says_i(part)
}

/// Whether the player speaks of itself: `I`, or `my contribution`.
fn says_i(text: &str) -> bool {
    let mut before = "";
    text.split_whitespace().map(bare).any(|word| {
        let is_own = OWN.has(before) && GIVING.has(word);
        before = word;
        is_own || matches!(word, "I" | "I'll" | "I’ll" | "I've" | "I’ve") || FIRST_PERSON.has(word)
    })
}

fn keep(own: &mut String, clause: &str) {
    if !is_about_others(clause) {
        own.push_str(clause);
    }
}

fn is_about_others(clause: &str) -> bool {
    let (mut names_others, mut gives, mut gave, mut is_label) = (false, false, false, false);
    for (at, written) in clause.split_whitespace().enumerate() {
        let word = bare(written);
        let is_past = GAVE.has(word);
        names_others |= OTHERS.has(word);
        gives |= GIVING.has(word) || is_past;
        gave |= is_past && at > 0;
        is_label |= is_past && written.trim_end_matches(['*', '`', '_', '"']).ends_with([':', '=']);
    }
    (gave || names_others && gives) && !is_label && !says_i(clause)
}

/// A text with spaces between digits and the letters of scripts that write none.
fn add_spaces(text: &str) -> String {
    let is_spaceless = |c: char| matches!(c, '\u{e00}'..='\u{eff}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}');
    let mut spaced = String::with_capacity(text.len());
    let mut before = ' ';
    for c in text.chars() {
        if is_spaceless(before) && c.is_ascii_digit() || before.is_ascii_digit() && is_spaceless(c)
        {
            spaced.push(' ');
        }
        spaced.push(c);
        before = c;
    }
    spaced
}

#[cfg(test)]
mod tests {
    use super::own_words;

    #[test]
    fn what_others_gave_is_left_out() {
        for (text, own) in [
            ("The others gave 4 and 6.", ""),
            ("The others gave 4 and 6. I give 5.", " I give 5."),
            ("They gave 4, 6 and 2, so 5 from me.", " so 5 from me."),
            ("DOG gave 4.5, CAT gave 6\nFive", "Five"),
            ("Die anderen haben 4 und 6 gegeben. Ich gebe 5.", " Ich gebe 5."),
            ("Les autres ont donné 4.", ""),
            ("Los demás dieron 4 y 6; doy 5.", " doy 5."),
            ("If the others give 10, I give 12.", " I give 12."),
            ("The others and I gave 4.", "The others and I gave 4."),
            ("My teammates put in 4 and 6.", ""),
            (
                "My contribution, like that of the others, is 5.",
                "My contribution, like that of the others, is 5.",
            ),
            ("I give nothing, as the others gave 4.", "I give nothing,"),
            ("Contributed 10 coins.", "Contributed 10 coins."),
            ("Amount contributed: 10", "Amount contributed: 10"),
            ("There are 4 other players.", "There are 4 other players."),
            ("\u{6211}\u{7d66}12\u{500b}", "\u{6211}\u{7d66} 12 \u{500b}"),
        ] {
            assert_eq!(own_words(text), own, "{text}");
        }
    }
}
