//! A person who takes part in a run in addition to the model.

use std::sync::Arc;

use crate::error::CliError;
use retold::model::{Answerer, Seats};
use retold_study::registration::Play;
use retold_study::settings::ExperimentSettings;
use retold_study::{Registration, Studies};

/// The study with a name, if it can be played.
pub(crate) fn find_playable(
    studies: &Studies,
    name: &str,
) -> Option<(&'static dyn Registration, &'static dyn Play)> {
    let study = studies.find(name)?;
    Some((study, study.play()?))
}

/// How a person takes part in an experiment with these settings, if one does.
fn person_in(
    studies: &Studies,
    experiment: &str,
    settings: &ExperimentSettings,
) -> Option<&'static dyn Play> {
    let (_, play) = find_playable(studies, experiment)?;
    play.is_played(settings).then_some(play)
}

/// Whether a person takes part in an experiment with these settings.
pub(crate) fn is_played(
    studies: &Studies,
    experiment: &str,
    settings: &ExperimentSettings,
) -> bool {
    person_in(studies, experiment, settings).is_some()
}

/// The model combined with a person; an error if the settings ask for a person and there is none.
pub(crate) fn with_person(
    studies: &Studies,
    model: Answerer,
    seat: Option<Answerer>,
    experiment: &str,
    settings: &ExperimentSettings,
) -> Result<Answerer, CliError> {
    match (seat, person_in(studies, experiment, settings)) {
        (Some(person), Some(play)) => Ok(Arc::new(Seats { model, person, name: play.person() })),
        (None, Some(_)) => Err(CliError::usage(
            "this game has a human player, and this command cannot prompt for input",
        )
        .hint(format!(
            "`retold study {experiment} play CONFIG` starts a game, and `retold study {experiment} play --resume \
             RUN` continues one"
        ))),
        (_, None) => Ok(model),
    }
}
