//! Full-text search over prompts and answers.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::error::CliError;
use crate::global::Global;
use crate::select::{self, Selected};
use crate::views::damaged;
use retold::id::Seq;
use retold_serve::Source;
use retold_serve::search::{Place, Search, SearchError};

/// The program's folder in the user's cache: for indexes that cannot be beside their logs, and for what was
/// found when long runs were verified.
#[expect(clippy::disallowed_methods, reason = "the command line is what reads the environment")]
pub(crate) fn cache() -> Option<PathBuf> {
    let named = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|p| p.is_absolute());
    let cache = named("XDG_CACHE_HOME").or_else(|| Some(named("HOME")?.join(".cache")))?;
    Some(cache.join("retold"))
}

/// The questions and answers of a run that have all words of a text. `name` is what the user called
/// the run.
pub(crate) fn found(
    selected: &Selected,
    name: &str,
    text: &str,
    global: &Global,
) -> Result<BTreeSet<Seq>, CliError> {
    // Nothing is written beside a damaged log.
    let is_elsewhere =
        select::looks_like_a_file(name) || damaged::first(&selected.log, selected.run)?.is_some();
    let place = match is_elsewhere {
        true => Place::Memory,
        false => Source::file(&global.log, global.sqlite())?.place_for_search(cache()),
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
