//! The keys of what `--redact` took out: in a file beside the log, and of recordings beside the file.
//!
//! A line has a key. The first one is the log's own, and the others came with imported recordings: a run names its
//! key, so runs of several keys can be in one log.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::error::{CliError, Status};
use retold::id::RunId;
use retold::sidecar::{self, SidecarError};
use retold_archive::bucket;
use retold_wire::{KnownKeys, ProgramSettings, RedactionKey, Rules};

/// The ending of the name of a key file.
const ENDING: &str = "-key";

/// The longest key file that is read.
const LONGEST: u64 = 1 << 20;

const HEADER: &str = "# The keys of retold's placeholders. With them, guesses at what was redacted can be tested: keep this file to yourself.\n";

/// The key file of a log or of a recording.
pub(crate) fn place(of: &Path) -> PathBuf {
    sidecar::path(&sidecar::canonical(of), ENDING)
}

/// The keys beside a log or a recording.
pub(crate) fn keys(of: &Path) -> Result<KnownKeys, CliError> {
    let place = place(of).display().to_string();
    let mut text = String::new();
    if let Some(file) = sidecar::read(&sidecar::canonical(of), ENDING)? {
        let read = file.take(LONGEST).read_to_string(&mut text);
        read.map_err(|error| not_usable(&place, &error.to_string()))?;
    }
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    let keys = lines.map(RedactionKey::parse).collect::<Option<Vec<_>>>();
    let keys = keys.ok_or_else(|| not_usable(&place, "it has a line that is not a key"))?;
    Ok(KnownKeys { keys, place })
}

/// Refuses to redact what goes into a log beside which no key can be kept.
pub(crate) fn can_be_kept(log: &Path) -> Result<(), CliError> {
    match bucket(log)? {
        None => Ok(()),
        Some(url) => Err(CliError::usage(format!(
            "the key of --redact is kept in a file beside the log, and {url} is not a file"
        ))
        .hint("record into a file, and `retold copy --to` brings the run there")),
    }
}

/// The log's own key. If it has none, it gets one.
pub(crate) fn own(log: &Path) -> Result<RedactionKey, CliError> {
    loop {
        if let Some(own) = keys(log)?.keys.into_iter().next() {
            return Ok(own);
        }
        let new = RedactionKey::random().map_err(|error| {
            CliError::new(Status::Io, format!("the system cannot provide random bytes: {error}"))
        })?;
        add(log, &[new])?;
    }
}

/// Adds keys to those beside a log or a recording; whether there was a new one.
pub(crate) fn add(to: &Path, new: &[RedactionKey]) -> Result<bool, CliError> {
    loop {
        let KnownKeys { keys: known, place } = keys(to)?;
        let new: Vec<_> = new.iter().filter(|key| !known.contains(key)).collect();
        if new.is_empty() {
            return Ok(false);
        }
        let failed = |error: &dyn std::fmt::Display| not_usable(&place, &error.to_string());
        let folder = Path::new(&place).parent().unwrap_or(Path::new("."));
        // Only its owner may read it.
        let mut file = NamedTempFile::new_in(folder).map_err(|error| failed(&error))?;
        let lines = known.iter().chain(new).map(|key| format!("{}\n", key.line()));
        let text = HEADER.to_owned() + &lines.collect::<String>();
        let written = file.write_all(text.as_bytes()).and_then(|()| file.as_file().sync_all());
        written.map_err(|error| failed(&error))?;
        let kept = match known.is_empty() {
            true => file.persist_noclobber(&place),
            false => file.persist(&place),
        };
        match kept {
            Ok(_) => return Ok(true),
            // Another process made one: its key is the log's own.
            Err(error) if error.error.kind() == std::io::ErrorKind::AlreadyExists => {
                if keys(to)?.keys.is_empty() {
                    return Err(failed(&"it exists, and has no key"));
                }
            }
            Err(error) => return Err(failed(&error.error)),
        }
    }
}

/// The key of a run's redactions, among those that are known. `None` if it has none.
pub(crate) fn of_run<'a>(
    settings: &ProgramSettings,
    known: &'a KnownKeys,
) -> Option<RunRedactionKey<'a>> {
    let redaction = settings.rules.redact.as_ref()?;
    let key = known.keys.iter().find(|key| key.id() == redaction.key);
    Some(key.map_or(RunRedactionKey::Missing, RunRedactionKey::Known))
}

/// The key of a run's redactions.
pub(crate) enum RunRedactionKey<'a> {
    Known(&'a RedactionKey),
    Missing,
}

/// Refuses to record more of a run without its key: nothing could be taken out.
pub(crate) fn require_key(run: RunId, rules: &Rules) -> Result<(), CliError> {
    let Some(place) = rules.lacks_key() else { return Ok(()) };
    let message = format!(
        "run {run} was recorded with --redact, and its key is not in {place}: without it, nothing would be taken out"
    );
    Err(CliError::usage(message).hint(HOW_TO_GET))
}

/// The hint if the key of a run is missing.
pub(crate) const HOW_TO_GET: &str = "the key is in the file LOG-key beside the log in which the run was recorded: add \
    its line to this file, or import a recording that was exported there with --with-key";

fn not_usable(place: &str, why: &str) -> CliError {
    CliError::new(Status::Io, format!("{place}: the keys of --redact cannot be kept here: {why}"))
}

impl From<SidecarError> for CliError {
    fn from(error: SidecarError) -> Self {
        CliError::new(Status::Io, error.to_string())
    }
}
