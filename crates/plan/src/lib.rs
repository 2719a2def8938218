//! Plans that are registered before a run, and what else there is to each figure of a run.
//!
//! - [`HypothesesFile`]: what is expected, as people write it down; [`RegisteredPlan`]: the same with all settings of the
//!   study, as a run of its own in the log; [`NamedPlan`]: how a run names the plan by which it is recorded.
//! - [`RunSearch`]: a run beside its plan and beside the other runs of its study; [`FigureSearch`]: the same of a figure:
//!   whether it is by the plan, what came out in the other runs, and what other parsers make of the same answers.
//! - [`Deviation`]: one way in which a run is not as planned.
//!
//! Everything is a fold over what was recorded: nothing is asked, and nothing is written but plans.

mod alternative;
mod deciders;
mod deviation;
mod differences;
mod hypotheses;
mod judges;
mod named_plan;
mod program_deviations;
mod refold;
mod registered;
mod search;
mod search_words;
mod setting_deviations;
mod spread;
mod standing;
mod timing;
mod tries;

pub use deciders::decided_by;
pub use deviation::{Deviation, DeviationKind};
pub use hypotheses::{
    Direction, HypothesesError, HypothesesFile, Hypothesis, HypothesisDefinition,
};
pub use named_plan::{NamedPlan, planned_figures};
pub use registered::{PlannedFigure, PlannedGroup, RegisteredPlan};
pub use search::{FigureSearch, RunSearch, SearchError};
pub use search_words::{BEYOND_THE_LOG, SearchLine};
pub use spread::SpreadRow;
pub use standing::Standing;
pub use tries::{StudyRun, StudyRunKind, StudyRuns};
