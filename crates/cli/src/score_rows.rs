//! Reads decisions about recorded answers that were made elsewhere: CSV of a person, or JSON Lines of a program.

use std::path::{Path, PathBuf};

use retold::counted::count_of;
use retold::encoding::decode;
use retold::id::{CallPath, RunId, Sample, Seq};
use retold::jsonl::{JsonlError, JsonlReader, read_whole};
use retold::scores::{AnswerName, Score, ScoreError, Scores};
use serde::Deserialize;
use serde_json::Value;

use crate::error::CliError;

/// The largest CSV file that is read, in bytes.
const LARGEST: u64 = 256 << 20;

/// Why such a file cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ScoreRowError {
    /// It cannot be read.
    #[error(transparent)]
    File(#[from] JsonlError),
    /// It is not text.
    #[error("{0}")]
    NotText(String),
    /// It is not CSV.
    #[error("{path}: {source}")]
    Csv { path: String, source: csv::Error },
    /// A row has more or fewer cells than there are columns.
    #[error(
        "{path}: line {line}: a row of {cells}, but there are {columns}: a cell with a comma needs quotation marks"
    )]
    Cells { path: String, line: u64, cells: String, columns: String },
    /// There is nothing in it.
    #[error("{path}: the file is empty, and needs a line with the names of its columns")]
    NoHeader { path: String },
    /// A column is missing.
    #[error("{path}: there is no column {column:?}; the columns are {has}")]
    NoColumn { path: String, column: String, has: String },
    /// A line is not an object with these keys.
    #[error("{path}: line {line}: {source}")]
    NotAScore { path: String, line: u64, source: serde_json::Error },
    /// A line does not say which answer it is about.
    #[error(
        "{path}: line {line}: neither `call` nor `answer_seq` says which answer the value is about"
    )]
    Nameless { path: String, line: u64 },
    /// A cell does not have the number that it should have.
    #[error(
        "{path}: line {line}: {column} is {text:?}, which is not a whole number from 0 to 4,294,967,295"
    )]
    NotANumber { path: String, line: u64, column: &'static str, text: String },
    /// A call has a name that is not one.
    #[error("{path}: line {line}: {text:?} cannot be the name of a call")]
    NotACall { path: String, line: u64, text: String },
    /// A line is about another run.
    #[error("{path}: line {line}: it is about run {of}, and labels are recorded about run {run}")]
    OtherRun { path: String, line: u64, of: String, run: RunId },
    /// A value is not one of those that were given.
    #[error("{path}: line {line}: {value} is not one of the values {values}")]
    UnknownValue { path: String, line: u64, value: Value, values: String },
    /// A line does not fit the run, or another line.
    #[error("{path}: {source}")]
    Score { path: String, source: ScoreError },
}

impl From<ScoreRowError> for CliError {
    fn from(error: ScoreRowError) -> Self {
        match error {
            ScoreRowError::File(error) => error.into(),
            ScoreRowError::Score { source: ScoreError::Log(error), .. } => error.into(),
            other => CliError::usage(other.to_string()).hint("nothing was recorded"),
        }
    }
}

/// The rows of a file.
pub(crate) struct ScoreRows {
    /// Their decisions.
    pub(crate) scores: Scores,
    /// How many rows have no value.
    pub(crate) without_value: u64,
}

/// How a file is read.
pub(crate) struct ScoreFile<'a> {
    pub(crate) path: &'a Path,
    /// The run that its rows must be about, if they name one.
    pub(crate) run: Option<RunId>,
    /// The column with the values.
    pub(crate) column: &'a str,
    /// The values that may be given; any if there are none.
    pub(crate) values: &'a [Value],
}

/// A line of JSON Lines.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ScoreLine {
    #[serde(default)]
    answer_seq: Option<u64>,
    #[serde(default)]
    call: Option<CallPath>,
    #[serde(default)]
    sample: Sample,
    #[serde(default)]
    choice: u32,
    value: Value,
    #[serde(default)]
    method: Option<String>,
    #[serde(default)]
    reasoning: Option<String>,
    #[serde(default)]
    warnings: Vec<String>,
}

