//! The body of a success: what can be read of it, and what is kept if it is hard to read.

use std::borrow::Cow;

use data_encoding::BASE64;
use serde_json::Value;

use crate::exact::has_inexact;
use crate::members::Members;
use crate::model::mend::{MendedJson, mend};
use crate::model::providers::openai_chat::{OpenAiChat, completion};
use crate::model::providers::{Dialect, NotRead, ReaderFault, ReplyOf, try_read};
use crate::model::secrets::Secrets;
use crate::model::{Failure, FailureKind, NotACompletion, Response, Unreadable, answer_in};

/// How many bytes of an unreadable answer are kept: no model writes that much.
const MOST_KEPT: usize = 1 << 20;

/// The body of a success.
pub(super) struct SuccessBody {
    /// Its JSON; null if it is not JSON.
    pub(super) value: Value,
    /// How it was repaired, if that was necessary.
    pub(super) mended: Option<MendedJson>,
    /// The bytes as received.
    pub(super) bytes: Vec<u8>,
}

/// Whether a body that is not valid JSON is still a chat completion: it was paid for and must not
/// be bought again.
pub(super) fn is_an_answer(text: &str) -> bool {
    text.trim_start().starts_with('{')
        && ["\"choices\"", "\"message\""].iter().all(|name| text.contains(name))
}

impl SuccessBody {
    /// The answer to a chat request.
    pub(super) fn into_response(self, secrets: &Secrets) -> Result<Response, Failure> {
        try_read(OpenAiChat.name(), || self.chat(secrets))
            .unwrap_or_else(|fault| Ok(self.unread(&fault, secrets)))
    }

    /// The answer to a request in the words of another API.
    pub(super) fn into_answer_of(
        mut self,
        dialect: &dyn Dialect,
        secrets: &Secrets,
    ) -> Result<Response, Failure> {
        if self.mended.is_none() && has_inexact(&self.value) {
            let mended = mend(&self.bytes);
            self.value = serde_json::from_str(&mended.text).unwrap_or(self.value);
            self.mended = Some(mended);
        }
        match answer_in(std::mem::take(&mut self.value), dialect) {
            Ok(mut response) => {
                if let Some(mended) = &self.mended {
                    mended.mark.give_back_digits(&mut response);
                }
                Ok(response)
            }
            Err(NotRead::Fault(fault)) => Ok(self.unread(&fault, secrets)),
            Err(what) => {
                let message = format!("the answer is not one of this API: {what}");
                Err(Failure::new(FailureKind::Malformed, message))
            }
        }
    }

    fn chat(&self, secrets: &Secrets) -> Result<Response, Failure> {
        let (value, mended) = match &self.mended {
            Some(mended) => (Cow::Borrowed(&self.value), Cow::Borrowed(mended)),
            None => match completion(&self.value) {
                // The common case.
                Ok(response) if !response.extra.values().any(has_inexact) => return Ok(response),
                Err(error) if !has_message(&self.value) => {
                    return Err(not_read(error, &self.value));
                }
                // Only the text has the digits of long integers.
                _ => {
                    let mended = mend(&self.bytes);
                    let value = serde_json::from_str(&mended.text).map(Cow::Owned);
                    (value.unwrap_or(Cow::Borrowed(&self.value)), Cow::Owned(mended))
                }
            },
        };
        let (mut response, mut wrong) = match &*value {
            Value::Null => (Response::text(""), vec!["it is not JSON"]),
            value => read(value)?,
        };
        wrong.extend(&mended.wrong);
        mended.mark.give_back_digits(&mut response);
        if !wrong.is_empty() {
            self.unreadable(&value, wrong.join(", "), secrets).add_to(&mut response.extra);
        }
        Ok(response)
    }

    /// What is kept of an answer at which its reader stopped: it was paid for.
    fn unread(&self, fault: &ReaderFault, secrets: &Secrets) -> Response {
        let mut response = Response::text("");
        let value = serde_json::from_slice(&self.bytes).unwrap_or_default();
        self.unreadable(&value, fault.to_string(), secrets).add_to(&mut response.extra);
        response
    }

    fn unreadable(&self, value: &Value, reason: String, secrets: &Secrets) -> Unreadable {
        let body = base64_excerpt(&self.bytes, value, secrets);
        Unreadable { body, length: self.bytes.len() as u64, reason }
    }
}

/// Whether it has a message, which a model wrote and which was paid for.
fn has_message(value: &Value) -> bool {
    value["choices"][0]["message"].is_object()
}

/// The failure for a reply without a message. A server that speaks another API always does so, so
/// the request is not tried again.
fn not_read(error: NotACompletion, value: &Value) -> Failure {
    let failure = Failure::from(error);
    let reply = value.as_object().and_then(ReplyOf::recognise);
    match reply.filter(|reply| reply.dialect.plain().is_none()) {
        Some(ReplyOf { api, .. }) => Failure {
            kind: FailureKind::Rejected,
            message: format!(
                "the answer is a reply of {api}, and not a chat completion: is the base URL that of an \
                 OpenAI-compatible API?"
            ),
            ..failure
        },
        None => failure,
    }
}

/// The answer; its text is left out if it has an unknown shape.
fn read(value: &Value) -> Result<(Response, Vec<&'static str>), Failure> {
    match completion(value) {
        Ok(response) => Ok((response, Vec::new())),
        Err(error) if !has_message(value) => Err(not_read(error, value)),
        Err(_) => {
            let mut without = value.clone();
            without.take_at("/choices/0/message/content");
            let wrong = "\"content\" is neither a text nor a list of parts";
            Ok((completion(&without)?, vec![wrong]))
        }
    }
}

/// The bytes in base64, unless they hold a secret in any form that we recognise.
fn base64_excerpt(bytes: &[u8], value: &Value, secrets: &Secrets) -> Option<String> {
    // Check all of it, because the kept part may end within a secret.
    if secrets.are_in(&String::from_utf8_lossy(bytes)) || secrets.are_in(&value.to_string()) {
        return None;
    }
    Some(BASE64.encode(&bytes[..bytes.len().min(MOST_KEPT)]))
}
