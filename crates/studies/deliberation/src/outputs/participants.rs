//! `participants.json` and `individual_embeddings.json`.

use serde::Serialize;

use super::vectors::Vector;
use crate::conditions::Condition;
use crate::parse::Demographics;
use crate::state::{DeliberationState, ParticipantStatus};
use crate::transcript::DialogueTurn;

/// A participant: the keys of the original outputs, in order.
#[derive(Serialize)]
pub(super) struct ParticipantRecord<'a> {
    participant_id: &'a str,
    condition: Condition,
    base_persona: &'a str,
    demographics: Option<&'a Demographics>,
    enriched_persona: Option<&'a str>,
    initial_choice: Option<&'a str>,
    /// The document calls it deprecated, and no prompt asks for it. Always null, except for an
    /// original run of an older version.
    initial_explanation: Option<&'a str>,
    final_choice: Option<&'a str>,
    position_changed: Option<bool>,
    clarification_transcript: Option<&'a [DialogueTurn]>,
    adversarial_transcript: Option<&'a [DialogueTurn]>,
    opposition_view: Option<&'a str>,
    cross_pollination_content: Option<&'a str>,
    individual_summary: Option<&'a str>,
    individual_summary_embedding: Option<Vector<'a>>,
    cluster_id: Option<&'a str>,
    status: ParticipantStatus,
    error_message: Option<&'a str>,
}

/// A participant's vector.
#[derive(Serialize)]
pub(super) struct EmbeddingRecord<'a> {
    participant_id: &'a str,
    embedding: Vector<'a>,
}

/// All participants, in the order of their ids, including failed ones with their results so far.
pub(super) fn records<'a>(state: &'a DeliberationState) -> Vec<ParticipantRecord<'a>> {
    let shown = state.cross_pollination.as_deref();
    let record = state.participants.values().map(|p| ParticipantRecord {
        participant_id: &p.participant_id,
        condition: p.condition,
        base_persona: &p.base_persona,
        demographics: p.demographics.as_ref(),
        enriched_persona: p.enriched_persona.as_deref(),
        initial_choice: p.initial_choice.as_deref(),
        initial_explanation: p.initial_explanation.as_deref(),
        final_choice: p.final_choice.as_deref(),
        position_changed: p.position_changed,
        clarification_transcript: p.clarification_transcript.as_deref(),
        adversarial_transcript: p.adversarial_transcript.as_deref(),
        opposition_view: p.opposition_view.as_deref(),
        cross_pollination_content: shown.filter(|_| p.was_shown_summary),
        individual_summary: p.individual_summary.as_deref(),
        individual_summary_embedding: state.vectors.summaries.get(&p.participant_id).map(Vector),
        cluster_id: p.cluster_id.as_deref(),
        status: p.status,
        error_message: p.error_message.as_deref(),
    });
    record.collect()
}

/// The vectors of all summaries, in the order of the participants' ids.
pub(super) fn embeddings<'a>(state: &'a DeliberationState) -> Vec<EmbeddingRecord<'a>> {
    let of = |participant_id: &'a String| {
        Some(EmbeddingRecord {
            participant_id,
            embedding: Vector(state.vectors.summaries.get(participant_id)?),
        })
    };
    state.participants.keys().filter_map(of).collect()
}
