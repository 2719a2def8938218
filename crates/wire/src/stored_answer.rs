//! What is stored of an answer: without keys, and without what is redacted.

use hyper::http::{HeaderMap, StatusCode};
use retold::model::providers::{Dialect, credentials, try_read};
use retold::model::{Response, STRUCK};

use crate::framing::Framing;
use crate::limits::LONGEST_READ;
use crate::masks::Masks;
use crate::read::{self, UpstreamReading};
use crate::redact::{Redaction, move_chunks};
use crate::transmission::Transmission;
use crate::wire_request::WireRequest;

/// An answer as it is stored.
pub(crate) struct StoredAnswer {
    pub(crate) kept: Transmission,
    pub(crate) body: Vec<u8>,
    /// The lengths of its chunks, and when each arrived.
    pub(crate) chunks: Vec<(usize, u64)>,
    /// What was let through followed from the label; what is read follows from the body.
    framing: Framing,
    /// True if its text is not stored, because a mistake of ours kept it from being searched for keys.
    is_withheld: bool,
}

/// The name under which the search for keys is tried. Its words are not passed on, since they may have a key.
const SEARCH: &str = "keys in answers";

/// The reason that is stored beside an answer that is withheld.
const WITHHELD: &str = "a mistake in retold kept it from being searched for keys, so that its text is not stored: please report it";

impl StoredAnswer {
    /// The answer to a request to this path that came with this body. The program has it whole: a key that it brings is left out
    /// here alone, and a program that sends on what it gets in a replay asks for the same.
    pub(crate) fn new(
        kept: Transmission,
        path: &str,
        body: &[u8],
        chunks: Vec<(usize, u64)>,
        masks: &Masks,
        redaction: &Redaction,
    ) -> Self {
        let strike =
            || StoredAnswer::struck(kept.clone(), path, body, chunks.clone(), masks, redaction);
        try_read(SEARCH, strike)
            .unwrap_or_else(|_| StoredAnswer::withheld(kept.clone(), body.len(), chunks.clone()))
    }

    /// The program has its answer in any case, and a key must not be stored.
    fn withheld(kept: Transmission, length: usize, chunks: Vec<(usize, u64)>) -> Self {
        let body = vec![b'*'; length];
        let (headers, leads) = (Vec::new(), Vec::new());
        let kept = Transmission { masked: true, headers, leads, ..kept };
        let framing = Framing::of_body("", &body);
        StoredAnswer { kept, body, chunks, framing, is_withheld: true }
    }

    fn struck(
        kept: Transmission,
        path: &str,
        body: &[u8],
        chunks: Vec<(usize, u64)>,
        masks: &Masks,
        redaction: &Redaction,
    ) -> Self {
        let issued = credentials::in_answer(path, kept.content_type(), body);
        let mut masked_body = credentials::replace(body, &issued, STRUCK.as_bytes());
        let chunks = match issued.is_empty() {
            true => chunks,
            false => move_chunks(&chunks, &[(body.len(), masked_body.clone())]),
        };
        let masked = masks.in_answer(&mut masked_body) || !issued.is_empty();
        let framing = Framing::of_body(kept.content_type(), &masked_body);
        let (body, chunks, redacted) =
            redaction.answer(framing, masked_body, kept.end.is_some(), chunks);
        let header = |(name, value): (String, String)| (name, redaction.text(&value).into_owned());
        let headers = kept.headers.into_iter().map(header).collect();
        let lead = |lead: Option<String>| lead.map(|lead| redaction.text(&lead).into_owned());
        let leads = kept.leads.into_iter().map(lead).collect();
        let kept = Transmission { masked, redacted, headers, leads, ..kept };
        StoredAnswer { kept, body, chunks, framing, is_withheld: false }
    }

    /// What it is, as the answer to a request.
    pub(crate) fn whole(
        self,
        asked: &WireRequest,
        status: StatusCode,
        headers: &HeaderMap,
        masks: &Masks,
    ) -> (Self, UpstreamReading) {
        let read = |it: &Self| read::whole(asked.dialect, it.framing, status, headers, &it.body);
        let (whole, mut reading) = match read(&self) {
            // It has no pieces that were read as one text.
            UpstreamReading::Answer(response) if self.body.len() > LONGEST_READ => {
                (self, UpstreamReading::Answer(response))
            }
            UpstreamReading::Answer(response) => match self.without_pieces(&response, masks) {
                (whole, false) => (whole, UpstreamReading::Answer(response)),
                (whole, true) => {
                    let again = read(&whole);
                    (whole, again)
                }
            },
            failed => (self, failed),
        };
        if let (Some(fault), UpstreamReading::Answer(response)) = (&asked.fault, &mut reading) {
            let reason = format!("the request is stored unread: {fault}");
            read::add_reason(response, &whole.body, reason);
        }
        if whole.is_withheld
            && let UpstreamReading::Answer(response) = &mut reading
        {
            read::add_reason(response, &whole.body, WITHHELD.to_owned());
        }
        (whole, reading)
    }

