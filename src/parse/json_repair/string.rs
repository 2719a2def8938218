//! Quoted strings, and where they end.

use super::Repair;
use super::cursor::{Cursor, closes};
use super::unclosed::{QuoteKind, RepairNotes};

/// Where a value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ValuePosition {
    /// Before a colon.
    Key,
    /// After a colon.
    Value,
    /// In an array.
    Item,
    /// In parentheses.
    Group,
}

/// The meaning of a quote in a string.
enum Quote {
    /// It ends the string.
    End,
    /// It belongs to the text.
    Text,
    /// The string should have ended at this earlier position; continue from there.
    EndedAt(usize),
}

impl Cursor<'_> {
    /// Reads a string; the cursor is at its opening quote, or at the backslash before it if a whole
    /// object was escaped.
    pub(super) fn string(&mut self, place: ValuePosition) -> String {
        let text = self.string_until_its_end(place);
        self.searching = None;
        text
    }

    fn string_until_its_end(&mut self, place: ValuePosition) -> String {
        let escaped = self.eat('\\');
        if escaped {
            self.note(Repair::BadEscape);
        }
        let open = self.bump().unwrap_or('"');
        if open != '"' {
            self.note(Repair::OtherQuotes);
        }
        let doubled = self.opens_twice(open, place);
        if doubled {
            self.note(Repair::OtherQuotes);
            self.pos += open.len_utf8();
        }
        let kind = QuoteKind { open, doubled, escaped };
        if place == ValuePosition::Key {
            if let Some(noted) = self.unclosed.known_repairs(kind, self.pos) {
                noted.into_iter().for_each(|repair| self.note(repair));
                return self.unclosed_key(self.pos);
            }
            self.searching = Some(RepairNotes::default());
        }
        let start = self.pos;
        let mut out = String::new();
        // Whether a quotation inside the string is open.
        let mut inner = false;
        while let Some(c) = self.peek() {
            let at = self.pos;
            let is_escape = c == '\\' && !(escaped && self.rest().starts_with("\\\""));
            if is_escape {
                self.escape(&mut out);
                continue;
            }
            let at_quote = if c == '\\' { at + 1 } else { at };
            let quote = self.char_at(at_quote).unwrap_or(c);
            let after = at_quote + quote.len_utf8();
            self.pos = after;
            if !closes(open, quote) {
                if quote < ' ' {
                    self.note(Repair::ControlCharacter);
                }
                out.push(quote);
                continue;
            }
            if doubled && self.peek().is_some_and(|c| closes(open, c)) {
                self.bump();
                return out;
            }
            match self.judge(place, open, at_quote, start, &mut inner) {
                Quote::End => {
                    if self.next_visible(after).is_some_and(|c| closes(open, c)) {
                        // There is a second closing quote on a line of its own, so the line break
                        // is an accident.
                        out.truncate(out.trim_end_matches(['\n', '\r']).len());
                    }
                    return out;
                }
                Quote::Text => {
                    self.note(Repair::InnerQuote);
                    out.push(quote);
                }
                Quote::EndedAt(end) => {
                    self.note(Repair::UnclosedString);
                    self.pos = end;
                    // There was no escape before `end`: only a comma, a colon and white space are
                    // between it and here.
                    out.truncate(out.len().saturating_sub(at - end));
                    return out.trim_end().to_owned();
                }
            }
        }
        let noted = self.searching.take();
        self.note(Repair::UnclosedString);
        if place == ValuePosition::Key {
            self.unclosed.push(kind, noted.unwrap_or_default());
            return self.unclosed_key(start);
        }
        let tail = |c: char| c.is_whitespace() || matches!(c, '}' | ']' | '`');
        out.trim_end_matches(tail).to_owned()
    }

    /// `""text""`, where a spreadsheet doubled the quotes, or someone typed one too many.
    fn opens_twice(&self, open: char, place: ValuePosition) -> bool {
        if self.peek() != Some(open) {
            return false;
        }
        let next = self.pos + open.len_utf8();
        match self.next_visible(next) {
            None | Some(',' | ':' | '}' | ']' | ')') => false,
            // An empty string, followed by a key or a member.
            Some(c) if closes(open, c) => false,
            Some(_) => {
                place == ValuePosition::Key || self.char_at(next).is_some_and(char::is_alphanumeric)
            }
        }
    }

    /// A key without a closing quote ends at its colon.
    fn unclosed_key(&mut self, start: usize) -> String {
        let rest = self.text.get(start..).unwrap_or("");
        let end = rest.find([':', ',', '}', '\n']).unwrap_or(rest.len());
        self.pos = start + end;
        rest.get(..end).unwrap_or("").trim().to_owned()
    }

    /// Decides about the quote at `at`; the cursor is after it.
    fn judge(
        &mut self,
        place: ValuePosition,
        open: char,
        at: usize,
        start: usize,
        inner: &mut bool,
    ) -> Quote {
        let after = self.pos;
        let next_at = self.after_space(after);
        let in_object = matches!(place, ValuePosition::Key | ValuePosition::Value);
        let Some(next) = self.char_at(next_at) else {
            return Quote::End;
        };
        if place == ValuePosition::Key {
            return self.judge_key(at, start, next);
        }
        let ends = match next {
            ':' => place == ValuePosition::Item || !*inner,
            ',' => !*inner || self.structure_follows(next_at + 1, in_object),
            '}' | ']' | ')' => !*inner || self.closers_end(next_at),
            '`' => self.text.get(next_at..).is_some_and(|r| r.starts_with("```")),
            '/' => matches!(self.char_at(next_at + 1), Some('/' | '*')) && !*inner,
            '#' => !*inner,
            // Two strings without a comma, unless the second quote is the one that ends the string.
            c if closes(open, c) && (next_at > after || self.is_quoted_key(next_at)) => {
                let behind = self.char_at(next_at + c.len_utf8());
                let gap = self.text.get(after..next_at).unwrap_or("");
                gap.contains('\n') || !matches!(behind, Some(',' | '}' | ']'))
            }
            _ => false,
        };
        if ends {
            return Quote::End;
        }
        if !*inner
            && place == ValuePosition::Value
            && self.is_quoted_key(at)
            && let Some(end) = self.missed_end(at, start)
        {
            return Quote::EndedAt(end);
        }
        let spaced = next_at > after;
        if *inner {
            *inner = false;
        } else if !spaced {
            *inner = true;
        } else if place == ValuePosition::Item || !self.closing_quote_follows(after, open) {
            // It looks like a closing quote: what follows lacks its comma or belongs to nothing.
            return Quote::End;
        }
        Quote::Text
    }

    /// A key ends if a colon follows; it has ended earlier if a value begins right after a colon.
    fn judge_key(&self, at: usize, start: usize, next: char) -> Quote {
        if matches!(next, ':' | ',' | '}' | ']') || self.value_follows(self.after_space(self.pos)) {
            return Quote::End;
        }
        let before = self.text.get(start..at).unwrap_or("").trim_end();
        if before.len() > 1 && before.ends_with(':') {
            return Quote::EndedAt(start + before.len() - 1);
        }
        // `"key" "value"`, or a key followed by a stray word.
        let spaced = self.char_at(self.pos).is_some_and(char::is_whitespace);
        if spaced && (next == '"' || next == '\'') { Quote::End } else { Quote::Text }
    }

    /// Where the string should have ended, if the key at `at` follows a comma or a line break.
    fn missed_end(&self, at: usize, start: usize) -> Option<usize> {
        // Only the white space before the quote is examined, and it is between two quotes.
        let before = self.text.get(start..at)?;
        let text = before.trim_end();
        let gap = before.get(text.len()..)?;
        if let Some(text) = text.strip_suffix(',') {
            return Some(start + text.len());
        }
        gap.contains(['\n', '\r']).then_some(start + text.len())
    }

    /// Whether brackets at `at` close open containers rather than belong to a sentence.
    fn closers_end(&self, at: usize) -> bool {
        let end = self.after_closers(at);
        match self.char_at(end) {
            None | Some('`') => true,
            Some(',') => {
                let next = self.after_space(end + 1);
                matches!(self.char_at(next), Some('{' | '[')) || self.is_key(next)
            }
            Some(_) => false,
        }
    }

    /// Whether the next quote looks like the end of the string.
    fn closing_quote_follows(&self, after: usize, open: char) -> bool {
        let rest = self.text.get(after..).unwrap_or("");
        let Some(at) = rest.find(|c| closes(open, c)) else {
            return false;
        };
        let before = rest.get(..at).and_then(|r| r.chars().next_back());
        let behind = self.next_visible(after + at + open.len_utf8());
        before.is_some_and(|c| !c.is_whitespace()) && matches!(behind, Some(',' | '}' | ']'))
    }

    /// Reads one escape.
    fn escape(&mut self, out: &mut String) {
        self.pos += 1;
        let Some(c) = self.bump() else {
            return;
        };
        match c {
            'n' => out.push('\n'),
            't' => out.push('\t'),
            'r' => out.push('\r'),
            'b' => out.push('\u{8}'),
            'f' => out.push('\u{c}'),
            '"' | '\\' | '/' => out.push(c),
            'u' => self.unicode(out),
            '\'' => {
                self.note(Repair::BadEscape);
                out.push(c);
            }
            c if c.is_ascii() => {
                // As in a path or a formula, the backslash belongs to the text.
                self.note(Repair::BadEscape);
                out.push('\\');
                out.push(c);
            }
            c => {
                self.note(Repair::BadEscape);
                out.push(c);
            }
        }
    }

    /// Reads what follows `\u`. A character beyond U+FFFF is written as two escapes, a surrogate pair (RFC 8259,
    /// section 7); half of a pair becomes U+FFFD.
    fn unicode(&mut self, out: &mut String) {
        let Some(high) = self.four_digits() else {
            self.note(Repair::BadEscape);
            out.push_str("\\u");
            return;
        };
        let mut c = char::decode_utf16([high]).next().and_then(Result::ok);
        if c.is_none() && self.rest().starts_with("\\u") {
            let back = self.pos;
            self.pos += 2;
            let low = self.four_digits();
            c = low.and_then(|low| char::decode_utf16([high, low]).next()?.ok());
            if c.is_none() {
                self.pos = back;
            }
        }
        if c.is_none() {
            self.note(Repair::BadEscape);
        }
        out.push(c.unwrap_or(char::REPLACEMENT_CHARACTER));
    }

    fn four_digits(&mut self) -> Option<u16> {
        let digits = self.rest().get(..4)?;
        let digits = digits.bytes().all(|b| b.is_ascii_hexdigit()).then_some(digits)?;
        let code = u16::from_str_radix(digits, 16).ok()?;
        self.pos += 4;
        Some(code)
    }
}
