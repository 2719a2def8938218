//! One file from a server, or one short exchange with it: what is no model's answer.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use reqwest::header::CONTENT_TYPE;
use reqwest::{Client, Url, redirect};

use crate::escaping::printable;

/// An address that can be shown and recorded: over HTTP, with nothing in it that may be a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicUrl(Url);

/// Why a text is no [`PublicUrl`]. The text is not shown, because it may contain a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PublicUrlError {
    /// It cannot be read.
    #[error("it is not a URL: write https://HOST/PATH")]
    Unreadable,
    /// It is of another scheme.
    #[error("only http and https can be fetched")]
    Scheme,
    /// It has a part in which people put keys.
    #[error("a user name, password or query may be a key")]
    MayHaveKey,
}

impl FromStr for PublicUrl {
    type Err = PublicUrlError;

    fn from_str(text: &str) -> Result<Self, PublicUrlError> {
        let url = Url::parse(text).map_err(|_| PublicUrlError::Unreadable)?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(PublicUrlError::Scheme);
        }
        let has_name = !url.username().is_empty() || url.password().is_some();
        match has_name || url.query().is_some() {
            true => Err(PublicUrlError::MayHaveKey),
            false => Ok(PublicUrl(url)),
        }
    }
}

impl fmt::Display for PublicUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Limits on size and time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FetchLimits {
    /// The longest reply, in bytes.
    pub longest: usize,
    /// The time limit for the whole reply.
    pub timeout: Duration,
}

/// Bytes that are posted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Posted {
    /// Their media type.
    pub media_type: &'static str,
    /// The bytes.
    pub body: Vec<u8>,
}

/// The server did not return what was wanted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot fetch {url}: {reason}")]
pub struct FetchError {
    /// The URL.
    pub url: String,
    /// What happened.
    pub reason: String,
}

impl FetchError {
    /// A reply from a URL that cannot be used.
    pub fn new(url: &PublicUrl, reason: impl Into<String>) -> Self {
        FetchError { url: url.to_string(), reason: reason.into() }
    }
}

/// Gets a URL, or posts to it, and waits for the reply. Can be called from anywhere.
///
/// # Errors
/// [`FetchError`], also for every status that is not a success.
pub fn fetch(
    url: &PublicUrl,
    posted: Option<Posted>,
    limits: FetchLimits,
) -> Result<Vec<u8>, FetchError> {
    let failed = |reason: String| FetchError::new(url, reason);
    let work = || -> Result<Vec<u8>, FetchError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.map_err(|e| failed(e.to_string()))?.block_on(async {
            let reply = tokio::time::timeout(limits.timeout, reply(url, posted, limits.longest));
            let late = failed(format!("it took longer than {} s", limits.timeout.as_secs_f64()));
            reply.await.unwrap_or(Err(late))
        })
    };
    // A thread of its own, because the caller may already be inside a runtime.
    let fetched = std::thread::scope(|scope| scope.spawn(work).join());
    fetched.unwrap_or_else(|_| Err(failed("the client broke down".to_owned())))
}

async fn reply(
    url: &PublicUrl,
    posted: Option<Posted>,
    longest: usize,
) -> Result<Vec<u8>, FetchError> {
    let failed = |reason: String| FetchError::new(url, reason);
    let explained = |error: reqwest::Error| failed(innermost(error));
    // The first provider wins: an application that installed another one earlier wanted that one.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut builder = Client::builder()
        .user_agent(concat!("retold/", env!("CARGO_PKG_VERSION")))
        .redirect(redirect::Policy::limited(5))
        .referer(false);
    let host = url.0.host_str().unwrap_or("").trim_matches(['[', ']']);
    if host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|a| a.is_loopback()) {
        builder = builder.no_proxy();
    }
    let client = builder.build().map_err(explained)?;
    let request = match posted {
        None => client.get(url.0.clone()),
        Some(Posted { media_type, body }) => {
            client.post(url.0.clone()).header(CONTENT_TYPE, media_type).body(body)
        }
    };
    let mut response = request.send().await.map_err(explained)?;
    let status = response.status();
    if !status.is_success() {
        return Err(failed(format!("the server answered {}", status.as_u16())));
    }
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(explained)? {
        bytes.extend_from_slice(&chunk);
        if bytes.len() > longest {
            return Err(failed(format!("it is longer than {longest} bytes")));
        }
    }
    Ok(bytes)
}

/// The error without the URL: after a redirect, that may contain a key.
fn innermost(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut innermost: &dyn std::error::Error = &error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    printable(&innermost.to_string(), 200)
}
