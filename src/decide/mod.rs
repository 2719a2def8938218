//! Decisions made again, or for the first time, about answers that are already there.
//!
//! - [`Decider`]: something that decides about answers: a parser of the registry ([`Registered`]), one of the
//!   caller's own ([`Own`]), or a program of the user's ([`Filter`]).
//! - [`Params`]: the settings of a parser: the same for all answers, or by call.
//! - [`each_answer`], [`each_decision`]: the answers of a recorded run, and what is decided about them now.

mod again;
mod answers;
mod filter;
mod params;
mod registered;

use serde::Serialize;
use serde_json::Value;

use crate::id::{CallPath, Sample};
use crate::parse::registry::RegistryError;
use crate::parse::{AnyParser, Parsed, ParserSpec, WholeAnswer};

pub use again::{Again, AgainError, Choice, Left, Redecided, each_decision};
pub use answers::{RecordedAnswer, each_answer};
pub use filter::{Filter, FilterError, FilterLimits, FilterSetup};
pub use params::{Params, ParamsError};
pub use registered::Registered;

/// An answer to decide about.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked<'a> {
    /// The call it answers, if it is one of a run.
    pub call: Option<&'a CallPath>,
    /// Which answer to that call.
    pub sample: Option<Sample>,
    /// The answer, whole.
    pub answer: WholeAnswer<'a>,
    /// The settings of the parser for this answer; null for none.
    pub params: &'a Value,
}

impl Asked<'_> {
    /// About how many bytes the answer has.
    pub(crate) fn bytes(&self) -> usize {
        let parts = self.answer.extra.filter(|extra| !extra.is_empty());
        // JSON values always have a JSON form.
        let parts = parts.map(|extra| serde_json::to_string(extra).unwrap_or_default().len());
        self.answer.text.len() + parts.unwrap_or_default()
    }
}

/// A decision.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Decided {
    /// How the value was found.
    pub method: String,
    /// The value.
    pub value: Value,
    /// The model's reasoning, where it is apart from the answer.
    pub reasoning: Option<String>,
    /// What was repaired or looked odd.
    pub warnings: Vec<String>,
    /// The validator's judgement, for parsers that come with one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<&'static str>,
}

impl From<(Parsed<Value>, Option<&'static str>)> for Decided {
    fn from((parsed, verdict): (Parsed<Value>, Option<&'static str>)) -> Self {
        let Parsed { method, value, reasoning, warnings } = parsed;
        Decided { method: method.to_owned(), value, reasoning, warnings, verdict }
    }
}

/// Why nothing could be decided.
#[derive(Debug, thiserror::Error)]
pub enum DecideError {
    /// There is no such parser, or the settings do not fit it.
    #[error(transparent)]
    Parser(#[from] RegistryError),
    /// The user's program could not be run, or did not keep to the rules.
    #[error(transparent)]
    Filter(#[from] FilterError),
}

/// Decides about answers.
pub trait Decider {
    /// The parser that these decisions are made by, as the log records it.
    fn spec(&self, params: &Value) -> ParserSpec;

    /// One decision for each answer, in their order.
    ///
    /// # Errors
    /// [`DecideError`].
    fn decide(&mut self, answers: &[Asked<'_>]) -> Result<Vec<Decided>, DecideError>;
}

/// A parser of the caller's own, with settings of its own.
pub struct Own<'a>(pub &'a dyn AnyParser);

impl Decider for Own<'_> {
    fn spec(&self, _: &Value) -> ParserSpec {
        self.0.spec().clone()
    }

    fn decide(&mut self, answers: &[Asked<'_>]) -> Result<Vec<Decided>, DecideError> {
        Ok(answers.iter().map(|asked| self.0.parse_whole_any(asked.answer).into()).collect())
    }
}
