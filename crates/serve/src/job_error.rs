//! Why work in the background could not be done.

use retold::check::CheckError;
use retold::log::LogError;
use retold::parse::registry::RegistryError;
use retold_archive::search::SearchError;
use retold_figures::FiguresError;
use retold_study::figures::RowsError;

/// Why work in the background could not be done.
#[derive(Debug, thiserror::Error)]
pub(crate) enum JobError {
    #[error("an internal error ended it")]
    Panicked,
    #[error(transparent)]
    Log(#[from] LogError),
    #[error(transparent)]
    Search(#[from] SearchError),
    #[error(transparent)]
    Parser(#[from] RegistryError),
    #[error(transparent)]
    Check(#[from] CheckError),
    #[error(transparent)]
    Rows(#[from] RowsError),
    #[error(transparent)]
    Figures(#[from] FiguresError),
    #[error(transparent)]
    Plan(#[from] retold_plan::SearchError),
}
