//! The errors that a user sees: what went wrong, where, what to do next, and an exit code.

mod conversions;
mod of_log;

use std::io::Write;
use std::path::Path;

pub(crate) use of_log::without_compaction;
use serde_json::{Value, json};

use crate::again::spell_commands;
use crate::colours;
use retold::draft::OfLog;
use retold::escaping::inert_lines;
use retold::id::RunId;
use retold::log::{Fault, Finding};
use retold_archive::Damage;

/// Part of the message of every failed import.
pub(crate) const NOTHING_IMPORTED: &str = "nothing was imported";

/// What to do about a log that has lost events.
pub(crate) const LOST: &str = "nothing is written to it, so that what is left can be saved: `retold verify` \
    names everything that is lost, and `retold copy --to NEW` brings what is left to a new log; or restore a copy of this one";

/// The hint that names the command which finds all damage in a log.
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
    /// 75: the run waits for batches, and a later command continues it; EX_TEMPFAIL of sysexits.h.
    Waiting,
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
            Status::Waiting => 75,
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
    /// For a run of which nothing is left: the finding in the banner, with the run if it is known.
    pub(crate) damage: Option<Box<Finding>>,
    /// The damage that was met as a run of a log was read.
    pub(crate) met: Option<Box<(RunId, Damage)>>,
}

impl CliError {
    pub(crate) fn new(status: Status, message: impl Into<String>) -> Self {
        CliError { status, message: message.into(), hints: Vec::new(), damage: None, met: None }
    }

    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(Status::Usage, message)
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(spell_commands(&hint.into()));
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

    /// The same with the hints of another error, such as one about steps that were not done.
    pub(crate) fn hints_of(mut self, other: CliError) -> Self {
        let new = other.hints.into_iter().filter(|hint| !self.hints.contains(hint));
        self.hints.extend(new.collect::<Vec<_>>());
        self
    }

    /// Two errors as one, with the worse exit code. A message that both have appears once.
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
        let CliError { status, message, hints, damage: _, met: _ } = self;
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
