//! What a user sees when something goes wrong: what, where, what to do next, and an exit code.

use std::io::Write;
use std::path::Path;

use serde_json::{Value, json};

use crate::again::typed;
use crate::colours;
use crate::log_place;
use retold::audit::AuditError;
use retold::check::CheckError;
use retold::decide::{AgainError, DecideError, FilterError, ParamsError};
use retold::draft::OfLog;
use retold::escaping::inert_lines;
use retold::exchange::ImportError;
use retold::explain::explain;
use retold::id::RunId;
use retold::jsonl::{JsonlError, JsonlProblem};
use retold::log::{Fault, Finding, LogError, SegmentFault};
use retold::model::openai::OpenAiError;
use retold::parse::registry::RegistryError;
use retold::run::{AbandonError, OutputError, OverBudget, Stop};
use retold::snapshot::SnapshotError;
use retold_archive::{BucketUrl, BucketUrlError, Damage};
use retold_study::config::ConfigError;
use retold_study::original::OriginalError;
use retold_study::phase::PhaseError;
use retold_study::shard::ShardingError;

/// Part of the message of every failed import.
pub(crate) const NOTHING_IMPORTED: &str = "nothing was imported";

/// What to do about a log that has lost events.
pub(crate) const LOST: &str = "nothing is written to it, so that what is left can be saved: `retold verify` \
    names everything that is lost, `retold export RUN FILE` saves a run that is intact; restore a copy of the log, or continue \
    without what is lost with `retold verify --accept-loss`";

/// Where to find out what is wrong with a log.
pub(crate) const NAMES_DAMAGE: &str = "`retold verify` names everything that is damaged";

/// What to do about a file with a run that is not as it was written: it is not the log, and all that is known of the damage has
/// been said.
pub(crate) const ANOTHER_COPY: &str = "take another copy of the file, or export the run again from its log with `retold export RUN FILE`";

/// Whether damage is that of a recording's file, rather than of the log.
pub(crate) fn is_of_recording(fault: &Fault) -> bool {
    matches!(fault, Fault::Recording { .. } | Fault::EmptyRecording { .. })
}

/// The longest error message, in characters.
const LONGEST_MESSAGE: usize = 8_000;

/// The exit codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// 0: success.
    Fine,
    /// 1: a difference was found: divergence, flips, a damaged log.
    Difference,
    /// 2: wrong usage or input.
    Usage,
    /// 3: the log or a file could not be read or written.
    Io,
    /// 4: the model failed, a limit of the run was reached, or no participant finished.
    Model,
    /// 130: Ctrl-C; 128 + SIGINT, as shells count.
    Interrupted,
    /// The exit code of a program that was recorded or replayed.
    Program(u8),
}

impl Status {
    /// The exit code.
    pub fn code(self) -> u8 {
        match self {
            Status::Fine => 0,
            Status::Difference => 1,
            Status::Usage => 2,
            Status::Io => 3,
            Status::Model => 4,
            Status::Interrupted => 130,
            Status::Program(code) => code,
        }
    }
}

/// An error, its exit code, and what to do about it.
#[derive(Debug)]
pub(crate) struct CliError {
    pub(crate) status: Status,
    pub(crate) message: String,
    pub(crate) hints: Vec<String>,
    /// For a run of which nothing is left: what the banner says, with the run if it is known.
    pub(crate) damage: Option<Box<Finding>>,
    /// The run in which something is damaged, if it is one of a log.
    pub(crate) damaged_run: Option<RunId>,
}

