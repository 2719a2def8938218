//! Reads a folder of games of a local model.

use std::path::Path;

use super::NAME;
use super::run::LocalRun;
use retold_study::original::{Answers, Original, OriginalError, Outputs};

/// Reads a folder of original games of a local model.
///
/// # Errors
/// [`OriginalError`] for a missing or invalid file, with the line.
pub(in super::super) fn read(folder: &Path) -> Result<Original, OriginalError> {
    let run = LocalRun::read(folder)?;
    let settings = run.settings.clone();
    let by_call = run.answers.iter().map(|(call, text)| (call.clone(), text.as_str().into()));
    let answers = Answers::new(settings.config.experiment_id.clone(), by_call.collect());
    let compare = move |ours: &[_]| run.compare(Outputs(ours));
    Ok(Original::new(NAME, 0, settings, answers, notes(), compare))
}

fn notes() -> Vec<String> {
    let notes = [
        "what the local model's own chat template put around a prompt: each is one message of a user here",
        "when each answer came, and which random numbers it was drawn with",
        "the payoffs of a game's last round: those before are compared with what the next prompts show",
    ];
    notes.map(str::to_owned).to_vec()
}
