//! The XML with which a store refuses a request, as a sentence.

use retold::escaping::printable;

/// How much of a store's own words is shown, in characters.
const LONGEST: usize = 300;

/// The sentence for an answer with an error in it, with its code and the number of the request, by which the operator
/// of the store finds it. `None` if there is no such answer in the text.
///
/// The codes are those of Amazon S3 (its API reference, "Error responses"), which compatible stores and Google Cloud
/// Storage use as well, and of Azure ("Blob service error codes").
pub(crate) fn sentence(text: &str) -> Option<String> {
    let code = element(text, "Code")?;
    let meaning = match code {
        "NoSuchBucket" | "ContainerNotFound" => "there is no such bucket",
        "AccessDenied"
        | "AllAccessDisabled"
        | "AuthorizationFailure"
        | "AuthorizationPermissionMismatch" => {
            "the store does not allow this with these credentials"
        }
        "InvalidAccessKeyId" => "the store does not know this access key",
        "SignatureDoesNotMatch" | "AuthenticationFailed" => {
            "the secret key does not fit the access key, or the clock of this machine is wrong"
        }
        "RequestTimeTooSkewed" => {
            "the clock of this machine differs too much from that of the store"
        }
        "ExpiredToken" | "TokenRefreshRequired" => "the credentials have expired",
        "PermanentRedirect"
        | "AuthorizationHeaderMalformed"
        | "IllegalLocationConstraintException" => {
            "the bucket is in another region: name it in AWS_REGION"
        }
        "SlowDown" | "ServiceUnavailable" | "ServerBusy" => "the store asks for fewer requests",
        _ => element(text, "Message").unwrap_or("the store refuses this"),
    };
    let request = element(text, "RequestId").map(|id| format!(", request {}", printable(id, 100)));
    Some(format!(
        "{} ({}{})",
        printable(meaning.trim_end_matches('.'), LONGEST),
        printable(code, 100),
        request.unwrap_or_default()
    ))
}

/// The text of the first element of a name.
fn element<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(&format!("<{name}>"))?;
    let (inner, _) = rest.split_once(&format!("</{name}>"))?;
    Some(inner.trim()).filter(|inner| !inner.is_empty())
}

#[cfg(test)]
mod tests {
    use super::sentence;

    #[test]
    fn an_answer_in_xml_is_a_sentence() {
        let of = |code: &str, more: &str| {
            sentence(&format!(
                "Server returned 403: <?xml version=\"1.0\"?>\n<Error><Code>{code}</Code>{more}</Error>"
            ))
        };
        assert_eq!(
            of(
                "NoSuchBucket",
                "<Message>The specified bucket does not exist</Message><RequestId>7A</RequestId>"
            ),
            Some("there is no such bucket (NoSuchBucket, request 7A)".to_owned())
        );
        assert_eq!(
            of("AccessDenied", "<Message>Access Denied</Message>"),
            Some("the store does not allow this with these credentials (AccessDenied)".to_owned())
        );
        assert_eq!(
            of("Odd\u{1b}[31m", "<Message>A thing of its own.</Message>"),
            Some("A thing of its own (Odd\\u{1b}[31m)".to_owned())
        );
        assert_eq!(sentence("connection refused"), None);
        assert_eq!(sentence("<Code></Code>"), None);
    }
}
