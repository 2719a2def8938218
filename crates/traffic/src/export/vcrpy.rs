//! Cassettes of vcrpy.

use std::collections::BTreeMap;

use http::StatusCode;
use retold::event::Labels;
use retold::id::RunId;
use retold::log::{LogError, Reader};
use retold::members::Members;
use retold::model::providers;
use retold_wire::{
    MASK, ORIGIN, ProgramSettings, RestoredBody, RestoredRequest, Transmission, restore,
    translate_urls,
};
use serde_json::json;

use super::yaml::{quote, text_or_bytes};
use super::{ExportError, QuestionOutcome, each, request};
use crate::format::vcr::OWN;
use crate::hosts::UrlParts;
use crate::notes::Notes;

/// In which form a cassette is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VcrpyForm {
    /// YAML, as vcrpy writes it unless told otherwise.
    Yaml,
    /// JSON, which cannot hold bytes that are not UTF-8.
    Json,
}

/// A request and its answer, as a cassette has them.
struct Interaction {
    method: String,
    uri: String,
    asked: Vec<(String, String)>,
    body: Option<Vec<u8>>,
    status: u16,
    headers: Vec<(String, String)>,
    answer: Vec<u8>,
    labels: Labels,
}

/// Writes the exchanges of a run as a cassette, line by line. Returns how many there are, and what
/// the cassette cannot hold.
///
/// `named` are base URLs by upstream; without one, that is used which the settings of the run say its
/// requests went to, and only if they do not, the provider's.
///
/// # Errors
/// [`ExportError`], and any error of `line`.
pub fn export_vcrpy<E: From<ExportError> + From<LogError>>(
    reader: &mut dyn Reader,
    run: RunId,
    form: VcrpyForm,
    named: &BTreeMap<String, String>,
    settings: &ProgramSettings,
    line: &mut dyn FnMut(&str) -> Result<(), E>,
) -> Result<(u64, Notes), E> {
    let mut notes = Notes::default();
    let mut written = 0_u64;
    let bases = Bases { named, settings };
    each::<E>(reader, run, &mut notes, |reader, answered, notes| {
        let seq = answered.seq;
        let place = format!("seq {seq}");
        let Some(kept) = transmission(&answered, &place, notes) else { return Ok(()) };
        let (kept, answer) = kept;
        let asked = request(reader, run, seq, answered.prompt)?;
        if asked.tool().is_some() {
            notes.add("a call of a tool, which was not HTTP", &place);
            return Ok(());
        }
        let Some(asked) = restore(&asked, &answered.call) else {
            notes.add("a request that was not HTTP, or that was too long to be stored", &place);
            return Ok(());
        };
        if bases.is_assumed(&asked.upstream) {
            let name = &asked.upstream;
            notes.add(
                &format!("where {name} was, which the run does not say: the provider's own URL is written"),
                &place,
            );
        }
        let interaction =
            Interaction { labels: answered.labels, ..interaction(asked, kept, answer, &bases)? };
        let text = match form {
            VcrpyForm::Yaml => of_yaml(&interaction),
            VcrpyForm::Json => of_json(&interaction, written).ok_or(ExportError::NotUtf8(seq))?,
        };
        if written == 0 {
            line(match form {
                VcrpyForm::Yaml => "interactions:",
                VcrpyForm::Json => "{\"version\": 1, \"interactions\": [",
            })?;
        }
        for part in text.lines() {
            line(part)?;
        }
        written += 1;
        Ok(())
    })?;
    if written == 0 {
        return Err(ExportError::Nothing { run, format: "a cassette" }.into());
    }
    line(match form {
        VcrpyForm::Yaml => "version: 1",
        VcrpyForm::Json => "]}",
    })?;
    Ok((written, notes))
}

