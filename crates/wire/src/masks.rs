//! Keys that a request carries, so that they are not stored.

use std::borrow::Cow;

use data_encoding::BASE64;
use hyper::http::header::COOKIE;
use hyper::http::{HeaderMap, HeaderName};
use reqwest::Url;
use retold::model::providers::credentials::Credential;
use retold::model::{Response, STRUCK, Secrets, UNREADABLE, is_a_key, percent_decoded};

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
pub(crate) fn replace_all(bytes: &[u8], what: &[u8], by: &[u8]) -> Vec<u8> {
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
#[derive(Debug, Default, Clone)]
pub(crate) struct Masks(Secrets);

impl Masks {
    /// The keys in these headers and this query.
    pub(crate) fn new(headers: &HeaderMap, query: Option<&str>) -> Self {
        let mut keys = Secrets::default();
        for (name, value) in headers.iter().filter(|(name, _)| holds_a_key(name)) {
            // A value that is not a text is not a key of an API.
            let Ok(value) = value.to_str() else { continue };
            match *name == COOKIE {
                true => add_parameters(&mut keys, value, ';', &|_| true),
                false => add_credentials(&mut keys, value),
            }
        }
        add_query(&mut keys, query.unwrap_or(""));
        Masks(keys)
    }

    /// These keys, and those of an upstream's URL.
    pub(crate) fn with_upstream(&self, url: Option<&Url>) -> Self {
        let Masks(mut keys) = self.clone();
        if let Some(url) = url {
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
        Masks(keys)
    }

    /// These keys, and those in the body of a request, which a server may repeat.
    pub(crate) fn with_credentials(mut self, found: &[Credential]) -> Self {
        for Credential { text, .. } in found {
            add_credentials(&mut self.0, text);
        }
        self
    }

    /// A part of a request with `[key]` in place of each key: the same for every key, so that a replay without one asks for
    /// the same.
    pub(crate) fn in_request<'a>(&self, body: &'a [u8]) -> Cow<'a, [u8]> {
        self.0.struck_from(body)
    }

    /// A text with `[key]` in place of each key. A client that follows a URL with a `[key]` may escape it.
    pub(crate) fn in_text(&self, text: &str) -> String {
        let struck = String::from_utf8_lossy(&self.in_request(text.as_bytes())).into_owned();
        match struck.contains('%') {
            true => struck.replace("%5Bkey%5D", STRUCK).replace("%5bkey%5d", STRUCK),
            false => struck,
        }
    }

    /// Replaces each key in an answer by as many asterisks, so that its chunks keep their lengths.
    /// Returns whether there was one.
    pub(crate) fn in_answer(&self, body: &mut [u8]) -> bool {
        let places = self.0.places(body);
        places.iter().for_each(|place| body[place.clone()].fill(b'*'));
        !places.is_empty()
    }

    /// What takes the keys out of an answer in which they are cut by the events of its stream; `None` if there are none. Of an answer
    /// that could not be read, nobody knows.
    pub(crate) fn for_pieces(&self, response: &Response) -> Option<Redaction> {
        let may_have = response.extra.contains_key(UNREADABLE) || self.0.are_in_response(response);
        may_have.then(|| Redaction::of_secrets(self.0.clone()))
    }
}

/// Adds the secrets in the value of a header: `KEY`, `Bearer KEY`, `Basic USER:PASSWORD` in base64, or a scheme with
/// parameters (RFC 9110, section 11.4), of which the names and most values are no secrets.
fn add_credentials(keys: &mut Secrets, value: &str) {
    let (scheme, rest) = value.trim().split_once(' ').unwrap_or(("", value));
    let rest = rest.trim();
    let is_padding = |value: &str| value.trim_matches('=').is_empty();
    if rest.split_once('=').is_some_and(|(name, value)| !name.contains('"') && !is_padding(value)) {
        return add_parameters(keys, rest, ',', &|name| name == "response" || is_a_key(name));
    }
    add(keys, rest.as_bytes());
    if scheme.eq_ignore_ascii_case("basic")
        && let Ok(decoded) = BASE64.decode(rest.as_bytes())
        && let Some(at) = decoded.iter().position(|byte| *byte == b':')
    {
        add(keys, &decoded[at + 1..]);
    }
}

