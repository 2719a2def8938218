//! A participant's whole story.

use std::fmt::Write;

use serde::Deserialize;
use serde_json::json;

use super::chapters::{StoryState, chapter};
use super::experiment::Deliberation;
use super::facts::Fact;
use super::state::{DeliberationState, Participant, ParticipantStatus};
use retold::id::CallPath;
use retold::run::{OutputError, Report, RunRecord};
use retold_study::story::{indent, is_numbered, no_part, tell, text};

impl Deliberation {
    /// The story of a participant; `None` if there is no participant with that name.
    pub(super) fn story_of(
        &self,
        state: &DeliberationState,
        participant_id: &str,
        record: &mut RunRecord<'_>,
    ) -> Result<Option<Report>, OutputError> {
        let Some(participant) = state.participants.get(participant_id) else {
            if !is_numbered(participant_id, "p_") {
                return Ok(None);
            }
            let what = format!("participant {participant_id}");
            return Err(no_part(record, what, state.participants.keys().cloned()));
        };
        let mut chapters = Vec::new();
        let mut so_far = StoryState::new(participant, &self.config.topic.options);
        for (number, (fact, place)) in record.facts.iter().zip(&record.places).enumerate() {
            let fact = Fact::deserialize(fact)
                .map_err(|e| OutputError::Fact { number, source: e.into() })?;
            if let Some(found) = chapter(&mut so_far, fact) {
                chapters.push((place.seq, found));
            }
        }
        let about = |call: &CallPath| call.as_str().split('/').any(|part| part == participant_id);
        let told = tell(record, chapters, &about)?;
        let json = json!({
            "participant_id": participant_id,
            "condition": participant.condition,
            "status": participant.status,
            "error_message": participant.error_message,
            "story": told,
        });
        let text = format!("{}{}", headline(participant), text(&told));
        Ok(Some(Report { json, text, ..Report::default() }))
    }
}

fn headline(participant: &Participant) -> String {
    let Participant { participant_id, condition, status, error_message, .. } = participant;
    let status = match status {
        ParticipantStatus::Pending => "on the way",
        ParticipantStatus::Complete => "complete",
        ParticipantStatus::Failed => "failed",
        ParticipantStatus::Skipped => "skipped",
    };
    let mut text = format!("participant {participant_id}  {}  {status}\n", condition.as_str());
    if let Some(message) = error_message {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}", indent(message));
    }
    text
}
