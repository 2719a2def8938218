//! Two runs of one name: what an unfinished one holds is paid for, so a second is begun only if it is asked for.

use std::path::Path;

use crate::error::CliError;
use crate::output::counted;
use crate::runs::original;
use crate::runs::settings::{is_of, settings_of};
use crate::select;
use retold::log::{Lease, Log, LogError};
use retold::run::{RunRecord, how_it_ended};
use retold_study::studies::Studies;
use retold_study::study::Study;

/// The right to be the only process that runs studies of a name in a log; given back when dropped.
#[derive(Debug)]
pub(crate) struct Claim(#[expect(dead_code, reason = "held for its drop")] Lease);

/// Claims the name of a study and makes sure that no run of it is unfinished; `None` if the study has no name, and so
/// nothing says which runs are the same.
///
/// # Errors
/// There is such a run, or another process has just begun one.
pub(crate) fn none_of(
    studies: &Studies,
    study: &Study,
    log: &Log,
) -> Result<Option<Claim>, CliError> {
    let name = studies.output_name(&study.experiment, &study.settings.experiment);
    let Some(name) = name.map_err(|e| CliError::usage(e.to_string()))? else { return Ok(None) };
    // First: a run that is begun between a look at the log and the claim would not be seen.
    let claim = match log.claim(&format!("{}/{name}", study.experiment)) {
        Ok(lease) => Claim(lease),
        Err(LogError::InUse { holder, .. }) => {
            let log = log.backend().name();
            let log = Path::new(&log).display();
            return Err(CliError::usage(format!("{name} is being run{holder} in {log}"))
                .hint("wait for it, or give --new to begin another run beside it"));
        }
        Err(e) => return Err(e.into()),
    };
    let mut reader = log.reader()?;
    for head in reader.runs()?.into_iter().rev() {
        // A damaged run is not this one; `retold verify` tells of it.
        let Ok(started) = select::started(reader.as_mut(), head.run) else { continue };
        let settings = &started.settings["experiment"];
        // A fork goes on by its own id, an original run by `import`.
        let is_other = started.experiment != study.experiment
            || started.forked_from.is_some()
            || studies.output_name(&started.experiment, settings).ok().flatten().as_ref()
                != Some(&name)
            || settings_of(studies, &started).is_ok_and(|settings| original::is_one(&settings));
        if is_other || how_it_ended(reader.as_mut(), head.run)?.is_some() {
            continue;
        }
        let run = select::short_name(reader.as_mut(), head.run)?;
        let answers = counted(RunRecord::read(reader.as_mut(), head.run)?.answers, "answer");
        let go_on = match is_of(studies, study, &started) {
            true => "the same command with --resume goes on with it".to_owned(),
            false => {
                format!("`retold resume {run}` goes on with it, with the settings it began with")
            }
        };
        return Err(CliError::usage(format!(
            "run {run} of {name} is unfinished, and holds {answers}"
        ))
        .hint(go_on)
        .hint(format!(
            "`retold abandon {run}` ends it for good; --new begins another run beside it"
        )));
    }
    Ok(Some(claim))
}
