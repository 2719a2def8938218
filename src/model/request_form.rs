//! How a run writes its requests for the servers that it asks. It is part of the run's settings and shapes what is hashed.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::providers::{Inexpressible, alternating};
use super::refusal::{LIMIT, OLD_LIMIT};
use crate::prompt::{Api, Request, RequestError};

/// How a run writes its requests for the servers that it asks: `requests` in its settings, and in what a continuation adds to
/// them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct RequestForm {
    /// Whether the turns of a chat alternate, a user's first, with instructions only before them, as for Anthropic:
    /// consecutive messages of one role are one.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub alternate: bool,
    /// The models that are asked with `max_completion_tokens` instead of `max_tokens`.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub max_completion_tokens: BTreeSet<String>,
}

/// Why a request cannot be written in a form.
#[derive(Debug, thiserror::Error)]
pub enum RequestFormError {
    /// Its turns cannot alternate.
    #[error("with alternating turns: {0}")]
    Turns(#[from] Inexpressible),
    /// What was made of it is not a request.
    #[error(transparent)]
    Request(#[from] RequestError),
}

impl RequestForm {
    /// The key of settings that has it.
    pub const KEY: &str = "requests";

    /// The form in settings; that of all requests as they come if they have none, or one of a later release.
    pub fn of_settings(settings: &Value) -> Self {
        RequestForm::deserialize(&settings[RequestForm::KEY]).unwrap_or_default()
    }

    /// Whether requests stay as they come.
    pub fn is_plain(&self) -> bool {
        *self == RequestForm::default()
    }

    /// Adds what a continuation has added.
    pub fn extend(&mut self, added: RequestForm) {
        let RequestForm { alternate, max_completion_tokens } = added;
        self.alternate |= alternate;
        self.max_completion_tokens.extend(max_completion_tokens);
    }

    /// A request in this form; `None` if it is already.
    ///
    /// # Errors
    /// [`RequestFormError`].
    pub fn apply(&self, request: &Request) -> Result<Option<Request>, RequestFormError> {
        let Some(mut body) =
            request.body().as_object().filter(|_| request.api() == Api::Chat).cloned()
        else {
            return Ok(None);
        };
        let is_renamed =
            request.model().is_some_and(|name| self.max_completion_tokens.contains(name));
        let limit = if is_renamed { body.remove(OLD_LIMIT) } else { None };
        let messages = if self.alternate { alternating(&body)? } else { None };
        if limit.is_none() && messages.is_none() {
            return Ok(None);
        }
        body.extend(limit.map(|limit| (LIMIT.to_owned(), limit)));
        body.extend(messages.map(|messages| ("messages".to_owned(), messages.into())));
        Ok(Some(request.with_body(Value::Object(body))?))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_hash_is_of_what_is_sent() {
        let body = |more: Value| {
            let mut body =
                json!({"model": "o3", "messages": [{"role": "system", "content": "Ask."}]});
            body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            Request::from_body(body).unwrap()
        };
        let asked = body(json!({"max_tokens": 9}));
        assert!(RequestForm::default().apply(&asked).unwrap().is_none());
        let settings =
            json!({"requests": {"alternate": true, "max_completion_tokens": ["o3"], "later": 1}});
        let form = RequestForm::of_settings(&settings);
        let written = form.apply(&asked).unwrap().unwrap();
        let due = body(
            json!({"max_completion_tokens": 9, "messages": [{"role": "user", "content": "Ask."}]}),
        );
        assert_eq!((written.hash(), written.body()), (due.hash(), due.body()));
        assert!(form.apply(&written).unwrap().is_none(), "once is enough");
        let other = RequestForm { alternate: false, ..RequestForm::of_settings(&settings) };
        let request = Request::from_body(
            json!({"model": "gpt-4o", "messages": [{"role": "user", "content": "?"}], "max_tokens": 9}),
        );
        assert!(
            other.apply(&request.unwrap()).unwrap().is_none(),
            "only for the model that asks for it"
        );
        assert_eq!(RequestForm::of_settings(&json!({"other": 1})), RequestForm::default());
        assert_eq!(serde_json::to_value(RequestForm::default()).unwrap(), json!({}));
    }
}
