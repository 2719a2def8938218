//! The data that a run leaves for later runs, such as the personas of a pool.

use crate::again::spell_commands;
use crate::error::{CliError, Status, write_err};
use crate::global::Global;
use crate::output::group_digits;
use crate::select;
use retold::escaping::printable;
use retold::id::RunId;
use retold::log::Log;
use retold::run::RunRecord;
use retold_study::error::BoxError;
use retold_study::study::{SettingsOf, StoreResult};

/// Stores the data that a run leaves for later runs.
pub(super) fn store(
    log: &Log,
    run: RunId,
    settings_of: SettingsOf,
    global: &Global,
) -> Result<(), CliError> {
    let mut reader = log.reader()?;
    let started = select::run_start(reader.as_mut(), run)?;
    let Some(study) = global.studies.find(&started.experiment) else { return Ok(()) };
    let Some(store) = study.store(&started.settings["experiment"]) else { return Ok(()) };
    let failed = |e: BoxError| {
        let again =
            format!("the run itself is safe: `retold run --resume {}` tries again", run.short(8));
        CliError::new(Status::Io, e.to_string()).hint(again)
    };
    let record = RunRecord::read(reader.as_mut(), run)?;
    match store(&record, settings_of).map_err(failed)? {
        StoreResult::Added { added, what, path } if !global.quiet => {
            let count = group_digits(added as u64);
            write_err(&format!("{count} {what} added to {}\n", path.display()));
        }
        StoreResult::Nothing | StoreResult::Added { .. } => {}
        StoreResult::NotNamed { what, path } => {
            let path = printable(&path.display().to_string(), 200);
            let hint = match started.forked_from {
                None => {
                    "`retold run CONFIG --resume`, with the config that names the file, adds them"
                        .to_owned()
                }
                // A fork does not start from a config.
                Some(_) => {
                    let name = run.short(8);
                    format!(
                        "`retold export {name} FOLDER --as outputs` writes them to a folder of your choice"
                    )
                }
            };
            let hint = spell_commands(&hint);
            write_err(&format!(
                "its {what} were not added to {path}, a file that only its recorded settings name\n  hint: {hint}\n"
            ));
        }
    }
    Ok(())
}
