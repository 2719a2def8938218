//! The prompts: built-in templates. The formats of answers in them are word for word those of the
//! source document, which has no other words for a model.

use serde::Serialize;

use retold_study::template::{TemplateError, TemplateText, Templates, embedded};

embedded! { "../../config/prompts/adventure":"master_system", "opening", "choice", "master_turn", "character", "player", "human"}

/// The templates, ready to be filled in.
#[derive(Debug)]
pub struct Prompts(Templates);

impl Prompts {
    /// Reads the templates and checks that all of them exist.
    ///
    /// # Errors
    /// [`TemplateError`] with the line.
    pub fn new(templates: &[TemplateText]) -> Result<Self, TemplateError> {
        Ok(Prompts(Templates::all_of(NAMES, templates)?))
    }

    /// A filled-in prompt, without trailing white space.
    pub(super) fn fill(&self, name: &str, values: impl Serialize) -> Result<String, TemplateError> {
        Ok(self.0.render(name, values)?.trim_end().to_owned())
    }
}
