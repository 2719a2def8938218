//! The prompt templates of an experiment: those that come with the program, and a user's own in
//! their place.

use std::path::Path;

use super::wrong::Wrong;
use super::yaml::{ConfigError, beside, read_text};
use crate::template::{TemplateText, Templates};

/// The built-in templates, with those of the config's folder in their place, read and checked.
/// `path` is the config's, `folder` is what its key `prompts` says.
///
/// # Errors
/// [`ConfigError`]: a file that cannot be read, a folder without any of the templates, a template
/// that is none.
pub fn prompts(
    path: &Path,
    folder: Option<&Path>,
    built_in: Vec<TemplateText>,
) -> Result<Vec<TemplateText>, ConfigError> {
    let wrong = |message| Wrong::new("prompts", message).at(path);
    let mut prompts = built_in;
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
    Templates::all_of(&[], &prompts).map_err(|e| wrong(e.to_string()))?;
    Ok(prompts)
}