/// Adds the values of parameters, such as those of a cookie, or of AWS's signature.
fn add_parameters(keys: &mut Secrets, list: &str, between: char, is_secret: &dyn Fn(&str) -> bool) {
    for (name, value) in list.split(between).filter_map(|one| one.trim().split_once('=')) {
        if is_secret(name) {
            let value = value.trim().trim_matches('"');
            // `Credential=ID/DATE/REGION/SERVICE/aws4_request`: the id alone.
            let value = if name == "Credential" { value.split('/').next() } else { Some(value) };
            add(keys, value.unwrap_or_default().as_bytes());
        }
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
        let masks = Masks::new(&headers, Some("alt=sse&key=AIza-0123456789&x=1"));
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

    /// What is around a signature stands in every request and answer.
    #[test]
    fn of_credentials_only_the_secret_is_struck_out() {
        let masked = |name: &'static str, value: &str, body: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(name, value.parse().unwrap());
            let mut body = body.as_bytes().to_vec();
            Masks::new(&headers, None).in_answer(&mut body);
            String::from_utf8(body).unwrap()
        };
        let signed = "AWS4-HMAC-SHA256 Credential=AKIA0123456789ABCDEF/20261127/eu-west-1/bedrock/aws4_request, \
            SignedHeaders=content-type;host;x-amz-date, Signature=c157be47224095aede9d2c4fb19e759ace2e34d765c1e0db214c3e0ddcf4554b";
        let plain = ":content-type x-amz-date AWS4-HMAC-SHA256 20261127/eu-west-1/bedrock/aws4_request SignedHeaders";
        assert_eq!(masked("authorization", signed, plain), plain);
        for secret in [
            "AKIA0123456789ABCDEF",
            "c157be47224095aede9d2c4fb19e759ace2e34d765c1e0db214c3e0ddcf4554b",
        ] {
            assert_eq!(masked("authorization", signed, secret), "*".repeat(secret.len()));
        }
        let cookie = "session_identifier_2=abcdef0123456789; theme=dark";
        assert_eq!(
            masked("cookie", cookie, "session_identifier_2 dark"),
            "session_identifier_2 dark"
        );
        assert_eq!(masked("cookie", cookie, "abcdef0123456789"), "*".repeat(16));
        let digest = "Digest username=\"me-and-myself-1\", realm=\"testrealm@host.com\", response=\"6629fae49393a05397450978507c4ef1\"";
        assert_eq!(masked("authorization", digest, "testrealm@host.com"), "testrealm@host.com");
        assert_eq!(
            masked("authorization", digest, "6629fae49393a05397450978507c4ef1"),
            "*".repeat(32)
        );
        for value in
            ["Bearer sk-0123456789abcdef==", "sk-0123456789abcdef==", "Token sk-0123456789abcdef=="]
        {
            assert_eq!(
                masked("authorization", value, "sk-0123456789abcdef"),
                "*".repeat(19),
                "{value}"
            );
        }
        assert_eq!(
            masked("authorization", "Token token=\"sk-0123456789abcdef\"", "sk-0123456789abcdef"),
            "*".repeat(19)
        );
    }

    #[test]
    fn the_keys_of_an_upstreams_url_are_struck_out_of_its_answers() {
        let url = "https://me:pass%40word-01@h.example/?api-key=az-0123456789&v=version-of-2026";
        let masks = Masks::default().with_upstream(Some(&Url::parse(url).unwrap()));
        let said =
            b"pass@word-01 pass%40word-01 Basic bWU6cGFzc0B3b3JkLTAx az-0123456789 version-of-2026";
        let mut answer = said.to_vec();
        assert!(masks.in_answer(&mut answer));
        let due =
            "************ ************** Basic ******************** ************* version-of-2026";
        assert_eq!(String::from_utf8(answer).unwrap(), due);
    }
}
