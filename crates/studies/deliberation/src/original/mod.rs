//! Original runs: the folders `outputs/PILOT_ID/` of the source document's program.
//!
//! - `files`: reads the folder, with types.
//! - `check`: checks that its files are consistent, so that every question has its answer.
//! - `answers`: the original answers, by call.
//! - `notes`: the data that the original did not record.
//! - `compare`: compares our outputs with the original's.

mod answers;
mod check;
mod compare;
mod files;
mod notes;

use std::path::Path;

use answers::answers;
use files::{Files, ParticipantEntry};

use super::NAME;
use super::prompts::built_in;
use super::settings::Settings;
use super::state::ParticipantStatus;
use super::taken_over::{AfterPhase3, FromOriginal, OriginalParticipant};
use retold_study::original::{Original, OriginalError, Outputs};

/// An original run, from its output folder.
///
/// # Errors
/// [`OriginalError`] if a file is missing or malformed, or the files are inconsistent.
pub fn read(folder: &Path) -> Result<Original, OriginalError> {
    let files = Files::read(folder)?;
    check::check(&files)?;
    let (answers, closing) = answers(&files)?;
    let notes = notes::notes(&files, &closing);
    let settings = Settings {
        config: files.config.clone().without_runtime(),
        prompts: built_in(),
        personas: files.participants.iter().map(|p| p.base_persona.clone()).collect(),
        pool: None,
        original: Some(taken_over(&files)),
        shard: None,
    };
    // Without a seed, the original's random choices are unknown; its results are copied.
    let seed = files.config.random_seed.unwrap_or(0);
    let compare = move |ours: &[_]| compare::compare(&files, Outputs(ours));
    Ok(Original::new(NAME, seed, settings, answers, notes, compare))
}

fn taken_over(files: &Files) -> FromOriginal {
    let has_summaries = files.has_summaries();
    let participant = |row: &ParticipantEntry| OriginalParticipant {
        condition: row.condition,
        demographics: row.demographics.clone(),
        enriched_persona: row.enriched_persona.clone(),
        initial_explanation: row.initial_explanation.clone(),
        after_phase_3: (!has_summaries).then(|| AfterPhase3 {
            opposition_view: row.opposition_view.clone(),
            adversarial_transcript: row.adversarial_transcript.clone(),
            final_choice: row.final_choice.clone(),
            error_message: (row.status == ParticipantStatus::Failed).then(|| row.failure()),
        }),
    };
    let participants = files.participants.iter().map(participant).collect();
    FromOriginal { participants, has_summaries }
}
