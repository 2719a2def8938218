//! Cassettes of vcrpy, of Ruby's VCR and of Betamax, in YAML or JSON, and of the tools that write the
//! same forms.
//!
//! - vcrpy (`vcr/serialize.py`): `interactions`, a list of requests with their responses.
//! - go-vcr (`pkg/cassette/cassette.go`): the same with other names in it.
//! - langchain-tests (`CustomSerializer` in its `conftest.py`): what vcrpy has in memory, `requests` and
//!   `responses`, packed with gzip.
//! - Ruby's VCR (`lib/vcr/structs.rb`) and Betamax (`betamax/util.py`): `http_interactions`, whose
//!   bodies say their encoding.

mod body;
mod interaction;
mod not_http;

use super::Placed;
use crate::error::FileProblem;
use crate::exchange::TrafficExchange;
use crate::node::{LocatedValue, Value};
use crate::notes::Notes;

pub(crate) use interaction::OWN;
use not_http::{WebSocketSession, call};

/// The field of VCR and Betamax.
pub(super) const OF_VCR: &str = "http_interactions";

/// The field of vcrpy.
pub(super) const OF_VCRPY: &str = "interactions";

/// The fields of langchain-tests.
pub(super) const OF_LANGCHAIN: [&str; 2] = ["requests", "responses"];

/// The exchanges of a cassette.
///
/// # Errors
/// The problem, and its place.
pub(crate) fn read(cassette: &LocatedValue, notes: &mut Notes) -> Placed<Vec<TrafficExchange>> {
    let whole = |wrong| (None, wrong);
    if let Some(first) = cassette.list().and_then(|items| items.first())
        && let Some(request) = first.get("request")
    {
        // A symbol of Ruby.
        let is_ruby = request.get("method").and_then(LocatedValue::text);
        let said = match is_ruby.is_some_and(|method| method.starts_with(':')) {
            true => "a cassette of VCR before 2.0: `vcr migrate` of VCR 2 converts it",
            false => "a cassette of vcrpy before 1.0: `python -m vcr.migration` converts it",
        };
        return Err(whole(FileProblem::Said(said.to_owned())));
    }
    let [requests, responses] = OF_LANGCHAIN;
    let has = |name| cassette.get(name).is_some();
    match () {
        () if has(OF_VCR) => interactions(cassette, OF_VCR, notes),
        () if !has(OF_VCRPY) && has(requests) && has(responses) => apart(cassette, notes),
        () => interactions(cassette, OF_VCRPY, notes),
    }
}

/// A list of requests with their responses.
fn interactions(
    cassette: &LocatedValue,
    name: &'static str,
    notes: &mut Notes,
) -> Placed<Vec<TrafficExchange>> {
    let items = list(cassette, name).map_err(|wrong| (None, wrong))?;
    let mut exchanges = Vec::with_capacity(items.len());
    let mut session = WebSocketSession::default();
    for (at, item) in items.iter().enumerate() {
        let place = place(name, at, item);
        let placed = |wrong| (Some(place.clone()), wrong);
        if item.get("direction").is_some() {
            exchanges.extend(session.message(item, &place, notes).map_err(placed)?);
            continue;
        }
        exchanges.extend(session.finish(notes));
        let found = match item.get("request").is_some() {
            true => interaction::read(item, &place, notes),
            false => call(item, &place, notes),
        };
        exchanges.push(found.map_err(placed)?);
    }
    exchanges.extend(session.finish(notes));
    Ok(exchanges)
}

/// Requests and their responses in lists of their own.
fn apart(cassette: &LocatedValue, notes: &mut Notes) -> Placed<Vec<TrafficExchange>> {
    let whole = |wrong| (None, wrong);
    let [name, other] = OF_LANGCHAIN;
    let (requests, responses) =
        (list(cassette, name).map_err(whole)?, list(cassette, other).map_err(whole)?);
    if requests.len() != responses.len() {
        let said = format!("it has {} requests and {} responses", requests.len(), responses.len());
        return Err(whole(FileProblem::Said(said)));
    }
    let pairs = requests.iter().zip(responses).enumerate();
    let read = |(at, (request, response))| {
        let place = place(name, at, request);
        let found = interaction::exchange(request, response, &place, notes);
        found.map_err(|wrong| (Some(place), wrong))
    };
    pairs.map(read).collect()
}

fn place(name: &str, at: usize, node: &LocatedValue) -> String {
    match node.line {
        0 => format!("{name}.{at}"),
        line => format!("{name}.{at} (line {line})"),
    }
}

