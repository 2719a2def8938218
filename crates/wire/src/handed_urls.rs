//! URLs at retold that a program got in place of others, and may send on: in a prompt, for example. What it asks then has the URL
//! that its answer had, so that neither a model nor a log sees our address.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use bytes::Bytes;
use memchr::memmem;

use crate::lock::lock;

/// See the [module](self).
#[derive(Default)]
pub(crate) struct HandedUrls(Mutex<Handed>);

#[derive(Default)]
struct Handed {
    /// The URL in the answer, by the one that the program got.
    urls: BTreeMap<String, String>,
    /// Their servers, as in `http://127.0.0.1:8377/`.
    servers: BTreeSet<String>,
}

impl HandedUrls {
    /// Notes that a program got `handed` in place of `real`.
    pub(crate) fn note(&self, handed: String, real: String) {
        let mut all = lock(&self.0);
        if !all.urls.contains_key(&handed) {
            all.servers.insert(server_of(&handed).to_owned());
            all.urls.insert(handed, real);
        }
    }

    /// The body of a request with the URLs of answers in it again.
    pub(crate) fn take_back(&self, body: Bytes) -> Bytes {
        let all = lock(&self.0);
        let places = |server: &String| memmem::find_iter(&body, server).collect::<Vec<_>>();
        let mut places: Vec<usize> = all.servers.iter().flat_map(places).collect();
        places.sort_unstable();
        let (mut out, mut from) = (Vec::new(), 0);
        for at in places {
            let Some((length, real)) = all.at(&body[at..]).filter(|_| at >= from) else { continue };
            out.extend_from_slice(&body[from..at]);
            out.extend_from_slice(real.as_bytes());
            from = at + length;
        }
        if from == 0 {
            return body;
        }
        out.extend_from_slice(&body[from..]);
        out.into()
    }
}

impl Handed {
    /// The length of the URL that a text begins with, and the one that it stands for.
    fn at(&self, text: &[u8]) -> Option<(usize, &str)> {
        let is_end = |byte: &u8| byte.is_ascii_whitespace() || b"\"'\\<>()[]{}".contains(byte);
        let end = text.iter().position(is_end).unwrap_or(text.len());
        let mut url = std::str::from_utf8(&text[..end]).ok()?;
        loop {
            if let Some(real) = self.urls.get(url) {
                return Some((url.len(), real));
            }
            // The end of a sentence.
            url = url.strip_suffix(['.', ',', ';', ':', '!', '?'])?;
        }
    }
}

/// The scheme, host and port of a URL.
fn server_of(url: &str) -> &str {
    let host = url.find("://").map_or(0, |at| at + 3);
    url[host..].find('/').map_or(url, |at| &url[..=host + at])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_that_was_handed_out_comes_back_as_it_was() {
        let handed = HandedUrls::default();
        let back = |body: &str| {
            String::from_utf8(handed.take_back(body.to_owned().into()).to_vec()).unwrap()
        };
        assert_eq!(back("http://127.0.0.1:1/token/t/a/x"), "http://127.0.0.1:1/token/t/a/x");
        handed.note(
            "http://127.0.0.1:1/token/t/a/x".to_owned(),
            "https://h/v1/x?y=\u{e4}".to_owned(),
        );
        handed.note("http://127.0.0.1:1/token/t/a/x2".to_owned(), "https://h/2".to_owned());
        for (body, due) in [
            (
                r#"{"url":"http://127.0.0.1:1/token/t/a/x"}"#,
                "{\"url\":\"https://h/v1/x?y=\u{e4}\"}",
            ),
            ("See http://127.0.0.1:1/token/t/a/x2. Or", "See https://h/2. Or"),
            (
                "http://127.0.0.1:1/token/t/a/x http://127.0.0.1:1/token/t/a/x2",
                "https://h/v1/x?y=\u{e4} https://h/2",
            ),
            ("http://127.0.0.1:1/token/t/a/x3", "http://127.0.0.1:1/token/t/a/x3"),
            ("nothing", "nothing"),
        ] {
            assert_eq!(back(body), due);
        }
    }
}
