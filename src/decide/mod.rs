//! Deciding again, or for the first time, about existing answers.
//!
//! - [`Decider`]: makes decisions about answers: a parser of the registry ([`RegisteredParser`]),
//!   one of the caller's own ([`Own`]), or a user's program ([`Filter`]).
//! - [`Chooser`]: chooses a parser for each answer, as a parser file does.
//! - [`Choices`]: which choices of an answer, where it has several.
//! - [`ParserParams`]: the settings of a parser: the same for all answers, or by call.
//! - [`each_answer`], [`each_decision`]: the answers of a recorded run, and the new decisions about
//!   them.

mod again;
mod answers;
mod choices;
mod filter;
mod last_resort;
mod params;
mod registered;

use serde::Serialize;
use serde_json::Value;

use crate::id::{CallPath, Sample};
use crate::parse::registry::RegistryError;
use crate::parse::{AnyParser, ParsedAnswer, ParserSpec, WholeAnswer};

pub(crate) use again::is_of_a_file;
pub use again::{
    Again, AgainError, Chooser, PARSER_FILE, RevisedDecision, Selection, SkippedAnswers,
    each_decision,
};
pub use answers::{RecordedAnswer, each_answer};
pub use choices::{ChoiceNumber, Choices, SkippedChoices, UnknownChoices};
pub use filter::{Filter, FilterError, FilterLimits, FilterSetup, LineProblem, OutputProblem};
pub use last_resort::{NOTHING_FOUND, last_resort};
pub use params::{ParamsError, ParserParams};
pub use registered::RegisteredParser;

pub use crate::event::REPORTED;

/// An answer to decide about.
#[derive(Debug, Clone, PartialEq)]
pub struct UndecidedAnswer<'a> {
    /// The call that it answers, if it is from a run.
    pub call: Option<&'a CallPath>,
    /// Which answer to that call it is.
    pub sample: Option<Sample>,
    /// Which choice of that answer it is.
    pub choice: ChoiceNumber,
    /// The whole answer.
    pub answer: WholeAnswer<'a>,
    /// The parser's settings for this answer; null if it has none.
    pub params: &'a Value,
}

impl UndecidedAnswer<'_> {
    /// The approximate size of the answer, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let parts = self.answer.extra.filter(|extra| !extra.is_empty());
        let parts = parts.map(|extra| Value::from(extra.clone()).to_string().len());
        self.answer.text.len() + parts.unwrap_or(0)
    }
}

/// A decision.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AnswerDecision {
    /// How the value was found.
    pub method: String,
    /// The value.
    pub value: Value,
    /// The model's reasoning, where it is separate from the answer.
    pub reasoning: Option<String>,
    /// Repairs, and anything that looked odd.
    pub warnings: Vec<String>,
    /// The validator's judgement, for parsers that come with a validator.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<&'static str>,
    /// Whether a strategy found the value, rather than the parser's last resort; `None` if the
    /// parser does not say.
    #[serde(skip)]
    pub found: Option<bool>,
}

impl AnswerDecision {
    /// The decision of a parser.
    pub fn by(parser: &dyn AnyParser, answer: WholeAnswer<'_>) -> Self {
        let decided = AnswerDecision::from(parser.parse_whole_any(answer));
        let found = parser.last_resort().map(|last| decided.method != last);
        AnswerDecision { found, ..decided }
    }
}

impl From<(ParsedAnswer<Value>, Option<&'static str>)> for AnswerDecision {
    fn from((parsed, verdict): (ParsedAnswer<Value>, Option<&'static str>)) -> Self {
        let ParsedAnswer { method, value, reasoning, warnings } = parsed;
        let (method, found) = (method.to_owned(), None);
        AnswerDecision { method, value, reasoning, warnings, verdict, found }
    }
}

/// Why no decision could be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DecideError {
    /// The parser does not exist, or the settings do not fit it.
    #[error(transparent)]
    Parser(#[from] RegistryError),
    /// The user's program could not be run, or broke the rules.
    #[error(transparent)]
    Filter(#[from] FilterError),
}

/// Makes decisions about answers.
pub trait Decider {
    /// The parser that makes these decisions, as the log records it.
    fn spec(&self, params: &Value) -> ParserSpec;

    /// One decision per answer, in the same order.
    ///
    /// # Errors
    /// [`DecideError`].
    fn decide(
        &mut self,
        answers: &[UndecidedAnswer<'_>],
    ) -> Result<Vec<AnswerDecision>, DecideError>;
}

/// A parser of the caller's own, with its own settings.
pub struct Own<'a>(pub &'a dyn AnyParser);

impl Decider for Own<'_> {
    fn spec(&self, _: &Value) -> ParserSpec {
        self.0.spec().clone()
    }

    fn decide(
        &mut self,
        answers: &[UndecidedAnswer<'_>],
    ) -> Result<Vec<AnswerDecision>, DecideError> {
        Ok(answers.iter().map(|asked| AnswerDecision::by(self.0, asked.answer)).collect())
    }
}
