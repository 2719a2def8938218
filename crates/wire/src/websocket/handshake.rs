//! The handshake of WebSockets (RFC 6455, section 4), on both sides.

use data_encoding::BASE64;
use hyper::http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use hyper::upgrade::OnUpgrade;
use reqwest::Upgraded;
use retold::model::providers;
use ring::digest::{SHA1_FOR_LEGACY_USE_ONLY, digest};

use crate::incoming::Incoming;
use crate::listening::ConnectionSeat;

/// What turns a key into its answer.
const ACCEPTED: &str = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/// A connection that may become a WebSocket.
pub(crate) struct Upgrade {
    /// The connection after the answer to its handshake.
    pub(crate) connection: OnUpgrade,
    /// The place of the connection among all.
    pub(crate) seat: ConnectionSeat,
}

/// An upstream's connection after its handshake.
pub(crate) enum UpgradedUpstream {
    /// It speaks WebSocket, with the headers of its handshake.
    Socket(Box<Upgraded>, HeaderMap),
    /// It answers over HTTP.
    Refused(Box<reqwest::Response>),
}

/// Whether a request wants another protocol on its connection.
pub(crate) fn is_an_upgrade(headers: &HeaderMap) -> bool {
    let connection = headers.get(header::CONNECTION).and_then(|value| value.to_str().ok());
    let upgrades = connection.is_some_and(|value| value.to_ascii_lowercase().contains("upgrade"));
    // A client that offers HTTP/2 on the same connection is served without it.
    upgrades && headers.get(header::UPGRADE).is_some_and(|value| value != "h2c")
}

/// Whether an upgrade is a WebSocket of an API whose frames are recorded.
pub(crate) fn is_recorded(incoming: &Incoming) -> bool {
    let is = |name: HeaderName, due: &str| {
        incoming
            .headers
            .get(name)
            .is_some_and(|it| it.as_bytes().eq_ignore_ascii_case(due.as_bytes()))
    };
    incoming.method == Method::GET
        && is(header::UPGRADE, "websocket")
        && is(header::SEC_WEBSOCKET_VERSION, "13")
        && incoming.headers.contains_key(header::SEC_WEBSOCKET_KEY)
        && providers::at(&incoming.path).asking_frame().is_some()
}

/// The answer to the key of a handshake.
pub(super) fn answer_to(key: &[u8]) -> HeaderValue {
    let hash = digest(&SHA1_FOR_LEGACY_USE_ONLY, &[key, ACCEPTED.as_bytes()].concat());
    let text = BASE64.encode(hash.as_ref());
    // Base64 is ASCII.
    HeaderValue::from_str(&text).unwrap_or_else(|_| HeaderValue::from_static(""))
}

/// The headers of a handshake with an upstream, besides those that are forwarded, for 16 random bytes.
pub(crate) fn handshake_headers(headers: &mut HeaderMap, random: [u8; 16]) -> HeaderValue {
    let own = [
        header::SEC_WEBSOCKET_KEY,
        header::SEC_WEBSOCKET_VERSION,
        header::SEC_WEBSOCKET_EXTENSIONS,
        header::SEC_WEBSOCKET_PROTOCOL,
    ];
    for name in own {
        headers.remove(name);
    }
    let key = HeaderValue::from_str(&BASE64.encode(&random));
    let key = key.unwrap_or_else(|_| HeaderValue::from_static(""));
    headers.insert(header::CONNECTION, HeaderValue::from_static("Upgrade"));
    headers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
    headers.insert(header::SEC_WEBSOCKET_VERSION, HeaderValue::from_static("13"));
    headers.insert(header::SEC_WEBSOCKET_KEY, key.clone());
    key
}

/// Whether an upstream's answer accepts a key.
pub(crate) fn accepts(headers: &HeaderMap, key: &HeaderValue) -> bool {
    headers.get(header::SEC_WEBSOCKET_ACCEPT) == Some(&answer_to(key.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of RFC 6455, section 1.3.
    #[test]
    fn a_key_is_answered_as_the_rfc_says() {
        assert_eq!(answer_to(b"dGhlIHNhbXBsZSBub25jZQ=="), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    }

    #[test]
    fn an_upstream_gets_a_handshake_of_ours_and_the_program_s_key() {
        let mut headers = HeaderMap::new();
        headers.insert(header::AUTHORIZATION, HeaderValue::from_static("Bearer k"));
        headers.insert(header::SEC_WEBSOCKET_KEY, HeaderValue::from_static("theirs"));
        headers.insert(
            header::SEC_WEBSOCKET_EXTENSIONS,
            HeaderValue::from_static("permessage-deflate"),
        );
        let key = handshake_headers(&mut headers, [0; 16]);
        assert_eq!(headers.get(header::SEC_WEBSOCKET_KEY), Some(&key));
        assert_eq!(headers[header::AUTHORIZATION], "Bearer k");
        assert!(!headers.contains_key(header::SEC_WEBSOCKET_EXTENSIONS));
        let accepted =
            HeaderMap::from_iter([(header::SEC_WEBSOCKET_ACCEPT, answer_to(key.as_bytes()))]);
        assert!(accepts(&accepted, &key) && !accepts(&HeaderMap::new(), &key));
    }
}
