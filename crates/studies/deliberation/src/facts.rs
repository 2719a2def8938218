//! The facts of a deliberation, in the past tense.

use serde::{Deserialize, Serialize};

use super::conditions::Condition;
use super::transcript::{Transcript, Votes};
use crate::parse::Demographics;
use retold::id::ContentHash;
use retold_study::floats::Floats;

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
        /// The participant.
        participant_id: String,
        /// From the model's answer.
        demographics: Demographics,
        /// The description at the beginning of all prompts.
        enriched_persona: String,
    },
    /// The persona was drawn from the pool, with its enrichment from an earlier run.
    PersonaDrawn {
        /// The participant.
        participant_id: String,
        /// From the pool.
        demographics: Demographics,
        /// From the pool.
        enriched_persona: String,
    },
    /// A persona was made for the pool; it does not take part.
    SparePersonaMade {
        /// As drawn.
        base_persona: String,
        /// From the model's answer.
        demographics: Demographics,
        /// From the model's answer.
        enriched_persona: String,
    },
    /// Phase 1.
    InitialVoteCast {
        /// The participant.
        participant_id: String,
        /// An option, word for word.
        choice: String,
    },
    /// Phase 1 of an original run, in a version that asked for reasons together with the vote. None
    /// of our answers yields it, and none of our prompts shows it.
    InitialVoteExplained {
        /// The participant.
        participant_id: String,
        /// As recorded then.
        explanation: String,
    },
    /// Phase 2.
    ThresholdChecked {
        /// Votes of participants who have not failed.
        votes: Votes,
        /// Why the experiment ended here, if it did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        termination_reason: Option<String>,
    },
    /// Phase 3.
    Clarified {
        /// The participant.
        participant_id: String,
        /// Without the moderator's closing word.
        transcript: Transcript,
    },
    /// Phase 4.
    Summarised {
        /// The participant.
        participant_id: String,
        /// One to three sentences.
        summary: String,
    },
    /// Phase 4.
    SummaryEmbedded {
        /// The participant.
        participant_id: String,
        /// The vector's length.
        dimensions: usize,
        /// The vector's hash.
        vector: ContentHash,
        /// The vector.
        floats: Floats,
    },
    /// Phase 4.
    ClusterFormed {
        /// `Option_cluster_N`.
        cluster_id: String,
        /// The option that all members chose.
        option: String,
        /// In the order of their ids.
        member_ids: Vec<String>,
    },
    /// Phase 4.
    ClusterDescribed {
        /// The cluster.
        cluster_id: String,
        /// Three sentences.
        description: String,
        /// The vector's length.
        dimensions: usize,
        /// The vector's hash.
        vector: ContentHash,
        /// The vector.
        floats: Floats,
    },
    /// Phase 4: a cluster could not be described or embedded, so it is shown to nobody.
    ClusterFailed {
        /// The cluster.
        cluster_id: String,
        /// The call, and what happened.
        reason: String,
    },
    /// Phase 5.
    OppositionChosen {
        /// The participant.
        participant_id: String,
        /// An option other than the participant's own.
        opposition_view: String,
        /// The method that found it: the config's, or `highest_voted` if that found none.
        method: String,
    },
    /// Phase 6: the text for all readers.
    SummaryPrepared {
        /// All positions, as Markdown.
        content: String,
    },
    /// Phase 6, ACP: the participant has read it, but not voted yet.
    SummaryShown {
        /// The participant.
        participant_id: String,
    },
    /// Phase 7.
    Challenged {
        /// The participant.
        participant_id: String,
        /// Without the moderator's closing word.
        transcript: Transcript,
    },
    /// Phase 6 or 7.
    FinalVoteCast {
        /// The participant.
        participant_id: String,
        /// An option, word for word.
        choice: String,
    },
    /// A call of the participant ran out of retries, none of its answers was usable, or there was
    /// nothing to ask it with. The others continue.
    ParticipantFailed {
        /// The participant.
        participant_id: String,
        /// The call.
        call: String,
        /// Its last sample.
        sample: u32,
        /// What happened.
        reason: String,
    },
    /// The following facts of these phases come from the files of an original run: no questions
    /// were asked, so these facts have no cause. 0 means the personas.
    TakenOver {
        /// The phases.
        phases: Vec<u8>,
    },
    /// A phase, 1 to 9, began.
    PhaseBegan {
        /// The phase.
        phase: u8,
    },
    /// A phase, 1 to 9, was completed.
    PhaseCompleted {
        /// The phase.
        phase: u8,
    },
}
