//! The prompts: templates that come with the program, word for word those of the source document.
//!
//! Its context template is in four parts, cut between its sections, so that the log keeps what all
//! agents of a day are shown once: `context_forum` and `context_world` are the same for all,
//! `context_status` and `context_events` are an agent's own. Joined they are the document's text. Numbers
//! it takes from its own world (100 agents, the last 20 posts, 1 food and 1 energy a day) are values.

use serde::Serialize;

use super::personality::Personality;
use super::world::{Amount, Stock};
use retold_study::template::{TemplateError, TemplateText, Templates, embedded};

embedded! { "../../config/prompts/society":
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
pub struct Prompts(Templates);

impl Prompts {
    /// Reads the templates.
    ///
    /// # Errors
    /// [`TemplateError`]: one is missing, or cannot be read.
    pub fn new(templates: &[TemplateText]) -> Result<Self, TemplateError> {
        Ok(Prompts(Templates::all_of(NAMES, templates)?))
    }

    /// A template, filled in.
    pub(super) fn fill(&self, name: &str, values: impl Serialize) -> Result<String, TemplateError> {
        self.0.render(name, values)
    }

    /// An agent's instructions: the base prompt, and what its personality adds.
    pub(super) fn system(
        &self,
        agent: u32,
        agents: usize,
        needs: &Stock,
        personality: Personality,
    ) -> Result<String, TemplateError> {
        let values = serde_json::json!({"ID": agent, "agents": agents, "needs": needed(needs)});
        let base = self.fill("base_system", values)?;
        if personality == Personality::Neutral {
            return Ok(base);
        }
        let own = self.fill(&format!("personality_{}", personality.name()), ())?;
        Ok(format!("{base}\n\n{own}"))
    }
}

/// What an agent uses a day, in words: `1 food and 1 energy`.
fn needed(needs: &Stock) -> String {
    let amounts = [(needs.food, "food"), (needs.energy, "energy"), (needs.materials, "materials")];
    let needed = amounts.iter().filter(|(amount, _)| *amount != Amount::default());
    let needed: Vec<String> = needed.map(|(amount, what)| format!("{amount} {what}")).collect();
    match needed.split_last() {
        None => "nothing".to_owned(),
        Some((last, [])) => last.clone(),
        Some((last, first)) => format!("{} and {last}", first.join(", ")),
    }
}
