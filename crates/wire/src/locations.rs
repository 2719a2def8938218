//! URLs in the headers of answers, which a client may ask next: those of an upstream lead through
//! retold.
//!
//! Inside and in the log, such a URL is `/UPSTREAM/PATH`, regardless of the upstream's server, our
//! port and our secret. Only a client sees a whole URL again, below the one that it asked.

use std::borrow::Cow;

use hyper::http::{HeaderMap, HeaderName, HeaderValue};
use retold::model::query_without_keys;

/// Headers that hold one URL.
const ONE: &[&str] = &[
    "location",
    "content-location",
    "operation-location",
    "azure-asyncoperation",
    "x-goog-upload-url",
    "x-goog-upload-control-url",
];

/// The header that holds several, each as `<URL>; rel=next`.
pub(crate) const SEVERAL: &str = "link";

/// A value of a header with each URL in it translated; `None` if none is.
pub fn translate_urls(
    name: &str,
    value: &str,
    mut translate: impl FnMut(&str) -> Option<String>,
) -> Option<String> {
    if ONE.contains(&name) {
        return translate(value.trim());
    }
    if name != SEVERAL {
        return None;
    }
    let (mut out, mut rest, mut any) = (String::new(), value, false);
    while let Some((before, after)) = rest.split_once('<') {
        let Some((url, after)) = after.split_once('>') else { break };
        let said = translate(url.trim());
        any |= said.is_some();
        out.push_str(&format!("{before}<{}>", said.as_deref().unwrap_or(url)));
        rest = after;
    }
    any.then(|| out + rest)
}

/// Translates each URL in the headers of an answer.
pub(crate) fn translate_all(
    headers: &mut HeaderMap,
    mut translate: impl FnMut(&HeaderName, &str) -> Option<String>,
) {
    for (name, value) in headers.iter_mut() {
        let said = as_text(value.as_bytes());
        let said = translate_urls(name.as_str(), &said, |url| translate(name, url));
        if let Some(said) = said.and_then(|said| HeaderValue::from_str(&said).ok()) {
            *value = said;
        }
    }
}

/// The text of a header: UTF-8, or else Latin-1, as clients read it.
fn as_text(value: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(value) {
        Ok(text) => text.into(),
        Err(_) => value.iter().map(|byte| char::from(*byte)).collect::<String>().into(),
    }
}

/// A header's value as it is recorded: without keys and passwords in its URLs.
pub(crate) fn without_secrets(name: &str, value: &str) -> Option<String> {
    translate_urls(name, value, |url| Some(url_without_secrets(url)))
}

/// A URL, or a path inside, without keys and passwords.
pub(crate) fn url_without_secrets(url: &str) -> String {
    let url = url.split('#').next().unwrap_or_default();
    let (place, query) = match url.split_once('?') {
        Some((place, query)) => (place, query_without_keys(query)),
        None => (url, String::new()),
    };
    let place = match place.split_once("//") {
        Some((scheme, rest)) if !scheme.contains('/') => {
            let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            format!("{scheme}//{}{path}", host.rsplit('@').next().unwrap_or_default())
        }
        _ => place.to_owned(),
    };
    if query.is_empty() { place } else { format!("{place}?{query}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_key_is_recorded_in_a_url() {
        let kept = |name, value| without_secrets(name, value).unwrap_or_default();
        assert_eq!(
            kept("location", "https://u:p@h.example/a?key=k&b=c#token=t"),
            "https://h.example/a?b=c"
        );
        assert_eq!(kept("location", "/openai/a?sig=k"), "/openai/a");
        assert_eq!(
            kept("link", "</openai/a?api_key=k&p=2>; rel=\"next\", <https://u:p@h/x>; rel=prev"),
            "</openai/a?p=2>; rel=\"next\", <https://h/x>; rel=prev"
        );
        assert_eq!(without_secrets("etag", "https://u:p@h"), None);
    }
}