impl CliError {
    pub(crate) fn new(status: Status, message: impl Into<String>) -> Self {
        CliError {
            status,
            message: message.into(),
            hints: Vec::new(),
            damage: None,
            damaged_run: None,
        }
    }

    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(Status::Usage, message)
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(typed(&hint.into()));
        self
    }

    /// Refuses to write a file or folder in the place of a log, or of a file that belongs to one.
    pub(crate) fn refuse_log(path: &Path) -> Result<(), Self> {
        match OfLog::at(path) {
            Some(refused) => Err(CliError::usage(format!("{}: {refused}", path.display()))
                .hint("choose another name")),
            None => Ok(()),
        }
    }

    /// The same with the hints of another error, such as what was not done.
    pub(crate) fn hints_of(mut self, other: CliError) -> Self {
        let new = other.hints.into_iter().filter(|hint| !self.hints.contains(hint));
        self.hints.extend(new.collect::<Vec<_>>());
        self
    }

    /// Two errors as one, with the worse exit code. What is said twice is said once.
    pub(crate) fn and_also(self, other: CliError) -> Self {
        let is_worse = other.status.code() > self.status.code();
        let status = if is_worse { other.status } else { self.status };
        let is_known = self.message.split('\n').any(|line| line == other.message);
        let message = match is_known {
            true => self.message.clone(),
            false => format!("{}\n{}", self.message.trim_end(), other.message),
        };
        CliError { status, message, ..self }.hints_of(other)
    }

    /// The error is about a run that is damaged.
    pub(crate) fn damage(self, run: Option<RunId>, Damage { seq, fault }: Damage) -> Self {
        let finding = Finding { run, seq: Some(seq), fault };
        CliError { damage: Some(Box::new(finding)), ..self }
    }

    /// The JSON that `--json` prints.
    pub(crate) fn as_json(&self) -> Value {
        let CliError { status, message, hints, damage: _, damaged_run: _ } = self;
        let message: String = message.trim_end().chars().take(LONGEST_MESSAGE).collect();
        json!({"error": {"message": message, "hints": hints, "exit_code": status.code()}})
    }

    pub(crate) fn print(&self) {
        let has_colours = colours::on_stderr();
        // A name in a foreign file may be as long as the whole file.
        let message = self.message.trim_end();
        let (message, cut) = match message.char_indices().nth(LONGEST_MESSAGE) {
            None => (message, ""),
            Some((at, _)) => (&message[..at], "… (cut here)"),
        };
        let error = colours::alarm("error:", has_colours);
        let mut text = format!("{error} {}{cut}\n", inert_lines(message));
        for hint in &self.hints {
            let word = colours::advice("hint:", has_colours);
            text.push_str(&format!("  {word} {}\n", inert_lines(hint)));
        }
        // If stderr is closed, nobody would see it.
        let _ = std::io::stderr().write_all(text.as_bytes());
    }
}

/// Writes to stderr, made inert. If it is closed, nobody would see it.
pub(crate) fn write_err(text: &str) {
    let _ = std::io::stderr().write_all(inert_lines(text).as_bytes());
}

impl From<LogError> for CliError {
    fn from(error: LogError) -> Self {
        let message = error.to_string();
        let (status, hint) = match &error {
            LogError::Missing { path } => (Status::Io, log_place::missing(path)),
            LogError::NotALog { .. } => {
                (Status::Io, "give the path of a log that retold wrote, or of a new one".to_owned())
            }
            LogError::NewerFormat { .. } => (
                Status::Io,
                "install the release of retold that wrote it, or a later one".to_owned(),
            ),
            LogError::CannotOpen { source, .. } if source.is::<BucketUrlError>() => {
                // A command here would be printed with the URL.
                (Status::Usage, "--log takes the path of a file, or such a URL".to_owned())
            }
            LogError::CannotOpen { path, .. } => (Status::Io, log_place::unreachable(path)),
            LogError::Failed { path, .. } if BucketUrl::is_one(Path::new(path)) => {
                let reach = log_place::unreachable(path);
                (Status::Io, format!("{reach}; what was recorded so far is safe"))
            }
            LogError::CannotCopy { .. } => (
                Status::Io,
                "nothing was copied: give the path of a new file in a folder that you can write to"
                    .to_owned(),
            ),
            LogError::NotOurs { path, .. } => (
                Status::Io,
                format!(
                    "nothing was changed: if no retold is running, remove {path} and try again"
                ),
            ),
            LogError::Unmerged { .. } => (
                Status::Io,
                "copy both files into a folder of your own, and name that log with --log PATH"
                    .to_owned(),
            ),
            LogError::Busy { seconds, .. } => (
                Status::Io,
                format!(
                    "wait longer than {seconds} s with --wait SECONDS, or let fewer programs write \
                     to it at once"
                ),
            ),
            LogError::NoWal { .. } => (
                Status::Io,
                "keep the log on a local disk, with --log PATH or RETOLD_LOG: network and shared folders often \
                 cannot do this"
                    .to_owned(),
            ),
            LogError::Gone { .. } => (
                Status::Io,
                "put the file back if it was moved, with its -wal and -shm, and `retold run --resume RUN`; what \
                 was recorded in a file that was deleted is lost"
                    .to_owned(),
            ),
            LogError::InUse { run, .. } => (
                Status::Io,
                format!(
                    "wait for it or stop it first; then `retold show {}` says how to continue it",
                    run.short(8)
                ),
            ),
            LogError::Full { .. } => (
                Status::Io,
                "everything recorded so far is safe: make room (or raise --log-limit), then do the \
                 same again"
                    .to_owned(),
            ),
            LogError::Conflict { .. } => {
                (Status::Io, "`retold verify` shows what is in the log".to_owned())
            }
            LogError::Damaged { fault, .. } => {
                (Status::Difference, put_back(fault).unwrap_or_else(|| NAMES_DAMAGE.to_owned()))
            }
            LogError::Corrupt { fault, .. } if is_of_recording(fault) => {
                (Status::Difference, ANOTHER_COPY.to_owned())
            }
            LogError::Corrupt { .. }
            | LogError::CorruptLedger { .. }
            | LogError::CorruptRequest { .. } => (Status::Difference, NAMES_DAMAGE.to_owned()),
            LogError::Lost { .. } => (Status::Difference, LOST.to_owned()),
            LogError::NoSuchRun { .. } => (Status::Usage, "`retold log` lists the runs".to_owned()),
            LogError::RunExists { .. } => (Status::Usage, "`retold log` lists the runs".to_owned()),
            // Including `Failed`.
            _ => {
                (Status::Io, "`retold verify` shows whether the file is damaged".to_owned())
            }
        };
        let damaged_run = match error {
            LogError::Corrupt { run, .. } => Some(run),
            _ => None,
        };
        CliError { damaged_run, ..CliError::new(status, message).hint(hint) }
    }
}

