//! The state folded from the facts, in the structure of the document's outputs.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::calls::LabelledCall;
use super::conditions::Condition;
use super::facts::Fact;
use super::transcript::Transcript;
use crate::parse::Demographics;
use retold::id::ContentHash;
use retold_stats::{Point, point};
use retold_study::floats::HashedVector;

/// A participant's status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ParticipantStatus {
    /// Not finished yet.
    #[default]
    Pending,
    /// Completed its whole condition.
    Complete,
    /// See the error message. Not included in any statistics.
    Failed,
    /// Never used by this program; original outputs may have it.
    Skipped,
}

/// `p_0001`: the id of the participant with this number, from 1.
pub(super) fn participant_id(number: usize) -> String {
    format!("p_{number:04}")
}

/// A participant, in the structure of the document's `participants.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Participant {
    /// `p_0001`.
    pub participant_id: String,
    /// The participant's condition.
    pub condition: Condition,
    /// As drawn.
    pub base_persona: String,
    /// From the model's answer.
    pub demographics: Option<Demographics>,
    /// From the model's answer.
    pub enriched_persona: Option<String>,
    /// Phase 1.
    pub initial_choice: Option<String>,
    /// Phase 1 of an original run of an older version; never asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial_explanation: Option<String>,
    /// Phase 6 or 7.
    pub final_choice: Option<String>,
    /// Whether the two differ; `None` without a final vote.
    pub position_changed: Option<bool>,
    /// Phase 3.
    pub clarification_transcript: Option<Transcript>,
    /// Phase 7.
    pub adversarial_transcript: Option<Transcript>,
    /// Phase 4.
    pub individual_summary: Option<String>,
    /// The hash of the summary's vector.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary_vector: Option<ContentHash>,
    /// Phase 4.
    pub cluster_id: Option<String>,
    /// Phase 5.
    pub opposition_view: Option<String>,
    /// Phase 6, ACP: whether [`DeliberationState::cross_pollination`] was shown.
    #[serde(default)]
    pub was_shown_summary: bool,
    /// The status.
    pub status: ParticipantStatus,
    /// Why it failed, if it did.
    pub error_message: Option<String>,
}

/// A group of similar reasons for an option.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cluster {
    /// `Option_cluster_N`.
    pub cluster_id: String,
    /// The option.
    pub option: String,
    /// Three sentences; `None` if they could not be obtained.
    pub description: Option<String>,
    /// The hash of the description's vector.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vector: Option<ContentHash>,
    /// In the order of their ids.
    pub member_ids: Vec<String>,
}

/// The vectors of a run.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Vectors {
    /// Vectors of summaries, by participant.
    pub summaries: BTreeMap<String, HashedVector>,
    /// Vectors of descriptions, by cluster.
    pub descriptions: BTreeMap<String, HashedVector>,
}

/// The state.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct DeliberationState {
    /// By id.
    pub participants: BTreeMap<String, Participant>,
    /// By option in the config's order, then by number.
    pub clusters: Vec<Cluster>,
    /// Phase 4: the vectors of summaries and of descriptions.
    pub vectors: Vectors,
    /// The text shown to readers.
    pub cross_pollination: Option<String>,
    /// Why the experiment ended after phase 2, if it did.
    pub termination_reason: Option<String>,
    /// The last phase completed.
    pub last_completed_phase: u8,
}

impl DeliberationState {
    /// The participants who have not failed.
    pub fn active(&self) -> impl Iterator<Item = &Participant> {
        self.participants.values().filter(|p| p.status != ParticipantStatus::Failed)
    }

