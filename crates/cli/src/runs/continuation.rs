//! The command that continues a run.

use crate::again::{RunFile, begins, file_of};
use crate::runs::original;
use crate::runs::person::is_played;
use crate::runs::program::next_command;
use crate::runs::settings::settings_of;
use retold::event::RunStarted;
use retold::id::RunId;
use retold_study::settings::ExperimentSettings;
use retold_study::studies::Studies;
use retold_wire::PROGRAM;

/// What continues a run, of a study or of a program, in a sentence.
pub(crate) fn sentence(studies: &Studies, started: &RunStarted, run: RunId) -> String {
    let retold = begins();
    match file_of(run) {
        Some(RunFile { is_damaged: true, .. }) => {
            "its file is damaged, and another copy may have the rest".to_owned()
        }
        Some(RunFile { name, .. }) => {
            format!("`{retold} import {name}` brings it into a log, where it can be continued")
        }
        None => format!("`{retold} {}` continues it", of_any(studies, started, run)),
    }
}

/// The command that continues a run of the log, of a study or of a program, without the name of the program `retold`.
pub(crate) fn of_any(studies: &Studies, started: &RunStarted, run: RunId) -> String {
    match started.experiment.as_str() {
        PROGRAM => next_command("record --resume", run, &[], started),
        _ => command(studies, started, &run.short(8)),
    }
}

/// The same for the run of a study, by its name in commands.
pub(crate) fn command(studies: &Studies, started: &RunStarted, name: &str) -> String {
    let experiment = &started.experiment;
    let settings = started.settings.get("experiment").cloned().map(ExperimentSettings::from);
    if settings.is_some_and(|settings| is_played(studies, experiment, &settings)) {
        return format!("study {experiment} play --resume {name}");
    }
    if settings_of(studies, started).is_ok_and(|settings| original::is_one(&settings)) {
        return original::command(studies, experiment, "ORIGINAL", name);
    }
    // Its verdicts are recorded by its own command.
    if *experiment == retold_judge::NAME {
        let of = started.settings["experiment"]["of"].as_str().unwrap_or("RUN");
        let of = if of.len() == 16 { &of[..8] } else { "RUN" };
        return format!("score judge {of} --config FILE --resume");
    }
    format!("run --resume {name}")
}
