//! A program of the user's that decides: JSON Lines in, JSON Lines out, in any language.
//!
//! For each answer it is given a line `{"call":..,"sample":..,"text":..,"params":..}` (what is not known is left
//! out), and for each it writes a line `{"value":..,"method":..,"reasoning":..,"warnings":[..]}`, in the same order;
//! all but `value` may be left out. It ends with exit status 0 when its standard input ends.
//!
//! A recording never names what is run: a filter is made from the command line alone. It is run twice, the second time
//! with the answers in the opposite order, and must decide the same: what draws lots, reads the clock or remembers
//! earlier lines is refused. Its environment is what the caller lists, its time and its output are bounded, and the
//! digests of the program and of the files that its arguments name go with its decisions.

mod command;
mod line;
mod process;

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use serde_json::{Value, json};

use self::command::{Digested, digest, find, named_files, words};
use super::{Asked, DecideError, Decided, Decider};
use crate::inert::inert;
use crate::parse::ParserSpec;

/// What decisions of a filter are recorded as, instead of the name of a parser.
pub(super) const NAME: &str = "filter";

/// The version of what is written to it and read from it.
const PROTOCOL: u32 = 1;

/// Answers that are given to one process, at most; and bytes of them, but for one that is longer.
const BATCH: usize = 10_000;
const BATCH_BYTES: usize = 32 << 20;

/// Why a filter did not decide.
#[derive(Debug, thiserror::Error)]
pub enum FilterError {
    /// No words.
    #[error("the command of the filter is empty")]
    Empty,
    /// An opening quote without its closing one.
    #[error("the command of the filter, {command:?}, has a quote that is not closed")]
    Quote {
        /// The command.
        command: String,
    },
    /// There is no such program.
    #[error("there is no program {name:?}{place}")]
    NoProgram {
        /// The program.
        name: String,
        /// Where it was looked for.
        place: &'static str,
    },
    /// The program, or a file that it is given, cannot be read for its digest.
    #[error("cannot read {path}: {reason}")]
    Unreadable {
        /// The file.
        path: String,
        /// What the system says.
        reason: String,
    },
    /// It cannot be started.
    #[error("cannot start the filter {name}: {reason}")]
    Start {
        /// The program.
        name: String,
        /// What the system says.
        reason: String,
    },
    /// It ended otherwise than well.
    #[error("the filter {name} ended with {status}{said}")]
    Failed {
        /// The program.
        name: String,
        /// Its exit status, or the signal.
        status: String,
        /// The end of what it wrote to its standard error.
        said: String,
    },
    /// It did not end.
    #[error("the filter {name} had not ended after {seconds} s and was stopped{said}")]
    TimedOut {
        /// The program.
        name: String,
        /// How long it had.
        seconds: u64,
        /// The end of what it wrote to its standard error.
        said: String,
    },
    /// It wrote more than any decisions take.
    #[error("the filter {name} wrote more than {bytes} bytes for {} and was stopped", counted(*.answers, "answer"))]
    TooMuch {
        /// The program.
        name: String,
        /// The limit.
        bytes: u64,
        /// How many answers it was given.
        answers: usize,
    },
    /// A line of its output is not a decision.
    #[error("the filter {name}: {what}")]
    Output {
        /// The program.
        name: String,
        /// What is wrong, with the line.
        what: String,
    },
    /// Too few decisions, or too many.
    #[error("the filter {name} wrote {} for {}: it must write one line for each", counted(*.lines, "line"), counted(*.answers, "answer"))]
    Count {
        /// The program.
        name: String,
        /// How many lines it wrote.
        lines: usize,
        /// How many answers it was given.
        answers: usize,
    },
    /// Asked again, it decided otherwise.
    #[error(
        "the filter {name} does not decide the same twice: of {of} it made {first}, then {second}"
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
    /// Somebody changed it meanwhile.
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

fn counted(n: usize, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}

/// What a filter may take for one batch of at most 10,000 answers.
#[derive(Debug, Clone, Copy)]
pub struct FilterLimits {
    /// Time.
    pub time: Duration,
    /// Bytes of output, beside four for each byte of its input.
    pub bytes: u64,
}

impl Default for FilterLimits {
    fn default() -> Self {
        FilterLimits { time: Duration::from_secs(300), bytes: 64 << 20 }
    }
}

/// What surrounds a filter.
#[derive(Debug, Clone, Default)]
pub struct FilterSetup {
    /// Its whole environment. `PATH` is where its program is looked for.
    pub environment: Vec<(String, OsString)>,
    /// What it may take.
    pub limits: FilterLimits,
    /// Set to stop it.
    pub stop: Arc<AtomicBool>,
}

/// A program of the user's that decides.
pub struct Filter {
    words: Vec<String>,
    program: PathBuf,
    digests: Vec<Digested>,
    setup: FilterSetup,
}

impl Filter {
    /// A filter from a command: words with spaces between them, quoted as for a shell where they have spaces
    /// themselves. No shell runs it.
    ///
    /// # Errors
    /// [`FilterError`]: there is no such program, or it cannot be read.
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
        inert(&self.words.join(" "), 100)
    }

    /// Runs it over some answers.
    fn pass(&self, answers: &[&Asked<'_>]) -> Result<Vec<Decided>, FilterError> {
        let input = answers.iter().map(|asked| line::written(asked)).collect::<String>();
        let run = process::Run {
            name: self.name(),
            program: &self.program,
            arguments: &self.words[1..],
            setup: &self.setup,
            answers: answers.len(),
        };
        run.over(input)
    }

    /// Runs it over some answers twice.
    fn twice(&self, answers: &[Asked<'_>]) -> Result<Vec<Decided>, FilterError> {
        let forth: Vec<&Asked<'_>> = answers.iter().collect();
        let back: Vec<&Asked<'_>> = answers.iter().rev().collect();
        let (first, mut again) = (self.pass(&forth)?, self.pass(&back)?);
        again.reverse();
        let differs = first.iter().zip(&again).position(|(first, again)| first != again);
        if let Some(at) = differs {
            let of = match (answers[at].call, answers[at].sample) {
                (Some(call), Some(sample)) => inert(&format!("{call}#{sample}"), 100),
                _ => format!("answer {}", at + 1),
            };
            let (first, second) = (shown(&first[at]), shown(&again[at]));
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

/// The command of a filter that decided, from the settings that are recorded of it.
pub(super) fn command_of(params: &Value) -> String {
    let words = params["command"].as_array().into_iter().flatten().filter_map(Value::as_str);
    inert(&words.collect::<Vec<_>>().join(" "), 100)
}

fn shown(decided: &Decided) -> String {
    inert(&serde_json::to_string(decided).unwrap_or_default(), 200)
}

impl Decider for Filter {
    fn spec(&self, params: &Value) -> ParserSpec {
        let digests: serde_json::Map<String, Value> =
            self.digests.iter().map(|d| (d.name.clone(), d.blake3.clone().into())).collect();
        let mut own = json!({"blake3": digests, "command": self.words});
        if !params.is_null() {
            own["params"] = params.clone();
        }
        ParserSpec { name: NAME.into(), version: PROTOCOL, params: own }
    }

    fn decide(&mut self, answers: &[Asked<'_>]) -> Result<Vec<Decided>, DecideError> {
        let (mut decided, mut rest) = (Vec::with_capacity(answers.len()), answers);
        while !rest.is_empty() {
            let mut bytes = 0;
            let fits = |asked: &&Asked<'_>| {
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
