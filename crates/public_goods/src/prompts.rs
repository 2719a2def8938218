//! The prompts: built-in templates.
//!
//! Everything that the source document spells out is in them word for word: the contribution stage
//! of its "Full Game Flow" and the three output formats. `exactly N integers, e.g., [0, 2, 1, 0]`
//! is filled in with the number of targets and an example of that length. The rest is ours, in the
//! same tone.

use serde_json::Value;

use retold_study::template::{TemplateError, TemplateText, Templates, embedded};

embedded! { "../../config/prompts/public_goods":"rules", "history", "chat", "contribution", "decision", "redistribution"}

/// The templates, ready to be filled in.
#[derive(Debug)]
pub struct Prompts(Templates);

impl Prompts {
    /// Reads the templates; all of them must exist.
    ///
    /// # Errors
    /// [`TemplateError`] with the line.
    pub fn new(templates: &[TemplateText]) -> Result<Self, TemplateError> {
        Ok(Prompts(Templates::all_of(NAMES, templates)?))
    }

    /// A filled-in prompt.
    pub(super) fn fill(&self, name: &str, values: Value) -> Result<String, TemplateError> {
        self.0.render(name, values)
    }
}
