//! Why a file is not read: which one, where in it, and what is wrong.

use retold::jsonl::JsonlError;
use retold::log::{ForeignError, LogError};
use retold::model::providers::ReaderFault;

pub use crate::yaml::YamlProblem;

/// Why files cannot be imported. Nothing of them was stored.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrafficError {
    /// A file cannot be read.
    #[error(transparent)]
    File(#[from] JsonlError),
    /// A database of another program cannot be read.
    #[error(transparent)]
    Database(#[from] ForeignError),
    /// There is no room for what was read.
    #[error(transparent)]
    Log(#[from] LogError),
    /// A file is not what it claims to be.
    #[error("{path}{}: {wrong}", .place.as_ref().map(|place| format!(", {place}")).unwrap_or_default())]
    Wrong {
        /// The file.
        path: String,
        /// Where in it.
        place: Option<String>,
        /// What is wrong.
        wrong: FileProblem,
    },
}

/// What is wrong with a file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileProblem {
    /// It is not text.
    #[error("it is not UTF-8")]
    NotUtf8,
    /// Its reader stopped, which is a mistake of ours.
    #[error(transparent)]
    Reader(#[from] ReaderFault),
    /// It is not YAML.
    #[error("not YAML that can be read: {0}")]
    Yaml(YamlProblem),
    /// It is not JSON.
    #[error("not JSON: {0}")]
    Json(String),
    /// It has more values than fit in memory.
    #[error("it has more than {0} values, the most that a file may have")]
    TooMany(usize),
    /// It has more YAML documents than its format.
    #[error("it has {0} YAML documents, and must have one")]
    Documents(usize),
    /// It has answers, and what was asked is in another file.
    #[error("it has results without their requests: give the requests of the batch, too")]
    NoRequests,
    /// A field is missing.
    #[error("it has no {0:?}")]
    Missing(&'static str),
    /// A field has a value of another kind.
    #[error("{field:?} is {found}, and not {due}")]
    Kind {
        /// The field.
        field: &'static str,
        /// What it is.
        found: &'static str,
        /// What it has to be.
        due: &'static str,
    },
    /// A value that is not what it has to be.
    #[error("{found:?} is not {what}")]
    Value {
        /// What it has to be.
        what: &'static str,
        /// What it is.
        found: String,
    },
    /// Not a format that is known.
    #[error("it is not {0}")]
    Not(&'static str),
    /// Something else, in the words of whoever found it.
    #[error("{0}")]
    Said(String),
}

impl TrafficError {
    pub(crate) fn wrong(path: &str, place: Option<String>, wrong: FileProblem) -> Self {
        TrafficError::Wrong { path: path.to_owned(), place, wrong }
    }
}
