//! Fetching a collection of personas from a URL.

use std::time::Duration;

use reqwest::{Client, Url, redirect};

use retold::escaping::printable;

/// Limits on size and time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FetchLimits {
    /// The longest file, in bytes.
    pub longest: usize,
    /// The time limit for the whole file.
    pub timeout: Duration,
}

impl Default for FetchLimits {
    /// Persona-hub's file with 200,000 personas has about 40 MB.
    fn default() -> Self {
        FetchLimits { longest: 256 << 20, timeout: Duration::from_secs(300) }
    }
}

/// Why nothing was fetched.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FetchError {
    /// Not a URL of a supported kind. It is not shown, because it may contain a key.
    #[error("{0}")]
    BadUrl(&'static str),
    /// The server did not return the file.
    #[error("cannot fetch {url}: {reason}")]
    Failed {
        /// The URL.
        url: String,
        /// What happened.
        reason: String,
    },
}

/// Checks a URL in a config. URLs that may contain a key are refused, because configs are recorded.
///
/// # Errors
/// [`FetchError::BadUrl`].
pub fn check_url(url: &str) -> Result<Url, FetchError> {
    let bad = |reason| Err(FetchError::BadUrl(reason));
    let Ok(parsed) = Url::parse(url) else {
        return bad("it is not a URL: write https://HOST/PATH");
    };
    if !matches!(parsed.scheme(), "http" | "https") {
        return bad("only http and https can be fetched");
    }
    let secret = !parsed.username().is_empty() || parsed.password().is_some();
    if secret || parsed.query().is_some() {
        return bad("a user name, password or query may be a key, and configs are recorded: \
             fetch the file by other means and name it as personas_file");
    }
    Ok(parsed)
}

/// Fetches a text and waits for it. Can be called from anywhere.
///
/// # Errors
/// [`FetchError`].
pub fn fetch(url: &str, limits: FetchLimits) -> Result<String, FetchError> {
    let url = check_url(url)?;
    let failed = |reason: String| FetchError::Failed { url: url.to_string(), reason };
    let work = || -> Result<Vec<u8>, FetchError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.map_err(|e| failed(e.to_string()))?.block_on(async {
            let body = tokio::time::timeout(limits.timeout, body(&url, limits.longest));
            let late = failed(format!("it took longer than {} s", limits.timeout.as_secs_f64()));
            body.await.unwrap_or(Err(late))
        })
    };
    // A thread of its own, because the caller may already be inside a runtime.
    let fetched = std::thread::scope(|scope| scope.spawn(work).join());
    let bytes = fetched.unwrap_or_else(|_| Err(failed("the client broke down".to_owned())));
    String::from_utf8(bytes?).map_err(|_| failed("it is not UTF-8".to_owned()))
}

async fn body(url: &Url, longest: usize) -> Result<Vec<u8>, FetchError> {
    let failed = |reason: String| FetchError::Failed { url: url.to_string(), reason };
    let explained = |error: reqwest::Error| failed(innermost(error));
    // The first provider wins: an application that installed another one earlier wanted that one.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut builder = Client::builder()
        .user_agent(concat!("retold/", env!("CARGO_PKG_VERSION")))
        .redirect(redirect::Policy::limited(5))
        .referer(false);
    let host = url.host_str().unwrap_or("").trim_matches(['[', ']']);
    if host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|a| a.is_loopback()) {
        builder = builder.no_proxy();
    }
    let client = builder.build().map_err(explained)?;
    let mut response = client.get(url.clone()).send().await.map_err(explained)?;
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
