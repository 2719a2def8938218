//! Tries out templates before anything is recorded, with values like those in the phases: a user's
//! own template with an unknown variable must not stop a run in its last phase.

use serde_json::json;

use super::check::check;
use super::conditions::Condition;
use super::experiment::Deliberation;
use super::facts::Fact;
use super::settings::Settings;
use super::state::{DeliberationState, participant_id};
use super::transcript::{DialogueTurn, Speaker};
use super::values::prompt_turns;
use retold::members::Members;
use retold::run::Stop;
use retold_study::error::StudyError;

/// Checks settings for a new run: every value, and every template, by filling it in.
///
/// # Errors
/// The first invalid value.
pub(super) fn check_settings(settings: &Settings) -> Result<(), StudyError> {
    check(&settings.config)?;
    // Personas may come later, from a URL.
    let personas = vec![String::new(); settings.config.participants()];
    let deliberation = Deliberation::new(Settings { personas, ..settings.clone() })?;
    Ok(deliberation.fill_all()?)
}

impl Deliberation {
    fn fill_all(&self) -> Result<(), Stop> {
        let mut state = DeliberationState::default();
        let (participant_id, base_persona) = (participant_id(1), "someone".to_owned());
        state.apply(&Fact::Enrolled { participant_id, condition: Condition::Acp, base_persona });
        let Some(who) = state.participants.values().next() else { return Ok(()) };
        for addition in [
            "clarification_participant",
            "vote_after_summary_system",
            "adversarial_participant",
            "vote_after_dialogue_system",
        ] {
            self.instructions(who, Some(addition))?;
        }
        let turn = |role| DialogueTurn { role, content: "?".to_owned() };
        let turns = [turn(Speaker::Moderator), turn(Speaker::Participant)];
        let with = |more: serde_json::Value| {
            let mut values = self.about(who);
            more.as_object().into_iter().flatten().for_each(|(k, v)| values.set(k, v.clone()));
            values
        };
        let shown = json!({"cross_pollination_content": "?"});
        let opposed = json!({"cross_pollination_content": "?", "opposition_view": "?"});
        let other = json!({"choice": "?", "reasoning": "?"});
        let group = json!({"option": "?", "descriptions": ["?"]});
        let base = json!({"base_persona": "?"});
        let who_it_is = json!({
            "base_persona": "?", "age": 18, "sex": "?", "education": "?", "income": "?",
            "location_type": "?", "political_leaning": "?",
        });
        for (name, values) in [
            ("demographics", base),
            ("enrich_persona", who_it_is),
            ("initial_vote", with(json!({}))),
            ("clarification_moderator", with(json!({}))),
            ("individual_summary", with(json!({"dialogue": prompt_turns(&turns, "Participant")}))),
            ("cluster_description", json!({"option": "?", "individual_summaries": ["?"]})),
            ("llm_judge", with(json!({"others": [other]}))),
            ("cross_pollination", json!({"groups": [group]})),
            ("vote_after_summary", with(shown)),
            ("adversarial_moderator", with(opposed)),
            ("vote_after_dialogue", with(json!({"dialogue": prompt_turns(&turns, "You")}))),
        ] {
            self.prompt(name, values)?;
        }
        Ok(())
    }
}
