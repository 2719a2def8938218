//! What prompts are made from: the facts that hold what their templates name.

use std::cell::RefCell;
use std::collections::BTreeMap;

use super::experiment::Deliberation;
use super::facts::Fact;
use retold::run::{DecisionRef, FactRef, Run, Source, Stop, Talk};

/// Something that later prompts show, by participant or cluster.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Known {
    BasePersona(String),
    Persona(String),
    InitialChoice(String),
    Clarification(String),
    Summary(String),
    /// The vector of a summary. No prompt shows it; later facts rest on it.
    Place(String),
    Opposition(String),
    Cluster(String),
    Description(String),
    Positions,
}

impl Known {
    /// What a fact makes known to later prompts.
    fn by(fact: &Fact) -> Option<Self> {
        Some(match fact {
            Fact::Enrolled { participant_id, .. } => Known::BasePersona(participant_id.clone()),
            Fact::PersonaEnriched { participant_id, .. }
            | Fact::PersonaDrawn { participant_id, .. } => Known::Persona(participant_id.clone()),
            Fact::InitialVoteCast { participant_id, .. } => {
                Known::InitialChoice(participant_id.clone())
            }
            Fact::Clarified { participant_id, .. } => Known::Clarification(participant_id.clone()),
            Fact::Summarised { participant_id, .. } => Known::Summary(participant_id.clone()),
            Fact::OppositionChosen { participant_id, .. } => {
                Known::Opposition(participant_id.clone())
            }
            Fact::ClusterFormed { cluster_id, .. } => Known::Cluster(cluster_id.clone()),
            Fact::ClusterDescribed { cluster_id, .. } => Known::Description(cluster_id.clone()),
            Fact::SummaryEmbedded { participant_id, .. } => Known::Place(participant_id.clone()),
            Fact::SummaryPrepared { .. } => Known::Positions,
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

/// The facts that prompts are made from. Dialogues that are under way together share it.
#[derive(Debug, Default)]
pub(super) struct Origins(RefCell<BTreeMap<Known, Origin>>);

/// A fact and the decisions that caused it.
#[derive(Debug)]
struct Origin {
    fact: FactRef,
    causes: Vec<DecisionRef>,
}

impl Origins {
    /// Records a fact, which prompts are made from afterwards.
    pub(super) fn record(
        &self,
        run: &mut Run<Deliberation>,
        fact: Fact,
        causes: &[DecisionRef],
    ) -> Result<(), Stop> {
        let known = Known::by(&fact);
        let fact = run.record_ref(fact, causes)?;
        self.remember(known, fact, causes);
        Ok(())
    }

    /// Records a fact of a dialogue, which prompts are made from after all dialogues.
    pub(super) fn tell(&self, talk: &mut Talk<Deliberation>, fact: Fact, causes: &[DecisionRef]) {
        let known = Known::by(&fact);
        let fact = talk.record_ref(fact, causes);
        self.remember(known, fact, causes);
    }

    fn remember(&self, known: Option<Known>, fact: FactRef, causes: &[DecisionRef]) {
        let origin = Origin { fact, causes: causes.to_vec() };
        self.0.borrow_mut().extend(known.map(|known| (known, origin)));
    }

    /// The decisions behind the facts that made something known.
    pub(super) fn decisions(&self, known: impl IntoIterator<Item = Known>) -> Vec<DecisionRef> {
        let origins = self.0.borrow();
        let origins = known.into_iter().filter_map(|known| origins.get(&known));
        origins.flat_map(|origin| origin.causes.clone()).collect()
    }

    /// The facts that made something known; nothing of what never was.
    pub(super) fn of(&self, known: impl IntoIterator<Item = Known>) -> Vec<Source> {
        let facts = self.0.borrow();
        let origins = known.into_iter().filter_map(|known| facts.get(&known));
        origins.map(|origin| Source::from(&origin.fact)).collect()
    }
}

impl Deliberation {
    /// What a prompt about a participant is made from, if these templates are filled in for it.
    pub(super) fn made_from(
        &self,
        origins: &Origins,
        participant_id: &str,
        templates: &[&str],
    ) -> Vec<Source> {
        let id = || participant_id.to_owned();
        let shown = [
            ("participant.enriched_persona", Known::Persona(id())),
            ("participant.initial_choice", Known::InitialChoice(id())),
            ("participant.initial_explanation", Known::Summary(id())),
            ("opposition_view", Known::Opposition(id())),
            ("cross_pollination_content", Known::Positions),
        ];
        let named = |variable: &str| templates.iter().any(|t| self.prompts.name(t, variable));
        origins.of(shown.into_iter().filter(|(v, _)| named(v)).map(|(_, known)| known))
    }
}
