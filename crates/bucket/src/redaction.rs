//! Errors of stores without the secrets that a URL may hold: the signature of a shared link, a name and a password.

use std::fmt;

use crate::{refusal, request_failure};

/// An error of a store, as it is shown.
#[derive(Debug)]
pub(crate) struct RedactedError(String);

impl RedactedError {
    pub(crate) fn new(error: impl std::error::Error) -> Self {
        let mut text = error.to_string();
        let mut source = error.source();
        // Stores name the cause in their own text or only below it.
        while let Some(cause) = source {
            let cause_text = cause.to_string();
            if !text.contains(&cause_text) {
                text = format!("{text}: {cause_text}");
            }
            source = cause.source();
        }
        let said = refusal::sentence(&text).or_else(|| request_failure::sentence(&text));
        RedactedError(redact(&said.unwrap_or(text)))
    }
}

impl fmt::Display for RedactedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for RedactedError {}

/// Leaves out the queries of URLs, and the part of a host before `@`.
fn redact(text: &str) -> String {
    let ends = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '<' | '>' | ')' | '`');
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (before, after) = rest.split_at(at + 3);
        shown.push_str(before);
        let (url, later) = after.split_at(after.find(ends).unwrap_or(after.len()));
        let (place, query) = match url.split_once(['?', '#']) {
            Some((place, _)) => (place, "?.."),
            None => (url, ""),
        };
        let host_ends = place.find('/').unwrap_or(place.len());
        let from = place[..host_ends].rfind('@').map_or(0, |at| at + 1);
        shown.push_str(&place[from..]);
        shown.push_str(query);
        rest = later;
    }
    shown.push_str(rest);
    shown
}

#[cfg(test)]
mod tests {
    use super::redact;

    #[test]
    fn urls_are_shown_without_their_secrets() {
        for (text, shown) in [
            ("no URL at all", "no URL at all"),
            ("GET https://me:pw@host/a/b?sig=SECRET (500)", "GET https://host/a/b?.. (500)"),
            ("\"s3://AKIA:KEY@bucket\" and http://host#x", "\"s3://bucket\" and http://host?.."),
            ("file:///a@b/c?d", "file:///a@b/c?.."),
        ] {
            assert_eq!(redact(text), shown);
        }
    }
}
