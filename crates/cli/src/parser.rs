//! The parser options of `check`, and the parsers that they choose.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::Value;

use crate::error::CliError;
use crate::signal;
use retold::decide::{
    Again, AnswerDecision, DecideError, Decider, Filter, FilterLimits, FilterSetup, ParserParams,
    RegisteredParser, UndecidedAnswer,
};
use retold::jsonl::JsonlReader;
use retold::parse::{ParserSpec, Parsers};
use retold_study::parser_file::{FileDecision, ParserFile};

/// The environment of a filter: the search path, the home folder, and the language.
const ENVIRONMENT: &[&str] =
    &["PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "SYSTEMROOT"];

/// The search path if there is none in the environment.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Which parser decides.
#[derive(Debug, clap::Args)]
pub(crate) struct ParserArgs {
    /// The parser: NAME@VERSION, or NAME for its latest version.
    #[arg(long, value_name = "PARSER", conflicts_with = "parser_cmd")]
    pub(crate) parser: Option<String>,
    /// A program of your own that decides, in any language: for each answer, it reads a line
    /// {"call","sample","text","finish_reason","extra","params"}, without the keys that the answer
    /// does not have, and writes a line
    /// {"value","method","reasoning","warnings"}, of which only the value is required.
    ///
    /// It is run with your rights and without a shell. It is run twice and must make the same
    /// decisions; its environment has PATH, HOME and the language, but no keys. A recording can
    /// never name such a program.
    #[arg(long, value_name = "COMMAND")]
    pub(crate) parser_cmd: Option<String>,
    /// How many seconds the program may take per 10,000 answers.
    #[arg(long, value_name = "SECONDS", default_value_t = 300)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(crate) parser_cmd_seconds: u64,
    /// Decide with the parsers of this YAML file: each answer with the first parser whose call, model
    /// and prompt fit, whatever decided about it before; a --text with each of them. A file may name
    /// several decisions about each answer. docs/parsers.md describes the file.
    #[arg(long, value_name = "FILE")]
    #[arg(conflicts_with_all = ["parser", "parser_cmd", "params", "params_from"])]
    pub(crate) parsers: Option<PathBuf>,
    /// The settings of the parser, as a JSON object, such as '{"numbers":[4,5,6,10]}'.
    #[arg(long, value_name = "JSON")]
    params: Option<String>,
    /// Settings by call: JSON Lines of {"call":..,"params":{..}}, with "sample" if they are for a
    /// single sample. Answers to calls without a line are ignored.
    #[arg(long, value_name = "FILE", conflicts_with = "params")]
    params_from: Option<PathBuf>,
}

/// What decides about recorded answers.
pub(crate) enum ParserChoice {
    /// A parser or a program that is named.
    Decider(Box<dyn Decider + Send>),
    /// The parsers of a file.
    File(ParserFile),
    /// The latest version of the parser that decided before.
    Latest,
}

impl ParserChoice {
    /// What makes each decision about an answer, with the name that a file gives it.
    pub(crate) fn each(&mut self) -> Vec<(Again<'_>, Option<&str>)> {
        match self {
            ParserChoice::Decider(decider) => vec![(Again::By(decider.as_mut()), None)],
            ParserChoice::File(file) => each_of(file),
            ParserChoice::Latest => vec![(Again::Latest, None)],
        }
    }

    /// What makes the only decision about an answer.
    ///
    /// # Errors
    /// [`CliError`] if a file makes several, for which the option is not meant.
    pub(crate) fn only(&mut self, option: &str) -> Result<Again<'_>, CliError> {
        self.refuse_several(option)?;
        let only = self.each().into_iter().next().map(|(again, _)| again);
        Ok(only.unwrap_or(Again::Latest))
    }

    /// Refuses a file that names its decisions, for which an option is not meant.
    pub(crate) fn refuse_several(&self, option: &str) -> Result<(), CliError> {
        let ParserChoice::File(file) = self else { return Ok(()) };
        let names: Vec<&str> = file.decisions().iter().filter_map(FileDecision::name).collect();
        if names.is_empty() {
            return Ok(());
        }
        let (file, names) = (file.name(), names.join(", "));
        Err(CliError::usage(format!(
            "{option} is for one decision about each answer, and {file} names its decisions: {names}"
        ))
        .hint("give it a file that has `parsers` instead of `decisions`"))
    }

    /// How many decisions there are about each answer.
    pub(crate) fn count(&self) -> usize {
        match self {
            ParserChoice::File(file) => file.decisions().len(),
            ParserChoice::Decider(_) | ParserChoice::Latest => 1,
        }
    }
}

