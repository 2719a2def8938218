//! One POST: bytes out, a reply or a failure in.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use reqwest::header::AUTHORIZATION;
use reqwest::{Client, Url, redirect};
use serde_json::Value;

use super::reply::Reply;
use super::settings::{Endpoint, OpenAiError, OpenAiSettings};
use crate::inert::inert;
use crate::model::{Failure, FailureKind, Throttle};

/// The longest answer. It bounds memory when a service is not what it seems.
const LONGEST_ANSWER: usize = 64 << 20;

/// How much of an error is read: enough for its fields, of which an excerpt is shown.
const LONGEST_ERROR: usize = 64 << 10;

pub(super) struct HttpClient {
    http: Client,
    pub(super) endpoint: Endpoint,
    timeout: Duration,
    throttle: Option<Arc<Throttle>>,
}

impl HttpClient {
    pub(super) fn new(
        settings: &OpenAiSettings,
        throttle: Option<Arc<Throttle>>,
    ) -> Result<Self, OpenAiError> {
        let endpoint = Endpoint::new(&settings.base_url, settings.key.as_ref())?;
        if settings.timeout.is_zero() {
            return Err(OpenAiError::NoTimeout);
        }
        // The first one stays; whoever installed another provider before wanted that one.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut builder = Client::builder()
            .user_agent(concat!("retold/", env!("CARGO_PKG_VERSION")))
            // A redirect would carry the key to another host.
            .redirect(redirect::Policy::none())
            // Every attempt is an event, so the client must not make its own.
            .retry(reqwest::retry::never())
            .referer(false);
        if endpoint.loopback {
            builder = builder.no_proxy();
        }
        let http = builder.build().map_err(|e| OpenAiError::Client(innermost(&e.without_url())))?;
        Ok(HttpClient { http, endpoint, timeout: settings.timeout, throttle })
    }

    /// Sends a body and waits for the whole reply, both within the time of one attempt.
    pub(super) async fn post(&self, function: &[&str], body: &Value) -> Result<Reply, Failure> {
        // Waiting for a turn does not count as waiting for an answer.
        let _permit = match &self.throttle {
            Some(throttle) => Some(throttle.acquire().await),
            None => None,
        };
        let exchange = self.exchange(self.endpoint.url(function), body);
        match tokio::time::timeout(self.timeout, exchange).await {
            Ok(result) => result,
            Err(_elapsed) => Err(Failure::new(
                FailureKind::Timeout,
                format!(
                    "{} did not answer in full within {} s",
                    self.endpoint.source,
                    self.timeout.as_secs_f64()
                ),
            )),
        }
    }

    async fn exchange(&self, url: Url, body: &Value) -> Result<Reply, Failure> {
        let mut request = self.http.post(url).json(body);
        if let Some(authorization) = &self.endpoint.authorization {
            request = request.header(AUTHORIZATION, authorization.clone());
        }
        let mut response = request.send().await.map_err(|e| self.not_sent(e))?;
        let status = response.status();
        tracing::debug!(status = status.as_u16(), "the service replied");
        let limit = if status.is_success() { LONGEST_ANSWER } else { LONGEST_ERROR };
        let mut bytes = Vec::new();
        loop {
            match response.chunk().await {
                Ok(Some(chunk)) => bytes.extend_from_slice(&chunk),
                Ok(None) => break,
                Err(e) if status.is_success() => {
                    return Err(self.broke_off(status.as_u16(), bytes.len(), e));
                }
                // The status of an error says enough, whatever happens to its text.
                Err(_) => break,
            }
            if bytes.len() > limit {
                if status.is_success() {
                    return Err(too_long(status.as_u16()));
                }
                bytes.truncate(limit);
                break;
            }
        }
        Ok(Reply {
            status: status.as_u16(),
            headers: response.headers().clone(),
            body: bytes,
            at: now(),
        })
    }

    fn not_sent(&self, error: reqwest::Error) -> Failure {
        if is_untrusted(&error) {
            let source = &self.endpoint.source;
            let what = format!(
                "the certificate of {source} is not trusted (name the file of a private \
                 authority in SSL_CERT_FILE)"
            );
            let kind = FailureKind::Untrusted;
            return Failure { kind, ..self.connection(None, &what, error) };
        }
        let what = if error.is_connect() {
            format!("cannot connect to {}", self.endpoint.source)
        } else {
            format!("{} broke the connection before it answered", self.endpoint.source)
        };
        self.connection(None, &what, error)
    }

    fn broke_off(&self, status: u16, received: usize, error: reqwest::Error) -> Failure {
        let source = &self.endpoint.source;
        let what = format!("{source} broke off its answer after {received} bytes");
        self.connection(Some(status), &what, error)
    }

    fn connection(&self, status: Option<u16>, what: &str, error: reqwest::Error) -> Failure {
        let cause = self.endpoint.secrets.strike(&innermost(&error.without_url()));
        let message = format!("{what}: {}", inert(&cause, 300));
        Failure { kind: FailureKind::Connection, status, message, retry_after: None }
    }
}

fn too_long(status: u16) -> Failure {
    Failure {
        kind: FailureKind::Malformed,
        status: Some(status),
        message: format!("the answer is longer than {} MiB", LONGEST_ANSWER >> 20),
        retry_after: None,
    }
}

/// Whether a handshake failed for the server's certificate, which no later attempt mends.
fn is_untrusted(error: &reqwest::Error) -> bool {
    let mut next: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = next {
        // An I/O error gives what it holds by another way than as its source.
        let held = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        let tls = match held {
            Some(held) => held.downcast_ref(),
            None => error.downcast_ref(),
        };
        if let Some(rustls::Error::InvalidCertificate(_)) = tls {
            return true;
        }
        next = match held {
            Some(held) => Some(held),
            None => error.source(),
        };
    }
    false
}

/// The cause at the bottom of a chain of errors: the one that says something.
fn innermost(error: &dyn std::error::Error) -> String {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}

#[expect(
    clippy::disallowed_methods,
    reason = "a Retry-After that is a date means nothing without the time of day; the wait that \
              comes of it is recorded, and nothing else is"
)]
fn now() -> SystemTime {
    SystemTime::now()
}
