//! Reads a folder of original games.

use std::path::Path;
use std::sync::Arc;

use super::NAME;
use super::files::is_one;
use super::original::Original;
use crate as public_goods;
use retold_study::reenact::{Answers, ReenactError, Reenactment, runtime};
use retold_study::study::Study;

/// Reads a folder of original games: one of a local model, or else one with answers in tags.
///
/// # Errors
/// [`ReenactError`]: a file that is missing, or is not what it should be, with the line.
pub fn reenact(folder: &Path) -> Result<Reenactment, ReenactError> {
    if !is_one(folder) {
        return public_goods::reenact(folder);
    }
    let original = Original::read(folder)?;
    let source = original.settings.config.experiment_id.clone();
    Ok(Reenactment {
        study: Study::new(NAME, 0, original.settings.clone(), runtime()),
        model: Arc::new(Answers { source, by_call: original.answers.clone() }),
        notes: notes(),
        compare: Box::new(move |files| original.compare(files)),
    })
}

fn notes() -> Vec<String> {
    let notes = [
        "what the local model's own chat template put around a prompt: each is one message of a user here",
        "when each answer came, and which random numbers it was drawn with",
        "the payoffs of a game's last round: those before are compared with what the next prompts show",
    ];
    notes.map(str::to_owned).to_vec()
}
