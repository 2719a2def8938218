//! The names of all calls, in one place, so that the code that asks and the code that looks up
//! answers agree on them.

use super::conditions::Condition;
use super::state::Cluster;
use super::transcript::Speaker;
use retold::event::Labels;

/// A call to be asked, and its labels.
#[derive(Debug, Clone)]
pub(super) struct LabelledCall {
    pub(super) call: String,
    pub(super) labels: Labels,
}

impl LabelledCall {
    fn new(call: String, labels: &[(&str, &str)]) -> Self {
        // The names begin with the phase.
        let phase = ("phase", call.split('/').next().unwrap_or(&call));
        let labels = labels.iter().chain([&phase]);
        let labels = labels.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        LabelledCall { labels: labels.collect(), call }
    }

    /// A call about a participant; somebody who is only made for the pool has no condition.
    pub(super) fn of(participant_id: &str, condition: Option<Condition>, call: String) -> Self {
        match condition {
            Some(condition) => {
                let whose = [("participant", participant_id), ("condition", condition.as_str())];
                LabelledCall::new(call, &whose)
            }
            None => LabelledCall::new(call, &[("participant", participant_id)]),
        }
    }

    /// A call about a cluster.
    pub(super) fn of_cluster(cluster_id: &str, call: String) -> Self {
        LabelledCall::new(call, &[("cluster", cluster_id)])
    }

    /// A turn of the dialogue that this is the prefix of; exchanges count from 1.
    pub(super) fn turn(&self, exchange: usize, speaker: Speaker) -> Self {
        let mut turn = LabelledCall { call: turn(&self.call, exchange, speaker), ..self.clone() };
        turn.labels.insert("exchange".to_owned(), exchange.to_string());
        turn
    }
}

/// The call for the demographics of a persona.
pub(super) fn demographics(participant_id: &str) -> String {
    format!("persona/{participant_id}/demographics")
}

/// The call for the fuller description of a persona.
pub(super) fn description(participant_id: &str) -> String {
    format!("persona/{participant_id}/description")
}

/// Phase 1.
pub(super) fn initial_vote(participant_id: &str) -> String {
    format!("initial_vote/{participant_id}")
}

/// Phase 3: the prefix for its turns.
pub(super) fn clarification(participant_id: &str) -> String {
    format!("clarification/{participant_id}")
}

/// A turn of a dialogue; exchanges count from 1.
pub(super) fn turn(dialogue: &str, exchange: usize, speaker: Speaker) -> String {
    match speaker {
        Speaker::Moderator => format!("{dialogue}/{exchange}/moderator"),
        Speaker::Participant => format!("{dialogue}/{exchange}/participant"),
    }
}

/// Phase 4: the summary of a clarification.
pub(super) fn summary(participant_id: &str) -> String {
    format!("summary/{participant_id}")
}

/// Phase 4: the vector of a summary.
pub(super) fn embedding(participant_id: &str) -> String {
    format!("embedding/{participant_id}")
}

/// Phase 4: the prefix for a cluster's calls, with option and cluster by number.
pub(super) fn numbered_cluster(option: usize, cluster: usize) -> String {
    format!("cluster/{option}_{cluster}")
}

/// The same, for a cluster that has been formed.
pub(super) fn cluster(cluster: &Cluster, options: &[String]) -> String {
    let option = options.iter().position(|option| *option == cluster.option).unwrap_or(0);
    let number = cluster.cluster_id.rsplit('_').next().and_then(|number| number.parse().ok());
    numbered_cluster(option, number.unwrap_or(0))
}

/// Phase 4: the description of a cluster, given the prefix for its calls.
pub(super) fn cluster_description(cluster: &str) -> String {
    format!("{cluster}/description")
}

/// Phase 4: the vector of that description.
pub(super) fn cluster_embedding(cluster: &str) -> String {
    format!("{cluster}/embedding")
}

/// Phase 5, if a model judges.
pub(super) fn opposition(participant_id: &str) -> String {
    format!("opposition/{participant_id}")
}

/// Phase 7: the prefix for its turns.
pub(super) fn adversarial(participant_id: &str) -> String {
    format!("adversarial/{participant_id}")
}

/// Phase 6 or 7.
pub(super) fn final_vote(participant_id: &str) -> String {
    format!("final_vote/{participant_id}")
}
