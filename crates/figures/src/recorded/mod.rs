//! What recorded runs have to offer figures.

mod ballots;
mod census;
mod error;
mod fact;
mod observations;
mod row;
mod source;

pub(crate) use census::ValueShape;
pub use census::{RunCensus, ValueCensus};
pub use error::SourceError;
pub(crate) use fact::RecordedFact;
pub use observations::{Observation, each_observation};
pub use row::FigureRow;
pub(crate) use source::FoundValue;
pub use source::{AnswerProperty, ValueSource};
