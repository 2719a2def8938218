//! What an event says about a question, for tables.

use retold::content::Content;
use retold::event::{
    AnswerReused, DecisionMade, Event, Labels, RequestSent, ResponseDetails, ResponseReceived,
    asked_for, call_kind,
};
use retold::model::Usage;
use serde_json::Value;

/// What an answer says.
#[derive(Debug)]
pub(crate) struct AnswerNews {
    pub(crate) model: Option<String>,
    /// `None` of a reused answer.
    pub(crate) usage: Option<Usage>,
    /// In US dollars, if that is known.
    pub(crate) cost: Option<f64>,
    pub(crate) latency_ms: u64,
    pub(crate) is_vector: bool,
}

/// A decision that an event reports.
#[derive(Debug)]
pub(crate) struct DecisionNews {
    pub(crate) name: String,
    pub(crate) value: Value,
    pub(crate) method: String,
    /// What made it.
    pub(crate) by: String,
    /// Whether a person or a judge gave it.
    pub(crate) is_verdict: bool,
}

impl DecisionNews {
    pub(crate) fn new(made: &DecisionMade) -> Self {
        DecisionNews {
            name: made.by.decides().to_owned(),
            value: made.details.value.clone(),
            method: made.by.method.clone(),
            by: made.by.made_by(),
            is_verdict: made.by.is_verdict(),
        }
    }
}

/// What an event says about a question.
#[derive(Debug)]
pub(crate) enum QuestionNews {
    Asked { call: String, sample: u32, asked_for: String, labels: Labels, model: Option<String> },
    Answered(AnswerNews),
    Failed,
    Decided(DecisionNews),
}

impl QuestionNews {
    /// A question, with the model that its request names.
    pub(crate) fn from_request(sent: &RequestSent, model: Option<String>) -> Self {
        let RequestSent { call, sample, labels, .. } = sent;
        let named = asked_for(labels).map(|(_, value)| value.to_owned());
        let asked_for = named.unwrap_or_else(|| call_kind(labels, call));
        let (call, labels) = (call.to_string(), labels.clone());
        QuestionNews::Asked { call, sample: *sample, asked_for, labels, model }
    }

    /// What another event says. `cost` is that of an answer, if it is known.
    pub(crate) fn of(event: &Event, cost: Option<f64>) -> Option<Self> {
        let answered = |content: &Content, details: &ResponseDetails, is_reused: bool| {
            QuestionNews::Answered(AnswerNews {
                model: details.model.clone(),
                usage: (!is_reused).then_some(Usage {
                    prompt_tokens: details.prompt_tokens,
                    completion_tokens: details.completion_tokens,
                    cached_tokens: details.cached_tokens,
                    reasoning_tokens: details.reasoning_tokens,
                    cost: details.cost,
                }),
                cost,
                latency_ms: details.latency_ms,
                is_vector: matches!(content, Content::Vector(_)),
            })
        };
        Some(match event {
            Event::ResponseReceived(ResponseReceived { content, details, .. }) => {
                answered(content, details, false)
            }
            Event::AnswerReused(AnswerReused { content, details, .. }) => {
                answered(content, details, true)
            }
            Event::AttemptFailed(_) => QuestionNews::Failed,
            Event::DecisionMade(made) => QuestionNews::Decided(DecisionNews::new(made)),
            _ => return None,
        })
    }
}
