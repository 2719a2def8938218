//! The prompt templates of an experiment: the built-in ones, and the user's own that replace them.

use std::collections::BTreeSet;
use std::path::Path;

use super::error::ConfigError;
use super::file::ConfigFile;
use super::wrong::ConfigProblem;
use crate::template::{TemplateError, TemplateText, Templates, variable_list};

/// The built-in templates, replaced by those in the folder that a config names, read and
/// checked. `folder` is its value of the key `prompts`.
///
/// # Errors
/// [`ConfigError`] for a file that cannot be read, a folder without any of the templates, an
/// invalid template, or a variable that no built-in template uses.
pub(super) fn prompts(
    config: &ConfigFile<'_>,
    folder: Option<&Path>,
    built_in: Vec<TemplateText>,
) -> Result<Vec<TemplateText>, ConfigError> {
    let wrong = |message| ConfigProblem::new("prompts", message).at(config.path);
    let invalid = |e: TemplateError| wrong(e.to_string());
    let ours = Templates::all_of(&[], &built_in).map_err(invalid)?;
    let mut prompts = built_in;
    let mut replaced = Vec::new();
    if let Some(folder) = folder {
        let there = config.place_of(folder)?;
        for prompt in &mut prompts {
            let name = format!("{}.txt", prompt.name);
            let file = there.join(&name);
            if file.exists() {
                prompt.text = config.text_of(&folder.join(name))?;
                replaced.push((prompt.name.clone(), file));
            }
        }
        if replaced.is_empty() {
            let names: Vec<&str> = prompts.iter().map(|prompt| prompt.name.as_str()).collect();
            let names = names.join(", ");
            return Err(wrong(format!("there is no template in it; the templates are {names}")));
        }
    }
    let theirs = Templates::all_of(&[], &prompts).map_err(invalid)?;
    let known: BTreeSet<String> =
        prompts.iter().flat_map(|prompt| ours.variables(&prompt.name)).collect();
    for (name, file) in replaced {
        if let Some(unknown) = first_unknown(&theirs, &name, &known) {
            let line = theirs.line_of(&name, &unknown);
            let place = line.map_or_else(String::new, |line| format!(", line {line}"));
            let own = ours.variables(&name);
            let others = known.difference(&own);
            let message = format!(
                "{}{place}: there is no {{{unknown}}}; the built-in {name} names {}, other templates {}",
                file.display(),
                variable_list(&own),
                variable_list(others)
            );
            return Err(wrong(message));
        }
    }
    Ok(prompts)
}

/// The first variable in a template that no built-in template uses, nor the value that it is a part
/// of. A variable that exists only in another template is found when this one is rendered.
fn first_unknown(templates: &Templates, name: &str, known: &BTreeSet<String>) -> Option<String> {
    let within = |part: &str, whole: &str| {
        part.strip_prefix(whole).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    let is_known =
        |path: &String| known.iter().any(|known| within(path, known) || within(known, path));
    let unknown = templates.variables(name).into_iter().filter(|path| !is_known(path));
    unknown.min_by_key(|path| templates.line_of(name, path))
}
