//! Phase 7: ACP participants are challenged with the opposing view, and then vote.

use serde_json::json;

use crate::calls;
use crate::dialogue::Dialogue;
use crate::experiment::Deliberation;
use crate::facts::Fact;
use crate::origins::FactOrigins;
use crate::state::Participant;
use crate::values::prompt_turns;
use retold::members::Members;
use retold::run::{Run, Stop, Talk};

impl Deliberation {
    /// A dialogue and a vote for every participant with an opposing view.
    pub(in super::super) async fn challenge(
        &self,
        run: &mut Run<Self>,
        origins: &FactOrigins,
    ) -> Result<(), Stop> {
        let content = run.state().cross_pollination.clone().unwrap_or_default();
        let opposed = run.state().active().filter(|p| p.opposition_view.is_some());
        let participants: Vec<Participant> = opposed.cloned().collect();
        let challenge = async |talk: &mut Talk<Self>, who: Participant| {
            let mut values = self.about(&who);
            values.set("cross_pollination_content", content.clone().into());
            values.set("opposition_view", who.opposition_view.clone().into());
            let from = |templates: &[_]| self.made_from(origins, &who.participant_id, templates);
            let dialogue = Dialogue {
                moderator_from: from(&["adversarial_moderator"]),
                participant_from: from(&["base_system", "adversarial_participant"]),
                call: who.labelled_call(calls::adversarial),
                moderator: self.prompt("adversarial_moderator", values)?,
                participant: self.instructions(&who, Some("adversarial_participant"))?,
                most: self.config.max_socratic_exchanges,
            };
            let participant_id = who.participant_id.clone();
            let (transcript, causes, seen) = match self.hold(talk, &dialogue).await? {
                Ok(held) => held,
                Err(failed) => {
                    talk.record(failed.fact(&participant_id), &[]);
                    return Ok(());
                }
            };
            let mut values = self.about(&who);
            values.set("dialogue", json!(prompt_turns(&transcript, "You")));
            let system = self.instructions(&who, Some("vote_after_dialogue_system"))?;
            let request =
                self.request_with_system(system, self.prompt("vote_after_dialogue", values)?)?;
            let mut from =
                from(&["base_system", "vote_after_dialogue_system", "vote_after_dialogue"]);
            from.extend_from_slice(seen.sources());
            talk.record(
                Fact::Challenged { participant_id: participant_id.clone(), transcript },
                &causes,
            );
            self.final_vote(talk, &who, request, &from).await
        };
        run.converse_all(participants, challenge).await?;
        run.record(Fact::PhaseCompleted { phase: 7 }, &[])
    }
}
