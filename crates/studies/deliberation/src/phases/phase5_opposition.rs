//! Phase 5: the opposing view for every ACP participant.

use rand_chacha::ChaCha12Rng;
use serde_json::json;

use crate::calls;
use crate::conditions::Condition;
use crate::experiment::Deliberation;
use crate::facts::Fact;
use crate::opposition::{
    Compares, OpposingView, Position, ReasonGroup, Scene, highest_voted, sample,
};
use crate::origins::{FactOrigins, OriginKey};
use crate::state::{DeliberationState, Participant};
use retold::members::Members;
use retold::run::{DecisionRef, Run, Stop, Talk};

impl Deliberation {
    /// Finds every opposing view with the config's method.
    pub(in super::super) async fn choose_opposition(
        &self,
        run: &mut Run<Self>,
        origins: &FactOrigins,
    ) -> Result<(), Stop> {
        let scene = self.scene(run.state());
        let clusters: Vec<String> =
            run.state().clusters.iter().map(|c| c.cluster_id.clone()).collect();
        let challenged = run.state().active().filter(|p| p.condition == Condition::Acp);
        let participants: Vec<(Participant, Option<ChaCha12Rng>)> =
            challenged.map(|who| (who.clone(), self.lots(run, &who.participant_id))).collect();
        let choose = async |talk: &mut Talk<Self>, (who, lots): (Participant, _)| {
            let own = scene.positions.iter().find(|p| p.participant_id == who.participant_id);
            let Some(own) = own else { return Ok(()) };
            let participant_id = who.participant_id.clone();
            let method = self.opposition.name().to_owned();
            match self.opposition.choose(own, &scene) {
                Some(OpposingView::Option(opposition_view)) => {
                    let causes =
                        self.compared_decisions(origins, &scene, &clusters, &participant_id);
                    let fact = Fact::OppositionChosen { participant_id, opposition_view, method };
                    origins.tell(talk, fact, &causes);
                }
                Some(OpposingView::Ask(others)) => {
                    self.judge(talk, origins, &who, &sample(others, lots)).await?;
                }
                // There are at least two options, so there is always another one.
                None => {
                    let opposition_view = highest_voted(own, &scene).unwrap_or_default();
                    let method = "highest_voted".to_owned();
                    let fact = Fact::OppositionChosen { participant_id, opposition_view, method };
                    origins.tell(talk, fact, &[]);
                }
            }
            Ok(())
        };
        run.converse_all(participants, choose).await?;
        run.record(Fact::PhaseCompleted { phase: 5 }, &[])
    }

    /// The generator that decides which of the others a judge sees. In the original's program, it
    /// sees the first ones.
    fn lots(&self, run: &Run<Self>, participant_id: &str) -> Option<ChaCha12Rng> {
        self.original.is_none().then(|| run.rng(&format!("opposition/{participant_id}")))
    }

    /// The decisions on the vectors that the method compared.
    fn compared_decisions(
        &self,
        origins: &FactOrigins,
        scene: &Scene,
        clusters: &[String],
        participant_id: &str,
    ) -> Vec<DecisionRef> {
        let own = OriginKey::Place(participant_id.to_owned());
        let others: Vec<OriginKey> = match self.opposition.compares() {
            Compares::Nothing => return Vec::new(),
            Compares::Participants => {
                scene.positions.iter().map(|p| OriginKey::Place(p.participant_id.clone())).collect()
            }
            Compares::Groups => clusters.iter().cloned().map(OriginKey::Description).collect(),
        };
        origins.decisions(std::iter::once(own).chain(others))
    }

    /// Asks which option is most opposed. The participant's own option is not accepted.
    async fn judge(
        &self,
        talk: &mut Talk<Self>,
        origins: &FactOrigins,
        who: &Participant,
        others: &[Position],
    ) -> Result<(), Stop> {
        let mut values = self.about(who);
        values.set(
            "others",
            others
                .iter()
                .map(|other| json!({"choice": other.choice, "reasoning": other.summary}))
                .collect(),
        );
        let request = self.single(self.prompt("llm_judge", values)?)?;
        let participant_id = who.participant_id.clone();
        let call = who.labelled_call(calls::opposition);
        let other = |vote: Option<String>| vote.filter(|v| Some(v) != who.initial_choice.as_ref());
        let mut from = self.made_from(origins, &participant_id, &["llm_judge"]);
        from.extend(origins.sources(others.iter().flat_map(|other| {
            let id = || other.participant_id.clone();
            [OriginKey::InitialChoice(id()), OriginKey::Summary(id())]
        })));
        match self.ask_until_usable(talk, call, request, &from, &self.parsers.vote, other).await? {
            Ok((opposition_view, cause)) => {
                let method = self.opposition.name().to_owned();
                let fact = Fact::OppositionChosen { participant_id, opposition_view, method };
                origins.tell(talk, fact, &[cause]);
            }
            Err(failed) => talk.record(failed.fact(&participant_id), &[]),
        }
        Ok(())
    }

    pub(crate) fn scene(&self, state: &DeliberationState) -> Scene {
        let position = |p: &Participant| {
            Some(Position {
                participant_id: p.participant_id.clone(),
                choice: p.initial_choice.clone()?,
                summary: p.individual_summary.clone(),
                embedding: state.summary_point(&p.participant_id),
            })
        };
        let groups = state.clusters.iter().filter_map(|cluster| {
            Some(ReasonGroup {
                option: cluster.option.clone(),
                embedding: state.description_point(&cluster.cluster_id)?,
                members: cluster.member_ids.len(),
            })
        });
        Scene {
            options: self.config.topic.options.clone(),
            positions: state.active().filter_map(position).collect(),
            groups: groups.collect(),
            mapping: self.config.opposition_mapping.clone().unwrap_or_default(),
        }
    }
}