/// A value as a person writes it: a number, `true` or `false`, or else a text.
pub(crate) fn typed_value(text: &str) -> Value {
    match serde_json::from_str(text) {
        Ok(value @ (Value::Number(_) | Value::Bool(_))) => value,
        _ => Value::from(text),
    }
}

/// The values that may be given, for people.
pub(crate) fn value_list(values: &[Value]) -> String {
    let shown = values.iter().map(|value| value.as_str().map_or(value.to_string(), str::to_owned));
    shown.collect::<Vec<_>>().join(", ")
}

/// Counts the lines of a text, which end in `\n`, `\r\n` or `\r`. The CSV reader finds a row to begin before the `\n` of the
/// row's predecessor, and before empty lines.
struct LineCount<'a> {
    text: &'a [u8],
    /// The line of the byte at which it is, from 1.
    line: u64,
    at: usize,
}

impl<'a> LineCount<'a> {
    fn new(text: &'a str) -> Self {
        LineCount { text: text.as_bytes(), line: 1, at: 0 }
    }

    /// The line of the first byte from `from` on that does not end a line.
    fn at(&mut self, from: usize) -> u64 {
        while let Some(byte) = self.text.get(self.at) {
            let is_end = matches!(byte, b'\n' | b'\r');
            if self.at >= from && !is_end {
                break;
            }
            self.at += 1;
            let is_first_half = *byte == b'\r' && self.text.get(self.at) == Some(&b'\n');
            self.line += u64::from(is_end && !is_first_half);
        }
        self.line
    }
}

