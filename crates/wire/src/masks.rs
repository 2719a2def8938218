//! Keys that a request carries, so that they can be kept out of what is stored.

use std::borrow::Cow;

use data_encoding::BASE64;
use hyper::http::{HeaderMap, HeaderName};
use reqwest::Url;
use retold::model::{Response, STRUCK, Secrets, is_a_key, percent_decoded};

use crate::redact::Redaction;

/// Whether a header of a request holds a key.
fn holds_a_key(name: &HeaderName) -> bool {
    is_a_key(name.as_str())
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

/// The keys of one request. Headers are never stored; this is about what repeats them.
#[derive(Debug, Default)]
pub(crate) struct Masks(Secrets);

impl Masks {
    /// The keys in these headers and this query, and those of the `upstream`'s URL.
    pub(crate) fn new(headers: &HeaderMap, query: Option<&str>, upstream: Option<&Url>) -> Self {
        let mut keys = Secrets::default();
        if let Some(url) = upstream {
            let [user, password] = [url.username(), url.password().unwrap_or_default()];
            let [decoded_user, decoded] = [user, password].map(percent_decoded);
            add(&mut keys, password.as_bytes());
            add(&mut keys, &decoded);
            if !password.is_empty() {
                // As it is sent, in base64.
                add(&mut keys, &[&*decoded_user, b":", &*decoded].concat());
            }
            add_query(&mut keys, url.query().unwrap_or(""));
        }
        for (_, value) in headers.iter().filter(|(name, _)| holds_a_key(name)) {
            // `Bearer KEY`: the scheme is not a secret. A cookie has several.
            for word in value.as_bytes().split(|byte| b" ;=,\"".contains(byte)) {
                add(&mut keys, word);
                // `Basic BASE64`: the user and the password.
                let basic = BASE64.decode(word).ok().filter(|it| it.contains(&b':'));
                if let Some(password) =
                    basic.and_then(|it| Some(it.splitn(2, |b| *b == b':').nth(1)?.to_vec()))
                {
                    add(&mut keys, &password);
                }
            }
        }
        add_query(&mut keys, query.unwrap_or(""));
        Masks(keys)
    }

    /// A request body with `[key]` in place of each key: the same whatever the key is, so that a
    /// replay without one asks for the same.
    pub(crate) fn in_request<'a>(&self, body: &'a [u8]) -> Cow<'a, [u8]> {
        let places = self.0.places(body);
        if places.is_empty() {
            return Cow::Borrowed(body);
        }
        let (mut out, mut from) = (Vec::with_capacity(body.len()), 0);
        for place in places {
            out.extend_from_slice(&body[from..place.start]);
            out.extend_from_slice(STRUCK.as_bytes());
            from = place.end;
        }
        out.extend_from_slice(&body[from..]);
        Cow::Owned(out)
    }

    /// Replaces each key in an answer by as many asterisks, so that its chunks keep their lengths.
    /// Returns whether there was one.
    pub(crate) fn in_answer(&self, body: &mut [u8]) -> bool {
        let places = self.0.places(body);
        places.iter().for_each(|place| body[place.clone()].fill(b'*'));
        !places.is_empty()
    }

    /// What takes the keys out of an answer in which they are cut by the events of its stream; `None` if there are none.
    pub(crate) fn for_pieces(&self, response: &Response) -> Option<Redaction> {
        self.0.are_in_response(response).then(|| Redaction::of_secrets(self.0.texts()))
    }
}

fn add(keys: &mut Secrets, key: &[u8]) {
    if let Ok(key) = std::str::from_utf8(key) {
        keys.add(key);
    }
}

fn add_query(keys: &mut Secrets, query: &str) {
    let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    for (_, value) in pairs.filter(|(name, _)| is_a_key(name)) {
        add(keys, value.as_bytes());
        add(keys, &percent_decoded(value));
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
