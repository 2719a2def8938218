//! Full-text search over prompts and answers.

use std::collections::BTreeSet;

use crate::error::CliError;
use crate::gate::UnverifiedArg;
use crate::global::Global;
use crate::select::RunSelection;
use retold::id::Seq;
use retold::sidecar;
use retold_archive::search::{IndexPlace, Search, SearchError};
use retold_archive::{Archive, RunView, user_cache};

/// How much of a run is verified before it is searched. One without an index is read as a whole, and then verified,
/// since nothing is written beside a damaged log.
pub(crate) fn depth(selected: &RunSelection, at_once: UnverifiedArg) -> UnverifiedArg {
    let file = selected.log.backend().file();
    let place = file.map(|log| sidecar::path(&sidecar::canonical(log), "-search"));
    if place.is_some_and(|place| place.exists()) { at_once } else { UnverifiedArg::default() }
}

/// The questions and answers of a run that have all words of a text.
pub(crate) fn find(view: &RunView, text: &str, global: &Global) -> Result<BTreeSet<Seq>, CliError> {
    let log = view.before_damage();
    let place = match log.backend().file() {
        Some(_) if view.damage().is_none() => {
            Archive::open(&global.log, global.sqlite())?.place_for_search(user_cache())
        }
        _ => IndexPlace::Memory,
    };
    let mut search = Search::open(&place)?;
    search.read_on(log.reader()?.as_mut(), view.run(), |_| {})?;
    Ok(search.find(view.run(), text)?)
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
