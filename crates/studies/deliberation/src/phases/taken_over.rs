//! The phases of an original run that nobody is asked again: what its files say becomes facts
//! without a cause.

use std::collections::BTreeSet;

use crate::experiment::Deliberation;
use crate::facts::Fact;
use crate::opposition::OpposingView;
use crate::origins::FactOrigins;
use crate::state::participant_id;
use crate::taken_over::{AfterPhase3, FromOriginal, OriginalParticipant};
use retold::run::{Run, Stop};

impl Deliberation {
    /// The personas of an original run, for which no questions are asked.
    pub(in super::super) fn take_personas(
        &self,
        run: &mut Run<Self>,
        origins: &FactOrigins,
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
    pub(in super::super) fn take_explanations(
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
    pub(in super::super) fn take_the_rest(
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
                        Some(OpposingView::Option(view)) => (view, self.opposition.name()),
                        Some(OpposingView::Ask(_)) | None => (told, "taken_over"),
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
