//! Unquoted values: numbers, `true`, `null`, and text whose quotes are missing.

use serde_json::{Number, Value};

use super::Repair;
use super::cursor::{Cursor, is_quote};
use super::string::ValuePosition;

impl Cursor<'_> {
    /// Reads an unquoted value; `None` if there is none here.
    pub(super) fn bare(&mut self, place: ValuePosition) -> Option<Value> {
        let start = self.pos;
        self.pos = self.bare_end(place);
        let text = self.text.get(start..self.pos).unwrap_or("").trim();
        // The closing quote of a text without an opening quote.
        if self.peek() == Some('"') && !self.is_quoted_key(self.pos) {
            self.pos += 1;
        }
        if text.is_empty() || matches!(text, "..." | "…" | "-") {
            self.note(Repair::Garbage);
            return None;
        }
        Some(self.literal(text))
    }

    fn bare_end(&mut self, place: ValuePosition) -> usize {
        let mut depth = 0_usize;
        let mut parentheses = 0_usize;
        let mut at = self.pos;
        while let Some(c) = self.char_at(at) {
            let after = at + c.len_utf8();
            match c {
                '\\' => {
                    // Escaped characters are text.
                    at = after + self.char_at(after).map_or(0, char::len_utf8);
                    continue;
                }
                '{' if place != ValuePosition::Key => depth += 1,
                '}' if depth > 0 => depth -= 1,
                '}' => break,
                ']' if place == ValuePosition::Item || self.arrays > 0 => break,
                ']' if self.is_literal_before(at) => break,
                '(' => parentheses += 1,
                ')' if parentheses > 0 => parentheses -= 1,
                ')' if place != ValuePosition::Value => break,
                ',' if place == ValuePosition::Item || place == ValuePosition::Group => break,
                ',' if place == ValuePosition::Value && self.joins_digits(at) => {}
                ',' if self.is_literal_before(at) => break,
                ',' if self.structure_follows(after, true) => break,
                '#' | '/' if self.is_comment(at) && self.is_literal_before(at) => {
                    break;
                }
                '"' => {
                    let continues = place == ValuePosition::Value && !self.ends_here(after);
                    if !continues || self.is_quoted_key(at) {
                        break;
                    }
                }
                '\n' | '\r' => {
                    let next = self.after_space(after);
                    let ends = place == ValuePosition::Item
                        || self.is_key(next)
                        || matches!(self.char_at(next), None | Some('}' | ']'));
                    if ends {
                        break;
                    }
                    // Skip all of the white space, so that each line break is examined once.
                    at = next;
                    continue;
                }
                ' ' if self
                    .text
                    .get(after..)
                    .is_some_and(|r| r.starts_with("/*") || r.starts_with("//")) =>
                {
                    break;
                }
                '`' if self.text.get(at..).is_some_and(|r| r.starts_with("```")) => break,
                _ => {}
            }
            at = after;
        }
        at
    }

    /// Whether there is a value or a comment at `at`, where the colon after a key is missing.
    pub(super) fn value_follows(&self, at: usize) -> bool {
        match self.char_at(at) {
            Some('{' | '[' | '=') => true,
            Some('/' | '#') => self.is_comment(at),
            _ => self.text.get(at..).and_then(word).is_some_and(is_literal),
        }
    }

    /// Whether a comment begins at `at`.
    fn is_comment(&self, at: usize) -> bool {
        let rest = self.text.get(at..).unwrap_or("");
        rest.starts_with('#') || rest.starts_with("//") || rest.starts_with("/*")
    }

    /// Whether the comma at `at`, in the value of a member, stands between the digits of a number:
    /// `1,000`. Digits after it that a colon follows are the next key.
    fn joins_digits(&self, at: usize) -> bool {
        let rest = self.text.as_bytes().get(at + 1..).unwrap_or(&[]);
        let digits = rest.iter().take(40).take_while(|byte| byte.is_ascii_digit()).count();
        digits > 0
            && self.open.last() == Some(&b'{')
            && self
                .text
                .get(..at)
                .is_some_and(|before| before.ends_with(|c: char| c.is_ascii_digit()))
            && self.next_visible(at + 1 + digits) != Some(':')
    }

    /// Whether everything read before `at` is a single literal.
    fn is_literal_before(&self, at: usize) -> bool {
        self.text.get(self.pos..at).is_some_and(is_literal)
    }

    fn ends_here(&self, at: usize) -> bool {
        matches!(self.next_visible(at), None | Some(',' | '}' | ']'))
    }

    /// The value of an unquoted text.
    pub(super) fn literal(&mut self, text: &str) -> Value {
        let exact: Option<Value> = match text {
            "true" => Some(Value::Bool(true)),
            "false" => Some(Value::Bool(false)),
            "null" => Some(Value::Null),
            _ => serde_json::from_str::<Number>(text).ok().map(Value::Number),
        };
        if let Some(value) = exact {
            return value;
        }
        let odd = match text {
            _ if text.eq_ignore_ascii_case("true") => Some(Value::Bool(true)),
            _ if text.eq_ignore_ascii_case("false") => Some(Value::Bool(false)),
            _ if text.eq_ignore_ascii_case("null") => Some(Value::Null),
            "None" | "undefined" => Some(Value::Null),
            _ => None,
        };
        if let Some(value) = odd {
            self.note(Repair::OddLiteral);
            return value;
        }
        if let Some(number) = odd_number(text) {
            self.note(Repair::OddNumber);
            return Value::Number(number);
        }
        let is_number = is_unbounded(text);
        self.note(if is_number { Repair::OddNumber } else { Repair::BareText });
        Value::String(text.to_owned())
    }

    /// Reads an unquoted key, up to its colon or to something that cannot be in a key.
    pub(super) fn bare_key(&mut self) -> String {
        let rest = self.rest();
        let stop = |c: char| matches!(c, ':' | ',' | '{' | '}' | '[' | ']' | '\n') || is_quote(c);
        let end = rest.find(stop).unwrap_or(rest.len());
        self.pos += end;
        rest.get(..end).unwrap_or("").trim().to_owned()
    }
}

