//! The prompts: built-in templates that are word for word those of the source document.
//!
//! Its context template is split into four parts at its sections, so that the log stores only once
//! the text that is shown to all agents on a day: `context_forum` and `context_world` are the same
//! for all, `context_status` and `context_events` are an agent's own. Joined, they are the
//! document's text. Numbers that it takes from its own world (100 agents, the last 20 posts, 1 food
//! and 1 energy per day) are values.

use serde::Serialize;

use super::personality::Personality;
use super::world::{Amount, Stock};
use retold_study::template::{TemplateError, TemplateText, Templates, embedded};

embedded! { "../../../config/prompts/society":
    "base_system",
    "personality_efficiency",
    "personality_equality",
    "personality_freedom",
    "personality_stability",
    "context_status",
    "context_forum",
    "context_events",
    "context_world",
}

/// The templates, ready to be filled in.
#[derive(Debug)]
pub struct SocietyPrompts(Templates);

impl SocietyPrompts {
    /// Reads the templates.
    ///
    /// # Errors
    /// [`TemplateError`] if one is missing or cannot be read.
    pub fn new(templates: &[TemplateText]) -> Result<Self, TemplateError> {
        Ok(SocietyPrompts(Templates::all_of(NAMES, templates)?))
    }

    /// A filled-in template.
    pub(super) fn fill(&self, name: &str, values: impl Serialize) -> Result<String, TemplateError> {
        self.0.render(name, values)
    }

    /// An agent's instructions: the base prompt, and its personality's addition.
    pub(super) fn system(
        &self,
        agent: u32,
        agents: usize,
        needs: &Stock,
        personality: Personality,
    ) -> Result<String, TemplateError> {
        let values = serde_json::json!({"ID": agent, "agents": agents, "needs": needs_text(needs)});
        let base = self.fill("base_system", values)?;
        if personality == Personality::Neutral {
            return Ok(base);
        }
        let own = self.fill(&format!("personality_{}", personality.name()), ())?;
        Ok(format!("{base}\n\n{own}"))
    }
}

/// What an agent uses per day, in words: `1 food and 1 energy`.
fn needs_text(needs: &Stock) -> String {
    let amounts = [(needs.food, "food"), (needs.energy, "energy"), (needs.materials, "materials")];
    let needed = amounts.iter().filter(|(amount, _)| *amount != Amount::default());
    let needed: Vec<String> = needed.map(|(amount, what)| format!("{amount} {what}")).collect();
    match needed.split_last() {
        None => "nothing".to_owned(),
        Some((last, [])) => last.clone(),
        Some((last, first)) => format!("{} and {last}", first.join(", ")),
    }
}
