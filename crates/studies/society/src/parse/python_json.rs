//! Python's `json.loads`, for an object without inner braces.
//!
//! It reads more than JSON: `Infinity`, `-Infinity` and `NaN`, numbers beyond a double (`1e400` is
//! infinite), integers of any size, and texts with half a surrogate pair. Compared with Python 3.11 (see
//! the tests).

use std::collections::BTreeMap;

use serde_json::Value;

/// The most digits of an integer that `int()` reads: `sys.int_info.default_max_str_digits`.
const MAX_DIGITS: usize = 4_300;

/// Lists nested deeper raise a `RecursionError`: about what Python's limit of 1,000 frames leaves.
const MAX_DEPTH: usize = 990;

/// A value as Python has it.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum PythonValue {
    None,
    Bool(bool),
    /// An integer, as written: it may have any number of digits.
    Int(String),
    /// A float, which may be infinite or undefined.
    Float(f64),
    Text(String),
    /// A text with half a surrogate pair, which stands here as U+FFFD.
    HalfPair(String),
    /// A list, as written.
    List(String),
}

/// Why there is no object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NotLoaded {
    /// `JSONDecodeError`, which the document's program catches.
    Decode,
    /// Another exception, which it does not: too many digits, or too deep a nesting.
    Other,
}

/// The object's members; of a repeated key, the last value.
pub(super) type PythonObject = BTreeMap<String, PythonValue>;

/// Reads a text that begins with `{`.
pub(super) fn loads(text: &str) -> Result<PythonObject, NotLoaded> {
    let mut reader = Reader { rest: text };
    let object = reader.object()?;
    reader.space();
    if reader.rest.is_empty() { Ok(object) } else { Err(NotLoaded::Decode) }
}

struct Reader<'t> {
    rest: &'t str,
}

impl<'t> Reader<'t> {
    fn space(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\n', '\r']);
    }

    fn eat(&mut self, token: &str) -> bool {
        match self.rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, token: &str) -> Result<(), NotLoaded> {
        if self.eat(token) { Ok(()) } else { Err(NotLoaded::Decode) }
    }

    fn object(&mut self) -> Result<PythonObject, NotLoaded> {
        let mut members = PythonObject::new();
        self.expect("{")?;
        self.space();
        if self.eat("}") {
            return Ok(members);
        }
        loop {
            self.space();
            self.expect("\"")?;
            let (key, _) = self.string()?;
            self.space();
            self.expect(":")?;
            let value = self.value(0)?;
            members.insert(key, value);
            self.space();
            if self.eat("}") {
                return Ok(members);
            }
            self.expect(",")?;
        }
    }

    fn value(&mut self, depth: usize) -> Result<PythonValue, NotLoaded> {
        self.space();
        let constants = [
            ("null", PythonValue::None),
            ("true", PythonValue::Bool(true)),
            ("false", PythonValue::Bool(false)),
            ("NaN", PythonValue::Float(f64::NAN)),
            ("Infinity", PythonValue::Float(f64::INFINITY)),
            ("-Infinity", PythonValue::Float(f64::NEG_INFINITY)),
        ];
        if let Some((_, value)) = constants.into_iter().find(|(token, _)| self.eat(token)) {
            return Ok(value);
        }
        if self.eat("\"") {
            let (text, is_whole) = self.string()?;
            let made = if is_whole { PythonValue::Text } else { PythonValue::HalfPair };
            return Ok(made(text));
        }
        let before = self.rest;
        if self.eat("[") {
            self.items(depth + 1)?;
            let length = before.len() - self.rest.len();
            return Ok(PythonValue::List(before.get(..length).unwrap_or_default().to_owned()));
        }
        self.number()
    }

    fn items(&mut self, depth: usize) -> Result<(), NotLoaded> {
        if depth > MAX_DEPTH {
            return Err(NotLoaded::Other);
        }
        self.space();
        if self.eat("]") {
            return Ok(());
        }
        loop {
            self.value(depth)?;
            self.space();
            if self.eat("]") {
                return Ok(());
            }
            self.expect(",")?;
        }
    }

