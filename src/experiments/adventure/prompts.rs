//! The prompts: templates that come with the program. The formats of answers in them are those of
//! the source document, word for word; it has no other words for a model.

use serde::Serialize;

use super::config::PromptText;
use crate::template::{TemplateError, Templates};

macro_rules! templates {
    ($($name:literal),+ $(,)?) => {
        /// The names of all templates.
        pub const NAMES: &[&str] = &[$($name),+];

        /// The templates of `config/prompts/adventure/`.
        pub fn built_in() -> Vec<PromptText> {
            vec![$(PromptText {
                name: $name.to_owned(),
                text: include_str!(concat!("../../../config/prompts/adventure/", $name, ".txt"))
                    .to_owned(),
            }),+]
        }
    };
}

templates!["master_system", "opening", "choice", "master_turn", "character", "player", "human"];

/// The templates, ready to be filled in.
#[derive(Debug)]
pub struct Prompts(Templates);

impl Prompts {
    /// Reads the templates and sees that all of them are there.
    ///
    /// # Errors
    /// [`TemplateError`] with the line.
    pub fn new(templates: &[PromptText]) -> Result<Self, TemplateError> {
        if let Some(name) = NAMES.iter().find(|name| !templates.iter().any(|t| t.name == **name)) {
            let reason = "missing: the experiment needs it".to_owned();
            return Err(TemplateError { name: (*name).to_owned(), reason });
        }
        let pairs = templates.iter().map(|t| (t.name.clone(), t.text.clone()));
        Ok(Prompts(Templates::new(pairs)?))
    }

    /// A prompt, filled in, without space at its end.
    pub(super) fn fill(&self, name: &str, values: impl Serialize) -> Result<String, TemplateError> {
        Ok(self.0.render(name, values)?.trim_end().to_owned())
    }
}