impl ScoreFile<'_> {
    /// Reads it: a file whose name ends in `.csv`, or JSON Lines; `-` is standard input.
    pub(crate) fn read(&self) -> Result<ScoreRows, ScoreRowError> {
        let is_csv = self.path.extension().is_some_and(|end| end.eq_ignore_ascii_case("csv"));
        let mut rows = ScoreRows { scores: Scores::default(), without_value: 0 };
        if is_csv {
            self.csv(&mut rows)?
        } else {
            self.jsonl(&mut rows)?
        }
        Ok(rows)
    }

    /// How the file is called in messages.
    fn name(&self) -> String {
        match self.path == Path::new("-") {
            true => "standard input".to_owned(),
            false => self.path.display().to_string(),
        }
    }

    /// An error of the core, with the file.
    pub(crate) fn wrong(&self, source: ScoreError) -> ScoreRowError {
        ScoreRowError::Score { path: self.name(), source }
    }

    fn jsonl(&self, rows: &mut ScoreRows) -> Result<(), ScoreRowError> {
        let lines = match self.path == Path::new("-") {
            true => JsonlReader::from_reader(PathBuf::from(self.name()), std::io::stdin()),
            false => JsonlReader::open(self.path)?,
        };
        for line in lines {
            let (line, text) = line?;
            let line = line as u64;
            let row: ScoreLine = serde_json::from_str(&text)
                .map_err(|source| ScoreRowError::NotAScore { path: self.name(), line, source })?;
            let ScoreLine { answer_seq, call, sample, choice, value, .. } = row;
            let ScoreLine { method, reasoning, warnings, .. } = row;
            let named = call.clone().map(|call| (call, sample)).filter(|_| answer_seq.is_some());
            let answer = match (answer_seq, call) {
                (Some(seq), _) => AnswerName::Seq(Seq(seq)),
                (None, Some(call)) => AnswerName::Call(call, sample),
                (None, None) => return Err(ScoreRowError::Nameless { path: self.name(), line }),
            };
            let call = named;
            self.add(
                rows,
                Score { line, answer, call, choice, value, method, reasoning, warnings },
            )?;
        }
        Ok(())
    }

    fn csv(&self, rows: &mut ScoreRows) -> Result<(), ScoreRowError> {
        let text = decode(read_whole(self.path, LARGEST)?)
            .map_err(|error| ScoreRowError::NotText(error.sentence(&self.name())))?;
        let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(text.as_bytes());
        let mut lines = LineCount::new(&text);
        let broken = |source| ScoreRowError::Csv { path: self.name(), source };
        let headers = reader.headers().map_err(broken)?.clone();
        if headers.is_empty() {
            return Err(ScoreRowError::NoHeader { path: self.name() });
        }
        let at = |column: &str| headers.iter().position(|header| header.trim() == column);
        let value_at = at(self.column).ok_or_else(|| ScoreRowError::NoColumn {
            path: self.name(),
            column: self.column.to_owned(),
            has: headers.iter().collect::<Vec<_>>().join(", "),
        })?;
        let (run_at, call_at, seq_at) = (at("run"), at("call"), at("answer_seq"));
        let (sample_at, choice_at, note_at) = (at("sample"), at("choice"), at("note"));
        for record in reader.records() {
            let record = record.map_err(broken)?;
            let begins = record.position().map_or(0, csv::Position::byte);
            let line = lines.at(usize::try_from(begins).unwrap_or(usize::MAX));
            if record.len() != headers.len() {
                let [cells, columns] = [(record.len(), "cell"), (headers.len(), "column")]
                    .map(|(n, what)| count_of(n as u64, what));
                return Err(ScoreRowError::Cells { path: self.name(), line, cells, columns });
            }
            let cell = |at: Option<usize>| {
                at.and_then(|at| record.get(at)).map(str::trim).filter(|text| !text.is_empty())
            };
            let number = |at, column: &'static str| match cell(at) {
                None => Ok(None),
                Some(text) => text.parse::<u32>().map(Some).map_err(|_| {
                    let (path, text) = (self.name(), text.to_owned());
                    ScoreRowError::NotANumber { path, line, column, text }
                }),
            };
            let Some(value) = cell(Some(value_at)) else {
                rows.without_value += 1;
                continue;
            };
            let sample = number(sample_at, "sample")?.unwrap_or(0);
            if let (Some(of), Some(run)) = (cell(run_at), self.run)
                && of != run.to_string()
            {
                let (path, of) = (self.name(), of.to_owned());
                return Err(ScoreRowError::OtherRun { path, line, of, run });
            }
            let call = cell(call_at).map(|call| {
                CallPath::new(call).map_err(|_| {
                    let (path, text) = (self.name(), call.to_owned());
                    ScoreRowError::NotACall { path, line, text }
                })
            });
            let seq = number(seq_at, "answer_seq")?;
            let call = call.transpose()?;
            let named = call.clone().map(|call| (call, sample)).filter(|_| seq.is_some());
            let answer = match (seq, call) {
                (Some(seq), _) => AnswerName::Seq(Seq(seq.into())),
                (None, Some(call)) => AnswerName::Call(call, sample),
                (None, None) => return Err(ScoreRowError::Nameless { path: self.name(), line }),
            };
            let score = Score {
                line,
                answer,
                call: named,
                choice: number(choice_at, "choice")?.unwrap_or(0),
                value: typed_value(value),
                method: None,
                reasoning: cell(note_at).map(str::to_owned),
                warnings: Vec::new(),
            };
            self.add(rows, score)?;
        }
        Ok(())
    }

    fn add(&self, rows: &mut ScoreRows, score: Score) -> Result<(), ScoreRowError> {
        let Score { line, value, .. } = &score;
        if !self.values.is_empty() && !self.values.contains(value) {
            let (path, line, value) = (self.name(), *line, value.clone());
            return Err(ScoreRowError::UnknownValue {
                path,
                line,
                value,
                values: value_list(self.values),
            });
        }
        rows.scores.add(score).map_err(|source| self.wrong(source))
    }
}
