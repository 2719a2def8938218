//! A user's program that makes decisions: JSON Lines in, JSON Lines out, in any language.
//!
//! For each answer it reads a line `{"call":..,"sample":..,"text":..,"params":..}` (unknown fields
//! are left out; `choice` and `choices` say which choice the text is, where an answer has several) and writes a line `{"value":..,"method":..,"reasoning":..,"warnings":[..]}`, in
//! the same order; all fields but `value` are optional. When its standard input ends, it exits with
//! status 0.
//!
//! A recording never determines which program runs: a filter comes from the command line alone. It
//! is run twice, the second time with the answers in reverse order, and must make the same
//! decisions; a filter that uses random numbers, reads the clock or remembers earlier lines is
//! refused. Its environment is the one that the caller lists, its time and its output are limited,
//! and the digests of the program and of the files among its arguments are stored with its
//! decisions. Any processes that it has started are ended when it ends, and all of them are ended
//! when this program ends, even if it is killed.

mod command;
#[cfg(unix)]
mod group;
mod line;
mod process;

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use serde_json::{Value, json};

use self::command::{FilterFile, digest, find, named_files, words};
pub use self::line::{LineProblem, OutputProblem};
use super::{AnswerDecision, DecideError, Decider, UndecidedAnswer};
use crate::counted::count_of;
use crate::escaping::printable;
use crate::event::FILTER;
use crate::members::Members;
use crate::parse::ParserSpec;

/// The version of the line format.
const PROTOCOL: u32 = 1;

/// The most answers that one process receives, and the most bytes of them (unless a single answer
/// is longer).
const BATCH: usize = 10_000;
const BATCH_BYTES: usize = 32 << 20;

/// Why a filter did not decide.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FilterError {
    /// The command has no words.
    #[error("the command of the filter is empty")]
    Empty,
    /// A quote is not closed.
    #[error("the command of the filter, {command:?}, has a quote that is not closed")]
    Quote {
        /// The command.
        command: String,
    },
    /// The program does not exist.
    #[error("there is no program {name:?}{place}")]
    NoProgram {
        /// The program.
        name: String,
        /// Where it was searched for.
        place: &'static str,
    },
    /// The program, or a file among its arguments, cannot be read for its digest.
    #[error("cannot read {path}: {source}")]
    Unreadable {
        /// The file.
        path: String,
        /// The system's error.
        source: io::Error,
    },
    /// The program cannot be started.
    #[error("cannot start the filter {name}: {source}")]
    Start {
        /// The program.
        name: String,
        /// The system's error.
        source: io::Error,
    },
    /// The program failed.
    #[error("the filter {name} {status}{said}")]
    Failed {
        /// The program.
        name: String,
        /// How it ended: `ended with exit code 3`, or `was ended by signal 9 (SIGKILL)`.
        status: String,
        /// The end of its standard error output.
        said: String,
    },
    /// It ran for too long.
    #[error("the filter {name} had not ended after {seconds} s and was stopped{said}")]
    TimedOut {
        /// The program.
        name: String,
        /// The time that it had.
        seconds: u64,
        /// The end of its standard error output.
        said: String,
    },
    /// It wrote more than any decisions need.
    #[error("the filter {name} wrote more than {bytes} bytes for {} and was stopped", count_of(*.answers as u64, "answer"))]
    TooMuch {
        /// The program.
        name: String,
        /// The limit.
        bytes: u64,
        /// How many answers it was given.
        answers: usize,
    },
    /// It has ended, but something that it started has not.
    #[error(
        "the filter {name} has ended, but a program that it started in a session of its own keeps its output open"
    )]
    Held {
        /// The program.
        name: String,
    },
    /// Its output is not decisions.
    #[error("the filter {name}: {source}")]
    Output {
        /// The program.
        name: String,
        /// The problem, with the line.
        source: OutputProblem,
    },
    /// It wrote too few decisions, or too many.
    #[error("the filter {name} wrote {} for {}: it must write one line for each", count_of(*.lines as u64, "line"), count_of(*.answers as u64, "answer"))]
    Count {
        /// The program.
        name: String,
        /// How many lines it wrote.
        lines: usize,
        /// How many answers it was given.
        answers: usize,
    },
    /// Its decisions differed when it was asked again.
    #[error(
        "the filter {name} does not make the same decision twice: for {of} it made {first}, then {second}"
    )]
    Disagrees {
        /// The program.
        name: String,
        /// Which answer.
        of: String,
        /// The first decision.
        first: String,
        /// The second.
        second: String,
    },
    /// The file was changed while the filter was running.
    #[error("{path} was changed while the filter ran")]
    Changed {
        /// The file.
        path: String,
    },
    /// The user asked to stop.
    #[error("interrupted: the filter {name} was stopped")]
    Interrupted {
        /// The program.
        name: String,
    },
}

