//! A person who takes part in a run, beside the model.

use std::sync::Arc;

use crate::error::CliError;
use retold::model::{Answerer, Seats};
use retold_study::registration::Play;
use retold_study::settings::ExperimentSettings;
use retold_study::{Registration, Studies};

/// The study of a name, if a person can play it.
pub(crate) fn played(
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
    let (_, play) = played(studies, experiment)?;
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

/// The model with a person beside it; refused without a person where the settings ask for one.
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
            "a human plays this game, and this command asks nobody",
        )
        .hint("`retold play CONFIG` begins a game, `retold play --resume RUN` goes on with one")),
        (_, None) => Ok(model),
    }
}
