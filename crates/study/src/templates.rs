//! Replaces the templates in recorded settings with those in a folder.
//!
//! The settings of every experiment contain their templates as [`TemplateText`]s: one under the key
//! `template`, or a list under `prompts`. This module relies on nothing else about an experiment.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::template::TemplateText;
use retold::encoding::read_text;
use retold::escaping::printable;

/// The result of replacing templates with the files of a folder.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TemplateReplacement {
    /// The number of templates in the settings.
    pub templates: usize,
    /// The templates whose text has changed.
    pub changed: Vec<String>,
    /// The file of each template that has one in the folder.
    pub files: BTreeMap<String, PathBuf>,
    /// Files that do not belong to any template in the settings, by name.
    pub unknown: Vec<String>,
}

/// Why templates cannot be replaced.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReplaceError {
    /// The folder or a file in it cannot be read.
    #[error("cannot read {path}: {reason}")]
    Unreadable {
        /// The path.
        path: String,
        /// The system's error message.
        reason: String,
    },
    /// The settings have no templates.
    #[error("the settings of this run have no templates")]
    NoTemplates,
    /// No file of the folder is a template of the settings.
    #[error("{folder} has no template of this run; its templates are {known}")]
    NothingKnown {
        /// The folder.
        folder: String,
        /// The file names that would be recognised.
        known: String,
    },
}

/// Replaces the text of each template with that of the file named after it (`initial_vote.txt` for
/// `initial_vote`). A template without a file keeps its recorded text.
///
/// # Errors
/// [`ReplaceError`].
pub fn replace(settings: &mut Value, folder: &Path) -> Result<TemplateReplacement, ReplaceError> {
    let places = templates(settings);
    if places.is_empty() {
        return Err(ReplaceError::NoTemplates);
    }
    let mut files = files(folder)?;
    let mut replaced =
        TemplateReplacement { templates: places.len(), ..TemplateReplacement::default() };
    let known: Vec<String> = places.iter().map(|(old, _)| file_name(&old.name)).collect();
    let mut found = 0;
    for ((old, place), file) in places.into_iter().zip(&known) {
        let Some(at) = files.iter().position(|name| name == file) else { continue };
        let path = folder.join(files.remove(at));
        let text = read_text(&path).map_err(|e| unreadable(&path, &e))?;
        found += 1;
        replaced.files.insert(old.name.clone(), path);
        if text != old.text {
            *place = text.into();
            replaced.changed.push(old.name);
        }
    }
    if found == 0 {
        let folder = folder.display().to_string();
        return Err(ReplaceError::NothingKnown { folder, known: known.join(", ") });
    }
    replaced.unknown = files.iter().map(|name| printable(name, 80)).collect();
    Ok(replaced)
}

/// The templates in an experiment's settings: the name of a file for each, and its text.
pub fn template_files(settings: &Value) -> Vec<(String, String)> {
    let mut settings = settings.clone();
    let found = templates(&mut settings).into_iter();
    found.map(|(template, _)| (file_name(&template.name), template.text)).collect()
}

/// Each template and the place of its text.
fn templates(settings: &mut Value) -> Vec<(TemplateText, &mut Value)> {
    let Value::Object(settings) = settings else { return Vec::new() };
    let under =
        settings.iter_mut().filter(|(key, _)| matches!(key.as_str(), "template" | "prompts"));
    let values = under.flat_map(|(_, value)| match value {
        Value::Array(list) => list.iter_mut().collect(),
        one => vec![one],
    });
    let whole = values.filter_map(|value| {
        let template: TemplateText = serde_json::from_value(value.clone()).ok()?;
        Some((template, value.get_mut("text")?))
    });
    whole.collect()
}

/// The file name for a template: its name, or the last part of the path that it was read from.
fn file_name(template: &str) -> String {
    let last = template.rsplit(['/', '\\']).next().unwrap_or(template);
    if last.ends_with(".txt") { last.to_owned() } else { format!("{last}.txt") }
}

/// The names of a folder's files, sorted.
fn files(folder: &Path) -> Result<Vec<String>, ReplaceError> {
    let failed = |e: std::io::Error| unreadable(folder, &e);
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        names.push(entry.map_err(failed)?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}

fn unreadable(path: &Path, error: &dyn std::error::Error) -> ReplaceError {
    ReplaceError::Unreadable { path: path.display().to_string(), reason: error.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_read_from_a_path_goes_by_its_last_part() {
        assert_eq!(file_name("cot"), "cot.txt");
        assert_eq!(file_name("../mine/cot.txt"), "cot.txt");
    }
}