/// The limits of a filter for one batch of at most 10,000 answers.
#[derive(Debug, Clone, Copy)]
pub struct FilterLimits {
    /// Time.
    pub time: Duration,
    /// Bytes of output, in addition to four for each byte of its input.
    pub bytes: u64,
}

impl Default for FilterLimits {
    fn default() -> Self {
        FilterLimits { time: Duration::from_secs(300), bytes: 64 << 20 }
    }
}

/// The surroundings of a filter.
#[derive(Debug, Clone, Default)]
pub struct FilterSetup {
    /// Its whole environment. The program is searched for on its `PATH`.
    pub environment: Vec<(String, OsString)>,
    /// Its limits.
    pub limits: FilterLimits,
    /// Set this to stop the filter.
    pub stop: Arc<AtomicBool>,
}

/// A user's program that makes decisions.
pub struct Filter {
    words: Vec<String>,
    program: PathBuf,
    digests: Vec<FilterFile>,
    setup: FilterSetup,
}

impl Filter {
    /// A filter from a command: words separated by spaces, quoted as for a shell if they contain
    /// spaces. It is not run by a shell.
    ///
    /// # Errors
    /// [`FilterError`]: the program does not exist or cannot be read.
    pub fn new(command: &str, setup: FilterSetup) -> Result<Self, FilterError> {
        let words = words(command)?;
        let name = words.first().ok_or(FilterError::Empty)?;
        let path = setup.environment.iter().find(|(name, _)| name == "PATH");
        let program = find(name, path.map(|(_, path)| path.as_os_str()))?;
        let digests = [(name.as_str(), program.clone())].into_iter().chain(named_files(&words));
        let digests = digests.map(|(name, path)| digest(name, path)).collect::<Result<_, _>>()?;
        Ok(Filter { words, program, digests, setup })
    }

    fn name(&self) -> String {
        printable(&self.words.join(" "), 100)
    }

    /// Runs it over some answers once.
    fn pass(&self, answers: &[&UndecidedAnswer<'_>]) -> Result<Vec<AnswerDecision>, FilterError> {
        let input = answers.iter().map(|asked| line::input_line(asked)).collect::<String>();
        let run = process::FilterProcess {
            name: self.name(),
            program: &self.program,
            arguments: &self.words[1..],
            setup: &self.setup,
            answers: answers.len(),
        };
        run.over(input)
    }

    /// Runs it over some answers twice.
    fn twice(&self, answers: &[UndecidedAnswer<'_>]) -> Result<Vec<AnswerDecision>, FilterError> {
        let forth: Vec<&UndecidedAnswer<'_>> = answers.iter().collect();
        let back: Vec<&UndecidedAnswer<'_>> = answers.iter().rev().collect();
        let (first, mut again) = (self.pass(&forth)?, self.pass(&back)?);
        again.reverse();
        let differs = first.iter().zip(&again).position(|(first, again)| first != again);
        if let Some(at) = differs {
            let of = match (answers[at].call, answers[at].sample) {
                (Some(call), Some(sample)) => printable(&format!("{call}#{sample}"), 100),
                _ => format!("answer {}", at + 1),
            };
            let (first, second) = (excerpt(&first[at]), excerpt(&again[at]));
            return Err(FilterError::Disagrees { name: self.name(), of, first, second });
        }
        for digested in &self.digests {
            if digest(&digested.name, digested.path.clone())?.blake3 != digested.blake3 {
                return Err(FilterError::Changed { path: digested.name.clone() });
            }
        }
        Ok(first)
    }
}

/// The command of a filter, from the settings recorded with its decisions.
pub(super) fn command_of(params: &Value) -> String {
    let words = params["command"].as_array().into_iter().flatten().filter_map(Value::as_str);
    printable(&words.collect::<Vec<_>>().join(" "), 100)
}

fn excerpt(decided: &AnswerDecision) -> String {
    printable(&serde_json::to_string(decided).unwrap_or_default(), 200)
}

impl Decider for Filter {
    fn spec(&self, params: &Value) -> ParserSpec {
        let digests: serde_json::Map<String, Value> =
            self.digests.iter().map(|d| (d.name.clone(), d.blake3.clone().into())).collect();
        let mut own = json!({"blake3": digests, "command": self.words});
        if !params.is_null() {
            own.set("params", params.clone());
        }
        ParserSpec { name: FILTER.into(), version: PROTOCOL, params: own }
    }

    fn decide(
        &mut self,
        answers: &[UndecidedAnswer<'_>],
    ) -> Result<Vec<AnswerDecision>, DecideError> {
        let (mut decided, mut rest) = (Vec::with_capacity(answers.len()), answers);
        while !rest.is_empty() {
            let mut bytes = 0;
            let fits = |asked: &&UndecidedAnswer<'_>| {
                bytes += asked.bytes();
                bytes <= BATCH_BYTES
            };
            let n = rest.iter().take(BATCH).take_while(fits).count().max(1);
            let (batch, others) = rest.split_at(n);
            decided.extend(self.twice(batch)?);
            rest = others;
        }
        Ok(decided)
    }
}
