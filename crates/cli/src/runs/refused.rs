//! A run that stopped because a server refuses something about every request: the commands to type, and the cleanup.

use crate::error::{CliError, Status};
use crate::runs::folder::OutputFolder;
use crate::runs::live;
use crate::runs::phase_files::PhaseFiles;
use crate::{again, runtime};
use retold::escaping::printable;
use retold::id::RunId;
use retold::log::Log;
use retold::model::Refusal;
use retold::run::abandon;

/// What to type: the same command again if the run has no answers, or else a fork that shares those whose prompts stay.
pub(super) fn refusal_hints(
    refusal: &Refusal,
    model: &str,
    is_empty: bool,
    name: &str,
    servers: &str,
) -> Vec<String> {
    let typed = |option: &str, value: &str| match is_empty {
        true => again::with(&[(option, value.to_owned())]),
        false => Some(format!("retold fork {name} {option} {value}{servers}")),
    };
    let after = match is_empty {
        true => "nothing was answered, so the run was abandoned and leaves no outputs",
        false => "the answers so far are kept: a fork shares those whose prompts stay the same",
    };
    let with = |option: &str, value: &str, what: &str| {
        let command =
            typed(option, value).unwrap_or_else(|| format!("the command with {option} {value}"));
        format!("{what}: `{command}`")
    };
    let shown = printable(model, 100);
    let what_to_do = match refusal {
        Refusal::Model => {
            format!(
                "the server has no model {shown}: name one that it has with --model PROVIDER/MODEL, or its server with --base-url URL"
            )
        }
        Refusal::Turns => with(
            "--set",
            "alternate=true",
            "to send consecutive messages of one role as one, and a user's first",
        ),
        Refusal::LimitName => with("--set", "request.max_tokens=null", "to leave the limit out"),
        Refusal::Field(field) if is_parameter(field) => {
            with("--set", &format!("request.{field}=null"), "to leave it to the provider")
        }
        Refusal::Field(field) => {
            let field = printable(field, 60);
            with("--set", &format!("request.extra.{field}=null"), "to leave it out")
        }
        _ => "the message says what the server refuses".to_owned(),
    };
    vec![what_to_do, after.to_owned()]
}

/// Whether a parameter has a setting of its own.
fn is_parameter(field: &str) -> bool {
    matches!(field, "temperature" | "top_p" | "max_tokens")
}

/// Ends a run without answers for good, and removes the files that it has begun to write beside the log: they must
/// not be in the way of the next run.
pub(super) fn leave_nothing(
    log: &Log,
    run: RunId,
    folder: Option<&OutputFolder>,
    phase_files: Option<&PhaseFiles>,
) -> Result<(), CliError> {
    if let Some(phase_files) = phase_files {
        phase_files.remove();
    }
    if let Some(folder) = folder {
        live::remove(&folder.place());
    }
    // Other runs of the command may go on in the runtime of this thread.
    std::thread::scope(|scope| {
        let ended = scope.spawn(|| {
            let abandoned = runtime::of_this_thread()?.block_on(abandon(log, run));
            abandoned.map(drop).map_err(CliError::from)
        });
        let failed = |_| CliError::new(Status::Io, "no runtime: its thread ended".to_owned());
        ended.join().map_err(failed)?
    })
}