/// The word at the start of a text, up to white space or to what follows a value; `None` if it is
/// too long for a literal.
pub(super) fn word(text: &str) -> Option<&str> {
    let mut characters = text.char_indices().take(64);
    let ends = |c: char| c.is_whitespace() || matches!(c, ',' | '}' | ']');
    let end = characters.find(|(_, c)| ends(*c)).map(|(at, _)| at);
    text.get(..end.or((text.len() < 64).then_some(text.len()))?)
}

/// Whether the text is a complete value, such as `true` or a number, so that a comma after it ends
/// it.
pub(super) fn is_literal(text: &str) -> bool {
    // Literals are never longer. The text may be, and this is called at each of its commas.
    let text = if text.len() < 64 { text.trim() } else { "" };
    text.eq_ignore_ascii_case("true")
        || text.eq_ignore_ascii_case("false")
        || text.eq_ignore_ascii_case("null")
        || serde_json::from_str::<Number>(text).is_ok()
}

/// `Infinity`, `-Infinity`, `NaN` and numbers that no double can hold, as Python reads them. They stay
/// texts, because a JSON value has no such number.
fn is_unbounded(text: &str) -> bool {
    text.parse().is_ok_and(|number: f64| !number.is_finite())
}

/// `1_000`, `.5`, `5.`, `1e`, `+3`: numbers for people, but not in JSON.
fn odd_number(text: &str) -> Option<Number> {
    let shape = |c: char| c.is_ascii_digit() || matches!(c, '.' | '_' | '+' | '-' | 'e' | 'E');
    if text.len() > 40 || !text.contains(|c: char| c.is_ascii_digit()) || !text.chars().all(shape) {
        return None;
    }
    let plain = text.replace('_', "");
    let plain = plain.strip_prefix('+').unwrap_or(&plain);
    let plain = plain.trim_end_matches(['e', 'E']);
    if let Ok(whole) = plain.parse::<i64>() {
        return Some(whole.into());
    }
    Number::from_f64(plain.parse().ok()?)
}
