//! Full-text search over prompts and answers.

use std::collections::BTreeSet;

use crate::error::CliError;
use crate::global::Global;
use retold::id::Seq;
use retold_archive::search::{IndexPlace, Search, SearchError};
use retold_archive::{Archive, RunView, user_cache};

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
    search.read_on(&mut log.checked_reader()?, view.run(), |_| {})?;
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
