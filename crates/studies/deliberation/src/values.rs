//! The values for filling in prompts.

use serde_json::{Value, json};

use super::experiment::Deliberation;
use super::origins::{FactOrigins, OriginKey};
use super::prompts::{ParticipantParts, PromptTurn};
use super::state::Participant;
use super::transcript::{DialogueTurn, Speaker};
use retold::members::Members;
use retold::run::{Source, Stop};

impl Participant {
    /// What prompts say about a participant.
    pub(super) fn who(&self) -> ParticipantParts<'_> {
        ParticipantParts {
            enriched_persona: self.enriched_persona.as_deref().unwrap_or(""),
            initial_choice: self.initial_choice.as_deref().unwrap_or(""),
            initial_explanation: self.individual_summary.as_deref().unwrap_or(""),
        }
    }
}

/// A dialogue in a prompt; `participant` is the participant's name in it.
pub(super) fn prompt_turns<'a>(
    turns: &'a [DialogueTurn],
    participant: &'static str,
) -> Vec<PromptTurn<'a>> {
    let speaker = |role| match role {
        Speaker::Moderator => "Moderator",
        Speaker::Participant => participant,
    };
    turns.iter().map(|t| PromptTurn { speaker: speaker(t.role), content: &t.content }).collect()
}

impl Deliberation {
    /// What every prompt about a participant may use.
    pub(super) fn about(&self, participant: &Participant) -> Value {
        json!({
            "topic": self.config.topic,
            "options_comma_separated": self.config.topic.options.join(", "),
            "participant": participant.who(),
        })
    }

    /// A participant's instructions: the base, and a template's addition to it.
    pub(super) fn instructions(
        &self,
        participant: &Participant,
        addition: Option<&str>,
    ) -> Result<String, Stop> {
        let mut values = self.about(participant);
        let base = self.prompt("base_system", values.clone())?;
        match addition {
            None => Ok(base),
            Some(name) => {
                values.set("base_system_prompt", base.into());
                self.prompt(name, values)
            }
        }
    }
}

impl Deliberation {
    /// The sources of a prompt about a participant, if it is filled in with these templates.
    pub(super) fn made_from(
        &self,
        origins: &FactOrigins,
        participant_id: &str,
        templates: &[&str],
    ) -> Vec<Source> {
        let id = || participant_id.to_owned();
        let shown = [
            ("participant.enriched_persona", OriginKey::Persona(id())),
            ("participant.initial_choice", OriginKey::InitialChoice(id())),
            ("participant.initial_explanation", OriginKey::Summary(id())),
            ("opposition_view", OriginKey::Opposition(id())),
            ("cross_pollination_content", OriginKey::Positions),
        ];
        let named = |variable: &str| templates.iter().any(|t| self.prompts.name(t, variable));
        origins.sources(shown.into_iter().filter(|(v, _)| named(v)).map(|(_, known)| known))
    }
}
