//! Config files, as studies load them.

use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::error::ConfigError;
use super::prompts::prompts;
use super::wrong::ConfigProblem;
use super::yaml::{ConfigHead, ConfigSeed, load_with, read_text, relative_to};
use crate::template::TemplateText;
use retold::escaping::printable;

/// A config file given by the user, and what `--set` changes in it. Paths in it are relative to it
/// if such a file exists, otherwise to the working directory.
#[derive(Debug, Clone, Copy)]
pub struct ConfigFile<'a> {
    /// Its path.
    pub path: &'a Path,
    /// Its text.
    pub text: &'a str,
    /// The changes: `KEY=VALUE`.
    pub overrides: &'a [String],
    /// Whether it may name files outside of its folder.
    pub is_trusted: bool,
}

impl ConfigFile<'_> {
    /// Whether it names a seed.
    ///
    /// # Errors
    /// [`ConfigError`] with line or key.
    pub(crate) fn names_seed(&self) -> Result<bool, ConfigError> {
        let ConfigFile { path, text, overrides, is_trusted: _ } = self;
        let ConfigSeed { seed, random_seed } = load_with(path, text, overrides)?;
        Ok(seed.is_some() || random_seed.is_some())
    }

    /// The config of an experiment, typed.
    ///
    /// # Errors
    /// [`ConfigError`] with line or key, including if the file is for another experiment.
    pub fn read<T: Serialize + DeserializeOwned>(
        &self,
        experiment: &str,
    ) -> Result<T, ConfigError> {
        let ConfigFile { path, text, overrides, is_trusted: _ } = self;
        let config = load_with(path, text, overrides)?;
        let head: ConfigHead = load_with(path, text, overrides)?;
        match head.experiment.filter(|named| named != experiment) {
            None => Ok(config),
            Some(other) => {
                let message =
                    format!("this config is for {other:?}, but it is loaded for {experiment:?}");
                Err(self.wrong("experiment", message))
            }
        }
    }

    /// Where a file is that the config names. Whoever wrote the config may not choose any file of this machine: it is in
    /// the folder of the config, and no link leads out. What `--set` names is the user's own choice.
    ///
    /// # Errors
    /// [`ConfigError::Outside`].
    pub fn place_of(&self, named: &Path) -> Result<PathBuf, ConfigError> {
        let place = relative_to(self.path, named);
        let named = named.to_string_lossy();
        let is_typed = self.overrides.iter().any(|setting| {
            setting.split_once('=').is_some_and(|(_, value)| value.contains(&*named))
        });
        if self.is_trusted || is_typed || self.has_inside(&place) {
            return Ok(place);
        }
        let file = printable(&named, 200);
        Err(ConfigError::Outside { path: self.path.display().to_string(), file })
    }

    /// Whether a file is in the folder of the config, or would be if it existed.
    fn has_inside(&self, place: &Path) -> bool {
        let there = |place: &Path| match place.as_os_str().is_empty() {
            true => Path::new(".").canonicalize().ok(),
            false => place.canonicalize().ok(),
        };
        let Some(real) = place.ancestors().find_map(there) else { return false };
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new(".")).canonicalize();
        folder.is_ok_and(|folder| real.starts_with(folder))
    }

    /// The text of a file that the config names.
    ///
    /// # Errors
    /// [`ConfigError::Unreadable`], [`ConfigError::NotUtf8`], [`ConfigError::Outside`].
    pub fn text_of(&self, file: &Path) -> Result<String, ConfigError> {
        read_text(&self.place_of(file)?)
    }

    /// The built-in templates, replaced by those in the folder that the config names, if it names
    /// one.
    ///
    /// # Errors
    /// [`ConfigError`] for a file that cannot be read, a folder without any of the templates, a
    /// template that cannot be compiled, or a variable that no built-in template uses.
    pub fn prompts(
        &self,
        folder: Option<&Path>,
        built_in: Vec<TemplateText>,
    ) -> Result<Vec<TemplateText>, ConfigError> {
        prompts(self, folder, built_in)
    }

    /// An error at a key; its line is added where the config is loaded.
    pub fn wrong(&self, key: &str, message: impl Into<String>) -> ConfigError {
        ConfigProblem::new(key, message).at(self.path)
    }
}