/// How an answer travelled, and its body.
fn transmission(
    answered: &QuestionOutcome,
    place: &str,
    notes: &mut Notes,
) -> Option<(Transmission, Vec<u8>)> {
    if answered.outcome.is_unanswered() {
        notes.add("an attempt without an answer", place);
        return None;
    }
    let (kept, body) = answered.outcome.transmission(place, notes)?;
    if kept.end.is_some() {
        notes.add("an answer that was broken off", place);
        return None;
    }
    if kept.chunks.len() > 1 {
        notes.add("the boundaries and times of the chunks of a stream", place);
    }
    if kept.masked {
        notes.add("a key in an answer, which was not recorded", place);
    }
    Some((kept, body))
}

/// Where requests went.
struct Bases<'a> {
    named: &'a BTreeMap<String, String>,
    settings: &'a ProgramSettings,
}

impl Bases<'_> {
    fn base_url(&self, upstream: &str) -> Result<String, ExportError> {
        if let Some(url) = self.named.get(upstream) {
            let parts = UrlParts::parse(url);
            let parts =
                parts.map_err(|wrong| ExportError::Url { name: upstream.to_owned(), wrong })?;
            return Ok(format!("{}{}", parts.origin, parts.path.trim_end_matches('/')));
        }
        let unknown = || ExportError::NoUrl(upstream.to_owned());
        if let Some(url) = self.settings.led_to(upstream) {
            // Recordings can come from anyone, and of some URLs not all is recorded.
            let parts =
                UrlParts::parse(url).ok().filter(|_| !url.contains(MASK)).ok_or_else(unknown)?;
            return Ok(format!("{}{}", parts.origin, parts.path.trim_end_matches('/')));
        }
        let default = providers::default_url(upstream).map(str::to_owned);
        default.or_else(|| of_host(upstream)).ok_or_else(unknown)
    }

    /// Whether nobody says where an upstream was.
    fn is_assumed(&self, upstream: &str) -> bool {
        let is_said = self.named.contains_key(upstream) || self.settings.led_to(upstream).is_some();
        !is_said && of_host(upstream).is_none()
    }

    /// A URL that leads to a recorded request, where it led when it was recorded.
    fn target(&self, url: &str) -> Option<String> {
        let url = url.strip_prefix('/')?;
        let (upstream, path) = url.split_at(url.find('/')?);
        self.at(upstream, path).ok()
    }

    /// Where a path of an upstream is.
    fn at(&self, upstream: &str, path: &str) -> Result<String, ExportError> {
        let base = self.base_url(upstream)?;
        let outside = path.strip_prefix(ORIGIN).filter(|rest| rest.starts_with('/'));
        let origin = outside.and_then(|_| UrlParts::parse(&base).ok()).map(|parts| parts.origin);
        Ok(match (origin, outside) {
            (Some(origin), Some(path)) => format!("{origin}{path}"),
            _ => format!("{base}{path}"),
        })
    }
}

/// Where an upstream is that has the name of a host, as those of intercepted connections have, which
/// are opened to the port of HTTPS.
fn of_host(upstream: &str) -> Option<String> {
    let origin = format!("https://{upstream}");
    let parts = UrlParts::parse(&origin).ok().filter(|parts| parts.origin == origin);
    parts.filter(|_| upstream.contains('.')).map(|parts| parts.origin)
}

fn interaction(
    asked: RestoredRequest,
    kept: Transmission,
    answer: Vec<u8>,
    bases: &Bases<'_>,
) -> Result<Interaction, ExportError> {
    let RestoredRequest { upstream, method, path, query, headers, body } = asked;
    let query = query.map_or_else(String::new, |query| format!("?{query}"));
    let uri = format!("{}{query}", bases.at(&upstream, &path)?);
    let mut asked = headers;
    let (kind, body) = match body {
        RestoredBody::Empty => (None, None),
        RestoredBody::Json(mut value) => {
            if let Some(fields) = value.as_object_mut() {
                for (name, value) in kept.uncounted {
                    fields.entry(name).or_insert(value);
                }
            }
            (Some("application/json"), Some(value.to_string().into_bytes()))
        }
        RestoredBody::Bytes(bytes) => {
            let is_form = bytes.starts_with(b"--boundary\r\n");
            let kind = is_form.then_some("multipart/form-data; boundary=boundary");
            (kind, Some(bytes))
        }
    };
    asked.extend(kind.map(|kind| ("content-type".to_owned(), kind.to_owned())));
    let target = |(name, value): (String, String)| {
        let value = translate_urls(&name, &value, |url| bases.target(url)).unwrap_or(value);
        (name, value)
    };
    let headers = kept.headers.into_iter().map(target).collect();
    let method = method.as_str().to_owned();
    let (status, labels) = (kept.status, Labels::default());
    Ok(Interaction { method, uri, asked, body, status, headers, answer, labels })
}

