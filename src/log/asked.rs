//! The models that questions ask for.

use super::backend::Reader;
use super::error::LogError;
use super::run_events::event_at;
use crate::event::StoredEvent;
use crate::id::{PromptHash, RunId, Seq};
use crate::lookup::Recent;

/// The models that the questions of a run ask for, on the way through the run. Many questions have
/// the same prompt, and most answers follow soon after their questions: a model that is not
/// remembered is read again.
#[derive(Debug, Clone, Default)]
pub struct AskedModels {
    questions: Recent<Seq, PromptHash>,
    models: Recent<PromptHash, Option<String>>,
}

impl AskedModels {
    /// The model that a prompt names.
    ///
    /// # Errors
    /// [`LogError`] if the prompt cannot be read.
    pub fn of_prompt(
        &mut self,
        reader: &mut dyn Reader,
        prompt: PromptHash,
    ) -> Result<Option<String>, LogError> {
        if let Some(model) = self.models.get(&prompt) {
            return Ok(model.clone());
        }
        let model = reader.model(prompt)?;
        self.models.insert(prompt, model.clone());
        Ok(model)
    }

    /// The model that was asked for, if the event is an answer to a question that names one. Reading
    /// less is needed if questions are passed as well.
    ///
    /// # Errors
    /// [`LogError`] if the question or its prompt cannot be read.
    pub fn asked_by(
        &mut self,
        reader: &mut dyn Reader,
        event: &StoredEvent,
    ) -> Result<Option<String>, LogError> {
        if let (true, Some(prompt)) = (event.is_question(), event.prompt) {
            self.questions.insert(event.seq, prompt);
        }
        let Some(question) = event.cause.filter(|_| event.is_answer()) else { return Ok(None) };
        let prompt = match self.questions.get(&question) {
            Some(prompt) => Some(*prompt),
            None => prompt_of(reader, event.run, question)?,
        };
        prompt.map_or(Ok(None), |prompt| self.of_prompt(reader, prompt))
    }
}

/// The prompt of a question, if there is one with this number.
fn prompt_of(
    reader: &mut dyn Reader,
    run: RunId,
    question: Seq,
) -> Result<Option<PromptHash>, LogError> {
    let found = event_at(reader, run, question)?;
    Ok(found.filter(StoredEvent::is_question).and_then(|found| found.prompt))
}
