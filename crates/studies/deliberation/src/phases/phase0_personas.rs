//! Before phase 1: demographics for each persona, then a fuller description. Participants from the
//! pool already have both.

use serde_json::{Value, json};

use crate::ask::{QuestionFailure, non_empty};
use crate::calls::{self, LabelledCall};
use crate::conditions::Condition;
use crate::experiment::Deliberation;
use crate::facts::Fact;
use crate::origins::{FactOrigins, OriginKey};
use crate::parse::Demographics;
use retold::run::{Run, Stop, Talk};

/// A persona to be enriched.
struct BasePersona {
    /// `p_0001`, or `spare_0001` for a persona that is only made for the pool.
    id: String,
    base_persona: String,
    /// `None` for a persona that takes no part.
    condition: Option<Condition>,
}

impl BasePersona {
    fn labelled_call(&self, call: fn(&str) -> String) -> LabelledCall {
        LabelledCall::of(&self.id, self.condition, call(&self.id))
    }

    /// The result of both answers.
    fn into_fact(self, demographics: Demographics, enriched_persona: String) -> Fact {
        let BasePersona { id: participant_id, base_persona, condition } = self;
        if condition.is_some() {
            Fact::PersonaEnriched { participant_id, demographics, enriched_persona }
        } else {
            Fact::SparePersonaMade { base_persona, demographics, enriched_persona }
        }
    }

    /// The result of a failure: a spare persona is simply dropped.
    fn into_failure(self, failed: QuestionFailure) -> Option<Fact> {
        self.condition.is_some().then(|| failed.fact(&self.id))
    }
}

impl Deliberation {
    /// Asks both questions for every participant who was not drawn from the pool, and for the
    /// personas that the pool lacks.
    pub(in super::super) async fn enrich_personas(
        &self,
        run: &mut Run<Self>,
        origins: &FactOrigins,
    ) -> Result<(), Stop> {
        let plain = run.state().active().filter(|p| p.enriched_persona.is_none());
        let participants = plain.map(|p| BasePersona {
            id: p.participant_id.clone(),
            base_persona: p.base_persona.clone(),
            condition: Some(p.condition),
        });
        let spare = (1..).zip(&self.pool.spare).map(|(number, base_persona)| BasePersona {
            id: format!("spare_{number:04}"),
            base_persona: base_persona.clone(),
            condition: None,
        });
        let bases: Vec<BasePersona> = participants.chain(spare).collect();
        let enrich =
            async |talk: &mut Talk<Self>, base: BasePersona| self.enrich(talk, origins, base).await;
        run.converse_all(bases, enrich).await.map(drop)
    }

    async fn enrich(
        &self,
        talk: &mut Talk<Self>,
        origins: &FactOrigins,
        base: BasePersona,
    ) -> Result<(), Stop> {
        // A spare persona is only in the settings.
        let mut because = origins.sources([OriginKey::BasePersona(base.id.clone())]);
        let prompt = self.prompt("demographics", json!({"base_persona": base.base_persona}))?;
        let (request, call) = (self.single(prompt)?, base.labelled_call(calls::demographics));
        let parser = &self.parsers.demographics;
        let asked = self.ask_until_usable(talk, call, request, &because, parser, |d| d).await?;
        let (demographics, first) = match asked {
            Ok(found) => found,
            Err(failed) => {
                base.into_failure(failed).into_iter().for_each(|fact| talk.record(fact, &[]));
                return Ok(());
            }
        };
        let prompt = self.prompt("enrich_persona", values(&base.base_persona, &demographics))?;
        let (request, call) = (self.single(prompt)?, base.labelled_call(calls::description));
        because.push((&first).into());
        match self
            .ask_until_usable(talk, call, request, &because, &self.parsers.text, non_empty)
            .await?
        {
            Ok((text, second)) => {
                origins.tell(talk, base.into_fact(demographics, text), &[first, second]);
            }
            Err(failed) => {
                let fact = base.into_failure(failed);
                fact.into_iter().for_each(|fact| talk.record(fact, std::slice::from_ref(&first)));
            }
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
        // The document's prompt does not use it.
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
