//! The position in the text, the open containers around it, and lookahead.

use super::Repair;
use super::unclosed::{RepairNotes, UnclosedQuotes};

/// Keys are never longer. Lookahead for a key stops here, which keeps the total time linear.
const LONGEST_KEY: usize = 200;

/// Reads a text from left to right. Positions are byte offsets and always between characters.
pub(super) struct Cursor<'t> {
    pub(super) text: &'t str,
    pub(super) pos: usize,
    /// The opening brackets of the open containers, outermost first.
    pub(super) open: Vec<u8>,
    /// How many arrays and objects are open.
    pub(super) arrays: usize,
    pub(super) objects: usize,
    /// The quotes that close no key from here on.
    pub(super) unclosed: &'t mut UnclosedQuotes,
    /// Whether the last container that was read had its closing bracket.
    pub(super) closed: bool,
    repairs: Vec<Repair>,
    /// The notes of the current search for the end of a key so far.
    pub(super) searching: Option<RepairNotes>,
}

impl<'t> Cursor<'t> {
    pub(super) fn new(text: &'t str, pos: usize, unclosed: &'t mut UnclosedQuotes) -> Cursor<'t> {
        Cursor {
            text,
            pos,
            open: Vec::new(),
            arrays: 0,
            objects: 0,
            unclosed,
            closed: true,
            repairs: Vec::new(),
            searching: None,
        }
    }

    pub(super) fn note(&mut self, repair: Repair) {
        if let Some(noted) = &mut self.searching {
            noted.push(repair, self.pos);
        }
        // There are at most twenty kinds, so a linear search is cheap.
        if !self.repairs.contains(&repair) {
            self.repairs.push(repair);
        }
    }

    pub(super) fn take_repairs(&mut self) -> Vec<Repair> {
        std::mem::take(&mut self.repairs)
    }

    pub(super) fn rest(&self) -> &'t str {
        self.text.get(self.pos..).unwrap_or("")
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Moves past the next character.
    pub(super) fn bump(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.pos += c.len_utf8();
        Some(c)
    }

    /// Moves past a character if it is the next one.
    pub(super) fn eat(&mut self, wanted: char) -> bool {
        let is_next = self.peek() == Some(wanted);
        if is_next {
            self.pos += wanted.len_utf8();
        }
        is_next
    }

    /// Skips white space and comments.
    pub(super) fn skip_space(&mut self) {
        loop {
            self.pos = self.after_space(self.pos);
            let rest = self.rest();
            let length = if rest.starts_with("//") {
                rest.find(['\n', '\r']).unwrap_or(rest.len())
            } else if rest.starts_with("/*") {
                rest.get(2..).and_then(|r| r.find("*/")).map_or(rest.len(), |at| at + 4)
            } else if rest.starts_with('#') {
                // Brackets also end it: models put such remarks into one-line objects.
                rest.find(['\n', '\r', '}', ']']).unwrap_or(rest.len())
            } else {
                return;
            };
            self.note(Repair::Comment);
            self.pos += length;
        }
    }

    /// The first position at or after `at` that is not white space.
    pub(super) fn after_space(&self, at: usize) -> usize {
        let rest = self.text.get(at..).unwrap_or("");
        self.text.len() - rest.trim_start().len()
    }

    /// The first character at or after `at` that is not white space.
    pub(super) fn next_visible(&self, at: usize) -> Option<char> {
        self.char_at(self.after_space(at))
    }

    pub(super) fn char_at(&self, at: usize) -> Option<char> {
        self.text.get(at..)?.chars().next()
    }

    /// The position of the next such quote at or after `at` that is not escaped: on the same line,
    /// and within the length of a key.
    fn next_quote(&self, at: usize, quote: char) -> Option<usize> {
        let mut escaped = false;
        for (i, c) in self.text.get(at..)?.char_indices().take(LONGEST_KEY) {
            match c {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '\n' | '\r' => return None,
                c if closes(quote, c) => return Some(at + i),
                _ => {}
            }
        }
        None
    }

    /// Whether there is a quoted key with a colon at `at`.
    pub(super) fn is_quoted_key(&self, at: usize) -> bool {
        let Some(quote) = self.char_at(at).filter(|c| is_quote(*c)) else {
            return false;
        };
        let start = at + quote.len_utf8();
        self.next_quote(start, quote).is_some_and(|end| {
            let width = self.char_at(end).map_or(1, char::len_utf8);
            end > start && self.next_visible(end + width) == Some(':')
        })
    }

    /// Whether there is a key with a colon at `at`, quoted or not, or two quoted texts in a row: a
    /// key whose colon is missing.
    pub(super) fn is_key(&self, at: usize) -> bool {
        match self.char_at(at) {
            Some(quote) if is_quote(quote) => {
                let start = at + quote.len_utf8();
                let end = self.next_quote(start, quote);
                end.is_some_and(|end| {
                    let width = self.char_at(end).map_or(1, char::len_utf8);
                    matches!(self.next_visible(end + width), Some(':'))
                        || self.next_visible(end + width) == Some(quote) && end > start
                })
            }
            Some(c) if is_word(c) => {
                let rest = self.text.get(at..).unwrap_or("");
                let end = rest.find(|c: char| !is_word(c)).unwrap_or(rest.len());
                let after = at + end;
                // `http://` is not a key.
                self.next_visible(after) == Some(':') && !self.is_address(after)
                    // `name": 1`, with the opening quote missing.
                    || self.ends_key(after)
            }
            _ => false,
        }
    }

    /// Whether `://` follows.
    fn is_address(&self, at: usize) -> bool {
        self.text.get(self.after_space(at)..).is_some_and(|rest| rest.starts_with("://"))
    }

    /// Whether there is a quote at `at` that closes a key: a colon follows it.
    pub(super) fn ends_key(&self, at: usize) -> bool {
        let quote = self.char_at(at).filter(|c| is_quote(*c));
        quote.is_some_and(|c| self.next_visible(at + c.len_utf8()) == Some(':'))
    }

    /// The first position at or after `at` that is neither white space nor a closing bracket.
    pub(super) fn after_closers(&self, at: usize) -> usize {
        let rest = self.text.get(at..).unwrap_or("");
        let rest = rest.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '}' | ']'));
        self.text.len() - rest.len()
    }

    /// Whether a structure rather than a sentence continues after a comma that ends before `at`.
    pub(super) fn structure_follows(&self, at: usize, in_object: bool) -> bool {
        let at = self.after_space(at);
        match self.char_at(at) {
            None | Some('}' | ']') => true,
            Some('{' | '[') if !in_object => true,
            Some(c) if is_quote(c) => !in_object || self.is_key(at),
            Some(c) if in_object => is_word(c) && self.is_key(at),
            Some(c) => c.is_ascii_digit() || c == '-',
        }
    }
}

/// Whether a string may begin with this character.
pub(super) fn is_quote(c: char) -> bool {
    matches!(c, '"' | '\'' | '“' | '”' | '‘' | '’')
}

/// Whether a string that begins with `open` may end with `c`.
pub(super) fn closes(open: char, c: char) -> bool {
    match open {
        '“' | '”' => matches!(c, '“' | '”' | '"'),
        '‘' | '’' => matches!(c, '‘' | '’' | '\''),
        open => c == open,
    }
}

pub(super) fn is_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '$' | '.')
}
