//! Reports what an original run did not record, and does not invent it.

use super::files::{Files, ParticipantEntry};
use crate::state::ParticipantStatus;

/// One line for each thing that is not in the files.
pub(super) fn notes(files: &Files, closing: &[String]) -> Vec<String> {
    let count = |which: &dyn Fn(&&ParticipantEntry) -> bool| {
        files.participants.iter().filter(which).count()
    };
    let whole = files.has_summaries() || files.ended_early();
    let people = files.participants.len();
    let mut votes = count(&|p| p.initial_choice.is_some());
    if files.has_summaries() {
        votes += count(&|p| p.final_choice.is_some());
    }
    let mut notes = vec![
        "its prompts: all are rendered again, with our templates".to_owned(),
        format!(
            "the answers that made {people} personas: their demographics and descriptions are facts taken \
             over, without a call"
        ),
        format!("the words of {votes} votes: the option that was understood stands for them"),
        "white space around answers, answers that could not be used, failed attempts, tokens, times".to_owned(),
    ];
    if !closing.is_empty() {
        let (n, calls) = (closing.len(), closing.join(", "));
        notes.push(format!(
            "the closing word of {n} dialogues that ended before their limit: it can only have been \
             SATISFIED ({calls})"
        ));
    }
    let failed: Vec<&str> = files
        .participants
        .iter()
        .filter(|p| p.status == ParticipantStatus::Failed)
        .map(|p| p.participant_id.as_str())
        .collect();
    if !failed.is_empty() {
        notes.push(format!(
            "the calls that failed for {}: the first one without an answer fails with the message kept",
            failed.join(", ")
        ));
    }
    if !files.knows_minimum {
        notes.push(
            "min_responses_for_threshold: the version of this run had none, so it is 0".to_owned(),
        );
    }
    let explained = count(&|p| p.initial_explanation.is_some());
    if explained > 0 {
        notes.push(format!(
            "the calls for {explained} explanations of first votes (initial_explanation): that version asked for \
             them together with the vote, in another prompt; they are facts taken over, without a call"
        ));
    }
    if !whole {
        let (votes, dialogues) =
            (count(&|p| p.final_choice.is_some()), count(&|p| p.adversarial_transcript.is_some()));
        notes.push(format!(
            "summaries, vectors, clusters and what participants were shown (an older version): phase 4 is left \
             out, and {dialogues} adversarial dialogues and {votes} final votes are facts taken over, \
             without a call; opposing views are computed where votes suffice"
        ));
    }
    notes
}
