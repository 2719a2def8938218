//! The prompts: templates that come with the program.
//!
//! What the source document spells out stands in them word for word: the contribution stage of its
//! "Full Game Flow" and the three output formats. `exactly N integers, e.g., [0, 2, 1, 0]` is filled
//! in with the number of targets and an example of that length. The rest is ours in its tone.

use serde_json::Value;

use crate::config::PromptText;
use crate::template::{TemplateError, Templates};

macro_rules! templates {
    ($($name:literal),+ $(,)?) => {
        /// The names of all templates.
        pub const NAMES: &[&str] = &[$($name),+];

        /// The templates of `config/prompts/public_goods/`: name and text.
        pub fn built_in() -> Vec<(String, String)> {
            vec![$((
                $name.to_owned(),
                include_str!(concat!("../../../config/prompts/public_goods/", $name, ".txt"))
                    .to_owned(),
            )),+]
        }
    };
}

templates!["rules", "history", "chat", "contribution", "decision", "redistribution"];

/// The templates, ready to be filled in.
#[derive(Debug)]
pub struct Prompts(Templates);

impl Prompts {
    /// Reads the templates; all of them must be there.
    ///
    /// # Errors
    /// [`TemplateError`] with the line.
    pub fn new(templates: Vec<PromptText>) -> Result<Self, TemplateError> {
        if let Some(name) = NAMES.iter().find(|name| !templates.iter().any(|t| t.name == **name)) {
            let reason = "missing: the experiment needs it".to_owned();
            return Err(TemplateError { name: (*name).to_owned(), reason });
        }
        Ok(Prompts(Templates::new(templates.into_iter().map(|t| (t.name, t.text)))?))
    }

    /// A prompt, filled in.
    pub(super) fn fill(&self, name: &str, values: Value) -> Result<String, TemplateError> {
        self.0.render(name, values)
    }
}
