//! Recognises refusals: statements that there is no solution, as opposed to mere negations.

use std::borrow::Cow;

/// Words that refuse by themselves.
const REFUSALS: [&str; 7] =
    ["impossible", "unsolvable", "insoluble", "none", "unachievable", "infeasible", "unattainable"];

/// Words that negate the topic of the line.
const NEGATIONS: [&str; 16] = [
    "no", "not", "never", "nothing", "cannot", "can't", "couldn't", "unable", "invalid", "doesn't",
    "don't", "didn't", "isn't", "aren't", "failed", "unfortunately",
];

/// What can be refused.
const TOPICS: [&str; 32] = [
    "solution", "solutions", "answer", "answers", "solvable", "solve", "solved", "possible", "way",
    "combination", "combinations", "expression", "obtain", "obtained", "make", "made", "get",
    "reach", "reached", "form", "formed", "find", "found", "done", "exist", "exists", "input",
    "produce", "result", "achieve", "valid", "equal",
];

/// Words that make it a remark: there is a solution, and it has no alternative or needs nothing
/// else.
const REMARKS: [&str; 9] = [
    "other", "another", "else", "further", "unique", "alternative", "doubt", "simplified",
    "simpler",
];

/// Whether the text after a label or in a block only refuses: `None`, `not possible`, `N/A`.
pub(super) fn is_refusal(content: &str) -> bool {
    let bare = content.trim_matches(|c: char| !c.is_alphanumeric());
    let alone = ["no", "n/a", "na", "invalid", "cannot", "unable", "nope"];
    alone.iter().any(|word| bare.eq_ignore_ascii_case(word)) || gives_up(content)
}

/// Whether a line says that there is no solution.
pub(super) fn gives_up(line: &str) -> bool {
    let (mut refuses, mut negates, mut topic) = (false, false, false);
    for word in line.split(|c: char| !c.is_ascii_alphabetic() && c != '\'' && c != '’') {
        let word = with_plain_apostrophes(word);
        if !may_be_listed(&word) {
            continue;
        }
        let is_in = |list: &[&str]| list.iter().any(|listed| word.eq_ignore_ascii_case(listed));
        if is_in(&REMARKS) {
            return false;
        }
        refuses |= is_in(&REFUSALS);
        negates |= is_in(&NEGATIONS);
        topic |= is_in(&TOPICS);
    }
    refuses || negates && (topic || line.contains("24"))
}

fn with_plain_apostrophes(word: &str) -> Cow<'_, str> {
    if word.is_ascii() { Cow::Borrowed(word) } else { Cow::Owned(word.replace('’', "'")) }
}

/// For each first letter, the lengths of the listed words that begin with it, as bits. Most words
/// of an answer are not listed, and this excludes nearly all of them without a comparison.
const LENGTHS: [u16; 26] = {
    const fn with(mut lengths: [u16; 26], list: &[&str]) -> [u16; 26] {
        let mut at = 0;
        while at < list.len() {
            let word = list[at].as_bytes();
            lengths[(word[0] - b'a') as usize] |= 1 << word.len();
            at += 1;
        }
        lengths
    }
    with(with(with(with([0; 26], &REFUSALS), &NEGATIONS), &TOPICS), &REMARKS)
};

/// Whether some listed word has the same first letter and length.
fn may_be_listed(word: &str) -> bool {
    let first = word.bytes().next().map(|first| first.to_ascii_lowercase().wrapping_sub(b'a'));
    let lengths = first.and_then(|first| LENGTHS.get(usize::from(first)));
    lengths.is_some_and(|lengths| word.len() < 16 && lengths >> word.len() & 1 == 1)
}
