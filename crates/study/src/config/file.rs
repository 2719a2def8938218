//! Config files, as studies load them.

use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::error::ConfigError;
use super::prompts::prompts;
use super::wrong::ConfigProblem;
use super::yaml::{ConfigHead, ConfigSeed, load, read_text, relative_to, with_overrides};
use crate::template::TemplateText;

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
}

impl ConfigFile<'_> {
    /// Whether it names a seed.
    ///
    /// # Errors
    /// [`ConfigError`] with line or key.
    pub(crate) fn names_seed(&self) -> Result<bool, ConfigError> {
        let ConfigFile { path, text, overrides } = self;
        let ConfigSeed { seed, random_seed } = with_overrides(load(path, text)?, overrides)?;
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
        let ConfigFile { path, text, overrides } = self;
        let config = with_overrides(load(path, text)?, overrides)?;
        let head: ConfigHead = with_overrides(load(path, text)?, overrides)?;
        match head.experiment.filter(|named| named != experiment) {
            None => Ok(config),
            Some(other) => {
                let message =
                    format!("this config is for {other:?}, but it is loaded for {experiment:?}");
                Err(self.wrong("experiment", message))
            }
        }
    }

    /// The text of a file that the config names.
    ///
    /// # Errors
    /// [`ConfigError::Unreadable`], [`ConfigError::NotUtf8`].
    pub fn text_of(&self, file: &Path) -> Result<String, ConfigError> {
        read_text(&relative_to(self.path, file))
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
        prompts(self.path, folder, built_in)
    }

    /// An error at a key; its line is added where the config is loaded.
    pub fn wrong(&self, key: &str, message: impl Into<String>) -> ConfigError {
        ConfigProblem::new(key, message).at(self.path)
    }
}
