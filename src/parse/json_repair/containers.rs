//! Objects, arrays and groups.

use serde_json::{Map, Value};

use super::cursor::{Cursor, is_quote};
use super::literal::{is_literal, word};
use super::members::Members;
use super::string::ValuePosition;
use super::{MAX_DEPTH, Repair};

impl Cursor<'_> {
    /// Reads a value; `None` if there is none here. Always moves forward, or stops at a comma or a
    /// closing bracket.
    pub(super) fn value(&mut self, place: ValuePosition) -> Option<Value> {
        self.skip_space();
        while self.rest().starts_with("```") {
            self.fence();
            self.skip_space();
        }
        match self.peek()? {
            '{' => Some(self.object()),
            '[' => Some(self.array()),
            '(' if place != ValuePosition::Key => self.group(),
            '\\' if self.rest().starts_with("\\\"") => Some(Value::String(self.string(place))),
            c if is_quote(c) => Some(Value::String(self.string(place))),
            ',' | '}' | ']' => None,
            ')' if place == ValuePosition::Group => None,
            _ => self.bare(place),
        }
    }

    /// Skips a code fence and its language; the fenced text is read as if there were no fence.
    fn fence(&mut self) {
        self.note(Repair::Garbage);
        let rest = self.rest().trim_start_matches('`');
        let rest = rest.trim_start_matches(|c: char| c.is_ascii_alphanumeric());
        self.pos = self.text.len() - rest.len();
    }

    /// Reads an object; the cursor is at its opening brace.
    fn object(&mut self) -> Value {
        self.pos += 1;
        let mut members = Members::default();
        self.members(&mut members);
        members.into_value(self)
    }

    /// Continues an object that was closed too early.
    pub(super) fn more_members(&mut self, map: Map<String, Value>) -> Value {
        let mut members = Members::new(map);
        self.members(&mut members);
        members.into_value(self)
    }

    /// Reads members up to the closing brace.
    fn members(&mut self, members: &mut Members) {
        if self.arrays + self.objects >= MAX_DEPTH {
            self.skip_container();
            return;
        }
        self.objects += 1;
        self.open.push(b'{');
        self.closed = self.read_members(members);
        self.open.pop();
        self.objects -= 1;
    }

    /// Whether the current object is an item of an array.
    fn is_item(&self) -> bool {
        matches!(self.open.as_slice(), [.., b'[', b'{'])
    }

    /// Whether the closing bracket at the cursor was meant as the other kind: if it closed the
    /// container that it names, the containers that follow would have nothing to belong to.
    fn is_mistyped(&self) -> bool {
        let is_last = match self.peek() {
            Some(']') => self.arrays == 1 && self.open.first() == Some(&b'['),
            _ => self.objects == 1,
        };
        if !is_last {
            return false;
        }
        let comma = self.after_space(self.pos + 1);
        let next = self.after_space(comma + 1);
        self.char_at(comma) == Some(',')
            && (self.is_key(next) || self.peek() == Some(']') && self.char_at(next) == Some('{'))
    }

    /// Reads members; returns whether the closing brace was there.
    fn read_members(&mut self, members: &mut Members) -> bool {
        let mut after_comma = true;
        loop {
            self.skip_space();
            let Some(c) = self.peek() else {
                self.note(Repair::UnclosedContainer);
                return false;
            };
            match c {
                '}' => {
                    if after_comma && !members.map.is_empty() {
                        self.note(Repair::Comma);
                    }
                    self.pos += 1;
                    return true;
                }
                ']' if self.is_mistyped() => {
                    self.note(Repair::StrayBracket);
                    self.pos += 1;
                    return true;
                }
                ']' if self.arrays > 0 => {
                    self.note(Repair::UnclosedContainer);
                    return true;
                }
                ',' => {
                    if after_comma {
                        self.note(Repair::Comma);
                    }
                    after_comma = true;
                    self.pos += 1;
                    continue;
                }
                ']' | ')' | ':' => {
                    self.note(Repair::StrayBracket);
                    self.pos += 1;
                }
                // The next item of the array begins here: the brace that closes this one is
                // missing.
                '{' if self.is_item() && !members.map.is_empty() => {
                    self.note(Repair::UnclosedContainer);
                    return true;
                }
                '[' | '{' | '(' => {
                    self.note(Repair::MisplacedMember);
                    let value = self.value(ValuePosition::Value);
                    members.keep(value);
                }
                '`' if self.rest().starts_with("```") => self.fence(),
                _ => {
                    if !after_comma {
                        self.note(Repair::Comma);
                    }
                    self.member(members);
                }
            }
            after_comma = false;
        }
    }

    /// Reads one key and its value.
    fn member(&mut self, members: &mut Members) {
        let from = self.pos;
        let quoted = self.peek().is_some_and(is_quote) || self.rest().starts_with("\\\"");
        let key = if quoted { self.string(ValuePosition::Key) } else { self.bare_key() };
        if !quoted {
            self.note(Repair::BareText);
            if !key.is_empty() && self.ends_key(self.pos) {
                // The closing quote of a key without an opening quote.
                self.bump();
            }
        }
        // A line break at the end of a key is an accident.
        let key = key.trim_end_matches(['\n', '\r']).to_owned();
        self.skip_space();
        if self.eat(':') {
            let value = self.member_value();
            if value.is_none() {
                self.note(Repair::MissingValue);
            }
            members.insert(key, value.unwrap_or_else(|| self.missing()));
        } else if let Some((key, value)) = self.without_colon(&key, quoted) {
            self.note(Repair::MissingColon);
            members.insert(key, value);
        } else if quoted && self.peek().is_some_and(is_quote) && !self.is_quoted_key(self.pos) {
            self.note(Repair::MissingColon);
            let value = Value::String(self.string(ValuePosition::Value));
            members.insert(key, value);
        } else {
            if quoted && !key.is_empty() {
                members.loose.push(Value::String(key));
            } else if let Some(number) = self.number(&key) {
                members.loose.push(number);
            }
            if self.pos == from {
                self.bump();
            }
        }
    }

    /// A member whose colon is missing or is an equals sign; the cursor is after its key.
    fn without_colon(&mut self, key: &str, quoted: bool) -> Option<(String, Value)> {
        if key.is_empty() {
            return None;
        }
        match self.peek()? {
            '=' => {
                self.bump();
                self.eat('>');
            }
            '{' | '[' => {}
            c if is_quote(c) && !quoted && !self.is_quoted_key(self.pos) => {}
            _ if quoted => {
                // Only a literal can follow: other words after a key belong to nothing.
                let word = word(self.rest()).filter(|word| is_literal(word))?;
                let value = self.literal(word);
                self.pos += word.len();
                return Some((key.to_owned(), value));
            }
            _ => {
                // An unquoted key was read up to the comma: `age 3`.
                let (key, word) = key.rsplit_once(char::is_whitespace)?;
                let value = is_literal(word).then(|| self.literal(word))?;
                return Some((key.trim_end().to_owned(), value));
            }
        }
        let value = self.member_value().unwrap_or_else(|| self.missing());
        Some((key.to_owned(), value))
    }

    /// The value of a member. One that is cut off after its opening quote is missing.
    fn member_value(&mut self) -> Option<Value> {
        let from = self.pos;
        let value = self.value(ValuePosition::Value);
        let written = self.text.get(from..self.pos).unwrap_or("").trim();
        let is_cut = self.peek().is_none()
            && (written == "\\\"" || written.chars().count() == 1 && written.starts_with(is_quote));
        value.filter(|_| !is_cut)
    }

    /// The value that takes the place of a missing one.
    fn missing(&mut self) -> Value {
        self.note(Repair::MissingValue);
        Value::Null
    }

    fn number(&self, text: &str) -> Option<Value> {
        text.parse::<i64>().ok().map(Value::from)
    }

    /// Reads an array; the cursor is at its opening bracket.
    fn array(&mut self) -> Value {
        self.pos += 1;
        let mut items = Vec::new();
        if self.arrays + self.objects >= MAX_DEPTH {
            self.skip_container();
            return Value::Array(items);
        }
        self.arrays += 1;
        self.open.push(b'[');
        self.closed = self.items(&mut items);
        self.open.pop();
        self.arrays -= 1;
        Value::Array(items)
    }

    /// Reads items up to the closing bracket; returns whether it was there.
    fn items(&mut self, items: &mut Vec<Value>) -> bool {
        let mut after_comma = true;
        loop {
            self.skip_space();
            let Some(c) = self.peek() else {
                self.note(Repair::UnclosedContainer);
                return false;
            };
            match c {
                ']' => {
                    if after_comma && !items.is_empty() {
                        self.note(Repair::Comma);
                    }
                    self.pos += 1;
                    return true;
                }
                '}' if self.is_mistyped() => {
                    self.note(Repair::StrayBracket);
                    self.pos += 1;
                    return true;
                }
                '}' if self.objects > 0 => {
                    self.note(Repair::UnclosedContainer);
                    return true;
                }
                ',' => {
                    if after_comma {
                        self.note(Repair::Comma);
                    }
                    after_comma = true;
                    self.pos += 1;
                }
                '}' | ')' | ':' => {
                    self.note(Repair::StrayBracket);
                    self.pos += 1;
                }
                c => {
                    if !after_comma {
                        self.note(Repair::Comma);
                    }
                    after_comma = false;
                    self.item(is_quote(c), items);
                }
            }
        }
    }

    fn item(&mut self, quoted: bool, items: &mut Vec<Value>) {
        let from = self.pos;
        let is_object = self.peek() == Some('{');
        let value = self.value(ValuePosition::Item);
        if self.pos == from {
            self.bump();
        }
        let Some(value) = value else {
            return;
        };
        if quoted && let Value::String(key) = &value {
            self.skip_space();
            if self.eat(':') {
                self.note(Repair::MisplacedMember);
                let mut members = Members::default();
                self.objects += 1;
                let pair = self.value(ValuePosition::Value);
                self.objects -= 1;
                let pair = pair.unwrap_or_else(|| self.missing());
                members.insert(key.clone(), pair);
                self.members(&mut members);
                items.push(members.into_value(self));
                return;
            }
        }
        // A value that was cut off right after its opening bracket or quote has no content.
        let is_stub = match &value {
            Value::Object(map) => is_object && map.is_empty() && self.is_cut(),
            Value::String(text) => text.is_empty() && self.peek().is_none(),
            _ => false,
        };
        if !is_stub {
            items.push(value);
        }
    }

    /// Whether the container just read lacks its own closing bracket.
    fn is_cut(&self) -> bool {
        !self.closed || self.text.get(..self.pos).is_some_and(|t| !t.ends_with('}'))
    }

    /// Reads `(a, b)` as an array and `(a)` as its only value.
    pub(super) fn group(&mut self) -> Option<Value> {
        self.pos += 1;
        self.note(Repair::Parentheses);
        if self.arrays + self.objects >= MAX_DEPTH {
            self.note(Repair::TooDeep);
            return None;
        }
        let mut items = Vec::new();
        let mut commas = 0_usize;
        self.arrays += 1;
        loop {
            self.skip_space();
            let from = self.pos;
            match self.peek() {
                None | Some('}' | ']') => break,
                Some(')') => {
                    self.pos += 1;
                    break;
                }
                Some(',') => {
                    commas += 1;
                    self.pos += 1;
                }
                Some(_) => {
                    items.extend(self.value(ValuePosition::Group));
                    if self.pos == from {
                        self.bump();
                    }
                }
            }
        }
        self.arrays -= 1;
        if items.len() == 1 && commas == 0 { items.pop() } else { Some(Value::Array(items)) }
    }

    /// Skips a container that is nested too deeply, up to the bracket that closes it.
    fn skip_container(&mut self) {
        self.note(Repair::TooDeep);
        let mut depth = 1_usize;
        while let Some(c) = self.bump() {
            match c {
                '{' | '[' => depth += 1,
                '}' | ']' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return;
            }
        }
    }
}