/// The parsers of each decision of a file, with its name.
pub(crate) fn each_of(file: &ParserFile) -> Vec<(Again<'_>, Option<&str>)> {
    file.decisions().iter().map(|it| (Again::Chosen(it), it.name())).collect()
}

impl ParserArgs {
    /// What decides about recorded answers.
    pub(crate) fn choice(&self, parsers: &Parsers) -> Result<ParserChoice, CliError> {
        Ok(match (self.decider(parsers)?, self.file()?) {
            (Some(decider), _) => ParserChoice::Decider(decider),
            (None, Some(file)) => ParserChoice::File(file),
            (None, None) => ParserChoice::Latest,
        })
    }

    /// The parser file; `None` if none is named.
    pub(crate) fn file(&self) -> Result<Option<ParserFile>, CliError> {
        Ok(self.parsers.as_deref().map(ParserFile::read).transpose()?)
    }

    /// What decides; `None` if nothing is named.
    pub(crate) fn decider(
        &self,
        parsers: &Parsers,
    ) -> Result<Option<Box<dyn Decider + Send>>, CliError> {
        if let Some(parser) = &self.parser {
            return Ok(Some(Box::new(RegisteredParser::new(parsers, parser)?)));
        }
        let Some(command) = &self.parser_cmd else { return Ok(None) };
        let limits = FilterLimits {
            time: Duration::from_secs(self.parser_cmd_seconds),
            ..FilterLimits::default()
        };
        let stop = Arc::new(AtomicBool::new(false));
        let setup = FilterSetup { environment: environment(), limits, stop: stop.clone() };
        let filter = Filter::new(command, setup)?;
        Ok(Some(Box::new(Stoppable { filter, stop, is_watched: false })))
    }

    /// The parser's settings.
    pub(crate) fn params(&self) -> Result<ParserParams, CliError> {
        match (&self.params, &self.params_from) {
            (Some(text), _) => Ok(ParserParams::same(text)?),
            (None, Some(path)) => {
                Ok(ParserParams::by_call(JsonlReader::open(path).map_err(CliError::from)?)?)
            }
            (None, None) => Ok(ParserParams::Recorded),
        }
    }
}

/// The environment for a program of the user's. It contains no key.
#[expect(clippy::disallowed_methods, reason = "the command line is what reads the environment")]
fn environment() -> Vec<(String, OsString)> {
    let found =
        ENVIRONMENT.iter().filter_map(|name| Some(((*name).to_owned(), std::env::var_os(name)?)));
    let mut environment: Vec<(String, OsString)> = found.collect();
    if !environment.iter().any(|(name, _)| name == "PATH") {
        environment.push(("PATH".to_owned(), PATH.into()));
    }
    environment
}

/// A filter that Ctrl-C stops: it has a process group of its own, which Ctrl-C does not reach.
/// Until the filter is first run, Ctrl-C ends the program as usual.
struct Stoppable {
    filter: Filter,
    stop: Arc<AtomicBool>,
    is_watched: bool,
}

impl Decider for Stoppable {
    fn spec(&self, params: &Value) -> ParserSpec {
        self.filter.spec(params)
    }

    fn decide(
        &mut self,
        answers: &[UndecidedAnswer<'_>],
    ) -> Result<Vec<AnswerDecision>, DecideError> {
        if !self.is_watched {
            self.is_watched = true;
            // If this thread cannot wait for Ctrl-C, then Ctrl-C ends only this program.
            if let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build()
            {
                let stop = self.stop.clone();
                std::thread::spawn(move || {
                    stop.store(runtime.block_on(signal::wait_for_interrupt()), Ordering::SeqCst);
                });
            }
        }
        self.filter.decide(answers)
    }
}

/// The existing parsers, for people.
pub(crate) fn parser_list(parsers: &Parsers) -> String {
    let known: Vec<String> =
        parsers.all().map(|(name, version)| format!("{name}@{version}")).collect();
    format!("the parsers are {}", known.join(", "))
}
