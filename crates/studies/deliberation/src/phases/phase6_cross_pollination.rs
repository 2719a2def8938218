//! Phase 6: everyone except the simple voters reads the others' positions; the passive conditions
//! vote.

use serde_json::json;

use crate::calls;
use crate::conditions::Condition;
use crate::experiment::Deliberation;
use crate::facts::Fact;
use crate::origins::{FactOrigins, OriginKey};
use crate::state::{DeliberationState, Participant};
use crate::summary::votes;
use crate::transcript::Votes;
use retold::members::Members;
use retold::prompt::Request;
use retold::run::{Run, Source, Stop, Talk};

impl Deliberation {
    /// Prepares the summary, shows it, and collects the final votes of the passive conditions.
    pub(in super::super) async fn cross_pollinate(
        &self,
        run: &mut Run<Self>,
        origins: &FactOrigins,
    ) -> Result<(), Stop> {
        // It is empty if there are no positions; then those who would read it have failed.
        let content = self.positions(run.state())?;
        let clusters =
            run.state().clusters.iter().map(|c| OriginKey::Description(c.cluster_id.clone()));
        let mut causes = origins.decisions(clusters);
        if self.shows_votes() {
            let voters = run.state().active().map(|p| p.participant_id.clone());
            causes.extend(origins.decisions(voters.map(OriginKey::InitialChoice)));
        }
        let prepared = Fact::SummaryPrepared { content: content.clone() };
        origins.record(run, prepared, &causes)?;
        let passive = run.state().active().filter(|p| p.condition.votes_after_summary());
        let participants: Vec<Participant> = passive.cloned().collect();
        let vote = async |talk: &mut Talk<Self>, who: Participant| {
            let system = self.instructions(&who, Some("vote_after_summary_system"))?;
            let mut values = self.about(&who);
            values.set("cross_pollination_content", content.clone().into());
            let request =
                self.request_with_system(system, self.prompt("vote_after_summary", values)?)?;
            let templates = ["base_system", "vote_after_summary_system", "vote_after_summary"];
            let from = self.made_from(origins, &who.participant_id, &templates);
            self.final_vote(talk, &who, request, &from).await
        };
        run.converse_all(participants, vote).await?;
        let readers = run.state().active().filter(|p| p.condition == Condition::Acp);
        let readers: Vec<String> = readers.map(|p| p.participant_id.clone()).collect();
        for participant_id in readers {
            run.record(Fact::SummaryShown { participant_id }, &[])?;
        }
        run.record(Fact::PhaseCompleted { phase: 6 }, &[])
    }

    /// True if the summary has the number of votes for each option. In the original's program, it
    /// never does, even if the config asks for it.
    fn shows_votes(&self) -> bool {
        let asked = self.config.include_vote_distribution == Some(true);
        asked && self.original.is_none()
    }

    /// The descriptions of all clusters by option. An option without any is left out, as in the
    /// original outputs.
    fn positions(&self, state: &DeliberationState) -> Result<String, Stop> {
        let votes = votes(state.active().filter_map(|p| p.initial_choice.as_deref()));
        let groups = self.config.topic.options.iter().filter_map(|option| {
            let clusters = state.clusters.iter().filter(|c| c.option == *option);
            let descriptions: Vec<&str> =
                clusters.filter_map(|c| c.description.as_deref()).collect();
            let heading =
                if self.shows_votes() { with_votes(option, &votes) } else { option.clone() };
            let shown = json!({"option": heading, "descriptions": descriptions});
            (!descriptions.is_empty()).then_some(shown)
        });
        let groups: Vec<serde_json::Value> = groups.collect();
        self.prompt("cross_pollination", json!({"groups": groups}))
    }

    /// Asks for the final vote; phases 6 and 7 only differ in the prompt.
    pub(super) async fn final_vote(
        &self,
        talk: &mut Talk<Self>,
        who: &Participant,
        request: Request,
        because: &[Source],
    ) -> Result<(), Stop> {
        let (call, participant_id) =
            (who.labelled_call(calls::final_vote), who.participant_id.clone());
        match self
            .ask_until_usable(talk, call, request, because, &self.parsers.vote, |vote| vote)
            .await?
        {
            Ok((choice, cause)) => {
                talk.record(Fact::FinalVoteCast { participant_id, choice }, &[cause]);
            }
            Err(failed) => talk.record(failed.fact(&participant_id), &[]),
        }
        Ok(())
    }
}

/// An option as the heading of its positions, with the first votes of participants who have not
/// failed, in the words of the original's program: `Night buses (3 votes, 37.5%)`.
fn with_votes(option: &str, votes: &Votes) -> String {
    let (own, all) = (votes.get(option).copied().unwrap_or(0), votes.values().sum::<u32>());
    let share = 100.0 * f64::from(own) / f64::from(all.max(1));
    let noun = if own == 1 { "vote" } else { "votes" };
    format!("{option} ({own} {noun}, {share:.1}%)")
}
