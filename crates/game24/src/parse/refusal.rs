//! Words of refusal: that there is no solution, and not merely that something is not so.

/// Words that refuse by themselves.
const REFUSALS: [&str; 7] =
    ["impossible", "unsolvable", "insoluble", "none", "unachievable", "infeasible", "unattainable"];

/// Words that refuse what the line is about.
const NEGATIONS: [&str; 16] = [
    "no",
    "not",
    "never",
    "nothing",
    "cannot",
    "can't",
    "couldn't",
    "unable",
    "invalid",
    "doesn't",
    "don't",
    "didn't",
    "isn't",
    "aren't",
    "failed",
    "unfortunately",
];

/// What can be refused.
const TOPICS: [&str; 32] = [
    "solution",
    "solutions",
    "answer",
    "answers",
    "solvable",
    "solve",
    "solved",
    "possible",
    "way",
    "combination",
    "combinations",
    "expression",
    "obtain",
    "obtained",
    "make",
    "made",
    "get",
    "reach",
    "reached",
    "form",
    "formed",
    "find",
    "found",
    "done",
    "exist",
    "exists",
    "input",
    "produce",
    "result",
    "achieve",
    "valid",
    "equal",
];

/// Words that make a remark of it: a solution is there, and it has no other, or needs no more.
const REMARKS: [&str; 9] = [
    "other",
    "another",
    "else",
    "further",
    "unique",
    "alternative",
    "doubt",
    "simplified",
    "simpler",
];

/// Whether words of refusal are all that stands behind a label or in a block: `None`, `not possible`, `N/A`.
pub(super) fn is_refusal(content: &str) -> bool {
    let bare = content.trim_matches(|c: char| !c.is_alphanumeric());
    let alone = ["no", "n/a", "na", "invalid", "cannot", "unable", "nope"];
    alone.iter().any(|word| bare.eq_ignore_ascii_case(word)) || gives_up(content)
}

/// Whether a line says that there is no solution.
pub(super) fn gives_up(line: &str) -> bool {
    let (mut refuses, mut negates, mut topic) = (false, false, line.contains("24"));
    for word in line.split(|c: char| !c.is_ascii_alphabetic() && c != '\'' && c != '’') {
        // No listed word is longer.
        if !(2..=13).contains(&word.len()) {
            continue;
        }
        let is_in = |list: &[&str]| list.iter().any(|listed| is_word(word, listed));
        if is_in(&REMARKS) {
            return false;
        }
        refuses |= is_in(&REFUSALS);
        negates |= is_in(&NEGATIONS);
        topic |= is_in(&TOPICS);
    }
    refuses || negates && topic
}

/// Whether it is that word, in any case, with either apostrophe.
fn is_word(word: &str, listed: &str) -> bool {
    word.eq_ignore_ascii_case(listed)
        || word.contains('’') && word.replace('’', "'").eq_ignore_ascii_case(listed)
}
