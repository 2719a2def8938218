//! Opens the log that a user names, and reports its damage on stderr.

use std::sync::Arc;

use crate::again::spell_commands;
use crate::error::{CliError, LOST, NAMES_DAMAGE, write_err};
use crate::global::Global;
use retold::log::{Log, MemoryBackend, SqliteBackend};
use retold_archive::{Archive, open_store};

/// Opens an existing log; lost events and damage to the file are reported on stderr.
pub(crate) fn open(global: &Global) -> Result<Log, CliError> {
    // A run that was killed before its first event leaves a log without runs. It is read as such
    // and not changed; `run` and `import` write the first run.
    if SqliteBackend::is_only_begun(&global.log) {
        let empty = MemoryBackend::with_name(global.log.display().to_string());
        return Ok(Log::new(Arc::new(empty)));
    }
    let backend = open_store(&global.log, global.sqlite())?;
    Ok(report_damage(Log::new(backend)))
}

/// Opens an existing log for a command that only reads it: neither the log nor anything beside it is
/// changed, whatever its state, and one that was cut off is read as far as it goes.
pub(crate) fn open_to_read(global: &Global) -> Result<Log, CliError> {
    Ok(report_damage(open_to_read_silently(global)?))
}

/// The same for a command that reports lost events itself.
pub(crate) fn open_to_read_silently(global: &Global) -> Result<Log, CliError> {
    Ok(log_of(&Archive::open(&global.log, global.sqlite())?, global))
}

/// The same to verify the log: nothing is read from copies that this machine keeps.
pub(crate) fn open_to_verify_silently(global: &Global) -> Result<Log, CliError> {
    Ok(log_of(&Archive::open_to_verify(&global.log, global.sqlite())?, global))
}

fn log_of(archive: &Archive, global: &Global) -> Log {
    if let Some(note) = archive.note() {
        write_err(&format!("warning: {}: {note}\n", global.log.display()));
    }
    if let Some(warning) = archive.warning() {
        write_err(&format!("warning: {warning}\n"));
    }
    archive.log()
}

/// The same for a command that verifies one run.
pub(crate) fn open_to_verify(global: &Global) -> Result<Log, CliError> {
    Ok(report_damage(open_to_verify_silently(global)?))
}

/// Reports the losses and the damage of a log on stderr.
pub(crate) fn report_damage(log: Log) -> Log {
    let lost = log.backend().losses();
    if !lost.is_empty() {
        for problem in &lost {
            write_err(&format!("warning: {}: {problem}\n", log.backend().name()));
        }
        write_err(&spell_commands(&format!("  hint: {LOST}\n")));
    }
    if let Some(problem) = log.backend().damage() {
        let log = log.backend().name();
        let hint = spell_commands(NAMES_DAMAGE);
        write_err(&format!("warning: {log}: {problem}\n  hint: {hint}\n"));
    }
    log
}
