//! Keys that a request carries, so that they can be kept out of what is stored.

use std::borrow::Cow;

use hyper::http::HeaderMap;
use memchr::memmem;

use crate::asked::{is_a_key, replaced};

/// Shorter values are no keys, and would strike out words.
const SHORTEST: usize = 12;

/// Request headers that hold keys.
const HEADERS: &[&str] =
    &["authorization", "proxy-authorization", "x-api-key", "api-key", "x-goog-api-key"];

/// The keys of one request. Headers are never stored; this is about bodies that repeat them.
#[derive(Default)]
pub(crate) struct Masks(Vec<Vec<u8>>);

impl Masks {
    /// The keys in these headers and this query.
    pub(crate) fn of(headers: &HeaderMap, query: Option<&str>) -> Self {
        let mut keys = Vec::new();
        let named = HEADERS.iter().flat_map(|name| headers.get_all(*name));
        // `Bearer KEY`: the scheme is not a secret.
        let words = named.flat_map(|value| value.as_bytes().split(|byte| *byte == b' '));
        keys.extend(words.map(<[u8]>::to_vec));
        for pair in query.unwrap_or("").split('&') {
            if let Some((name, value)) = pair.split_once('=')
                && is_a_key(name)
            {
                keys.push(value.as_bytes().to_vec());
            }
        }
        keys.retain(|key| key.len() >= SHORTEST && key.iter().any(|byte| *byte != b'*'));
        Masks(keys)
    }

    /// A request body with `[key]` in place of each key: the same whatever the key is, so that a
    /// replay without one asks for the same.
    pub(crate) fn in_request<'a>(&self, body: &'a [u8]) -> Cow<'a, [u8]> {
        let mut body = Cow::Borrowed(body);
        for key in self.0.iter() {
            if memmem::find(&body, key).is_some() {
                body = Cow::Owned(replaced(&body, key, b"[key]"));
            }
        }
        body
    }

    /// Replaces each key in an answer by as many asterisks, so that its chunks keep their lengths.
    /// Returns whether there was one.
    pub(crate) fn in_answer(&self, body: &mut [u8]) -> bool {
        let mut any = false;
        for key in &self.0 {
            let mut from = 0;
            while let Some(at) = memmem::find(&body[from..], key) {
                let found = from + at..from + at + key.len();
                from = found.end;
                body[found].fill(b'*');
                any = true;
            }
        }
        any
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_struck_out_wherever_it_is_repeated() {
        let mut headers = HeaderMap::new();
        headers.insert("authorization", "Bearer sk-secret-0123456789".parse().unwrap());
        headers.insert("x-api-key", "short".parse().unwrap());
        let masks = Masks::of(&headers, Some("alt=sse&key=AIza-0123456789&x=1"));
        let body = b"sk-secret-0123456789 Bearer short AIza-0123456789";
        assert_eq!(&*masks.in_request(body), b"[key] Bearer short [key]");
        let mut answer = body.to_vec();
        assert!(masks.in_answer(&mut answer));
        assert_eq!(answer, b"******************** Bearer short ***************");
        assert!(!masks.in_answer(&mut b"nothing".to_vec()));
    }
}
