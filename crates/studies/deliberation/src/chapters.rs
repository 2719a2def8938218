//! What each fact says about a participant.

use crate::calls;
use crate::conditions::Condition;
use crate::facts::Fact;
use crate::parse::Demographics;
use crate::state::{Cluster, Participant};
use crate::transcript::{DialogueTurn, Speaker};
use retold::id::ContentHash;
use retold_study::story::{Chapter, StoryStatement};

/// The state of the story so far.
pub(super) struct StoryState<'a> {
    who: &'a Participant,
    options: &'a [String],
    cluster: Option<Cluster>,
    failed: bool,
}

impl<'a> StoryState<'a> {
    pub(super) fn new(who: &'a Participant, options: &'a [String]) -> Self {
        StoryState { who, options, cluster: None, failed: false }
    }

    /// The prefix for the calls of the participant's cluster, if it is this one.
    fn own_cluster(&self, id: &str) -> Option<String> {
        let own = self.cluster.as_ref().filter(|own| own.cluster_id == id)?;
        Some(calls::cluster(own, self.options))
    }

    /// Whether phase 6 shows the participant what others think.
    fn reads(&self) -> bool {
        !self.failed && self.who.condition != Condition::SimpleVoting
    }
}

/// The chapter of a fact about the participant; `None` if it is about others.
pub(super) fn chapter(so_far: &mut StoryState<'_>, fact: Fact) -> Option<Chapter> {
    let id = so_far.who.participant_id.clone();
    let of =
        |what: &str, lines: Vec<StoryStatement>| Some(Chapter { what: what.to_owned(), lines });
    match fact {
        Fact::Enrolled { participant_id, condition, base_persona } if participant_id == id => {
            let condition = StoryStatement::plain("condition", condition.as_str());
            of("enrolled", vec![condition, StoryStatement::plain("base persona", base_persona)])
        }
        Fact::PersonaEnriched { participant_id, demographics, enriched_persona }
            if participant_id == id =>
        {
            let who =
                StoryStatement::new("demographics", who(&demographics), calls::demographics(&id));
            of(
                "persona",
                vec![
                    who,
                    StoryStatement::new("persona", enriched_persona, calls::description(&id)),
                ],
            )
        }
        Fact::PersonaDrawn { participant_id, demographics, enriched_persona }
            if participant_id == id =>
        {
            let who = StoryStatement::plain("demographics", who(&demographics));
            of(
                "persona, from the pool",
                vec![who, StoryStatement::plain("persona", enriched_persona)],
            )
        }
        Fact::InitialVoteCast { participant_id, choice } if participant_id == id => {
            let choice = StoryStatement::new("choice", choice, calls::initial_vote(&id));
            of("phase 1: initial vote", vec![choice])
        }
        Fact::InitialVoteExplained { participant_id, explanation } if participant_id == id => {
            of("phase 1: its explanation", vec![StoryStatement::plain("taken over", explanation)])
        }
        Fact::Clarified { participant_id, transcript } if participant_id == id => {
            let turns = turns(&calls::clarification(&id), transcript);
            of("phase 3: clarification", turns)
        }
        Fact::Summarised { participant_id, summary } if participant_id == id => {
            let summary = StoryStatement::new("summary", summary, calls::summary(&id));
            of("phase 4: summary of the clarification", vec![summary])
        }
        Fact::SummaryEmbedded { participant_id, dimensions, vector: hash, floats: _ }
            if participant_id == id =>
        {
            let line =
                StoryStatement::new("vector", vector(dimensions, hash), calls::embedding(&id));
            of("phase 4: vector of the summary", vec![line])
        }
        Fact::ClusterFormed { cluster_id, option, member_ids } if member_ids.contains(&id) => {
            let members = StoryStatement::plain("members", member_ids.join(", "));
            let lines = vec![StoryStatement::plain("cluster", cluster_id.clone()), members];
            let (description, vector) = (None, None);
            so_far.cluster = Some(Cluster { cluster_id, option, description, vector, member_ids });
            of("phase 4: cluster", lines)
        }
        Fact::ClusterDescribed { cluster_id, description, dimensions, vector: hash, .. } => {
            let cluster = so_far.own_cluster(&cluster_id)?;
            let call = calls::cluster_description(&cluster);
            let embedding = calls::cluster_embedding(&cluster);
            let vector = StoryStatement::new("vector", vector(dimensions, hash), embedding);
            let lines = vec![StoryStatement::new("description", description, call), vector];
            of("phase 4: description of the cluster", lines)
        }
        Fact::ClusterFailed { cluster_id, reason } => {
            let cluster = so_far.own_cluster(&cluster_id)?;
            let call = calls::cluster_description(&cluster);
            of("phase 4: the cluster failed", vec![StoryStatement::unused("reason", reason, call)])
        }
        Fact::OppositionChosen { participant_id, opposition_view, method }
            if participant_id == id =>
        {
            // Most methods compute it; there is only an exchange if a model judged.
            let view = StoryStatement::new("view", opposition_view, calls::opposition(&id));
            of("phase 5: opposing view", vec![view, StoryStatement::plain("method", method)])
        }
        Fact::SummaryPrepared { content } if so_far.reads() => {
            of("phase 6: shown what others think", vec![StoryStatement::plain("shown", content)])
        }
        Fact::Challenged { participant_id, transcript } if participant_id == id => {
            of("phase 7: adversarial dialogue", turns(&calls::adversarial(&id), transcript))
        }
        Fact::FinalVoteCast { participant_id, choice } if participant_id == id => {
            let changed =
                if so_far.who.initial_choice.as_ref() == Some(&choice) { "no" } else { "yes" };
            let choice = StoryStatement::new("choice", choice, calls::final_vote(&id));
            of("final vote", vec![choice, StoryStatement::plain("position changed", changed)])
        }
        Fact::ParticipantFailed { participant_id, call, sample: _, reason }
            if participant_id == id =>
        {
            so_far.failed = true;
            of("failed", vec![StoryStatement::unused("reason", reason, call)])
        }
        _ => None,
    }
}

/// A dialogue, turn by turn, and the moderator's closing word, which is not part of the transcript.
fn turns(dialogue: &str, transcript: Vec<DialogueTurn>) -> Vec<StoryStatement> {
    let after = transcript.len() / 2 + 1;
    let turn = |(index, DialogueTurn { role, content }): (usize, DialogueTurn)| {
        let label = match role {
            Speaker::Moderator => "moderator",
            Speaker::Participant => "participant",
        };
        StoryStatement::new(label, content, calls::turn(dialogue, index / 2 + 1, role))
    };
    let mut lines: Vec<StoryStatement> = transcript.into_iter().enumerate().map(turn).collect();
    let call = calls::turn(dialogue, after, Speaker::Moderator);
    lines.push(StoryStatement::new("moderator", "(is satisfied)", call).if_asked());
    lines
}

fn who(demographics: &Demographics) -> String {
    let Demographics { age, sex, education, income, location_type, political_leaning, occupation } =
        demographics;
    let occupation = occupation.as_ref().map_or_else(String::new, |o| format!(", {o}"));
    format!("{age}, {sex}, {education}, {income}, {location_type}, {political_leaning}{occupation}")
}

fn vector(dimensions: usize, hash: ContentHash) -> String {
    format!("{dimensions} numbers, hash {hash}")
}