    pub(super) fn apply(&mut self, fact: &Fact) {
        match fact.clone() {
            Fact::Enrolled { participant_id, condition, base_persona } => {
                let participant = Participant::new(&participant_id, condition, base_persona);
                self.participants.insert(participant_id, participant);
            }
            Fact::PersonaEnriched { participant_id, demographics, enriched_persona }
            | Fact::PersonaDrawn { participant_id, demographics, enriched_persona } => {
                self.change(&participant_id, |p| {
                    p.demographics = Some(demographics);
                    p.enriched_persona = Some(enriched_persona);
                });
            }
            Fact::InitialVoteCast { participant_id, choice } => {
                self.change(&participant_id, |p| p.initial_choice = Some(choice));
            }
            Fact::InitialVoteExplained { participant_id, explanation } => {
                self.change(&participant_id, |p| p.initial_explanation = Some(explanation));
            }
            Fact::ThresholdChecked { votes: _, termination_reason } => {
                self.termination_reason = termination_reason;
            }
            Fact::Clarified { participant_id, transcript } => {
                self.change(&participant_id, |p| p.clarification_transcript = Some(transcript));
            }
            Fact::Summarised { participant_id, summary } => {
                self.change(&participant_id, |p| p.individual_summary = Some(summary));
            }
            Fact::SummaryEmbedded { participant_id, dimensions: _, vector, floats } => {
                self.vectors.summaries.insert(participant_id.clone(), HashedVector(floats));
                self.change(&participant_id, |p| p.summary_vector = Some(vector));
            }
            Fact::ClusterFormed { cluster_id, option, member_ids } => {
                for id in &member_ids {
                    self.change(id, |p| p.cluster_id = Some(cluster_id.clone()));
                }
                let (description, vector) = (None, None);
                self.clusters.push(Cluster { cluster_id, option, description, vector, member_ids });
            }
            Fact::ClusterDescribed { cluster_id, description, dimensions: _, vector, floats } => {
                self.vectors.descriptions.insert(cluster_id.clone(), HashedVector(floats));
                if let Some(c) = self.clusters.iter_mut().find(|c| c.cluster_id == cluster_id) {
                    c.description = Some(description);
                    c.vector = Some(vector);
                }
            }
            Fact::OppositionChosen { participant_id, opposition_view, method: _ } => {
                self.change(&participant_id, |p| p.opposition_view = Some(opposition_view));
            }
            Fact::SummaryPrepared { content } => self.cross_pollination = Some(content),
            Fact::SummaryShown { participant_id } => {
                self.change(&participant_id, |p| p.was_shown_summary = true);
            }
            Fact::Challenged { participant_id, transcript } => {
                self.change(&participant_id, |p| p.adversarial_transcript = Some(transcript));
            }
            Fact::FinalVoteCast { participant_id, choice } => {
                self.change(&participant_id, |p| {
                    p.position_changed = Some(p.initial_choice.as_ref() != Some(&choice));
                    p.final_choice = Some(choice);
                });
            }
            Fact::ParticipantFailed { participant_id, call, sample, reason } => {
                self.change(&participant_id, |p| {
                    p.status = ParticipantStatus::Failed;
                    p.error_message = Some(format!("{call} sample {sample}: {reason}"));
                });
            }
            Fact::ClusterFailed { .. }
            | Fact::SparePersonaMade { .. }
            | Fact::TakenOver { .. }
            | Fact::PhaseBegan { .. } => {}
            Fact::PhaseCompleted { phase } => self.complete(phase),
        }
    }

    /// The position of a participant's summary, if it has a vector.
    pub(super) fn summary_point(&self, participant_id: &str) -> Option<Point> {
        let vector = self.vectors.summaries.get(participant_id)?;
        Some(point(vector.floats()))
    }

    /// The position of a cluster's description, if it has a vector.
    pub(super) fn description_point(&self, cluster_id: &str) -> Option<Point> {
        let vector = self.vectors.descriptions.get(cluster_id)?;
        Some(point(vector.floats()))
    }

    fn complete(&mut self, phase: u8) {
        self.last_completed_phase = phase;
        if phase >= 8 || self.termination_reason.is_some() {
            let pending =
                self.participants.values_mut().filter(|p| p.status == ParticipantStatus::Pending);
            pending.for_each(|p| p.status = ParticipantStatus::Complete);
        }
    }

    fn change(&mut self, id: &str, change: impl FnOnce(&mut Participant)) {
        if let Some(participant) = self.participants.get_mut(id) {
            change(participant);
        }
    }
}

impl Participant {
    /// A call about the participant.
    pub(super) fn labelled_call(&self, call: fn(&str) -> String) -> LabelledCall {
        LabelledCall::of(&self.participant_id, Some(self.condition), call(&self.participant_id))
    }

    fn new(id: &str, condition: Condition, base_persona: String) -> Self {
        Participant {
            participant_id: id.to_owned(),
            condition,
            base_persona,
            demographics: None,
            enriched_persona: None,
            initial_choice: None,
            initial_explanation: None,
            final_choice: None,
            position_changed: None,
            clarification_transcript: None,
            adversarial_transcript: None,
            individual_summary: None,
            summary_vector: None,
            cluster_id: None,
            opposition_view: None,
            was_shown_summary: false,
            status: ParticipantStatus::Pending,
            error_message: None,
        }
    }
}
