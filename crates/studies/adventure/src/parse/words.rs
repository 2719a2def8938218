//! The words that distinguish a name or a list in prose from the sentence around it.

/// A clause begins after one of these.
pub(super) const CONJUNCTIONS: [&str; 12] = [
    "and", "as", "because", "but", "so", "then", "though", "until", "when", "where", "while",
    "which",
];
/// Subjects of a clause.
pub(super) const SUBJECTS: [&str; 9] =
    ["you", "he", "she", "it", "they", "we", "i", "there", "nobody"];
/// Possessives and objects, which do not occur in names.
const OTHERS: [&str; 10] = ["your", "his", "her", "their", "him", "them", "me", "us", "my", "our"];
/// Verbs that do not occur in names.
const VERBS: [&str; 8] = ["is", "are", "was", "were", "has", "have", "had", "would"];
/// Words that may be in a name in lower case, if a word in capitals follows.
const JOINERS: [&str; 24] = [
    "of", "the", "and", "in", "on", "at", "by", "near", "under", "for", "to", "a", "an", "de",
    "del", "la", "las", "los", "el", "y", "&", "-", "–", "—",
];
/// A noun must follow one of these.
pub(super) const PREPOSITIONS: [&str; 40] = [
    "a", "an", "the", "at", "in", "into", "inside", "to", "toward", "towards", "from", "near",
    "outside", "of", "on", "onto", "by", "with", "against", "called", "named", "reach", "reaches",
    "enter", "enters", "behind", "face", "faces", "facing", "fight", "fights", "fighting",
    "confront", "confronts", "attack", "attacks", "challenge", "challenges", "meet", "meets",
];
/// Words whose full stop does not end a sentence.
const ABBREVIATIONS: [&str; 33] = [
    "st", "dr", "mr", "mrs", "ms", "mt", "ft", "jr", "sr", "lt", "no", "vs", "sgt", "col", "gen",
    "rev", "capt", "prof", "gov", "maj", "hon", "ave", "oz", "lb", "lbs", "cal", "co", "bros",
    "etc", "fr", "sta", "pvt", "cpl",
];

/// Whether a word is in a list, ignoring capitalisation; a comma after it does not matter.
pub(super) fn is_one_of(word: &str, list: &[&str]) -> bool {
    let bare = word.trim_matches([',', ';', '"', '“', '”', '*']);
    list.iter().any(|listed| bare.eq_ignore_ascii_case(listed))
}

/// The first word.
pub(super) fn first(text: &str) -> &str {
    text.split_whitespace().next().unwrap_or("")
}

/// Whether a word shows that somebody does something: a pronoun, or a verb that does not occur in
/// names.
fn is_clausal(word: &str) -> bool {
    let bare = word.trim_end_matches([',', ';']);
    is_one_of(word, &SUBJECTS) || VERBS.contains(&bare)
}

/// The words between spaces, each with its position.
pub(super) fn word_indices(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    text.split(' ').filter_map(move |word| {
        let start = at;
        at += word.len() + 1;
        (!word.trim().is_empty()).then_some((start, word))
    })
}

/// Where the first sentence ends, without and with its full stop: at a full stop and a space,
/// except after an abbreviation (`St.`, `Dr.`) or an initial.
pub(super) fn sentence(text: &str) -> (usize, usize) {
    let stops = text.match_indices(['.', '!', '?']);
    let found = stops.map(|(at, _)| at).find(|at| {
        let ends_word = text.get(at + 1..).is_none_or(|t| t.is_empty() || t.starts_with(' '));
        let before = text.get(..*at).unwrap_or("");
        ends_word && !text.get(*at..).is_some_and(|t| t.starts_with('.') && is_abbreviated(before))
    });
    found.map_or((text.len(), text.len()), |at| (at, at + 1))
}

/// Whether a text ends with a word that is abbreviated with a full stop.
pub(super) fn is_abbreviated(text: &str) -> bool {
    // A longer word is not an abbreviation: no more of the text is examined.
    let mut last = text.char_indices().rev().take(6);
    let start = last.find(|(_, c)| !c.is_alphanumeric()).map(|(at, c)| at + c.len_utf8());
    let word =
        text.get(start.unwrap_or(if text.chars().nth(6).is_none() { 0 } else { text.len() })..);
    let word = word.unwrap_or("");
    let is_initial = word.len() == 1 && word.starts_with(char::is_uppercase);
    is_initial || ABBREVIATIONS.iter().any(|short| word.eq_ignore_ascii_case(short))
}

