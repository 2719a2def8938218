//! The prompt templates of an experiment: those that come with the program, and a user's own in
//! their place.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::wrong::{Wrong, beside};
use super::yaml::{ConfigError, read_text};
use crate::template::Templates;

/// A template, whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PromptText {
    /// Its name.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// The built-in templates, with those of the config's folder in their place, read and checked.
/// `path` and `text` are the config's, `folder` is what its key `prompts` says.
///
/// # Errors
/// [`ConfigError`]: a file that cannot be read, a folder without any of the templates, a template
/// that is none.
pub fn prompts(
    path: &Path,
    text: &str,
    folder: Option<&Path>,
    built_in: impl IntoIterator<Item = (String, String)>,
) -> Result<Vec<PromptText>, ConfigError> {
    let wrong = |message| Wrong::new("prompts", message).at(path, text);
    let mut prompts: Vec<PromptText> =
        built_in.into_iter().map(|(name, text)| PromptText { name, text }).collect();
    if let Some(folder) = folder {
        let folder = beside(path, folder);
        let mut found = false;
        for prompt in &mut prompts {
            let file = folder.join(format!("{}.txt", prompt.name));
            if file.exists() {
                prompt.text = read_text(&file)?;
                found = true;
            }
        }
        if !found {
            let names: Vec<&str> = prompts.iter().map(|prompt| prompt.name.as_str()).collect();
            let names = names.join(", ");
            return Err(wrong(format!("no template in it; the templates are {names}")));
        }
    }
    let pairs = prompts.iter().map(|p| (p.name.clone(), p.text.clone()));
    Templates::new(pairs).map_err(|e| wrong(e.to_string()))?;
    Ok(prompts)
}
