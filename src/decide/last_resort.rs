//! Which method of a recorded parser says that nothing was found in an answer.

use serde_json::Value;

use super::PARSER_FILE;
use crate::event::REPORTED;
use crate::parse::{ParserSpec, Parsers};

/// The method of an answer in which no strategy of a parser file found a value, and in which a program says that it
/// found nothing.
pub const NOTHING_FOUND: &str = "default";

/// The method with which a recorded parser, or the program that reported a decision, says that it found nothing. Parsers of
/// a file name their own; others must be among those of this program. `None` if the parser has no such method, or is not
/// known.
pub fn last_resort(parser: &Value, parsers: &Parsers) -> Option<&'static str> {
    if parser["name"] == REPORTED || parser["params"].get(PARSER_FILE).is_some() {
        return Some(NOTHING_FOUND);
    }
    let spec: ParserSpec = serde_json::from_value(parser.clone()).ok()?;
    parsers.parser(&spec).ok()?.last_resort()
}
