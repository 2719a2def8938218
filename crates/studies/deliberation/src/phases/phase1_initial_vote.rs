//! Phase 1: everyone votes, without giving reasons.

use crate::calls;
use crate::experiment::Deliberation;
use crate::facts::Fact;
use crate::origins::FactOrigins;
use crate::state::Participant;
use retold::run::{Run, Stop, Talk};

impl Deliberation {
    /// The first votes.
    pub(in super::super) async fn initial_votes(
        &self,
        run: &mut Run<Self>,
        origins: &FactOrigins,
    ) -> Result<(), Stop> {
        let participants: Vec<Participant> = run.state().active().cloned().collect();
        let vote = async |talk: &mut Talk<Self>, who: Participant| {
            let system = self.instructions(&who, None)?;
            let user = self.prompt("initial_vote", self.about(&who))?;
            let request = self.request_with_system(system, user)?;
            let call = who.labelled_call(calls::initial_vote);
            let participant_id = who.participant_id;
            let from = self.made_from(origins, &participant_id, &["base_system", "initial_vote"]);
            match self
                .ask_until_usable(talk, call, request, &from, &self.parsers.vote, |vote| vote)
                .await?
            {
                Ok((choice, cause)) => {
                    let cast = Fact::InitialVoteCast { participant_id, choice };
                    origins.tell(talk, cast, &[cause]);
                }
                Err(failed) => talk.record(failed.fact(&participant_id), &[]),
            }
            Ok(())
        };
        run.converse_all(participants, vote).await?;
        run.record(Fact::PhaseCompleted { phase: 1 }, &[])
    }
}
