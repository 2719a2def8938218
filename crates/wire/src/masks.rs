//! Keys that a request carries, so that they can be kept out of what is stored.

use std::borrow::Cow;

use data_encoding::{
    BASE64, BASE64_NOPAD, BASE64URL_NOPAD, HEXLOWER, HEXLOWER_PERMISSIVE, HEXUPPER,
};
use hyper::http::header::COOKIE;
use hyper::http::{HeaderMap, HeaderName};
use memchr::memmem;
use reqwest::Url;

use crate::key_names::is_a_key;

/// Shorter values are no keys, and would strike out words.
const SHORTEST: usize = 12;

/// Whether a header of a request holds a key.
fn holds_a_key(name: &HeaderName) -> bool {
    *name == COOKIE || is_a_key(name.as_str())
}

/// Removes the headers that hold keys.
pub(crate) fn without_keys(headers: &mut HeaderMap) {
    let names: Vec<HeaderName> = headers.keys().filter(|name| holds_a_key(name)).cloned().collect();
    for name in names {
        headers.remove(name);
    }
}

/// Bytes with others in place of each occurrence of some.
pub(crate) fn replaced(bytes: &[u8], what: &[u8], by: &[u8]) -> Vec<u8> {
    let (mut out, mut rest) = (Vec::with_capacity(bytes.len()), bytes);
    while let Some(at) = memchr::memmem::find(rest, what) {
        out.extend_from_slice(&rest[..at]);
        out.extend_from_slice(by);
        rest = &rest[at + what.len()..];
    }
    out.extend_from_slice(rest);
    out
}

/// The keys of one request. Headers are never stored; this is about bodies that repeat them.
#[derive(Default)]
pub(crate) struct Masks(Vec<Vec<u8>>);

impl Masks {
    /// The keys in these headers and this query, and those of the `upstream`'s URL.
    pub(crate) fn new(headers: &HeaderMap, query: Option<&str>, upstream: Option<&Url>) -> Self {
        let mut keys = Vec::new();
        if let Some(url) = upstream {
            let [user, password] = [url.username(), url.password().unwrap_or_default()];
            let [user, decoded] = [user, password].map(percent_decoded);
            keys.push(BASE64.encode(&[&*user, b":", &*decoded].concat()).into_bytes());
            keys.extend([password.as_bytes().to_vec(), decoded]);
            let pairs = url.query().unwrap_or("").split('&').filter_map(|it| it.split_once('='));
            let pairs = pairs.filter(|(name, _)| is_a_key(name));
            keys.extend(pairs.flat_map(|(_, key)| [key.as_bytes().to_vec(), percent_decoded(key)]));
        }
        let named = headers.iter().filter(|(name, _)| holds_a_key(name));
        // `Bearer KEY`: the scheme is not a secret. A cookie has several.
        let words =
            named.flat_map(|(_, value)| value.as_bytes().split(|byte| b" ;=".contains(byte)));
        keys.extend(words.map(<[u8]>::to_vec));
        for pair in query.unwrap_or("").split('&') {
            if let Some((name, value)) = pair.split_once('=')
                && is_a_key(name)
            {
                keys.push(value.as_bytes().to_vec());
            }
        }
        keys.retain(|key| key.len() >= SHORTEST && key.iter().any(|byte| *byte != b'*'));
        let mut written: Vec<Vec<u8>> = keys.iter().flat_map(|key| writings(key)).collect();
        written.sort_unstable();
        written.dedup();
        // The longest first: a part of it may be another one.
        written.sort_by_key(|key| std::cmp::Reverse(key.len()));
        Masks(written)
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

/// The bytes that a part of a URL stands for.
fn percent_decoded(part: &str) -> Vec<u8> {
    let (mut out, mut rest) = (Vec::with_capacity(part.len()), part.as_bytes());
    while let Some((byte, after)) = rest.split_first() {
        let digits = after.get(..2).filter(|_| *byte == b'%');
        match digits.and_then(|digits| HEXLOWER_PERMISSIVE.decode(digits).ok()) {
            Some(decoded) => {
                out.extend(decoded);
                rest = &after[2..];
            }
            None => {
                out.push(*byte);
                rest = after;
            }
        }
    }
    out
}

/// A key as it is, and as an error message or an echo may have it: in other letters, in hexadecimal digits, in base64
/// at any place.
fn writings(key: &[u8]) -> Vec<Vec<u8>> {
    let mut all = vec![key.to_vec(), key.to_ascii_uppercase(), key.to_ascii_lowercase()];
    all.extend([HEXLOWER, HEXUPPER].map(|encoding| encoding.encode(key).into_bytes()));
    for before in 0..3 {
        let padded = [&[0; 3][..before], key].concat();
        // The characters that are the same whatever stands around the key.
        let part = (before * 8).div_ceil(6)..padded.len() * 8 / 6;
        for encoding in [BASE64_NOPAD, BASE64URL_NOPAD] {
            all.push(encoding.encode(&padded).as_bytes()[part.clone()].to_vec());
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_struck_out_wherever_it_is_repeated() {
        let mut headers = HeaderMap::new();
        headers.insert("authorization", "Bearer sk-secret-0123456789".parse().unwrap());
        headers.insert("x-api-key", "short".parse().unwrap());
        let masks = Masks::new(&headers, Some("alt=sse&key=AIza-0123456789&x=1"), None);
        let body = b"sk-secret-0123456789 Bearer short AIza-0123456789";
        assert_eq!(&*masks.in_request(body), b"[key] Bearer short [key]");
        let mut answer = body.to_vec();
        assert!(masks.in_answer(&mut answer));
        assert_eq!(answer, b"******************** Bearer short ***************");
        assert!(!masks.in_answer(&mut b"nothing".to_vec()));
        for before in ["", "a", "ab"] {
            let said = format!("{before}sk-secret-0123456789!");
            let mut answer = data_encoding::BASE64.encode(said.as_bytes()).into_bytes();
            assert!(masks.in_answer(&mut answer), "{before}");
            let read = data_encoding::BASE64.encode(b"secret");
            assert!(!String::from_utf8(answer).unwrap().contains(&read[..6]));
        }
        let mut answer = b"SK-SECRET-0123456789".to_vec();
        assert!(masks.in_answer(&mut answer) && answer == b"********************");
    }

    #[test]
    fn the_keys_of_an_upstreams_url_are_struck_out_of_its_answers() {
        let url = "https://me:pass%40word-01@h.example/?api-key=az-0123456789&v=version-of-2026";
        let masks = Masks::new(&HeaderMap::new(), None, Some(&Url::parse(url).unwrap()));
        let said =
            b"pass@word-01 pass%40word-01 Basic bWU6cGFzc0B3b3JkLTAx az-0123456789 version-of-2026";
        let mut answer = said.to_vec();
        assert!(masks.in_answer(&mut answer));
        let due =
            "************ ************** Basic ******************** ************* version-of-2026";
        assert_eq!(String::from_utf8(answer).unwrap(), due);
    }
}