fn message(status: u16) -> &'static str {
    StatusCode::from_u16(status).ok().and_then(|status| status.canonical_reason()).unwrap_or("")
}

/// Headers by name, in the order in which they first appear.
fn by_name(headers: &[(String, String)]) -> Vec<(&str, Vec<&str>)> {
    let mut all: Vec<(&str, Vec<&str>)> = Vec::new();
    for (name, value) in headers {
        match all.iter_mut().find(|(known, _)| known == name) {
            Some((_, values)) => values.push(value),
            None => all.push((name, vec![value])),
        }
    }
    all
}

fn of_yaml(interaction: &Interaction) -> String {
    let Interaction { method, uri, asked, body, status, headers, answer, labels } = interaction;
    let listed = |headers: &[(String, String)]| {
        let all = by_name(headers);
        if all.is_empty() {
            return "    headers: {}\n".to_owned();
        }
        let lines = all.iter().map(|(name, values)| {
            let values: String =
                values.iter().map(|value| format!("      - {}\n", quote(value))).collect();
            format!("      {}:\n{values}", quote(name))
        });
        format!("    headers:\n{}", lines.collect::<String>())
    };
    let body = body.as_ref().map_or_else(|| "null".to_owned(), |body| text_or_bytes(body));
    let mut own = String::new();
    if !labels.is_empty() {
        let lines =
            labels.iter().map(|(name, value)| format!("      {}: {}\n", quote(name), quote(value)));
        own = format!("  {OWN}:\n    labels:\n{}", lines.collect::<String>());
    }
    format!(
        "- request:\n    body: {body}\n{}    method: {}\n    uri: {}\n  response:\n    body:\n      string: {}\n{}    \
         status:\n      code: {status}\n      message: {}\n{own}",
        listed(asked),
        quote(method),
        quote(uri),
        text_or_bytes(answer),
        listed(headers),
        quote(message(*status)),
    )
}

fn of_json(interaction: &Interaction, before: u64) -> Option<String> {
    let Interaction { method, uri, asked, body, status, headers, answer, labels } = interaction;
    let body = match body {
        Some(body) => Some(std::str::from_utf8(body).ok()?),
        None => None,
    };
    let listed = |headers: &[(String, String)]| {
        let all =
            by_name(headers).into_iter().map(|(name, values)| (name.to_owned(), json!(values)));
        serde_json::Value::Object(all.collect())
    };
    let mut interaction = json!({
        "request": {"body": body, "headers": listed(asked), "method": method, "uri": uri},
        "response": {"body": {"string": std::str::from_utf8(answer).ok()?}, "headers": listed(headers),
            "status": {"code": status, "message": message(*status)}},
    });
    if !labels.is_empty() {
        interaction.set(OWN, json!({"labels": labels}));
    }
    Some(format!("{}{interaction}", if before > 0 { "," } else { "" }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_upstream_with_the_name_of_a_host_is_there() {
        for (name, due) in [
            ("api.openai.com", Some("https://api.openai.com")),
            ("openai", None),
            ("localhost-8000", None),
            ("evil.example/x", None),
            ("user@evil.example", None),
        ] {
            assert_eq!(of_host(name).as_deref(), due, "{name}");
        }
    }
}