impl From<OriginalError> for CliError {
    fn from(error: OriginalError) -> Self {
        let status = match error {
            OriginalError::Unreadable { .. } => Status::Io,
            _ => Status::Usage,
        };
        CliError::new(status, error.to_string()).hint(NOTHING_IMPORTED)
    }
}

impl From<OutputError> for CliError {
    fn from(error: OutputError) -> Self {
        match error {
            OutputError::Log(log) => log.into(),
            none @ OutputError::NoPart { .. } => CliError::usage(none.to_string()),
            other => CliError::usage(other.to_string()).hint(
                "the run may be from another release: `retold show RUN` says which one wrote it",
            ),
        }
    }
}

/// How to make a place a log again.
fn put_back(fault: &Fault) -> Option<String> {
    let Fault::Segment(SegmentFault::Unmarked { object, holds }) = fault else { return None };
    Some(format!(
        "nothing is written to it: put {object} back, which holds {holds}, or copy the runs to another log with `retold \
         copy --to LOG`"
    ))
}

impl From<ConfigError> for CliError {
    fn from(error: ConfigError) -> Self {
        let status = match &error {
            ConfigError::Unreadable { .. } => Status::Io,
            _ => Status::Usage,
        };
        CliError::new(status, error.to_string())
    }
}

impl From<JsonlError> for CliError {
    fn from(error: JsonlError) -> Self {
        let message = error.to_string();
        match error.problem {
            JsonlProblem::Open(_) | JsonlProblem::Read(_) | JsonlProblem::Write(_) => {
                CliError::new(Status::Io, message)
            }
            // What a recording that was cut off or changed is, whether it is packed or not.
            JsonlProblem::Truncated | JsonlProblem::Spoilt { .. } => {
                CliError::new(Status::Difference, message)
            }
            JsonlProblem::Exists => CliError::usage(message)
                .hint("choose another name, or add --force to replace the file"),
            JsonlProblem::OfLog(_) => CliError::usage(message).hint("choose another name"),
            _ => CliError::usage(message),
        }
    }
}

impl From<ImportError> for CliError {
    fn from(error: ImportError) -> Self {
        match error {
            ImportError::File(e) => CliError::from(e).hint(NOTHING_IMPORTED),
            ImportError::Log(e) => e.into(),
            ImportError::NewerFormat { .. } => CliError::usage(error.to_string())
                .hint("install the release of retold that wrote it, or a later one")
                .hint(NOTHING_IMPORTED),
            ImportError::BrokenChain { .. }
            | ImportError::CutOff { .. }
            | ImportError::OtherHead { .. } => {
                CliError::new(Status::Difference, error.to_string()).hint(NOTHING_IMPORTED)
            }
            other => CliError::usage(other.to_string()).hint(NOTHING_IMPORTED),
        }
    }
}

impl From<OpenAiError> for CliError {
    fn from(error: OpenAiError) -> Self {
        CliError::usage(error.to_string())
    }
}

impl From<RegistryError> for CliError {
    fn from(error: RegistryError) -> Self {
        let RegistryError::BadParams { parser, given, source } = &error else {
            return CliError::usage(error.to_string());
        };
        let reason = explain(&source.to_string());
        let wrong =
            CliError::usage(format!("the settings of parser {parser} cannot be used: {reason}"));
        if *given { wrong } else { wrong.hint("give them with --params JSON") }
    }
}

impl From<DecideError> for CliError {
    fn from(error: DecideError) -> Self {
        match error {
            DecideError::Parser(e) => e.into(),
            DecideError::Filter(e) => e.into(),
            other => CliError::usage(other.to_string()),
        }
    }
}

