//! LLM-mediated adversarial cross-pollination: does it change people's minds to be asked for
//! reasons, to read what others think, or to be challenged with the opposite view?
//!
//! Personas vote, in four conditions ([`Condition`]) and nine phases. Prompts, phases and outputs
//! are those of the source document; [`prompts`] has its wording.
//!
//! Calls are named by phase and participant: `persona/p_0001/demographics`, `initial_vote/p_0001`,
//! `clarification/p_0001/2/moderator`, `summary/p_0001`, `embedding/p_0001`,
//! `cluster/0_1/description` (option and cluster by number), `opposition/p_0001`,
//! `adversarial/p_0001/1/participant`, `final_vote/p_0001`.
//!
//! - [`Deliberation`]: the experiment. [`Fact`] is its fact, [`DeliberationState`] its state.
//! - [`parse`]: the parser of demographics.
//! - [`DeliberationStudy`]: the study as a program offers it.
//! - [`load`]: from a config to settings that hold everything.
//! - [`opposition`]: five ways to find the opposing view.
//! - [`personas`]: where the people come from.
//! - [`summary()`]: the statistics. The other files of the output folder are folded from the state
//!   and the recorded vectors, a participant's story from the facts and their exchanges.
//! - [`original`]: original runs of the source document's program.
//! - [`SimulatedDeliberation`]: plays it for the simulated model.

mod ask;
mod calls;
mod chapters;
mod charts;
mod check;
pub mod conditions;
mod config;
mod derived;
mod dialogue;
mod experiment;
mod facts;
mod figures;
mod grouping;
mod load;
pub mod opposition;
pub mod original;
mod origins;
mod outputs;
pub mod parse;
pub mod personas;
mod phases;
pub mod prompts;
mod settings;
mod simulated;
mod state;
mod story;
mod study;
mod summary;
mod taken_over;
mod transcript;
mod tryout;
mod values;

pub use conditions::Condition;
pub use config::{Config, Topic};
pub use experiment::Deliberation;
pub use facts::Fact;
pub use grouping::{NewCluster, USUAL_SEED, group};
pub use load::load;
pub use settings::Settings;
pub use simulated::SimulatedDeliberation;
pub use state::{Cluster, DeliberationState, Participant, ParticipantStatus, Vectors};
pub use study::DeliberationStudy;
pub use summary::{ConditionSummary, DeliberationSummary, SecondVote, summary};
pub use taken_over::{AfterPhase3, FromOriginal, OriginalParticipant};
pub use transcript::{DialogueTurn, Speaker, Transcript, Votes};

/// The experiment's name.
pub const NAME: &str = "deliberation";

/// The progress report of a run: the lines of its `experiment.log`.
pub(crate) fn journal(pilot_id: &str, options: &[String]) -> Box<dyn retold::run::Journal> {
    Box::new(outputs::diary::Diary::new(pilot_id, options))
}

/// Keys in the document's configs, which do not name the experiment.
pub(crate) const KNOWN_BY: &[&str] = &["pilot_id", "topic", "participants_per_condition"];
