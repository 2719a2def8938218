//! Personal data in whole bodies, and in requests over HTTP.

use std::borrow::Cow;

use hyper::http::{HeaderValue, header};
use retold::model::{IntegerMark, providers};
use serde_json::Value;

use super::views::{TextView, views_of};
use super::{Redaction, replaced, replaced_bytes};
use crate::incoming::{CALL, Incoming};

impl Redaction {
    /// A body that is one whole: JSON, a text, or bytes. The second value says whether anything was
    /// taken out.
    pub(super) fn whole<'a>(&self, body: &'a [u8], broken: bool) -> (Cow<'a, [u8]>, bool) {
        let longer = IntegerMark::of_longer(body);
        if let Ok(mut value) = IntegerMark::json(longer.as_ref(), body) {
            // Gemini streams a list, whose items are like the events of others.
            let continued = match &mut value {
                Value::Array(items) if items.iter().all(Value::is_object) => {
                    self.redact_across(items.iter_mut().collect(), broken)
                }
                _ => false,
            };
            return match self.value(&mut value) | continued {
                true => {
                    let text = IntegerMark::text_of(longer.as_ref(), &value);
                    (Cow::Owned(text.into_bytes()), true)
                }
                false => (Cow::Borrowed(body), false),
            };
        }
        if let Ok(text) = std::str::from_utf8(body)
            && !text.contains('\0')
        {
            let found = self.found(text, broken);
            return match found.is_empty() {
                true => (Cow::Borrowed(body), false),
                false => (Cow::Owned(replaced(text, &found).into_bytes()), true),
            };
        }
        let mut out = body.to_vec();
        let mut any = false;
        for unit in [u16::from_le_bytes, u16::from_be_bytes] {
            for from in [0, 1] {
                let found = self.found_in(views_of(TextView::of_utf16(&out, unit, from)), broken);
                any |= !found.is_empty();
                let bytes = |by: &str| {
                    by.encode_utf16().flat_map(|it| unit(it.to_ne_bytes()).to_ne_bytes()).collect()
                };
                out = replaced_bytes(&out, &found, bytes);
            }
        }
        let found = self.found_in(views_of(TextView::of_bytes(&out)), broken);
        any |= !found.is_empty();
        (Cow::Owned(replaced_bytes(&out, &found, |by| by.as_bytes().to_vec())), any)
    }

    /// A request as it is stored: upstream, path, query, headers and body.
    pub(crate) fn request<'a>(&self, incoming: &'a Incoming) -> Cow<'a, Incoming> {
        if self.is_empty() {
            return Cow::Borrowed(incoming);
        }
        let mut stored = incoming.clone();
        stored.upstream = self.text(&incoming.upstream).into_owned();
        stored.path = self.redact_parts(&incoming.path, '/');
        stored.query = incoming.query.as_deref().map(|query| self.redact_parts(query, '&'));
        for name in providers::counted_headers().chain([CALL]) {
            if let Some(value) = incoming.headers.get(name).and_then(|it| it.to_str().ok())
                && let Ok(value) = HeaderValue::from_str(&self.text(value))
            {
                stored.headers.insert(name, value);
            }
        }
        let header = |name: &str| incoming.headers.get(name).and_then(|it| it.to_str().ok());
        let body = incoming.plain_body();
        stored.headers.remove(header::CONTENT_ENCODING);
        let is_form = header("content-type")
            .is_some_and(|it| it.starts_with("application/x-www-form-urlencoded"));
        stored.body = match (&body, body.as_deref().map(std::str::from_utf8)) {
            (Some(_), Some(Ok(form))) if is_form => self.redact_parts(form, '&').into(),
            (Some(body), _) => self.whole(body, false).0.into_owned().into(),
            // A body that cannot be decoded cannot be searched.
            (None, _) => self.placeholder(&incoming.body).unwrap_or_default().into(),
        };
        Cow::Owned(stored)
    }

    /// Parts of a path, a query or a form, in which characters may be escaped.
    pub(super) fn redact_parts(&self, text: &str, between: char) -> String {
        let side = |side: &str| match self.text(&unescape(side)) {
            Cow::Borrowed(_) => side.to_owned(),
            Cow::Owned(other) => other,
        };
        let part = |part: &str| match part.split_once('=') {
            Some((name, value)) => format!("{}={}", side(name), side(value)),
            None => side(part),
        };
        text.split(between).map(part).collect::<Vec<_>>().join(&between.to_string())
    }
}

/// A text with its percent escapes resolved, and `+` as a space.
fn unescape(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        let hex = |bytes: &std::str::Bytes<'_>| {
            let digits: Vec<u8> = bytes.clone().take(2).collect();
            u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16)
                .ok()
                .filter(|_| digits.len() == 2)
        };
        match byte {
            b'%' if let Some(escaped) = hex(&bytes) => {
                out.push(escaped);
                bytes.nth(1);
            }
            b'+' => out.push(b' '),
            byte => out.push(byte),
        }
    }
    TextView::of_bytes(&out).text
}
