//! Messages about servers and files that only a recording names.

use std::path::Path;

use super::addresses::{UnnamedUrl, named_url};
use super::names::named_endpoint;
use crate::again;
use crate::error::CliError;
use retold::escaping::printable;
use retold::model::without_secrets;
use retold_study::config::{ApiKind, BaseUrl, ModelConfig};

/// The message about a server whose URL cannot be shown.
const UNSHOWN: &str = "this run was recorded from a server whose URL cannot be shown";

/// The error about the servers that only the recording names.
pub(super) fn unnamed_servers(model: &ModelConfig, api: ApiKind) -> CliError {
    let base_url =
        named_url(&model.base_url, api).err().map(|UnnamedUrl { url }| without_secrets(url));
    let endpoints =
        model.endpoints.iter().filter_map(|(model, endpoint)| match &endpoint.base_url {
            BaseUrl::Recorded(url)
                if named_endpoint(&endpoint.base_url, endpoint.kind).is_none() =>
            {
                Some((model, without_secrets(url)))
            }
            BaseUrl::Recorded(_) | BaseUrl::Named(_) | BaseUrl::BuiltIn => None,
        });
    let endpoints: Vec<(&String, String)> = endpoints.collect();
    let message = match (&base_url, endpoints.first()) {
        (Some(url), _) => format!("this run was recorded from {url}"),
        (None, Some((model, url))) => format!(
            "this run was recorded with an endpoint for the model {:?} at {url}",
            printable(model, 100)
        ),
        (None, None) => UNSHOWN.to_owned(),
    };
    let base_url = base_url.map(|url| ("--base-url", url));
    let others = endpoints.iter().map(|(model, url)| ("--endpoint", format!("{model}={url}")));
    let options: Vec<(&str, String)> = base_url.into_iter().chain(others).collect();
    let those = if options.len() > 1 { "these servers" } else { "that server" };
    // A URL that could not be typed is not repeated, either.
    let (message, next) = match again::with(&options) {
        Some(again) => (message, format!("if you trust {those}: `{again}`")),
        None => (
            UNSHOWN.to_owned(),
            "name the servers to ask with --base-url URL and --endpoint MODEL=URL".to_owned(),
        ),
    };
    let error = CliError::usage(format!("{message}, and nothing in this command names that server"))
        .hint("recordings can come from anyone, so they never decide where prompts and your keys are sent")
        .hint(next);
    match endpoints.is_empty() {
        true => error,
        false => error
            .hint("--endpoint-key MODEL=VARIABLE names the key of an endpoint, if it needs one"),
    }
}

pub(super) fn unnamed_answers(recorded: &Path) -> CliError {
    let path = recorded.display().to_string();
    let shown = printable(&path, 200);
    let error = CliError::usage(format!(
        "this run was recorded from the answers in {shown}, and nothing in this command names that file"
    ))
    .hint("recordings can come from anyone, so they never decide which files are read");
    match again::with(&[("--answers", path)]) {
        Some(again) => error.hint(format!("if you want to use that file: `{again}`")),
        None => error.hint("name the file with --answers FILE"),
    }
}
