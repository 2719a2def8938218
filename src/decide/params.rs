//! The settings of a parser: the same for all answers, or by call.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::Deserialize;
use serde_json::Value;
use serde_json::error::Category;

use crate::escaping::printable;
use crate::explain::explain;
use crate::id::{CallPath, Sample};
use crate::jsonl::{JsonlError, JsonlReader};
use crate::unique::Unique;

/// Why settings cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ParamsError {
    /// The text is not JSON.
    #[error("--params is not JSON: {0}")]
    NotJson(#[source] serde_json::Error),
    /// The text is JSON that cannot be used, such as an object with the same key twice.
    #[error("--params: {}", printable(&without_place(.0), 400))]
    Unusable(#[source] serde_json::Error),
    /// The text is JSON, but not settings.
    #[error("--params is {0}: write a JSON object, such as '{{\"numbers\":[4,5,6,10]}}'")]
    NotAnObject(&'static str),
    /// The file cannot be read.
    #[error(transparent)]
    File(#[from] JsonlError),
    /// The file has no lines.
    #[error("{path} is empty: write a line {{\"call\":..,\"params\":{{..}}}} for each call")]
    Nothing {
        /// The file.
        path: String,
    },
    /// A line of the file cannot be used.
    #[error("{path}, line {line}: {problem}")]
    Line {
        /// The file.
        path: String,
        /// From 1.
        line: usize,
        /// The problem.
        problem: ParamsLineProblem,
    },
}

/// A problem with a line of a settings file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ParamsLineProblem {
    /// It is not an object.
    #[error("write {{\"call\":..,\"params\":{{..}}}}")]
    NotAnObject,
    /// It is not JSON, or has other fields.
    #[error("{}", printable(&explain(&without_place(.0)), 400))]
    Unusable(#[source] serde_json::Error),
    /// Its settings are another kind of value.
    #[error("\"params\" is {0}: write a JSON object")]
    Params(&'static str),
    /// An earlier line has settings for the same answers.
    #[error("line {first} already has settings for {}", printable(.answers, 100))]
    Again {
        /// The earlier line.
        first: usize,
        /// The call, or one sample of it.
        answers: String,
    },
}

/// The settings of a parser.
#[derive(Debug, Default)]
pub enum ParserParams {
    /// The settings of the recorded decision; none if there is none.
    #[default]
    Recorded,
    /// The same for all answers.
    Same(Value),
    /// By call; answers to other calls are left alone.
    ByCall(ByCall),
}

/// Settings by call.
#[derive(Debug, Default)]
pub struct ByCall(BTreeMap<(CallPath, Option<Sample>), LineParams>);

/// The settings from one line.
#[derive(Debug)]
struct LineParams {
    params: Value,
    line: usize,
    used: AtomicBool,
}

/// One line of a settings file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ParamsLine {
    call: CallPath,
    sample: Option<Sample>,
    params: Unique,
}

impl ParserParams {
    /// Settings for all answers, from JSON.
    ///
    /// # Errors
    /// [`ParamsError`] if it is not a JSON object, or has the same key twice.
    pub fn same(text: &str) -> Result<Self, ParamsError> {
        let Unique(value) = serde_json::from_str(text).map_err(|e| match e.classify() {
            Category::Data => ParamsError::Unusable(e),
            Category::Io | Category::Syntax | Category::Eof => ParamsError::NotJson(e),
        })?;
        match kind_of(&value) {
            None => Ok(ParserParams::Same(value)),
            Some(kind) => Err(ParamsError::NotAnObject(kind)),
        }
    }

    /// Settings by call, from a file of lines `{"call":..,"sample":..,"params":{..}}`. A line
    /// without a sample applies to all samples of its call that have no line of their own.
    ///
    /// # Errors
    /// [`ParamsError`] with the first line that is wrong.
    pub fn by_call(lines: JsonlReader) -> Result<Self, ParamsError> {
        let path = lines.path().display().to_string();
        let mut given: BTreeMap<_, LineParams> = BTreeMap::new();
        for line in lines {
            let (line, text) = line?;
            let wrong = |problem| ParamsError::Line { path: path.clone(), line, problem };
            if !text.trim_start().starts_with('{') {
                return Err(wrong(ParamsLineProblem::NotAnObject));
            }
            let ParamsLine { call, sample, params: Unique(params) } =
                serde_json::from_str(&text).map_err(|e| wrong(ParamsLineProblem::Unusable(e)))?;
            if let Some(kind) = kind_of(&params) {
                return Err(wrong(ParamsLineProblem::Params(kind)));
            }
            let answers = match sample {
                Some(sample) => format!("{call}#{sample}"),
                None => call.to_string(),
            };
            let new = LineParams { params, line, used: AtomicBool::new(false) };
            if let Some(LineParams { line: first, .. }) = given.insert((call, sample), new) {
                return Err(wrong(ParamsLineProblem::Again { first, answers }));
            }
        }
        if given.is_empty() {
            Err(ParamsError::Nothing { path })
        } else {
            Ok(ParserParams::ByCall(ByCall(given)))
        }
    }

    /// The settings for an answer, or `None` if it is to be left alone. `recorded` are those of its
    /// decision.
    pub fn for_sample<'a>(
        &'a self,
        call: &CallPath,
        sample: Sample,
        recorded: Option<&'a Value>,
    ) -> Option<&'a Value> {
        match self {
            ParserParams::Recorded => Some(recorded.unwrap_or(&Value::Null)),
            ParserParams::Same(params) => Some(params),
            ParserParams::ByCall(ByCall(given)) => {
                let own = given.get(&(call.clone(), Some(sample)));
                let given = own.or_else(|| given.get(&(call.clone(), None)))?;
                given.used.store(true, Ordering::Relaxed);
                Some(&given.params)
            }
        }
    }

    /// The numbers of the lines whose call or sample did not occur.
    pub fn unused_lines(&self) -> Vec<usize> {
        let ParserParams::ByCall(ByCall(given)) = self else { return Vec::new() };
        let unused = given.values().filter(|given| !given.used.load(Ordering::Relaxed));
        let mut lines: Vec<usize> = unused.map(|given| given.line).collect();
        lines.sort_unstable();
        lines
    }
}

/// The name of a JSON type other than object.
fn kind_of(value: &Value) -> Option<&'static str> {
    match value {
        Value::Object(_) => None,
        Value::Array(_) => Some("a list"),
        Value::String(_) => Some("a text"),
        Value::Number(_) => Some("a number"),
        Value::Bool(_) => Some("a truth value"),
        Value::Null => Some("null"),
    }
}

/// The error without its line number, which counts within the text that was parsed: a single line.
pub(super) fn without_place(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.rsplit_once(" at line ").map_or(text.as_str(), |(reason, _)| reason).to_owned()
}
