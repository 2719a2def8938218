//! The error of a store's client about a request that failed, as a sentence.

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

/// The sentence for an error of the crate `object_store`, whose texts are made for developers: `Generic S3 error: Error
/// performing GET https://host/name in 1.2s, after 2 retries, max_retries: 2, retry_timeout: 10s - HTTP error: ..`. `None` if it
/// has another form.
pub(crate) fn sentence(text: &str) -> Option<String> {
    let without_kind = text.strip_prefix("Generic ").and_then(|rest| rest.split_once(" error: "));
    let text = without_kind.map_or(text, |(_, rest)| rest);
    if text == "Account must be specified" {
        return Some("no storage account is named: set AZURE_STORAGE_ACCOUNT_NAME".to_owned());
    }
    let Some(FailedRequest { method, url, why }) = FailedRequest::read(text) else {
        return without_kind.map(|_| printable(text, LONGEST));
    };
    let request = format!("{method} {}", printable(url, LONGEST));
    if is_of_identity(url) {
        return Some(format!(
            "no credentials were found: none are set in the environment, and this machine has no identity ({request} fails)"
        ));
    }
    let answers = ["Server returned non-2xx status code: ", "Server returned error response: "];
    if let Some(answer) = answers.iter().find_map(|begin| why.strip_prefix(begin)) {
        let answer = answer.trim().trim_end_matches(':');
        return Some(format!("the store answers {request} with {}", printable(answer, LONGEST)));
    }
    if why.starts_with("Received redirect without LOCATION") {
        return Some(format!(
            "the store redirects {request} without saying where to, as it does if the bucket is in another region: name it in \
             AWS_REGION"
        ));
    }
    // The causes follow each other, the first of them last.
    let cause = why.rsplit(": ").next().unwrap_or(why);
    Some(format!("{request} gets no answer: {}", printable(cause.trim(), LONGEST)))
}

/// A request in an error's text.
struct FailedRequest<'a> {
    method: &'a str,
    url: &'a str,
    why: &'a str,
}

impl<'a> FailedRequest<'a> {
    /// The innermost request, if one is named: `Error performing METHOD URL in TIME - WHY`.
    fn read(text: &'a str) -> Option<Self> {
        const BEGIN: &str = "Error performing ";
        let mut innermost_first =
            text.rmatch_indices(BEGIN).map(|(at, _)| &text[at + BEGIN.len()..]);
        let read = |request: &'a str| {
            let (method, rest) = request.split_once(' ')?;
            let (url, rest) = rest.split_once(" in ")?;
            let (_, why) = rest.split_once(" - ")?;
            let is_method = method.bytes().all(|byte| byte.is_ascii_uppercase());
            (is_method && !url.contains(' ')).then_some(FailedRequest { method, url, why })
        };
        innermost_first.find_map(read)
    }
}

/// Whether a URL is that of a server which gives machines an identity.
fn is_of_identity(url: &str) -> bool {
    let host = url.split_once("://").map_or("", |(_, rest)| rest);
    let host = host.split(['/', ':']).next().unwrap_or(host);
    IDENTITY_SERVERS.contains(&host)
}

#[cfg(test)]
mod tests {
    use super::sentence;

    #[test]
    fn a_request_that_fails_is_a_sentence() {
        for (text, due) in [
            (
                "Generic S3 error: Error performing GET http://127.0.0.1:9/lab/x in 401ms, after 2 retries, max_retries: 2, \
                 retry_timeout: 10s  - HTTP error: error sending request: client error (Connect): tcp connect error: Connection \
                 refused (os error 111)",
                "GET http://127.0.0.1:9/lab/x gets no answer: Connection refused (os error 111)",
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
                "the store answers GET https://host/lab/x with 404 Not Found",
            ),
            (
                "Generic S3 error: Error performing GET https://host/lab in 1ms - Received redirect without LOCATION, this \
                 normally indicates an incorrectly configured region",
                "the store redirects GET https://host/lab without saying where to, as it does if the bucket is in another \
                 region: name it in AWS_REGION",
            ),
            (
                "Generic MicrosoftAzure error: Account must be specified",
                "no storage account is named: set AZURE_STORAGE_ACCOUNT_NAME",
            ),
            (
                "Generic LocalFileSystem error: Unable to create file /lab/x: Permission denied (os error 13)",
                "Unable to create file /lab/x: Permission denied (os error 13)",
            ),
            (
                "Generic S3 error: Error performing GET https://h/\u{1b}[2J in 1s - HTTP error: \u{1b}[31mred",
                "GET https://h/\\u{1b}[2J gets no answer: \\u{1b}[31mred",
            ),
        ] {
            assert_eq!(sentence(text).as_deref(), Some(due));
        }
        assert_eq!(sentence("the store does not answer"), None);
    }
}
