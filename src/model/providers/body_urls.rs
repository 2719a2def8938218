//! URLs in the bodies of answers that a client may ask next: where the APIs have them.
//!
//! Only the fields that an API documents for such a URL count, each in the file of its API
//! ([`Dialect::url_fields`](super::Dialect::url_fields)). A URL elsewhere in an answer, such as one that a model wrote, is content.

use std::ops::Range;

use super::credentials::{each_field, steps};
use super::url_fields::UrlFields;
use super::{dialects, ends_like};

/// A URL in a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BodyUrl {
    /// Where it stands, between its quotes.
    pub place: Range<usize>,
    /// The URL, with its escapes undone.
    pub url: String,
    /// See [`UrlFields::unless`].
    pub unless: Option<&'static str>,
}

/// True if the answer to a request to this path may have URLs for the next request.
pub fn may_have_urls(path: &str) -> bool {
    at(path).next().is_some()
}

/// The URLs with a server in the answer to a request to this path.
pub fn urls_in_answer(path: &str, body: &[u8]) -> Vec<BodyUrl> {
    let mut found = Vec::new();
    for UrlFields { fields, unless, .. } in at(path) {
        let fields: Vec<Vec<&str>> = fields.iter().copied().map(steps).collect();
        each_field(body, &fields, &[&[]], &mut |place, url| {
            if url.starts_with("https://") || url.starts_with("http://") {
                found.push(BodyUrl { place, url, unless: *unless });
            }
        });
    }
    found.sort_by_key(|it| it.place.start);
    found.dedup_by_key(|it| it.place.start);
    found
}

fn at(path: &str) -> impl Iterator<Item = &'static UrlFields> {
    let all = dialects().flat_map(|dialect| dialect.url_fields());
    all.filter(move |it| ends_like(path, it.path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_documented_fields_hold_urls() {
        let urls = |path: &str, body: &str| -> Vec<String> {
            urls_in_answer(path, body.as_bytes()).into_iter().map(|it| it.url).collect()
        };
        for (path, body, due) in [
            (
                "/v1/messages/batches/b1",
                r#"{"results_url": "https:\/\/h.example/r"}"#,
                "https://h.example/r",
            ),
            (
                "/v1/messages/batches",
                r#"{"data": [{"results_url": "https://h/1"}]}"#,
                "https://h/1",
            ),
            ("/v1/messages/batches/b1", r#"{"results_url": null, "x": "https://h/1"}"#, ""),
            ("/v1/messages/batches/b1", r#"{"x": {"results_url": "https://h/1"}}"#, ""),
            ("/v1/messages", r#"{"results_url": "https://h/1"}"#, ""),
            (
                "/images/generations",
                r#"{"data": [{"url": "https://h/1"}, {"b64_json": "AA"}]}"#,
                "https://h/1",
            ),
            (
                "/v1beta/files/f",
                r#"{"uri": "https://h/f", "downloadUri": "https://h/d"}"#,
                "https://h/d",
            ),
            ("/v1beta/files/f", r#"{"downloadUri": "gs://bucket/f"}"#, ""),
        ] {
            assert_eq!(urls(path, body).join(" "), due, "{path} {body}");
            assert_eq!(may_have_urls(path), path != "/v1/messages", "{path}");
        }
    }
}
