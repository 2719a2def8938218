//! Striking out secrets that a server sends back.

use std::fmt;

use reqwest::Url;
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;

use crate::model::{Content, Response};

const STRUCK: &str = "[key]";

/// Shorter values are placeholders (`x`, `-`), and striking them out would leave no text readable.
const SHORTEST: usize = 4;

/// What must never be shown or recorded.
#[derive(Default)]
pub(super) struct Secrets(Vec<SecretString>);

impl Secrets {
    /// Adds a secret, and the way JSON writes it if that is another.
    pub(super) fn add(&mut self, secret: &str) {
        let quoted = Value::from(secret).to_string();
        let escaped = quoted[1..quoted.len() - 1].to_owned();
        for form in [escaped, secret.to_owned()] {
            if form.len() >= SHORTEST && !self.forms().any(|known| known == form) {
                self.0.push(form.into());
            }
        }
        // Longest first: a secret within a secret must not leave the rest of the longer one.
        self.0.sort_by_key(|form| std::cmp::Reverse(form.expose_secret().len()));
    }

    /// Adds the values of a query: some gateways take the key there.
    pub(super) fn add_query(&mut self, url: &Url) {
        for (_, value) in url.query_pairs() {
            self.add(&value);
        }
        for pair in url.query().unwrap_or_default().split('&') {
            self.add(pair.split_once('=').map_or(pair, |(_, value)| value));
        }
    }

    fn forms(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(ExposeSecret::expose_secret)
    }

    /// The text without secrets.
    pub(super) fn strike(&self, text: &str) -> String {
        self.struck(text).unwrap_or_else(|| text.to_owned())
    }

    /// The text without secrets, if it had any.
    fn struck(&self, text: &str) -> Option<String> {
        let mut struck: Option<String> = None;
        for secret in self.forms() {
            let current = struck.as_deref().unwrap_or(text);
            if current.contains(secret) {
                struck = Some(current.replace(secret, STRUCK));
            }
        }
        struck
    }

    /// Strikes secrets out of all that is recorded of an answer. A service has no reason to send the
    /// key back, but one that does must not get it into the log.
    pub(super) fn strike_response(&self, response: &mut Response) {
        if self.0.is_empty() {
            return;
        }
        let Response { content, finish_reason, usage: _, model, extra } = response;
        if let Content::Text(text) = content
            && let Some(struck) = self.struck(text)
        {
            *text = struck.into();
        }
        for text in [finish_reason, model].into_iter().flatten() {
            *text = self.strike(text);
        }
        for value in extra.values_mut() {
            self.strike_value(value);
        }
    }

    fn strike_value(&self, value: &mut Value) {
        match value {
            Value::String(text) => {
                if let Some(struck) = self.struck(text) {
                    *text = struck;
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.strike_value(item)),
            Value::Object(map) => {
                let names: Vec<String> = map.keys().cloned().collect();
                for name in names {
                    if let Some(struck) = self.struck(&name)
                        && let Some(value) = map.remove(&name)
                    {
                        map.insert(struck, value);
                    }
                }
                map.values_mut().for_each(|item| self.strike_value(item));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secrets({})", self.0.len())
    }
}
