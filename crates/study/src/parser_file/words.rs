//! The words and the symbols of a text, and which of them belong together.

use super::plain_text::pieces;

/// Marks of emphasis, which may stand around words: `**strongly** agree`.
const EMPHASIS: [char; 4] = ['*', '`', '~', '_'];

const HYPHENS: [char; 3] = ['-', '\u{2010}', '\u{2011}'];

/// The connection of a word to the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Joint {
    Apart,
    /// A part of the same compound, as in `no-one`, `can't` and `1.5`.
    Joined,
    /// The same around emphasis or a hyphen at the end of a line, which may divide one word: `**dis**agree`.
    Broken,
}

/// A word, or a symbol. Languages without spaces have a word for each letter.
#[derive(Debug, Clone, Copy)]
pub(super) struct Word<'t> {
    /// Its first byte.
    pub(super) at: usize,
    pub(super) text: &'t str,
    pub(super) joint: Joint,
}

impl Word<'_> {
    pub(super) fn end(&self) -> usize {
        self.at + self.text.len()
    }

    pub(super) fn is_symbol(&self) -> bool {
        !self.text.starts_with(is_letter)
    }

    pub(super) fn is_spaceless(&self) -> bool {
        self.text.starts_with(is_spaceless)
    }
}

/// True if a letter belongs to a language that writes words without spaces between them or beside other ones.
pub(super) fn is_spaceless(c: char) -> bool {
    matches!(c,
        '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'
        | '\u{2e80}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}')
        && c.is_alphanumeric()
}

/// True if a character makes a word with the letters beside it.
pub(super) fn is_joining(c: char) -> bool {
    is_letter(c) && !is_spaceless(c)
}

fn is_letter(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '\u{300}'..='\u{36f}')
}

/// The words of a text. At a cut, one ends and another begins, whatever they look like.
pub(super) fn words<'t>(text: &'t str, cuts: &[usize]) -> Vec<Word<'t>> {
    let mut words = Vec::new();
    for (start, text) in pieces(text, cuts) {
        let known = words.len();
        add_words(text, &mut words);
        words[known..].iter_mut().for_each(|word| word.at += start);
    }
    words
}

fn add_words<'t>(text: &'t str, words: &mut Vec<Word<'t>>) {
    let (first, mut at, mut joint) = (words.len(), 0, Joint::Apart);
    while let Some((end, kind)) = next_piece(text, at, words[first..].last()) {
        let (joint_here, joint_after) = match kind {
            Piece::Gap(after) => {
                (at, joint) = (end, after);
                continue;
            }
            Piece::Word => (joint, Joint::Apart),
            Piece::Symbol(before, after) => (before, after),
        };
        words.push(Word { at, text: text.get(at..end).unwrap_or(""), joint: joint_here });
        (at, joint) = (end, joint_after);
    }
}

enum Piece {
    Word,
    /// A symbol, with its joints to what is before and after it.
    Symbol(Joint, Joint),
    /// Nothing of its own, with the joint of the words around it.
    Gap(Joint),
}

/// The piece that begins at `at`: where it ends, and its kind.
fn next_piece(text: &str, at: usize, last: Option<&Word<'_>>) -> Option<(usize, Piece)> {
    let rest = text.get(at..)?;
    let c = rest.chars().next()?;
    if is_letter(c) {
        let mut letters = rest.char_indices().skip(1);
        let end = match is_spaceless(c) {
            true => c.len_utf8(),
            false => letters.find(|(_, c)| !is_joining(*c)).map_or(rest.len(), |(end, _)| end),
        };
        return Some((at + end, Piece::Word));
    }
    let last = last.filter(|word| word.end() == at && word.text.ends_with(is_joining));
    let run = match EMPHASIS.contains(&c) {
        true => rest.len() - rest.trim_start_matches(EMPHASIS).len(),
        false => c.len_utf8(),
    };
    let end = at + run;
    let after = rest.get(run..).unwrap_or("");
    let next = after.chars().next();
    let joins = last.is_some() && next.is_some_and(is_joining);
    let is_digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
    let is_number = is_digit(last.and_then(|word| word.text.chars().next_back())) && is_digit(next);
    Some(match c {
        _ if c.is_whitespace() => (end, Piece::Gap(Joint::Apart)),
        _ if EMPHASIS.contains(&c) => {
            (end, Piece::Gap(if joins { Joint::Broken } else { Joint::Apart }))
        }
        '\'' | '\u{2019}' if joins => (end, Piece::Gap(Joint::Joined)),
        _ if HYPHENS.contains(&c) && joins => (end, Piece::Gap(Joint::Joined)),
        _ if HYPHENS.contains(&c) && last.is_some() && broken(after).is_some() => {
            (end + broken(after).unwrap_or(0), Piece::Gap(Joint::Broken))
        }
        '.' | ',' | '/' | ':' | '\u{2044}' if is_number => {
            (end, Piece::Symbol(Joint::Joined, Joint::Joined))
        }
        '-' | '\u{2212}' | '+' if last.is_none() && is_digit(next) => {
            (end, Piece::Symbol(Joint::Apart, Joint::Joined))
        }
        // `(dis)agree`
        ')' if joins && next.is_some_and(char::is_lowercase) => {
            (end, Piece::Symbol(Joint::Joined, Joint::Joined))
        }
        _ => (end, Piece::Symbol(Joint::Apart, Joint::Apart)),
    })
}

/// The length of white space with a line break between a hyphen and the rest of the word.
fn broken(after: &str) -> Option<usize> {
    let next = after.trim_start();
    let space = after.get(..after.len() - next.len())?;
    (space.contains(|c| c != ' ') && next.starts_with(is_joining)).then_some(space.len())
}
