//! Original runs (`outputs/PILOT_ID/` of the source document's program), executed again: our
//! experiment asks, the original answers reply, by call path.
//!
//! - `files`: the folder, read and typed.
//! - `check`: whether its files fit together, so that every question has its answer.
//! - `answers`: the original answers as a model.
//! - `notes`: what the original never recorded.
//! - `compare`: our outputs against the original's.

mod answers;
mod check;
mod compare;
mod files;
mod notes;

use std::path::Path;
use std::sync::Arc;

use answers::Answers;
use files::{Files, Row};

use super::NAME;
use super::original::{AfterPhase3, Original, OriginalParticipant};
use super::prompts::built_in;
use super::settings::Settings;
use super::state::Status;
use retold_study::edition::Edition;
use retold_study::reenact::{ReenactError, Reenactment, runtime};
use retold_study::study::Study;

/// An original run, from its output folder.
///
/// # Errors
/// [`ReenactError`]: a file is missing or malformed, or the files do not fit together.
pub fn reenact(folder: &Path) -> Result<Reenactment, ReenactError> {
    let files = Files::read(folder)?;
    check::check(&files)?;
    let answers = Answers::of(&files)?;
    let notes = notes::notes(&files, &answers);
    let settings = Settings {
        edition: Edition::NEWEST,
        config: files.config.clone().without_runtime(),
        prompts: built_in(),
        personas: files.participants.iter().map(|p| p.base_persona.clone()).collect(),
        pool: None,
        original: Some(original(&files)),
    };
    let seed = files.config.random_seed.unwrap_or(0);
    let study = Study::new(NAME, seed, settings, runtime());
    let compare = Box::new(move |ours: &[_]| compare::compare(&files, ours));
    Ok(Reenactment { study, model: Arc::new(answers), notes, compare })
}

fn original(files: &Files) -> Original {
    let has_summaries = files.has_summaries();
    let participant = |row: &Row| OriginalParticipant {
        condition: row.condition,
        demographics: row.demographics.clone(),
        enriched_persona: row.enriched_persona.clone(),
        initial_explanation: row.initial_explanation.clone(),
        after_phase_3: (!has_summaries).then(|| AfterPhase3 {
            opposition_view: row.opposition_view.clone(),
            adversarial_transcript: row.adversarial_transcript.clone(),
            final_choice: row.final_choice.clone(),
            error_message: (row.status == Status::Failed).then(|| row.failure()),
        }),
    };
    let participants = files.participants.iter().map(participant).collect();
    Original { participants, has_summaries }
}