/// The length of the name at the start of a sentence; `None` if it does not begin with a name.
///
/// A name consists of words in capitals (with `of`, `the` and the like between them), numbers, and
/// text in parentheses. Two such words end where the sentence continues in lower case. One such
/// word, or none, may be followed by others in lower case (`Abandoned mine`), up to a conjunction.
pub(super) fn name(sentence: &str, is_place: bool) -> Option<usize> {
    let words: Vec<(usize, &str)> = word_indices(sentence).collect();
    let (run, capitals) = run(sentence, &words);
    let is_place = is_place
        && !words.get(run.wrapping_sub(1)).is_some_and(|(_, last)| last.ends_with([',', ';']));
    let end = |count: usize| match count.checked_sub(1).and_then(|last| words.get(last)) {
        Some((at, word)) => at + word.len(),
        None => 0,
    };
    if capitals >= 2 {
        // A place may have one more word (`Silver Gulch saloon`), but a fighter may not (`Black
        // Bart draws`).
        return Some(if words.len() < run + if is_place { 2 } else { 1 } {
            sentence.len()
        } else {
            end(run)
        });
    }
    let clause = words.iter().position(|(_, word)| is_one_of(word, &CONJUNCTIONS));
    let clause = clause.unwrap_or(words.len());
    let mut behind = words.iter().take(clause).skip(run);
    let is_sentence = behind.any(|(_, word)| is_clausal(word) || OTHERS.contains(word));
    match (is_sentence, run) {
        (true, 0) => None,
        (true, run) => Some(end(run)),
        (false, _) if clause == words.len() => Some(sentence.len()),
        (false, _) => Some(end(clause)).filter(|end| *end > 0),
    }
}

/// The number of words in the run of capitals at the start, and how many of them are in capitals.
fn run(sentence: &str, words: &[(usize, &str)]) -> (usize, usize) {
    let closed = sentence.rfind(')').unwrap_or(0);
    let (mut run, mut capitals, mut inside, mut paused) = (0, 0, false, false);
    for (number, (at, word)) in words.iter().enumerate() {
        let begins = word.trim_start_matches(['(', '"', '“', '\'', '‘', '’', '#', '*', '.']);
        let is_capital = begins.starts_with(|c: char| c.is_uppercase() || c.is_numeric());
        if inside
            || word.starts_with('(') && *at < closed
            || is_capital && !is_one_of(word, &SUBJECTS)
        {
            run = number + 1;
            capitals += usize::from(is_capital && !inside);
            inside = (inside || word.contains('(') && *at < closed) && !word.contains(')');
            paused = word.ends_with([',', ';']);
        } else if run == 0 || paused && *word == "and" || !JOINERS.contains(word) {
            break;
        }
    }
    (run, capitals)
}

/// Where a list in a sentence ends because a clause begins: `Rope and you go`.
pub(super) fn list(sentence: &str) -> usize {
    let words: Vec<(usize, &str)> = word_indices(sentence).collect();
    let clause = words.windows(2).position(|pair| {
        let [(_, first), (_, second)] = pair else { return false };
        let is_subject = SUBJECTS.contains(second) || *second == "I";
        is_subject && (first.ends_with([',', ';']) || is_one_of(first, &CONJUNCTIONS))
    });
    let Some((at, first)) = clause.and_then(|clause| words.get(clause)) else {
        return sentence.len();
    };
    if first.ends_with([',', ';']) { at + first.len() } else { *at }
}

/// Where a list ends whose last piece leads to a noun that is another marker's value: `Rope and
/// ride to`.
pub(super) fn before_next(list: &str) -> Option<usize> {
    list.split_whitespace().next_back().filter(|last| is_one_of(last, &PREPOSITIONS))?;
    let comma = list.rfind([',', ';']).map(|at| at + 1);
    comma.max(list.rfind(" and ").map(|at| at + 1))
}

/// Whether the text after a marker in prose is a sentence rather than a list of names.
pub(super) fn is_sentence(text: &str) -> bool {
    let said = ["as", "because", "but", "then", "when", "where", "while"];
    let mut words = text.split_whitespace();
    let starts_so = words.clone().next().is_some_and(|first| is_one_of(first, &CONJUNCTIONS));
    // `The door shuts`, but not `The Golden Spur`.
    let the = text.trim_start().strip_prefix("The ");
    let mut items = text.split([',', ';']).flat_map(|piece| piece.split(" and "));
    let lengthy = items.any(|item| item.split_whitespace().nth(8).is_some());
    starts_so
        || the.is_some_and(|rest| rest.starts_with(char::is_lowercase))
        || text.contains(':')
        || lengthy
        || words.any(|word| is_clausal(word) || said.contains(&word))
}
