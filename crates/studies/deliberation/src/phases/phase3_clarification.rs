//! Phase 3: a neutral moderator asks for reasons.

use crate::calls;
use crate::dialogue::Dialogue;
use crate::experiment::Deliberation;
use crate::facts::Fact;
use crate::origins::FactOrigins;
use crate::state::Participant;
use retold::run::{Run, Stop, Talk};

impl Deliberation {
    /// A dialogue with every participant in the clarified conditions.
    pub(in super::super) async fn clarify(
        &self,
        run: &mut Run<Self>,
        origins: &FactOrigins,
    ) -> Result<(), Stop> {
        let clarified = run.state().active().filter(|p| p.condition.is_clarified());
        let participants: Vec<Participant> = clarified.cloned().collect();
        let clarify = async |talk: &mut Talk<Self>, who: Participant| {
            let from = |templates: &[_]| self.made_from(origins, &who.participant_id, templates);
            let dialogue = Dialogue {
                moderator_from: from(&["clarification_moderator"]),
                participant_from: from(&["base_system", "clarification_participant"]),
                call: who.labelled_call(calls::clarification),
                moderator: self.prompt("clarification_moderator", self.about(&who))?,
                participant: self.instructions(&who, Some("clarification_participant"))?,
                most: self.config.max_clarification_exchanges,
            };
            let participant_id = who.participant_id;
            match self.hold(talk, &dialogue).await? {
                Ok((transcript, causes, _)) => {
                    origins.tell(talk, Fact::Clarified { participant_id, transcript }, &causes);
                }
                Err(failed) => talk.record(failed.fact(&participant_id), &[]),
            }
            Ok(())
        };
        run.converse_all(participants, clarify).await?;
        run.record(Fact::PhaseCompleted { phase: 3 }, &[])
    }
}
