//! Failures of upstreams that no answer tells of: they cannot be reached, break off, or are silent.

use std::error::Error;

use retold::escaping::printable;
use retold::model::{Failure, FailureKind};

use crate::limits::SILENCE;

/// The failure of a request that was not answered.
pub(crate) fn not_sent(upstream: &str, error: reqwest::Error) -> Failure {
    let untrusted = is_untrusted(&error);
    let (kind, what) = match () {
        () if untrusted => (FailureKind::Untrusted, "the certificate is not trusted"),
        () if error.is_timeout() && !error.is_connect() => return silent(upstream, 0),
        () if error.is_timeout() => (FailureKind::Timeout, "it did not answer in time"),
        () if error.is_connect() => (FailureKind::Connection, "cannot connect"),
        () => (FailureKind::Connection, "it broke the connection before it answered"),
    };
    let cause = printable(&innermost(&error.without_url()), 300);
    Failure::new(kind, format!("upstream {upstream}: {what}: {cause}"))
}

/// The failure of an answer that was not waited for any longer.
pub(crate) fn silent(upstream: &str, received: usize) -> Failure {
    let after = match received {
        0 => String::new(),
        received => format!(" after {received} bytes of its answer"),
    };
    let silence = SILENCE.as_secs();
    let message = format!("upstream {upstream} sent nothing for {silence} s{after}");
    Failure::new(FailureKind::Timeout, message)
}

/// The failure of an answer that was broken off.
pub(crate) fn broken_off(upstream: &str, received: usize, error: reqwest::Error) -> Failure {
    if error.is_timeout() {
        return silent(upstream, received);
    }
    let cause = printable(&innermost(&error.without_url()), 300);
    Failure::new(
        FailureKind::Connection,
        format!("upstream {upstream} broke off its answer after {received} bytes: {cause}"),
    )
}

/// Whether a handshake failed because of the server's certificate.
fn is_untrusted(error: &reqwest::Error) -> bool {
    let mut next: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(error) = next {
        // An I/O error does not return its inner error as its source.
        let held = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        let held = held.map(|held| held as &(dyn Error + 'static));
        let tls: Option<&rustls::Error> = held.unwrap_or(error).downcast_ref();
        if let Some(rustls::Error::InvalidCertificate(_)) = tls {
            return true;
        }
        next = held.or_else(|| error.source());
    }
    false
}

/// The last cause of an error, which is the informative one.
pub(crate) fn innermost(error: &dyn Error) -> String {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}
