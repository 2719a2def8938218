//! Before phase 1: demographics for each persona, then a fuller description.

use serde_json::{Value, json};

use crate::experiments::deliberation::ask::filled;
use crate::experiments::deliberation::calls;
use crate::experiments::deliberation::experiment::Deliberation;
use crate::experiments::deliberation::facts::Fact;
use crate::experiments::deliberation::state::Participant;
use crate::parse::demographics::Demographics;
use crate::run::{Run, Stop, Talk};

impl Deliberation {
    /// Both questions for every participant.
    pub(in super::super) async fn enrich_personas(&self, run: &mut Run<Self>) -> Result<(), Stop> {
        let participants: Vec<Participant> = run.state().active().cloned().collect();
        let enrich = async |talk: &mut Talk<Self>, who: Participant| self.enrich(talk, &who).await;
        run.converse_all(participants, enrich).await.map(drop)
    }

    async fn enrich(&self, talk: &mut Talk<Self>, who: &Participant) -> Result<(), Stop> {
        let participant_id = who.participant_id.clone();
        let prompt = self.prompt("demographics", json!({"base_persona": who.base_persona}))?;
        let (request, call) = (self.single(prompt)?, calls::demographics(&participant_id));
        let asked = self.until(talk, call, request, &self.parsers.demographics, |d| d).await?;
        let (demographics, first) = match asked {
            Ok(found) => found,
            Err(failed) => {
                talk.record(failed.of(&participant_id), &[]);
                return Ok(());
            }
        };
        let prompt = self.prompt("enrich_persona", values(&who.base_persona, &demographics))?;
        let (request, call) = (self.single(prompt)?, calls::description(&participant_id));
        match self.until(talk, call, request, &self.parsers.text, filled).await? {
            Ok((enriched_persona, second)) => {
                let fact = Fact::PersonaEnriched { participant_id, demographics, enriched_persona };
                talk.record(fact, &[first, second]);
            }
            Err(failed) => talk.record(failed.of(&participant_id), &[first]),
        }
        Ok(())
    }
}

fn values(base_persona: &str, demographics: &Demographics) -> Value {
    let Demographics {
        age,
        sex,
        education,
        income,
        location_type,
        political_leaning,
        // The document's prompt does not name it.
        occupation: _,
    } = demographics;
    json!({
        "base_persona": base_persona,
        "age": age,
        "sex": sex,
        "education": education,
        "income": income,
        "location_type": location_type,
        "political_leaning": political_leaning,
    })
}
