//! Full-text search over prompts and answers.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::error::CliError;
use crate::global::Global;
use crate::output::Output;
use crate::select::Selected;
use crate::views::known::{AtOnce, Known};
use retold::id::Seq;
use retold::sidecar;
use retold_archive::Archive;
use retold_archive::search::{Place, Search, SearchError};

/// The program's folder in the user's cache: for indexes that cannot be beside their logs, and for what was
/// found when long runs were verified.
#[expect(clippy::disallowed_methods, reason = "the command line is what reads the environment")]
pub(crate) fn cache() -> Option<PathBuf> {
    let named = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|p| p.is_absolute());
    let cache = named("XDG_CACHE_HOME").or_else(|| Some(named("HOME")?.join(".cache")))?;
    Some(cache.join("retold"))
}

/// What is known of a run before it is searched. One without an index is read as a whole, and then verified,
/// since nothing is written beside a damaged log.
pub(crate) fn known(
    selected: &Selected,
    at_once: AtOnce,
    output: &Output,
) -> Result<Known, CliError> {
    let (log, run) = (&selected.log, selected.run);
    let place = log.backend().file().map(|log| sidecar::path(&sidecar::canonical(log), "-search"));
    let is_indexed = place.is_some_and(|place| place.exists());
    if is_indexed { Known::begin(log, run, at_once, output) } else { Known::new(log, run, output) }
}

/// The questions and answers of a run that have all words of a text.
pub(crate) fn found(
    selected: &Selected,
    known: &Known,
    text: &str,
    global: &Global,
) -> Result<BTreeSet<Seq>, CliError> {
    let place = match selected.log.backend().file() {
        Some(_) if known.verdict.from.is_none() => {
            Archive::open(&global.log, global.sqlite())?.place_for_search(cache())
        }
        _ => Place::Memory,
    };
    let mut search = Search::open(&place)?;
    search.read_on(selected.log.reader()?.as_mut(), selected.run, |_| {})?;
    Ok(search.find(selected.run, text)?)
}

impl From<SearchError> for CliError {
    fn from(error: SearchError) -> Self {
        match error {
            SearchError::Log(error) => error.into(),
            error @ SearchError::NoWord(_) => CliError::usage(error.to_string())
                .hint("write words, or words in quotes that follow each other"),
            other => CliError::new(crate::error::Status::Io, other.to_string())
                .hint("remove the log's file -search: it is made again"),
        }
    }
}
