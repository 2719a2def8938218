//! What an import copies from the files of an original run because no answer can yield it: recorded
//! with the run's settings, and copied as facts without a cause.

use serde::{Deserialize, Serialize};

use super::conditions::Condition;
use super::transcript::Transcript;
use crate::parse::Demographics;

/// The data of an original run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FromOriginal {
    /// In the order of their ids.
    pub participants: Vec<OriginalParticipant>,
    /// Whether the summaries were kept, and with them everything that the prompts after phase 3
    /// show. If not, no questions are asked after phase 3.
    pub has_summaries: bool,
}

/// A participant of an original run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OriginalParticipant {
    /// As drawn then.
    pub condition: Condition,
    /// From the model's answer then.
    pub demographics: Demographics,
    /// From the model's answer then.
    pub enriched_persona: String,
    /// The reason for the participant's vote, in a version that asked for it together with the
    /// vote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial_explanation: Option<String>,
    /// The results that are not asked for again; only without summaries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_phase_3: Option<AfterPhase3>,
}

/// A participant's results from phases 5 to 7 of an original run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AfterPhase3 {
    /// Phase 5.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opposition_view: Option<String>,
    /// Phase 7.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adversarial_transcript: Option<Transcript>,
    /// Phase 6 or 7.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub final_choice: Option<String>,
    /// Why the participant failed, if so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_message: Option<String>,
}
