//! A command as it is recorded: without keys.

use std::ffi::OsString;

use retold::model::{NamedUrl, Secrets, command_without_keys, is_a_key};
use retold_wire::MASK;

/// The shortest value of a variable that is taken for a key.
const SHORTEST: usize = 8;

/// A URL as it is recorded: without user name, password and query, and without keys in its path. A mark shows that
/// parts are left out, because nobody can type them.
pub(super) fn url_without_keys(url: &NamedUrl) -> String {
    let shown = url.without_secrets();
    let parts = mask(shown.split('/').map(str::to_owned), &of_environment()).join("/");
    let left_out = if url.as_str().contains(['@', '?']) { MASK } else { "" };
    format!("{parts}{left_out}")
}

/// A command without keys: without the values of our own variables, values under the name of a key, and words that
/// begin as providers' keys do.
pub(crate) fn without_keys(command: &[OsString]) -> Vec<String> {
    mask(command.iter().map(|word| word.to_string_lossy().into_owned()), &of_environment())
}

/// The values of our own variables that hold keys.
fn of_environment() -> Vec<String> {
    let keys = std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(is_a_key));
    let keys = keys.filter_map(|(_, value)| value.into_string().ok());
    keys.filter(|value| value.len() >= SHORTEST).collect()
}

fn mask(command: impl Iterator<Item = String>, keys: &[String]) -> Vec<String> {
    let mut secrets = Secrets::default();
    // The path of a file with a key is no key, and pieces of it stand in other paths.
    keys.iter().filter(|key| !key.starts_with(['/', '~', '.'])).for_each(|key| secrets.add(key));
    let whole = |word: String| keys.iter().fold(word, |word, key| word.replace(key.as_str(), MASK));
    command_without_keys(command.map(whole), &secrets)
}
