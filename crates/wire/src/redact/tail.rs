//! The end of a text that was broken off, where the beginning of a value may stand.

use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::{Anchored, Input};

/// How far before the end a value may begin, in bytes.
const LONGEST: usize = 256;

/// Finds what may be the beginning of a match of a pattern.
#[derive(Debug)]
pub(super) struct MatchBeginnings(DFA);

impl MatchBeginnings {
    /// For this pattern; `None` if it is too large to be followed byte by byte.
    pub(super) fn new(pattern: &str) -> Option<Self> {
        let config = DFA::config().unicode_word_boundary(true);
        DFA::builder().configure(config).build(pattern).ok().map(MatchBeginnings)
    }

    /// Where the longest end of a text begins with which a match may begin.
    pub(super) fn at_end_of(&self, text: &str) -> Option<usize> {
        let mut cache = self.0.create_cache();
        let from = text.len().saturating_sub(LONGEST);
        let mut places = (from..text.len()).filter(|at| text.is_char_boundary(*at));
        places.find(|at| self.may_begin(&mut cache, text, *at).unwrap_or(false))
    }

    /// Whether a match may begin here and continue after the end; `None` if that cannot be found out.
    fn may_begin(&self, cache: &mut Cache, text: &str, at: usize) -> Option<bool> {
        let input = Input::new(text).range(at..).anchored(Anchored::Yes);
        let mut state = self.0.start_state_forward(cache, &input).ok()?;
        for byte in &text.as_bytes()[at..] {
            state = self.0.next_state(cache, state, *byte).ok()?;
            if state.is_dead() || state.is_quit() {
                return Some(false);
            }
        }
        Some(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_of_a_value_is_found_at_the_end_alone() {
        let beginnings = MatchBeginnings::new("Ada Lovelace|\\bJos\u{e9}").unwrap();
        assert_eq!(beginnings.at_end_of("I am Ada Lo"), Some(5));
        assert_eq!(beginnings.at_end_of("I am Ada Lo."), None);
        assert_eq!(beginnings.at_end_of("Who? A"), Some(5));
        assert_eq!(beginnings.at_end_of(""), None);
    }
}
