//! Executes an experiment with a log and a model.
//!
//! - [`Experiment`]: sequential async code that asks, parses and records facts, plus a pure fold.
//! - [`Run`]: the access that an experiment gets: [`ask`](Run::ask), [`ask_all`](Run::ask_all),
//!   [`converse_all`](Run::converse_all), [`record`](Run::record), [`rng`](Run::rng).
//! - [`Run::ask_valid`], [`RetriedAnswer`]: asking again, as the next sample, until an answer is usable.
//! - [`Source`]: a source of a prompt, which a question [declares](Question::because).
//! - [`Mode`]: where answers come from; one enum, decided in one place.
//! - [`DryRun`]: how much of a run still matches when its prompts, settings or decisions are
//!   changed; [`Forecast`]: the tokens and cost of the rest.
//! - [`Update`], [`Journal`]: following a run in progress.
//! - [`Recorder`]: records exchanges that a program makes by itself, without an [`Experiment`], and
//!   the [`ReportedOutcome`]s that it reports; [`OutcomeLanes`] compares these.
//! - [`Folding`]: the state at any point of a recorded run.
//! - [`RunRecord`]: the record of a run in a log; [`OutputFile`]: a file that an experiment writes
//!   for other programs.
//! - [`Divergence`]: the first point where a re-execution and its log differ, or [where their
//!   states differ](StateDifference).

mod abandon;
mod addresses;
mod ahead;
mod answer_costs;
mod ask;
mod because;
mod budget;
pub mod clock;
mod conclude;
mod converse;
mod core;
mod details;
mod divergence;
mod dry_answers;
mod dry_run;
mod execute;
mod experiment;
mod first_answers;
mod folding;
mod follow;
mod forecast;
mod held;
mod history;
mod holding;
mod lanes;
mod live;
mod look;
mod merge_patch;
mod mode;
mod near;
mod network;
mod outcomes;
mod output;
mod output_digests;
mod parent;
mod phases;
mod progress;
mod question;
mod record;
mod recorder;
mod resumptions;
mod rng;
mod run_name;
mod setup;
mod shared;
mod signal;
mod spool;
mod state_difference;
mod states;
mod stop;
mod together;
mod valid;

pub use self::converse::Talk;
pub use abandon::{AbandonError, abandon, how_it_ended};
pub use answer_costs::AnswerCosts;
pub use because::{DecisionRef, FactRef, QuestionRef, SoFar, Source};
pub use budget::{Budget, OverBudget, Spending};
pub use details::{AnswerDetails, Shortcomings};
pub(crate) use details::{content_and_details, response, whole_choice};
pub use divergence::Divergence;
pub use dry_run::{
    Departure, DryRun, DryRunSettings, Instead, KindUse, NewCall, OtherDecision, RehearsedFact,
    WhyNew,
};
pub use execute::{ExecutionResult, Finish, execute};
pub use experiment::{AnyExperiment, Experiment, FailedParts, Handle, Report, Run, fold_facts};
pub use folding::Folding;
pub use follow::{Follower, Journal, Update};
pub use forecast::{Forecast, ModelForecast};
pub use lanes::{CompareError, OutcomeComparison, OutcomeLanes, ReportedOutcome};
pub use live::OUTAGES;
pub use look::{LookError, record_look};
pub use merge_patch::{apply_patch, patch_between};
pub use mode::Mode;
pub use output::{OutputError, OutputFile, SIMULATED_MARK};
pub use output_digests::{OutputDifference, REPORT, compare_outputs, output_digests};
pub use parent::MOST_SHARDS;
pub use progress::Progress;
pub use question::{Answer, CallFailed, Question, Reuse};
pub use record::{EventPlace, ExchangePlace, RunRecord, run_start};
pub use recorder::{Recorder, RecorderError};
pub use resumptions::{latest_start, maybe_resumed, resumptions};
pub use rng::{below, rng_for, shuffle};
pub use run_name::{LATEST, RunNameError, new_run_name};
pub use setup::Setup;
pub use signal::Signal;
pub use spool::Spool;
pub use state_difference::StateDifference;
pub use states::{as_pairs, state_differences};
pub use stop::Stop;
pub use valid::{RetriedAnswer, Unusable};
