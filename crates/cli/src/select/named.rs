//! The meaning of a name: a file, or a run of the log.

use std::collections::BTreeSet;
use std::path::Path;

use crate::error::{CliError, NAMES_DAMAGE, Status, write_err};
use crate::global::Global;
use retold::event::RunStarted;
use retold::id::{RunId, Seq};
use retold::log::{Finding, Log, RunHead};
use retold::run::LATEST;
use retold_archive::{Archive, Damage, FindError, RunMatch};

/// True if a text means a file rather than a run of the log. A text that could be an id is a run, and so is `latest`
/// (a file named `cafe` is given as `./cafe`). Any other is a file if there is one, or else a run if one has this
/// name. If there is neither, it is a file if it looks like one, with a dot or a slash.
pub(crate) fn names_a_file(global: &Global, name: &str) -> bool {
    if name == LATEST || name.chars().all(|c| c.is_ascii_hexdigit()) {
        return false;
    }
    let path = Path::new(name);
    // A pipe is a file as well.
    (path.exists() && !path.is_dir())
        || name.contains(['.', '/', '\\']) && !names_a_run(global, name)
}

/// Whether a run of the log has this name. A log that cannot be read is reported when it is opened for something else.
fn names_a_run(global: &Global, name: &str) -> bool {
    let archive = Archive::open(&global.log, global.sqlite());
    let name_of = |started: &RunStarted| global.studies.run_name(started);
    archive.is_ok_and(|archive| {
        retold_archive::find(archive.backend().as_ref(), name, &name_of).is_ok()
    })
}

/// Runs without repetitions, which a note names.
pub(crate) fn each_once<T>(named: Vec<T>, run_of: impl Fn(&T) -> RunId) -> Vec<T> {
    let (mut known, mut repeated) = (BTreeSet::new(), BTreeSet::new());
    let mut is_new = |of: &T| {
        let run = run_of(of);
        let is_new = known.insert(run);
        if !is_new && repeated.insert(run) {
            write_err(&format!(
                "note: run {} is named more than once and counts once\n",
                run.short(8)
            ));
        }
        is_new
    };
    named.into_iter().filter(|of| is_new(of)).collect()
}

/// Finds a run: see [`retold_archive::find`].
pub(crate) fn find(log: &Log, name: &str, global: &Global) -> Result<RunHead, CliError> {
    let name_of = |started: &RunStarted| global.studies.run_name(started);
    let RunMatch { head, may_be_earlier } =
        retold_archive::find(log.backend().as_ref(), name, &name_of)?;
    if may_be_earlier {
        write_err(&format!(
            "warning: {}: `latest` is {}, but a later run may be among what is lost\n",
            log.backend().name(),
            head.run.short(8)
        ));
    }
    Ok(head)
}

impl From<FindError> for CliError {
    fn from(error: FindError) -> Self {
        let message = error.to_string();
        match error {
            FindError::Log(error) => error.into(),
            FindError::NameAndId { .. } => {
                CliError::usage(message).hint("give more digits of the one that you mean")
            }
            FindError::Ambiguous { .. } => CliError::usage(message).hint("give more digits"),
            FindError::AtTheSameTime { .. } => CliError::usage(message)
                .hint("give the first digits of the id of the one that you mean"),
            FindError::NoRuns { .. } => CliError::usage(message),
            FindError::Gone { finding, .. } => {
                let Finding { run, fault, .. } = *finding;
                CliError::new(Status::Difference, message)
                    .hint(NAMES_DAMAGE)
                    .damage(run, Damage { seq: Seq(1), fault })
            }
            _ => CliError::usage(message).hint("`retold log` lists the runs"),
        }
    }
}
