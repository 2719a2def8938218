//! What each agent has seen of the society, from which its next prompt is made.

use std::collections::BTreeMap;

use super::facts::Fact;
use retold::run::{DecisionRef, Experiment, Run, SoFar, Source, Stop};

/// What each agent has seen.
#[derive(Debug, Default)]
pub(super) struct AgentSources {
    by: BTreeMap<u32, SoFar>,
    /// How the world began, for agents who have yet to join.
    beginning: SoFar,
}

/// Which agents see a fact in the next prompt.
enum Seers {
    /// Everyone: it is in the forum, or changes what everyone can see of the world.
    All,
    /// Only these.
    Only([u32; 2]),
    /// Nobody.
    Nobody,
}

impl Seers {
    fn new(fact: &Fact) -> Self {
        match fact {
            Fact::MessageSent { recipient_agent_id, .. } => Seers::Only([*recipient_agent_id; 2]),
            // A gift changes what two agents have, but no total.
            Fact::Traded { agent_id, recipient_agent_id, .. } => {
                Seers::Only([*agent_id, *recipient_agent_id])
            }
            Fact::InvalidAction { agent_id, .. } => Seers::Only([*agent_id; 2]),
            Fact::Idled { .. } | Fact::NotAnswered { .. } | Fact::DayEnded { .. } => Seers::Nobody,
            Fact::WorldMade { .. }
            | Fact::AgentJoined { .. }
            | Fact::DayBegan { .. }
            | Fact::ForumPosted { .. }
            | Fact::ForumReplied { .. }
            | Fact::ProposalCreated { .. }
            | Fact::VoteCast { .. }
            | Fact::Worked { .. }
            | Fact::Woke { .. }
            | Fact::NameTaken { .. }
            | Fact::ProposalClosed { .. }
            | Fact::PoolShared { .. }
            | Fact::Built { .. }
            | Fact::Consumed { .. }
            | Fact::WentDormant { .. } => Seers::All,
        }
    }
}

impl AgentSources {
    /// Records a fact, which can be seen from now on.
    pub(super) fn record<E: Experiment<Event = Fact>>(
        &mut self,
        run: &mut Run<E>,
        fact: Fact,
        causes: &[DecisionRef],
    ) -> Result<(), Stop> {
        let seers = Seers::new(&fact);
        let begins = matches!(fact, Fact::WorldMade { .. } | Fact::AgentJoined { .. });
        if let Fact::AgentJoined { agent_id, .. } = fact {
            self.by.insert(agent_id, self.beginning.clone());
        }
        let fact = run.record_ref(fact, causes)?;
        match seers {
            Seers::All => {
                self.by.values_mut().for_each(|agent| agent.add(&fact));
                if begins {
                    self.beginning.add(&fact);
                }
            }
            Seers::Only(agents) => {
                let seers = self.by.iter_mut().filter(|(agent, _)| agents.contains(agent));
                seers.for_each(|(_, agent)| agent.add(&fact));
            }
            Seers::Nobody => {}
        }
        Ok(())
    }

    /// An agent was shown everything it had seen.
    pub(super) fn add_decision(&mut self, agent: u32, decision: &DecisionRef) {
        if let Some(agent) = self.by.get_mut(&agent) {
            agent.replace_with(decision);
        }
    }

    /// What an agent's next prompt is made from.
    pub(super) fn by(&self, agent: u32) -> &[Source] {
        self.by.get(&agent).map_or(&[], SoFar::sources)
    }
}