impl From<FilterError> for CliError {
    fn from(error: FilterError) -> Self {
        let status = match error {
            FilterError::Interrupted { .. } => Status::Interrupted,
            FilterError::Unreadable { .. } | FilterError::Start { .. } => Status::Io,
            _ => Status::Usage,
        };
        let message = error.to_string();
        let hint = match error {
            FilterError::TimedOut { .. } => "give it longer with --parser-cmd-seconds N",
            FilterError::Held { .. } => "make it wait for the programs that it starts",
            FilterError::Disagrees { .. } => {
                "the second time, the answers come in the opposite order: each decision may only depend on its own answer"
            }
            FilterError::Output { .. } | FilterError::Count { .. } => {
                "for each line it reads, it writes {\"value\":..,\"method\":..,\"reasoning\":..,\"warnings\":[..]}"
            }
            _ => return CliError::new(status, message),
        };
        CliError::new(status, message).hint(hint)
    }
}

impl From<ParamsError> for CliError {
    fn from(error: ParamsError) -> Self {
        match error {
            ParamsError::File(e) => e.into(),
            other => CliError::usage(other.to_string()),
        }
    }
}

impl From<AgainError> for CliError {
    fn from(error: AgainError) -> Self {
        match error {
            AgainError::Log(e) => e.into(),
            AgainError::Decide(DecideError::Parser(e @ RegistryError::UnknownName { .. })) => {
                CliError::from(e)
                    .hint("if another program recorded the run, name a parser with --parser NAME@VERSION")
            }
            AgainError::Decide(e) => e.into(),
            AgainError::Filter { .. } => CliError::usage(error.to_string())
                .hint("if it is yours, give it with --parser-cmd COMMAND, or a parser with --parser NAME@VERSION"),
            AgainError::ParserFile { .. } => CliError::usage(error.to_string())
                .hint("give the file again: retold check RUN --parsers FILE"),
            other => CliError::usage(other.to_string()),
        }
    }
}

impl From<SnapshotError> for CliError {
    fn from(error: SnapshotError) -> Self {
        match error {
            SnapshotError::Again(e) => e.into(),
            SnapshotError::Import(e) => e.into(),
            SnapshotError::File { .. } => CliError::new(Status::Io, error.to_string()),
            SnapshotError::TooMany => {
                CliError::usage(error.to_string()).hint("choose some of them with --call CALL")
            }
            other => CliError::usage(other.to_string()),
        }
    }
}

impl From<CheckError> for CliError {
    fn from(error: CheckError) -> Self {
        match error {
            CheckError::Again(e) => e.into(),
            other => CliError::usage(other.to_string()),
        }
    }
}

impl From<AuditError> for CliError {
    fn from(error: AuditError) -> Self {
        match error {
            AuditError::Log(e) => e.into(),
            other => CliError::usage(other.to_string())
                .hint("name a decision by its call, CALL#SAMPLE, or its seq"),
        }
    }
}

impl From<AbandonError> for CliError {
    fn from(error: AbandonError) -> Self {
        match error {
            AbandonError::Log(e) => e.into(),
            other => CliError::usage(other.to_string()),
        }
    }
}

impl From<ShardingError> for CliError {
    fn from(error: ShardingError) -> Self {
        let message = error.to_string();
        match error {
            ShardingError::Indivisible { .. } => {
                CliError::usage(message).hint("without --shard, one machine records all of it")
            }
            ShardingError::TooMany { count: 1, .. } => {
                CliError::usage(message).hint("without --shard, one machine records all of it")
            }
            ShardingError::TooMany { count, .. } => {
                CliError::usage(message).hint(format!("use at most {count} shards"))
            }
            ShardingError::DrawnSeed { key } => CliError::usage(message).hint(format!(
                "add it to the config, or give all shards the same one with --set {key}=1"
            )),
            _ => CliError::usage(message),
        }
    }
}

impl From<PhaseError> for CliError {
    fn from(error: PhaseError) -> Self {
        let message = error.to_string();
        match error {
            PhaseError::Unknown { shard: true, .. } => CliError::usage(message).hint(
                "later phases need the answers of all shards: `retold merge` makes one run of them, and `retold run \
                 --resume` continues it",
            ),
            _ => CliError::usage(message),
        }
    }
}

impl From<Stop> for CliError {
    fn from(stop: Stop) -> Self {
        let message = stop.to_string();
        match stop {
            Stop::Log(e) => e.into(),
            Stop::Diverged(_) => CliError::new(Status::Difference, message),
            Stop::Interrupted => CliError::new(Status::Interrupted, message),
            Stop::Model { failure, .. } => match failure.kind {
                retold::model::FailureKind::NoAnswer => CliError::usage(message),
                _ => CliError::new(Status::Model, message),
            },
            Stop::OverBudget(OverBudget::NoPrice { .. }) => CliError::usage(message)
                .hint("list it in a file like config/prices.yaml and give that with --prices FILE"),
            Stop::OverBudget(_) => CliError::new(Status::Model, message),
            Stop::Unreachable { .. } => CliError::new(Status::Model, message),
            Stop::EndOfRecord => CliError::new(Status::Difference, message),
            // The run has ended for good, or the experiment is at fault.
            _ => CliError::usage(message),
        }
    }
}
