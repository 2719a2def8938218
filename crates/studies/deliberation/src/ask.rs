//! Asks until an answer is usable.

use std::sync::Arc;

use super::calls::LabelledCall;
use super::experiment::Deliberation;
use super::facts::Fact;
use retold::id::CallPath;
use retold::parse::Parser;
use retold::prompt::{Message, Request, Role};
use retold::run::{Answer, CallFailed, DecisionRef, Question, RetriedAnswer, Source, Stop, Talk};

/// A call that gave no usable answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct QuestionFailure {
    pub(super) call: String,
    pub(super) sample: u32,
    pub(super) reason: String,
}

impl QuestionFailure {
    /// The fact that a participant has failed.
    pub(super) fn fact(self, participant_id: &str) -> Fact {
        let QuestionFailure { call, sample, reason } = self;
        Fact::ParticipantFailed { participant_id: participant_id.to_owned(), call, sample, reason }
    }
}

impl From<CallFailed> for QuestionFailure {
    fn from(failed: CallFailed) -> Self {
        let CallFailed { call, sample, failure } = failed;
        QuestionFailure { call: call.to_string(), sample, reason: failure.to_string() }
    }
}

/// The outcome of a question: a usable value and the decision that led to it, or a failure.
pub(super) type AskOutcome<T> = Result<(T, DecisionRef), QuestionFailure>;

impl Deliberation {
    /// Asks a question, and asks it again as the next sample while the answer is not usable, up to
    /// `max_parse_retries` times. `because` has the sources of the request.
    pub(super) async fn ask_until_usable<P: Parser, T>(
        &self,
        talk: &mut Talk<Self>,
        call: LabelledCall,
        request: Request,
        because: &[Source],
        parser: &Arc<P>,
        accept: impl Fn(P::Value) -> Option<T>,
    ) -> Result<AskOutcome<T>, Stop>
    where
        P::Value: Clone,
    {
        let LabelledCall { call, labels } = call;
        let question = Question::new(CallPath::new(&call)?, request, parser.clone());
        let question = question.because(because).labels(labels);
        let most = self.config.max_parse_retries.saturating_add(1);
        let usable = |answer: &Answer<P::Value>| accept(answer.value.clone()).is_some();
        let RetriedAnswer { answer, sample, refused, .. } =
            talk.ask_until(question, most, usable).await?;
        let Answer { value, warnings, decision, .. } = match answer {
            Ok(answer) => answer,
            Err(failed) => return Ok(Err(failed.into())),
        };
        if let Some(value) = accept(value) {
            return Ok(Ok((value, decision)));
        }
        let last = warnings.join("; ");
        let reason = format!("none of {refused} answers could be used; the last one: {last}");
        Ok(Err(QuestionFailure { call, sample, reason }))
    }

    /// A filled-in template.
    pub(super) fn prompt(&self, name: &str, values: serde_json::Value) -> Result<String, Stop> {
        Ok(self.prompts.fill(name, values)?)
    }

    /// A request with one message.
    pub(super) fn single(&self, prompt: String) -> Result<Request, Stop> {
        Ok(self.config.chat(vec![Message::new(Role::User, prompt)])?)
    }

    /// A request with instructions and one message.
    pub(super) fn request_with_system(
        &self,
        system: String,
        user: String,
    ) -> Result<Request, Stop> {
        let messages = vec![Message::new(Role::System, system), Message::new(Role::User, user)];
        Ok(self.config.chat(messages)?)
    }
}

/// A text, unless it is empty.
pub(super) fn non_empty(text: String) -> Option<String> {
    (!text.is_empty()).then_some(text)
}
