//! Repairs malformed JSON: turns any text into the JSON value that it was most likely meant to be.
//!
//! Language models write JSON with missing quotes, commas and brackets, with comments, Python
//! literals, code fences and prose around it, and answers may be cut off in the middle. This module
//! reads all of it and reports its repairs.
//!
//! - **Total**: any text gives a result, without a panic. Nesting deeper than [`MAX_DEPTH`] is cut,
//!   so neither reading a value nor dropping it can exhaust the stack.
//! - **Faithful**: valid JSON keeps its value, and so does a valid object or array in the middle of
//!   prose. Only the rest is read with the rules below.
//! - **Linear**: the text is read once from left to right. Lookahead is limited to the text between
//!   two quotes, or between a quote and the text after it, so no character is examined more than a
//!   few times. A search that reached the end of the text in vain is remembered for the whole text,
//!   not only for the container in which it was made.
//!
//! Ambiguities are resolved as follows:
//!
//! - A quote ends a string only if the structure can continue after it. Any other quote belongs to
//!   the text: `"the "good" one"` is one string.
//! - A string that runs into the next key (`"New York, "age": 3`) lacks its closing quote and ends
//!   before the comma. Without any closing quote it takes the rest, except for brackets at the end.
//! - A closing bracket of the wrong kind closes the innermost container if a container of its kind
//!   is open further out, and is ignored otherwise.
//! - A repeated key keeps its last value, as in other JSON parsers.
//! - A member is kept even if parts around it are missing: its opening quote (`b": 2`), its colon,
//!   the brace or the comma before it, or the bracket that closes the container before it.
//! - A value that is missing, as where a text is cut off after a colon, is null.
//!
//! The rules were checked against the expectations of the best-known repair library
//! (`mangiucugna/json_repair`), with our own code: see the tests for the rate of agreement.

mod containers;
mod cursor;
mod depth;
mod literal;
mod members;
mod string;
mod top;
mod unclosed;

use serde_json::Value;

pub use top::{each_value, first, repair, values};

/// Containers deeper than this are left out.
pub const MAX_DEPTH: usize = 120;

/// One way in which a text was not JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Repair {
    /// There is other text around the JSON.
    SurroundingText,
    /// There are several values, one after the other.
    SeveralValues,
    /// A comment was removed.
    Comment,
    /// A string's closing quote is missing.
    UnclosedString,
    /// A string has unescaped quotes in it.
    InnerQuote,
    /// A string has quotes other than `"`.
    OtherQuotes,
    /// A string without quotes.
    BareText,
    /// An escape that does not exist in JSON.
    BadEscape,
    /// A bare line break or tab in a string.
    ControlCharacter,
    /// A number in a form that does not exist in JSON.
    OddNumber,
    /// `True`, `None` and the like.
    OddLiteral,
    /// An object or array that is not closed.
    UnclosedContainer,
    /// A closing bracket that closes nothing.
    StrayBracket,
    /// One comma too many or too few.
    Comma,
    /// A key that is not followed by a colon.
    MissingColon,
    /// A key without a value.
    MissingValue,
    /// Text that belongs to nothing was left out.
    Garbage,
    /// Pairs in an array, or members outside an object.
    MisplacedMember,
    /// Parentheses instead of brackets.
    Parentheses,
    /// Something was nested deeper than [`MAX_DEPTH`] and left out.
    TooDeep,
}

impl Repair {
    /// A description of the repair.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Repair::SurroundingText => "text around the JSON was left out",
            Repair::SeveralValues => "several JSON values stand one after the other",
            Repair::Comment => "a comment was removed",
            Repair::UnclosedString => "a string was not closed",
            Repair::InnerQuote => "a quote inside a string was not escaped",
            Repair::OtherQuotes => "a string stood in other quotes",
            Repair::BareText => "a string stood without quotes",
            Repair::BadEscape => "an unknown escape was read as text",
            Repair::ControlCharacter => "a control character in a string was not escaped",
            Repair::OddNumber => "a number was not written as JSON",
            Repair::OddLiteral => "a literal was not written as JSON",
            Repair::UnclosedContainer => "an object or array was not closed",
            Repair::StrayBracket => "a closing bracket did not fit",
            Repair::Comma => "a comma was missing or too many",
            Repair::MissingColon => "a colon was missing",
            Repair::MissingValue => "a value was missing",
            Repair::Garbage => "text that belongs to nothing was left out",
            Repair::MisplacedMember => "pairs or members stood in the wrong container",
            Repair::Parentheses => "parentheses stood for brackets",
            Repair::TooDeep => "something nested too deeply was left out",
        }
    }
}

/// The result of a repair.
#[derive(Debug, Clone, PartialEq)]
pub struct RepairedJson {
    /// The value; `None` if there is nothing like JSON in the text.
    pub value: Option<Value>,
    /// The problems, each kind once, in the order found. Empty for valid JSON.
    pub repairs: Vec<Repair>,
}

/// One JSON value in a text.
#[derive(Debug, Clone, PartialEq)]
pub struct EmbeddedJson {
    /// The value: an object or an array.
    pub value: Value,
    /// The problems with it, each kind once, in the order found.
    pub repairs: Vec<Repair>,
    /// Where it begins, in bytes.
    pub start: usize,
    /// Where it ends, in bytes.
    pub end: usize,
}
