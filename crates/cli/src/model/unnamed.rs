//! What is said about servers and files that only a recording names.

use std::path::Path;

use crate::again;
use crate::error::CliError;
use retold::inert::inert;
use retold::model::without_secrets;

pub(super) fn unnamed_url(recorded: &str) -> CliError {
    let url = without_secrets(recorded);
    let Some(again) = again::with("--base-url", &url) else {
        return CliError::usage("the base URL recorded with this run cannot be used")
            .hint("name the server to ask with --base-url URL");
    };
    CliError::usage(format!(
        "this run was recorded from {url}, and nothing in this command names that server"
    ))
    .hint(
        "recordings can come from anyone, so they never decide where prompts and your key are sent",
    )
    .hint(format!("if you trust that server: {again}"))
}

pub(super) fn unnamed_endpoint(model: &str, recorded: &str) -> CliError {
    let url = without_secrets(recorded);
    let shown = inert(model, 100);
    let error = CliError::usage(format!(
        "this run was recorded with an endpoint for the model {shown:?} at {url}, and nothing in this command names that \
         server"
    ))
    .hint("recordings can come from anyone, so they never decide where prompts and your keys are sent");
    match again::with("--endpoint", &format!("{model}={url}")) {
        Some(again) if !url.is_empty() => error.hint(format!(
            "if you trust that server: {again} (and --endpoint-key MODEL=VARIABLE, if it needs a key)"
        )),
        _ => error.hint("name the server to ask with --endpoint MODEL=URL"),
    }
}

pub(super) fn unnamed_answers(recorded: &Path) -> CliError {
    let path = recorded.display().to_string();
    let shown = inert(&path, 200);
    let error = CliError::usage(format!(
        "this run was recorded from the answers in {shown}, and nothing in this command names that file"
    ))
    .hint("recordings can come from anyone, so they never decide which files are read");
    match again::with("--answers", &path) {
        Some(again) => error.hint(format!("if you want to use that file: {again}")),
        None => error.hint("name the file with --answers FILE"),
    }
}
