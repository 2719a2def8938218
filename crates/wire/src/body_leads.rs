//! URLs in the bodies of answers that a client may ask next, in the fields that its API documents: those of an upstream lead
//! through retold, as those in headers do.
//!
//! A log has the body as it came, and beside it where each URL leads ([`Transmission::leads`]). Only the client that is about to get
//! the answer sees another URL, in a recording as in a replay; nothing else in the body changes.
//!
//! [`Transmission::leads`]: crate::transmission::Transmission::leads

use hyper::Response;
use hyper::http::{HeaderMap, header};
use reqwest::Url;
use retold::model::providers::{BodyUrl, may_have_urls, urls_in_answer};
use serde_json::json;

use crate::arriving::is_json;
use crate::heads::{RecordedLeads, ReplayMark};
use crate::here::Here;
use crate::incoming::Incoming;
use crate::locations::url_without_secrets;
use crate::masks::Masks;
use crate::origins::place_of_default;
use crate::outlet::Outgoing;
use crate::session::Session;
use crate::upstream::Upstreams;

/// A request whose answer may have URLs for the next one.
pub(crate) struct LeadingRequest {
    upstream: String,
    path: String,
    headers: HeaderMap,
}

impl LeadingRequest {
    /// The request; `None` if its API has no URLs in the answers to it.
    pub(crate) fn of(incoming: &Incoming) -> Option<Self> {
        let Incoming { upstream, path, headers, .. } = incoming;
        may_have_urls(path).then(|| LeadingRequest {
            upstream: upstream.clone(),
            path: path.clone(),
            headers: headers.clone(),
        })
    }
}

/// Where each URL in an answer leads, as it is recorded: a path at retold without keys, or `None` if it is elsewhere.
pub(crate) fn leads_in(
    upstreams: &Upstreams,
    asked: &Incoming,
    body: &[u8],
    masks: &Masks,
) -> Vec<Option<String>> {
    if !may_have_urls(&asked.path) {
        return Vec::new();
    }
    let place = |found: BodyUrl| {
        let path = upstreams.place_of(&Url::parse(&found.url).ok()?, &asked.upstream)?;
        Some(url_without_secrets(&masks.in_text(&path)))
    };
    urls_in_answer(&asked.path, body).into_iter().map(place).collect()
}

impl Here {
    /// An answer with the URLs in its body as the client gets them.
    pub(crate) async fn lead_in_body(
        &self,
        response: Response<Outgoing>,
        asked: &LeadingRequest,
        session: &Session,
    ) -> Response<Outgoing> {
        let content_type = response.headers().get(header::CONTENT_TYPE);
        let is_json = content_type.and_then(|it| it.to_str().ok()).is_some_and(is_json);
        if !is_json || !response.status().is_success() {
            return response;
        }
        let (parts, body) = response.into_parts();
        let (body, is_whole) = body.read_to_end().await;
        if !is_whole {
            return Response::from_parts(parts, Outgoing::broken_off_after(body));
        }
        let found = urls_in_answer(&asked.path, &body);
        let is_recorded = parts.extensions.get::<ReplayMark>().is_some();
        let recorded =
            parts.extensions.get::<RecordedLeads>().filter(|it| it.0.len() == found.len());
        let (mut led, mut from) = (Vec::with_capacity(body.len()), 0);
        for (number, BodyUrl { place, url, unless }) in found.into_iter().enumerate() {
            if unless.is_some_and(|header| asked.headers.contains_key(header)) {
                continue;
            }
            let Ok(whole) = Url::parse(&url) else { continue };
            let path = match (is_recorded, recorded, &session.upstreams) {
                (true, Some(leads), _) => leads.0[number].clone(),
                // Recorded by another tool.
                (true, None, _) => place_of_default(&whole),
                (false, _, upstreams) => {
                    upstreams.as_ref().and_then(|all| all.place_of(&whole, &asked.upstream))
                }
            };
            let Some(by) = self.lead(path.as_deref().unwrap_or(&url), is_recorded, true, session)
            else {
                continue;
            };
            if by == url {
                continue;
            }
            let quoted = json!(by).to_string();
            led.extend_from_slice(&body[from..place.start]);
            led.extend_from_slice(&quoted.as_bytes()[1..quoted.len() - 1]);
            from = place.end;
            session.handed_urls.note(by, url);
        }
        let body = match from {
            0 => body,
            _ => [&led[..], &body[from..]].concat().into(),
        };
        Response::from_parts(parts, Outgoing::Whole(Some(body)))
    }
}