    /// `-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?`, the longest that fits.
    fn number(&mut self) -> Result<PythonValue, NotLoaded> {
        let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
        let text = self.rest;
        let after = |at: usize| text.get(at..).unwrap_or_default();
        let sign = usize::from(text.starts_with('-'));
        let whole = match after(sign) {
            rest if rest.starts_with('0') => 1,
            rest => digits(rest),
        };
        if whole == 0 {
            return Err(NotLoaded::Decode);
        }
        let int = sign + whole;
        let mut end = int;
        if let Some(fraction) = after(end).strip_prefix('.').map(digits).filter(|n| *n > 0) {
            end += 1 + fraction;
        }
        if let Some(exponent) = after(end).strip_prefix(['e', 'E']) {
            let sign = usize::from(exponent.starts_with(['-', '+']));
            let count = digits(exponent.get(sign..).unwrap_or_default());
            end += if count > 0 { 1 + sign + count } else { 0 };
        }
        let (number, rest) = text.split_at(end);
        self.rest = rest;
        if end > int {
            return number.parse().map(PythonValue::Float).map_err(|_| NotLoaded::Decode);
        }
        if whole > MAX_DIGITS {
            return Err(NotLoaded::Other);
        }
        Ok(PythonValue::Int(if number == "-0" { "0".to_owned() } else { number.to_owned() }))
    }

    /// The rest of a string after its quote, and whether all of its surrogates are in pairs.
    fn string(&mut self) -> Result<(String, bool), NotLoaded> {
        let mut units: Vec<u16> = Vec::new();
        let mut buffer = [0; 2];
        loop {
            let mut characters = self.rest.chars();
            let c = characters.next().ok_or(NotLoaded::Decode)?;
            self.rest = characters.as_str();
            match c {
                '"' => break,
                '\\' => units.push(self.escape()?),
                c if c < ' ' => return Err(NotLoaded::Decode),
                c => units.extend_from_slice(c.encode_utf16(&mut buffer)),
            }
        }
        let text = String::from_utf16(&units);
        let is_whole = text.is_ok();
        Ok((text.unwrap_or_else(|_| String::from_utf16_lossy(&units)), is_whole))
    }

    fn escape(&mut self) -> Result<u16, NotLoaded> {
        const SHORT: [(&str, char); 8] = [
            ("\"", '"'),
            ("\\", '\\'),
            ("/", '/'),
            ("b", '\u{8}'),
            ("f", '\u{c}'),
            ("n", '\n'),
            ("r", '\r'),
            ("t", '\t'),
        ];
        if let Some((_, c)) = SHORT.into_iter().find(|(token, _)| self.eat(token)) {
            return u16::try_from(u32::from(c)).map_err(|_| NotLoaded::Decode);
        }
        self.expect("u")?;
        let hex = self.rest.get(..4).filter(|hex| hex.bytes().all(|b| b.is_ascii_hexdigit()));
        let hex = hex.ok_or(NotLoaded::Decode)?;
        self.rest = self.rest.get(4..).unwrap_or_default();
        u16::from_str_radix(hex, 16).map_err(|_| NotLoaded::Decode)
    }
}

/// `str(value)`; a list as JSON, because Python does not get that far.
pub(super) fn python_str(value: &PythonValue) -> String {
    match value {
        PythonValue::None => "None".to_owned(),
        PythonValue::Bool(true) => "True".to_owned(),
        PythonValue::Bool(false) => "False".to_owned(),
        PythonValue::Float(number) => float(*number),
        PythonValue::Int(text) | PythonValue::Text(text) | PythonValue::HalfPair(text) => {
            text.clone()
        }
        PythonValue::List(text) => {
            serde_json::from_str(text).map_or_else(|_| text.clone(), |list: Value| list.to_string())
        }
    }
}

/// `repr` of a float: as Rust writes it, but for the exponent's sign and its two digits.
fn float(number: f64) -> String {
    let text = format!("{number:?}").to_lowercase();
    let Some((mantissa, exponent)) = text.split_once('e') else { return text };
    let (sign, digits) = match exponent.strip_prefix('-') {
        Some(digits) => ('-', digits),
        None => ('+', exponent),
    };
    format!("{mantissa}e{sign}{digits:0>2}")
}
