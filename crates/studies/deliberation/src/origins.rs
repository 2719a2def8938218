//! What prompts are made from: the facts with the values that their templates name.

use std::cell::RefCell;
use std::collections::BTreeMap;

use super::facts::Fact;
use retold::run::{DecisionRef, Experiment, FactRef, Run, Source, Stop, Talk};

/// Something that later prompts show, by participant or cluster.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum OriginKey {
    BasePersona(String),
    Persona(String),
    InitialChoice(String),
    Clarification(String),
    Summary(String),
    /// The vector of a summary. No prompt shows it, but later facts depend on it.
    Place(String),
    Opposition(String),
    Cluster(String),
    Description(String),
    Positions,
}

impl OriginKey {
    /// What later prompts know from a fact.
    fn by(fact: &Fact) -> Option<Self> {
        Some(match fact {
            Fact::Enrolled { participant_id, .. } => OriginKey::BasePersona(participant_id.clone()),
            Fact::PersonaEnriched { participant_id, .. }
            | Fact::PersonaDrawn { participant_id, .. } => {
                OriginKey::Persona(participant_id.clone())
            }
            Fact::InitialVoteCast { participant_id, .. } => {
                OriginKey::InitialChoice(participant_id.clone())
            }
            Fact::Clarified { participant_id, .. } => {
                OriginKey::Clarification(participant_id.clone())
            }
            Fact::Summarised { participant_id, .. } => OriginKey::Summary(participant_id.clone()),
            Fact::OppositionChosen { participant_id, .. } => {
                OriginKey::Opposition(participant_id.clone())
            }
            Fact::ClusterFormed { cluster_id, .. } => OriginKey::Cluster(cluster_id.clone()),
            Fact::ClusterDescribed { cluster_id, .. } => OriginKey::Description(cluster_id.clone()),
            Fact::SummaryEmbedded { participant_id, .. } => {
                OriginKey::Place(participant_id.clone())
            }
            Fact::SummaryPrepared { .. } => OriginKey::Positions,
            Fact::SparePersonaMade { .. }
            | Fact::InitialVoteExplained { .. }
            | Fact::ThresholdChecked { .. }
            | Fact::ClusterFailed { .. }
            | Fact::SummaryShown { .. }
            | Fact::Challenged { .. }
            | Fact::FinalVoteCast { .. }
            | Fact::ParticipantFailed { .. }
            | Fact::TakenOver { .. }
            | Fact::PhaseBegan { .. }
            | Fact::PhaseCompleted { .. } => return None,
        })
    }
}

/// The facts that prompts are made from. Shared by dialogues that are under way at the same time.
#[derive(Debug, Default)]
pub(super) struct FactOrigins(RefCell<BTreeMap<OriginKey, FactOrigin>>);

/// A fact and the decisions that caused it.
#[derive(Debug)]
struct FactOrigin {
    fact: FactRef,
    causes: Vec<DecisionRef>,
}

impl FactOrigins {
    /// Records a fact, from which later prompts can be made.
    pub(super) fn record<E: Experiment<Event = Fact>>(
        &self,
        run: &mut Run<E>,
        fact: Fact,
        causes: &[DecisionRef],
    ) -> Result<(), Stop> {
        let known = OriginKey::by(&fact);
        let fact = run.record_ref(fact, causes)?;
        self.remember(known, fact, causes);
        Ok(())
    }

    /// Records a fact of a dialogue, from which prompts can be made after all dialogues.
    pub(super) fn tell<E: Experiment<Event = Fact>>(
        &self,
        talk: &mut Talk<E>,
        fact: Fact,
        causes: &[DecisionRef],
    ) {
        let known = OriginKey::by(&fact);
        let fact = talk.record_ref(fact, causes);
        self.remember(known, fact, causes);
    }

    fn remember(&self, known: Option<OriginKey>, fact: FactRef, causes: &[DecisionRef]) {
        let origin = FactOrigin { fact, causes: causes.to_vec() };
        self.0.borrow_mut().extend(known.map(|known| (known, origin)));
    }

    /// The decisions that led to the facts about these things.
    pub(super) fn decisions(&self, known: impl IntoIterator<Item = OriginKey>) -> Vec<DecisionRef> {
        let origins = self.0.borrow();
        let origins = known.into_iter().filter_map(|known| origins.get(&known));
        origins.flat_map(|origin| origin.causes.clone()).collect()
    }

    /// The facts about these things; empty if there are none.
    pub(super) fn sources(&self, known: impl IntoIterator<Item = OriginKey>) -> Vec<Source> {
        let facts = self.0.borrow();
        let origins = known.into_iter().filter_map(|known| facts.get(&known));
        origins.map(|origin| Source::from(&origin.fact)).collect()
    }
}