fn list<'a>(
    cassette: &'a LocatedValue,
    name: &'static str,
) -> Result<&'a [LocatedValue], FileProblem> {
    let kind = |node: &LocatedValue, field, due| FileProblem::Kind {
        field,
        found: node.value.kind(),
        due,
    };
    if !matches!(cassette.value, Value::Map(_)) {
        return Err(kind(cassette, "the cassette", "a mapping"));
    }
    let found = cassette.get(name).ok_or(FileProblem::Missing(name))?;
    found.list().ok_or_else(|| kind(found, name, "a list"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exchange::{TrafficAnswer, TrafficQuestion};
    use crate::yaml::{self, Schema};

    fn read(text: &str) -> Result<(Vec<String>, Vec<String>), String> {
        let mut notes = Notes::default();
        let cassette = yaml::read(text, Schema::Yaml11).unwrap().remove(0);
        let found = super::read(&cassette, &mut notes).map_err(|(place, wrong)| {
            format!("{}{wrong}", place.map(|place| place + ": ").unwrap_or_default())
        })?;
        let shown = found.iter().map(|exchange| {
            let (TrafficQuestion::Http(asked), TrafficAnswer::Http { status, headers, body }) =
                (&exchange.asked, &exchange.answers[0])
            else {
                panic!("{exchange:?}");
            };
            let status = status.as_u16();
            format!("{} {:?} {status} {} {body:?}", asked.method, asked.body, headers.len())
        });
        Ok((shown.collect(), notes.all().map(|note| note.what).collect()))
    }

    #[test]
    fn bodies_of_ruby_are_in_the_encoding_that_they_name() {
        let one = |body: &str| {
            format!(
                "http_interactions:\n- request:\n    method: post\n    uri: https://h/\n    body: {{encoding: US-ASCII, string: ''}}\n    \
                 headers: {{}}\n  response:\n    status: {{code: 200, message: OK}}\n    headers: {{Vary: [a, b]}}\n    body:\n      \
                 {body}\n  recorded_at: Thu, 01 Jan 2026 00:00:00 GMT\nrecorded_with: VCR 6.3.1\n"
            )
        };
        let recorded_at = r#"the field "recorded_at""#;
        for (body, due, noted) in [
            ("{encoding: UTF-8, string: 'é'}", r#"b"\xc3\xa9""#, ""),
            ("{encoding: ASCII-8BIT, string: !binary 'AP8='}", r#"b"\0\xff""#, ""),
            ("{encoding: ISO-8859-1, string: 'é'}", r#"b"\xe9""#, ""),
            ("{encoding: null, string: 'é'}", r#"b"\xc3\xa9""#, ""),
            ("{base64_string: \"AP\\n8=\\n\", encoding: UTF-8}", r#"b"\0\xff""#, ""),
            ("{encoding: Shift_JIS, string: a}", r#"b"a""#, ""),
            (
                "{encoding: Shift_JIS, string: 'é'}",
                r#"b"\xc3\xa9""#,
                "the encoding Shift_JIS of a body, which is kept in UTF-8",
            ),
            (
                "{encoding: float, string: a, other: 1}",
                r#"b"{\"encoding\":\"float\",\"string\":\"a\",\"other\":1}""#,
                "the bytes of a body, of which the file has only the JSON in it",
            ),
        ] {
            let (shown, notes) = read(&one(body)).unwrap();
            assert_eq!(shown, [format!("POST b\"\" 200 2 {due}")], "{body}");
            let notes: Vec<&str> =
                notes.iter().map(String::as_str).filter(|note| *note != recorded_at).collect();
            assert_eq!(notes.join(""), noted, "{body}");
        }
    }

    #[test]
    fn cassettes_of_go_have_other_names() {
        let text = "---\nversion: 2\ninteractions:\n    - id: 0\n      request:\n        proto: HTTP/1.1\n        proto_major: 1\n        \
            content_length: 2\n        host: h\n        body: hi\n        form: {}\n        headers:\n            A:\n                - b\n        \
            url: https://h/\n        method: POST\n      response:\n        proto: HTTP/2.0\n        uncompressed: true\n        body: ho\n        \
            headers: {}\n        status: 200 OK\n        code: 200\n        duration: 412ms\n";
        let (shown, notes) = read(text).unwrap();
        assert_eq!(shown, ["POST b\"hi\" 200 0 b\"ho\""]);
        assert!(notes.is_empty(), "{notes:?}");
        let (_, notes) = read(&text.replace("form:", "colour:")).unwrap();
        assert_eq!(notes, ["the field \"colour\""]);
        let wrong = read(&text.replace("        code: 200\n", "")).unwrap_err();
        assert_eq!(wrong, "interactions.0 (line 4): it has no \"status\"");
    }

    #[test]
    fn names_of_headers_may_be_texts_of_a_class() {
        let text = "interactions:\n- request:\n    body: hi\n    headers:\n      ? !!python/object/apply:multidict._multidict.istr\n      \
            - Content-Type\n      : - text/plain\n    method: POST\n    uri: https://h/\n  response:\n    body: {string: ho}\n    headers:\n      \
            ? !!python/object/apply:multidict._multidict.istr\n      - X-A\n      : [b]\n    status: {code: 200, message: OK}\n";
        let (shown, notes) = read(text).unwrap();
        assert_eq!(shown, ["POST b\"hi\" 200 1 b\"ho\""]);
        assert!(notes.is_empty(), "{notes:?}");
    }

    #[test]
    fn requests_and_responses_may_be_lists_of_their_own() {
        let text = "requests:\n- {method: POST, uri: https://h/, body: !!binary aGk=, headers: {a: [b]}}\n- {method: GET, uri: \
            https://h/, body: null, headers: {}}\nresponses:\n- {status: {code: 200, message: OK}, headers: {}, body: {string: a}}\n";
        let wrong = read(text).unwrap_err();
        assert_eq!(wrong, "it has 2 requests and 1 responses");
        let second = "- {status: {code: 404, message: no}, headers: {}, body: {string: b}}\n";
        let (shown, notes) = read(&format!("{text}{second}")).unwrap();
        assert_eq!(shown, ["POST b\"hi\" 200 0 b\"a\"", "GET b\"\" 404 0 b\"b\""]);
        assert!(notes.is_empty(), "{notes:?}");
        let text = text.replace("uri: https://h/, body: !!binary aGk=, ", "");
        let wrong = read(&format!("{text}{second}")).unwrap_err();
        assert_eq!(wrong, "requests.0 (line 2): it has no \"uri\"");
    }

    #[test]
    fn cassettes_of_early_versions_are_named() {
        for (text, due) in [
            ("- request: {method: GET}\n  response: {}", "vcr.migration"),
            (
                "- !ruby/struct:VCR::HTTPInteraction\n  request: !ruby/struct:VCR::Request\n    method: :post",
                "VCR before 2.0",
            ),
        ] {
            assert!(read(text).unwrap_err().contains(due), "{text}");
        }
    }
}
