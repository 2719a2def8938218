//! What an import copies from the files of an original run because no answer can yield it: recorded
//! with the run's settings, and copied as facts without a cause.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::conditions::Condition;
use super::experiment::{Deliberation, participant_id};
use super::facts::Fact;
use super::opposition::Choice;
use super::origins::Origins;
use super::state::Transcript;
use crate::parse::Demographics;
use retold::run::{Run, Stop};

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
    /// What is not asked again; only without summaries.
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

impl Deliberation {
    /// The personas of an original run, for which no questions are asked.
    pub(super) fn take_personas(
        &self,
        run: &mut Run<Self>,
        origins: &Origins,
        original: &FromOriginal,
    ) -> Result<(), Stop> {
        run.record(Fact::TakenOver { phases: vec![0] }, &[])?;
        for (number, given) in (1..).zip(original.participants.clone()) {
            let OriginalParticipant { demographics, enriched_persona, .. } = given;
            let participant_id = participant_id(number);
            let fact = Fact::PersonaEnriched { participant_id, demographics, enriched_persona };
            origins.record(run, fact, &[])?;
        }
        Ok(())
    }

    /// The reasons for first votes, which an older version asked for: no questions are asked for
    /// them.
    pub(super) fn take_explanations(
        &self,
        run: &mut Run<Self>,
        original: &FromOriginal,
    ) -> Result<(), Stop> {
        let given = (1..).zip(&original.participants).filter_map(|(number, given)| {
            Some((participant_id(number), given.initial_explanation.clone()?))
        });
        let given: Vec<(String, String)> = given.collect();
        if given.is_empty() {
            return Ok(());
        }
        run.record(Fact::TakenOver { phases: vec![1] }, &[])?;
        for (participant_id, explanation) in given {
            run.record(Fact::InitialVoteExplained { participant_id, explanation }, &[])?;
        }
        Ok(())
    }

    /// Phases 5 to 7 of an original run without summaries. The opposing view is computed if the
    /// method only needs votes.
    pub(super) fn take_the_rest(
        &self,
        run: &mut Run<Self>,
        original: &FromOriginal,
    ) -> Result<(), Stop> {
        run.record(Fact::TakenOver { phases: vec![5, 6, 7] }, &[])?;
        let scene = self.scene(run.state());
        let active = run.state().active().map(|p| p.participant_id.clone());
        let active: BTreeSet<String> = active.collect();
        for (number, given) in (1..).zip(&original.participants) {
            let participant_id = participant_id(number);
            let rest = given.after_phase_3.clone().filter(|_| active.contains(&participant_id));
            let Some(rest) = rest else { continue };
            let AfterPhase3 { opposition_view, adversarial_transcript, final_choice, .. } = rest;
            if let Some(told) = opposition_view {
                let own = scene.positions.iter().find(|p| p.participant_id == participant_id);
                let (opposition_view, method) =
                    match own.and_then(|own| self.opposition.choose(own, &scene)) {
                        Some(Choice::Option(view)) => (view, self.opposition.name()),
                        Some(Choice::Ask(_)) | None => (told, "taken_over"),
                    };
                let (participant_id, method) = (participant_id.clone(), method.to_owned());
                let fact = Fact::OppositionChosen { participant_id, opposition_view, method };
                run.record(fact, &[])?;
            }
            if let Some(transcript) = adversarial_transcript {
                let participant_id = participant_id.clone();
                run.record(Fact::Challenged { participant_id, transcript }, &[])?;
            }
            if let Some(choice) = final_choice {
                let participant_id = participant_id.clone();
                run.record(Fact::FinalVoteCast { participant_id, choice }, &[])?;
            }
            if let Some(reason) = rest.error_message {
                let call = format!("final_vote/{participant_id}");
                let fact = Fact::ParticipantFailed { participant_id, call, sample: 0, reason };
                run.record(fact, &[])?;
            }
        }
        Ok(())
    }
}