    /// What can be read of it if it broke off.
    pub(crate) fn with_partial_text(
        self,
        dialect: &dyn Dialect,
        masks: &Masks,
    ) -> (Self, Option<String>) {
        let read = |it: &Self| read::partial_text(dialect, it.framing, &it.body);
        match read(&self) {
            Some(text) => match self.without_pieces(&Response::text(text.clone()), masks) {
                (begun, false) => (begun, Some(text)),
                (begun, true) => {
                    let again = read(&begun);
                    (begun, again)
                }
            },
            None => (self, None),
        }
    }

    /// A key that the events of a stream cut into pieces is found when they have been read as one text. Whether there was one.
    fn without_pieces(self, read: &Response, masks: &Masks) -> (Self, bool) {
        let pieces = try_read(SEARCH, || {
            let (body, chunks) = (&self.body, &self.chunks);
            let keys = masks.for_pieces(read)?;
            Some(keys.answer(self.framing, body.clone(), self.kept.end.is_some(), chunks.clone()))
        });
        match pieces {
            Ok(None) => (self, false),
            Ok(Some((body, chunks, masked))) => {
                let StoredAnswer { kept, framing, is_withheld, .. } = self;
                let kept = Transmission { masked: kept.masked | masked, ..kept };
                (StoredAnswer { kept, body, chunks, framing, is_withheld }, masked)
            }
            Err(_) => (StoredAnswer::withheld(self.kept, self.body.len(), self.chunks), true),
        }
    }

    /// A failed attempt has no content, so its body is kept here, and its text beside it: as much as of an answer that is read.
    pub(crate) fn of_failure(&self, text: Option<String>) -> Transmission {
        let body = &self.body[..self.body.len().min(LONGEST_READ)];
        Transmission { text, ..self.kept.clone() }.with_body(body, &self.chunks, "")
    }
}

#[cfg(test)]
mod tests {
    use hyper::http::Method;
    use serde_json::json;

    use super::*;
    use crate::incoming::Incoming;
    use crate::rules::Rules;

    const KEY: &str = "sk-0123456789abcdefghij";

    /// What is stored of an answer whose request has the key, and whether it is said that something was taken out.
    fn stored(content_type: &str, body: &str) -> (String, bool) {
        let mut headers = HeaderMap::new();
        headers.insert("authorization", format!("Bearer {KEY}").parse().unwrap());
        let masks = Masks::new(&headers, None);
        let kept = Transmission {
            headers: vec![("content-type".to_owned(), content_type.to_owned())],
            ..Transmission::default()
        };
        let redaction = Redaction::default();
        let stored = StoredAnswer::new(kept, PATH, body.as_bytes(), Vec::new(), &masks, &redaction);
        let (stored, _) = stored.whole(&asked(headers), StatusCode::OK, &HeaderMap::new(), &masks);
        (String::from_utf8(stored.body).unwrap(), stored.kept.masked)
    }

    const PATH: &str = "/chat/completions";

    fn asked(headers: HeaderMap) -> WireRequest {
        let incoming = Incoming {
            upstream: "openai".to_owned(),
            is_led: false,
            method: Method::POST,
            path: PATH.to_owned(),
            query: None,
            headers,
            body: "{}".into(),
        };
        incoming.wire_request(&Rules::default()).unwrap()
    }

    #[test]
    fn a_key_in_several_events_or_tokens_is_taken_out() {
        let delta = |text: &str| {
            format!("data: {}\n\n", json!({"choices": [{"index": 0, "delta": {"content": text}}]}))
        };
        let events =
            [delta("is "), delta(&KEY[..7]), delta(&KEY[7..14]), delta(&KEY[14..])].concat();
        let (body, masked) = stored("text/event-stream", &events);
        assert!(masked && !body.contains(&KEY[7..14]) && body.contains("is "), "{body}");
        let tokens: Vec<_> = KEY
            .as_bytes()
            .chunks(3)
            .map(|it| json!({"token": std::str::from_utf8(it).unwrap(), "bytes": it}))
            .collect();
        let whole =
            json!({"choices": [{"message": {"content": "ok"}, "logprobs": {"content": tokens}}]});
        let (body, masked) = stored("application/json", &whole.to_string());
        assert!(masked && !body.contains("\"456\"") && body.contains("ok"), "{body}");
    }

    #[test]
    fn an_answer_whose_keys_could_not_be_looked_for_is_withheld_and_says_why() {
        let headers = vec![("x-key".to_owned(), KEY.to_owned())];
        let kept = Transmission { headers, ..Transmission::default() };
        let stored = StoredAnswer::withheld(kept, 25, vec![(25, 0)]);
        assert_eq!(stored.body, vec![b'*'; 25]);
        assert!(stored.kept.headers.is_empty() && stored.kept.masked);
        let (none, masks) = (HeaderMap::new(), Masks::default());
        let (_, read) = stored.whole(&asked(HeaderMap::new()), StatusCode::OK, &none, &masks);
        let UpstreamReading::Answer(response) = read else { panic!("a failure") };
        assert_eq!(response.extra[retold::model::UNREADABLE]["reason"], WITHHELD);
    }
}
