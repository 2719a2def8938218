//! The prompts: built-in templates that are word for word those of the source document.
//!
//! Where the document enumerates (`- {option_1}`, `- {option_2}`, `- ...`), the template has a
//! loop; everything else, including braces, is the document's text.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::Value;

use retold_study::template::{TemplateError, TemplateText, Templates, embedded};

embedded! { "../../../config/prompts/deliberation":
    "base_system",
    "initial_vote",
    "clarification_moderator",
    "clarification_participant",
    "individual_summary",
    "cluster_description",
    "llm_judge",
    "cross_pollination",
    "vote_after_summary_system",
    "vote_after_summary",
    "adversarial_moderator",
    "adversarial_participant",
    "vote_after_dialogue_system",
    "vote_after_dialogue",
    "demographics",
    "enrich_persona",
}

/// The templates, ready to be filled in.
#[derive(Debug)]
pub struct DeliberationPrompts {
    templates: Templates,
    /// The variables that each of them uses.
    named: BTreeMap<&'static str, BTreeSet<String>>,
}

/// The parts of a prompt that depend on a participant.
#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct ParticipantParts<'a> {
    pub(super) enriched_persona: &'a str,
    pub(super) initial_choice: &'a str,
    /// The document's judge prompt uses this field, which it declares deprecated elsewhere:
    /// reasoning now comes from the clarification, so this is the summary of that.
    pub(super) initial_explanation: &'a str,
}

/// A turn in a prompt.
#[derive(Debug, Clone, Serialize)]
pub(super) struct PromptTurn<'a> {
    pub(super) speaker: &'static str,
    pub(super) content: &'a str,
}

impl DeliberationPrompts {
    /// Reads the templates and checks that all of them exist.
    ///
    /// # Errors
    /// [`TemplateError`] with the line.
    pub fn new(templates: &[TemplateText]) -> Result<Self, TemplateError> {
        let templates = Templates::all_of(NAMES, templates)?;
        let named = NAMES.iter().map(|name| (*name, templates.variables(name))).collect();
        Ok(DeliberationPrompts { templates, named })
    }

    /// A prompt, filled in.
    pub(super) fn fill(&self, name: &str, values: Value) -> Result<String, TemplateError> {
        self.templates.render(name, values)
    }

    /// Whether a template uses a variable, or the group that it is in.
    pub(super) fn name(&self, template: &str, variable: &str) -> bool {
        let named = self.named.get(template).into_iter().flatten();
        let mut rest = named.filter_map(|named| variable.strip_prefix(named.as_str()));
        rest.any(|rest| rest.is_empty() || rest.starts_with('.'))
    }
}
