//! What a user is told when something goes wrong: what, where, what to do next, and an exit code.

use std::io::Write;

use super::output::inert_text;
use crate::audit::AuditError;
use crate::check::CheckError;
use crate::config::ConfigError;
use crate::exchange::ImportError;
use crate::jsonl::{JsonlError, Problem};
use crate::log::LogError;
use crate::parse::registry::RegistryError;
use crate::run::Stop;

/// The exit codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Status {
    /// All is well.
    Fine = 0,
    /// A difference was found: divergence, flips, broken chain.
    Difference = 1,
    /// Wrong usage or input.
    Usage = 2,
    /// The log or a file could not be read or written.
    Io = 3,
    /// The model failed.
    Model = 4,
    /// Ctrl-C; 128 + SIGINT, as shells count.
    Interrupted = 130,
}

/// An error with its exit code and what to do about it.
#[derive(Debug)]
pub(super) struct CliError {
    pub(super) status: Status,
    pub(super) message: String,
    pub(super) hints: Vec<String>,
}

impl CliError {
    pub(super) fn new(status: Status, message: impl Into<String>) -> Self {
        CliError { status, message: message.into(), hints: Vec::new() }
    }

    pub(super) fn usage(message: impl Into<String>) -> Self {
        Self::new(Status::Usage, message)
    }

    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    pub(super) fn print(&self) {
        let mut text = format!("error: {}\n", self.message.trim_end());
        for hint in &self.hints {
            text.push_str(&format!("  hint: {hint}\n"));
        }
        // Nobody is left to tell if stderr is closed.
        let _ = std::io::stderr().write_all(inert_text(&text).as_bytes());
    }
}

impl From<LogError> for CliError {
    fn from(error: LogError) -> Self {
        let message = error.to_string();
        let (status, hint) = match &error {
            LogError::Missing { .. } => (
                Status::Io,
                "give the log with --log PATH or RETOLD_LOG; `retold run CONFIG` makes one"
                    .to_owned(),
            ),
            LogError::NotALog { .. } => {
                (Status::Io, "give the path of a log that retold wrote, or of a new one".to_owned())
            }
            LogError::NewerFormat { .. } => (
                Status::Io,
                "install the release of retold that wrote it, or a later one".to_owned(),
            ),
            LogError::CannotOpen { .. } => {
                (Status::Io, "check that the folder exists and that you may write in it".to_owned())
            }
            LogError::Busy { .. } => {
                (Status::Io, "close the other program, or wait for it, and try again".to_owned())
            }
            LogError::InUse { run, .. } => (
                Status::Io,
                format!(
                    "wait for it, or stop it first; then `retold resume {}` goes on",
                    run.short(8)
                ),
            ),
            LogError::Full { .. } => (
                Status::Io,
                "nothing that was recorded is lost: make room (or raise --log-limit), then \
                 `retold resume latest`"
                    .to_owned(),
            ),
            LogError::Conflict { .. } => {
                (Status::Io, "`retold verify` shows what the log holds".to_owned())
            }
            LogError::Corrupt { .. } | LogError::CorruptRequest { .. } => {
                (Status::Difference, "`retold verify` names everything that is damaged".to_owned())
            }
            LogError::NoSuchRun { .. } => (Status::Usage, "`retold log` lists the runs".to_owned()),
            LogError::RunExists { .. } => (Status::Usage, "`retold log` lists the runs".to_owned()),
            LogError::Failed { .. } => {
                (Status::Io, "`retold verify` tells whether the file is damaged".to_owned())
            }
        };
        CliError::new(status, message).hint(hint)
    }
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
            Problem::Open(_) | Problem::Read(_) | Problem::Write(_) => {
                CliError::new(Status::Io, message)
            }
            Problem::Exists => CliError::usage(message)
                .hint("choose another name, or add --force to replace the file"),
            _ => CliError::usage(message),
        }
    }
}

impl From<ImportError> for CliError {
    fn from(error: ImportError) -> Self {
        match error {
            ImportError::File(e) => e.into(),
            ImportError::Log(e) => e.into(),
            ImportError::BrokenChain { .. } => {
                CliError::new(Status::Difference, error.to_string()).hint("nothing was imported")
            }
            other => CliError::usage(other.to_string()).hint("nothing was imported"),
        }
    }
}

impl From<RegistryError> for CliError {
    fn from(error: RegistryError) -> Self {
        CliError::usage(error.to_string())
    }
}

impl From<CheckError> for CliError {
    fn from(error: CheckError) -> Self {
        match error {
            CheckError::Log(e) => e.into(),
            CheckError::Parser(e) => e.into(),
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

impl From<Stop> for CliError {
    fn from(stop: Stop) -> Self {
        let message = stop.to_string();
        match stop {
            Stop::Log(e) => e.into(),
            Stop::Diverged(_) => CliError::new(Status::Difference, message),
            Stop::Interrupted => CliError::new(Status::Interrupted, message),
            Stop::Model { failure, .. } => match failure.kind {
                crate::model::FailureKind::NoAnswer => CliError::usage(message),
                _ => CliError::new(Status::Model, message),
            },
            Stop::EndOfRecord => CliError::new(Status::Difference, message),
            Stop::AskedTwice { .. } | Stop::Invalid { .. } => CliError::usage(message),
        }
    }
}
