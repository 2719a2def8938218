//! Errors of stores as sentences, without the secrets that a URL may hold: the signature of a shared link, a name and a
//! password.

use std::fmt;

use retold::escaping::printable;

/// The longest part of a server's message that is shown, in characters.
const LONGEST: usize = 300;

/// Servers of providers that give the programs on their machines an identity ([Amazon
/// EC2](https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-instance-metadata.html), [containers of
/// Amazon](https://docs.aws.amazon.com/sdkref/latest/guide/feature-container-credentials.html), [Google
/// Cloud](https://cloud.google.com/compute/docs/metadata/overview); Azure has the address of the first). They are asked where
/// there are no other credentials.
const IDENTITY_SERVERS: [&str; 4] =
    ["169.254.169.254", "169.254.170.2", "169.254.170.23", "metadata.google.internal"];

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
        RedactedError(redact(&refusal(&text).or_else(|| failure(&text)).unwrap_or(text)))
    }
}

impl fmt::Display for RedactedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for RedactedError {}

/// The sentence of an answer in XML with which a store refuses a request, with its code and the number of the request, by
/// which the operator of the store finds it. `None` if there is no such answer in the text.
fn refusal(text: &str) -> Option<String> {
    let code = element(text, "Code")?;
    let message =
        element(text, "Message").unwrap_or("the store refuses this").trim_end_matches('.');
    let request = element(text, "RequestId").map(|id| format!(", request {}", printable(id, 100)));
    let (message, code) = (printable(message, LONGEST), printable(code, 100));
    Some(format!("{message} ({code}{})", request.unwrap_or_default()))
}

/// The text of the first element of a name.
fn element<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(&format!("<{name}>"))?;
    let (inner, _) = rest.split_once(&format!("</{name}>"))?;
    Some(inner.trim()).filter(|inner| !inner.is_empty())
}

/// The sentence of an error of the crate `object_store`, whose texts are made for developers: `Generic S3 error: Error
/// performing GET https://host/name in 1.2s, after 2 retries, max_retries: 2, retry_timeout: 10s - HTTP error: ..`. `None` if it
/// has another form.
fn failure(text: &str) -> Option<String> {
    let without_kind = text.strip_prefix("Generic ").and_then(|rest| rest.split_once(" error: "));
    let text = without_kind.map_or(text, |(_, rest)| rest);
    let Some((request, why)) = failed_request(text) else {
        return without_kind.map(|_| printable(text, LONGEST));
    };
    let host = request.split_once("://").map_or("", |(_, rest)| rest);
    let host = host.split(['/', ':']).next().unwrap_or(host);
    let request = printable(request, LONGEST);
    if IDENTITY_SERVERS.contains(&host) {
        return Some(format!(
            "no credentials were found: none are set in the environment, and this machine has no identity ({request} fails)"
        ));
    }
    let answers = ["Server returned non-2xx status code: ", "Server returned error response: "];
    let answer = answers.iter().find_map(|begin| why.strip_prefix(begin));
    // The causes follow each other, the first of them last.
    let cause = why.rsplit(": ").next().unwrap_or(why);
    let cause = answer.map_or(cause, |answer| answer.trim().trim_end_matches(':'));
    Some(format!("{request} fails: {}", printable(cause.trim(), LONGEST)))
}

/// The innermost request of an error, as its method and URL, and why it failed: `Error performing METHOD URL in TIME - WHY`.
fn failed_request(text: &str) -> Option<(&str, &str)> {
    const BEGIN: &str = "Error performing ";
    let mut innermost_first = text.rmatch_indices(BEGIN).map(|(at, _)| &text[at + BEGIN.len()..]);
    innermost_first.find_map(|begun| {
        let (request, rest) = begun.split_once(" in ")?;
        let (_, why) = rest.split_once(" - ")?;
        let (method, url) = request.split_once(' ')?;
        let is_method = method.bytes().all(|byte| byte.is_ascii_uppercase());
        (is_method && !url.contains(' ')).then_some((request, why))
    })
}

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
    use super::*;

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

    #[test]
    fn an_answer_in_xml_is_a_sentence() {
        let of = |code: &str, more: &str| {
            refusal(&format!(
                "Server returned 403: <?xml version=\"1.0\"?>\n<Error><Code>{code}</Code>{more}</Error>"
            ))
        };
        let message =
            "<Message>The specified bucket does not exist.</Message><RequestId>7A</RequestId>";
        let due = "The specified bucket does not exist (NoSuchBucket, request 7A)";
        assert_eq!(of("NoSuchBucket", message).as_deref(), Some(due));
        let due = "the store refuses this (Odd\\u{1b}[31m)";
        assert_eq!(of("Odd\u{1b}[31m", "").as_deref(), Some(due));
        assert_eq!(refusal("connection refused"), None);
        assert_eq!(refusal("<Code></Code>"), None);
    }

    #[test]
    fn a_request_that_fails_is_a_sentence() {
        for (text, due) in [
            (
                "Generic S3 error: Error performing GET http://127.0.0.1:9/lab/x in 401ms, after 2 retries, max_retries: 2, \
                 retry_timeout: 10s  - HTTP error: error sending request: client error (Connect): tcp connect error: Connection \
                 refused (os error 111)",
                "GET http://127.0.0.1:9/lab/x fails: Connection refused (os error 111)",
            ),
            (
                "Generic S3 error: Error performing PUT http://169.254.169.254/latest/api/token in 7.4µs - Server returned non-2xx \
                 status code: 403 Forbidden: denied",
                "no credentials were found: none are set in the environment, and this machine has no identity (PUT \
                 http://169.254.169.254/latest/api/token fails)",
            ),
            (
                "Generic GCS error: Error performing token request: Error performing GET \
                 http://metadata.google.internal/token in 1s - HTTP error: error sending request",
                "no credentials were found: none are set in the environment, and this machine has no identity (GET \
                 http://metadata.google.internal/token fails)",
            ),
            (
                "Object at location lab/x not found: Error performing GET https://host/lab/x in 3ms - Server returned non-2xx \
                 status code: 404 Not Found: ",
                "GET https://host/lab/x fails: 404 Not Found",
            ),
            (
                "Generic LocalFileSystem error: Unable to create file /lab/x: Permission denied (os error 13)",
                "Unable to create file /lab/x: Permission denied (os error 13)",
            ),
            (
                "Generic S3 error: Error performing GET https://h/\u{1b}[2J in 1s - HTTP error: \u{1b}[31mred",
                "GET https://h/\\u{1b}[2J fails: \\u{1b}[31mred",
            ),
        ] {
            assert_eq!(failure(text).as_deref(), Some(due));
        }
        assert_eq!(failure("the store does not answer"), None);
    }
}
