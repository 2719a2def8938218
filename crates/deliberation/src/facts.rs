//! What happens in a deliberation, in the past tense.

use serde::{Deserialize, Serialize};

use super::conditions::Condition;
use super::state::{Transcript, Votes};
use crate::parse::Demographics;
use retold::id::ContentHash;
use retold_study::carried::{Carried, Floats};

/// A fact.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "fact", rename_all = "snake_case")]
pub enum Fact {
    /// A participant was given a base persona and a condition.
    Enrolled {
        /// `p_0001`.
        participant_id: String,
        /// Drawn.
        condition: Condition,
        /// Drawn.
        base_persona: String,
    },
    /// The persona was given demographics and a fuller description.
    PersonaEnriched {
        /// Who.
        participant_id: String,
        /// As the model put them.
        demographics: Demographics,
        /// The description all prompts begin with.
        enriched_persona: String,
    },
    /// The persona was drawn from the pool with all that was made of it in an earlier run.
    PersonaDrawn {
        /// Who.
        participant_id: String,
        /// As the pool has them.
        demographics: Demographics,
        /// As the pool has it.
        enriched_persona: String,
    },
    /// A persona was made for the pool; it takes no part.
    SparePersonaMade {
        /// As drawn.
        base_persona: String,
        /// As the model put them.
        demographics: Demographics,
        /// As the model described it.
        enriched_persona: String,
    },
    /// Phase 1.
    InitialVoteCast {
        /// Who.
        participant_id: String,
        /// An option, word for word.
        choice: String,
    },
    /// Phase 1 of an original run, in a version that asked for reasons together with the vote. No
    /// answer of ours yields it, and no prompt of ours shows it.
    InitialVoteExplained {
        /// Who.
        participant_id: String,
        /// As it was kept.
        explanation: String,
    },
    /// Phase 2.
    ThresholdChecked {
        /// Votes of those who have not failed.
        votes: Votes,
        /// Why the experiment ended here, if it did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        termination_reason: Option<String>,
    },
    /// Phase 3.
    Clarified {
        /// Who.
        participant_id: String,
        /// Without the moderator's closing word.
        transcript: Transcript,
    },
    /// Phase 4.
    Summarised {
        /// Who.
        participant_id: String,
        /// One to three sentences.
        summary: String,
    },
    /// Phase 4. Before the second edition, only the answer that caused this fact has the vector itself.
    SummaryEmbedded {
        /// Who.
        participant_id: String,
        /// How many numbers.
        dimensions: usize,
        /// The vector's hash.
        vector: ContentHash,
        /// The vector.
        #[serde(default, skip_serializing_if = "Carried::is_left_out")]
        floats: Carried<Floats>,
    },
    /// Phase 4.
    ClusterFormed {
        /// `Option_cluster_N`.
        cluster_id: String,
        /// The option all members chose.
        option: String,
        /// In the order of their ids.
        member_ids: Vec<String>,
    },
    /// Phase 4.
    ClusterDescribed {
        /// Which.
        cluster_id: String,
        /// Three sentences.
        description: String,
        /// How many numbers its vector has.
        dimensions: usize,
        /// The vector's hash.
        vector: ContentHash,
        /// The vector.
        #[serde(default, skip_serializing_if = "Carried::is_left_out")]
        floats: Carried<Floats>,
    },
    /// Phase 4: a cluster could not be described or embedded; nobody gets to see it.
    ClusterFailed {
        /// Which.
        cluster_id: String,
        /// The call, and what happened.
        reason: String,
    },
    /// Phase 5.
    OppositionChosen {
        /// Who.
        participant_id: String,
        /// An option, not the participant's own.
        opposition_view: String,
        /// The method that found it: the config's, or `highest_voted` where that found none.
        method: String,
    },
    /// Phase 6: what every reader is shown.
    SummaryPrepared {
        /// All positions, as Markdown.
        content: String,
    },
    /// Phase 6, ACP: read, not voted yet.
    SummaryShown {
        /// Who.
        participant_id: String,
    },
    /// Phase 7.
    Challenged {
        /// Who.
        participant_id: String,
        /// Without the moderator's closing word.
        transcript: Transcript,
    },
    /// Phase 6 or 7.
    FinalVoteCast {
        /// Who.
        participant_id: String,
        /// An option, word for word.
        choice: String,
    },
    /// A call of the participant finally failed, or none of its answers could be used. The others
    /// go on.
    ParticipantFailed {
        /// Who.
        participant_id: String,
        /// The call.
        call: String,
        /// Its last sample.
        sample: u32,
        /// What happened.
        reason: String,
    },
    /// What follows of these phases is what the files of an original run say: nobody was asked, so
    /// these facts have no cause. 0 stands for the personas.
    TakenOver {
        /// Which.
        phases: Vec<u8>,
    },
    /// A phase, 1 to 9, began. Runs of the first edition do not say so.
    PhaseBegan {
        /// Which.
        phase: u8,
    },
    /// A phase, 1 to 9, was completed.
    PhaseCompleted {
        /// Which.
        phase: u8,
    },
}
