//! Cassettes: the exchanges of a program's run as text, for tests and for pull requests. The same answers give the same
//! bytes, because a cassette has no timestamps and no run ids, and its order does not depend on when answers arrived. Words come
//! first: what varies with every recording is in the last line of its exchange, and what is repeated stands once.

use std::collections::{BTreeMap, BTreeSet};

use retold::event::{AttemptDetails, ClientLeft, Event, Labels};
use retold::id::{CallPath, RunId, Sample, Seq};
use retold::log::{LogError, Reader, RunEvents};
use retold::model::providers::DIALECTS;
use retold::prompt::Request;
use retold_wire::{BodyEnd, ProgramSettings, RestoredBody, RestoredRequest, Transmission, restore};
use serde_json::Value as Json;

use super::block_yaml::YamlBlock;
use super::{ExportError, ExportedOutcome, QuestionOutcome, each, request};
use crate::cassette::{
    CassetteBody, Definitions, NamedValues, Repeated, add_ids, take_ids, take_varying,
};
use crate::node::{LocatedValue, Value};
use crate::notes::Notes;

/// The first line of each cassette's content: its format and version.
pub(crate) const CASSETTE: &str = "cassette 2";

/// What somebody who opens a cassette has to know.
const COMMENT: &str = "\
# Recorded by retold. A request is found by its hash, which an edited request does not fit any more. Names in double braces
# stand for what varies (the last line of each exchange) and for what is repeated.
";

/// How many digits of a request's hash stand for it.
pub(crate) const HASH_DIGITS: usize = 16;

/// The headers of answers that differ whenever the same is asked, and say nothing to a program.
const FLEETING: &[&str] = &[
    "x-request-id",
    "request-id",
    "openai-processing-ms",
    "x-ratelimit-",
    "anthropic-ratelimit-",
    "last-modified",
    "etag",
];

/// The time after which a client left is rounded up to as many milliseconds, so that recording again gives the same.
const ROUNDED: u64 = 100;

/// The fields that come first in a request, because they say most about it.
const FIRST: &[&str] = &["model", "role", "type", "name"];

/// A question and what came back.
struct CassetteExchange {
    /// The name that the program gave its call.
    call: Option<String>,
    labels: Labels,
    asked: RestoredRequest,
    /// The body of the request, if it is JSON.
    json: Option<LocatedValue>,
    answers: Vec<CassetteAnswer>,
    /// The hash, and what varies.
    varying: NamedValues,
}

/// What a client got, and if that was no answer, why not; `left` says how it hung up, if it did.
struct CassetteAnswer {
    kept: Transmission,
    bytes: Vec<u8>,
    body: CassetteBody,
    failed: Option<AttemptDetails>,
    left: Option<ClientLeft>,
}

/// The order of exchanges: short dialogues before long ones, then by question.
type CassettePlace = (String, usize, String, Sample, Seq);

/// Writes the exchanges of a run as a cassette, line by line. Returns their number, and notes on the parts that are left
/// out.
///
/// # Errors
/// [`ExportError`], and any error of `line`.
pub fn export_cassette<E: From<ExportError> + From<LogError>>(
    reader: &mut dyn Reader,
    run: RunId,
    settings: &ProgramSettings,
    line: &mut dyn FnMut(&str) -> Result<(), E>,
) -> Result<(u64, Notes), E> {
    if settings.rules.redact.is_some() {
        return Err(ExportError::Redacted { run }.into());
    }
    let mut notes = Notes::default();
    let mut all: BTreeMap<CassettePlace, CassetteExchange> = BTreeMap::new();
    let mut places: BTreeMap<Seq, CassettePlace> = BTreeMap::new();
    let mut departures = departures(reader, run)?;
    each::<E>(reader, run, &mut notes, |reader, answered, notes| {
        let place = format!("seq {}", answered.seq);
        let Some(answer) = answer(&answered, &place, notes) else { return Ok(()) };
        let answer = CassetteAnswer { left: departures.remove(&answered.seq), ..answer };
        if let Some(exchange) = places.get(&answered.question).and_then(|at| all.get_mut(at)) {
            exchange.answers.push(answer);
            return Ok(());
        }
        let asked = request(reader, run, answered.seq, answered.prompt)?;
        let Some(restored) = restore(&asked, &answered.call) else {
            notes.add("a request that was not HTTP, or that was too long to be stored", &place);
            return Ok(());
        };
        let at = place_of(&answered, &asked);
        places.insert(answered.question, at.clone());
        all.insert(
            at,
            CassetteExchange {
                call: named_by_program(&answered.call),
                labels: answered.labels,
                json: match &restored.body {
                    RestoredBody::Json(value) => Some(readable(value)),
                    RestoredBody::Empty | RestoredBody::Bytes(_) => None,
                },
                asked: restored,
                answers: vec![answer],
                varying: NamedValues::beginning_with("hash", &asked.hash().short(HASH_DIGITS)),
            },
        );
        Ok(())
    })?;
    if all.is_empty() {
        return Err(ExportError::Nothing { run, format: "a cassette" }.into());
    }
    let mut exchanges: Vec<_> = all.into_values().collect();
    for text in text(&mut exchanges, settings).lines() {
        line(text)?;
    }
    Ok((exchanges.len() as u64, notes))
}

/// The text of a cassette with these exchanges.
fn text(exchanges: &mut [CassetteExchange], settings: &ProgramSettings) -> String {
    let repeated = take_apart(exchanges);
    let mut block = YamlBlock::default();
    block.text("retold", CASSETTE);
    rules(settings, &mut block);
    if !repeated.values().is_empty() {
        block.fields("repeated", |block| {
            repeated.values().iter().for_each(|(name, value)| block.field(name, value));
        });
    }
    block.items("exchanges", exchanges, write);
    format!("{COMMENT}{}", block.into_lines())
}

/// Takes what varies out of exchanges, and returns what several of them have.
fn take_apart(exchanges: &mut [CassetteExchange]) -> Repeated {
    let (mut ids, mut repeated) = (BTreeSet::new(), Repeated::default());
    for exchange in &mut *exchanges {
        exchange.json.iter().for_each(|json| repeated.count(json));
        for value in exchange.answers.iter_mut().flat_map(|answer| answer.body.values()) {
            repeated.count_echoes(value);
            add_ids(value, &mut ids);
        }
    }
    for CassetteExchange { json, answers, varying, .. } in &mut *exchanges {
        if let Some(json) = json {
            take_ids(json, &ids, varying);
            repeated.take(json);
        }
        for value in answers.iter_mut().flat_map(|answer| answer.body.values()) {
            repeated.take_echoes(value);
            take_varying(value, varying);
        }
    }
    for CassetteExchange { answers, varying, .. } in exchanges {
        for answer in answers {
            let mut put_back = 0;
            let mut definitions =
                Definitions::new(varying.values(), repeated.values(), &mut put_back);
            let body = std::mem::replace(&mut answer.body, CassetteBody::Plain);
            answer.body = body.or_plain(&answer.bytes, &mut definitions);
        }
    }
    repeated
}

/// Writes the rules that say which parts of a request do not count.
fn rules(settings: &ProgramSettings, block: &mut YamlBlock) {
    let texts = |texts: &mut dyn Iterator<Item = &String>| {
        let texts = texts.map(|text| LocatedValue::new(Value::Text(text.clone())));
        LocatedValue::new(Value::List(texts.collect()))
    };
    let rules = &settings.rules;
    if !rules.ignore.is_empty() {
        block.field("ignore", &texts(&mut rules.ignore.iter()));
    }
    if !rules.replace.is_empty() {
        let pairs =
            rules.replace.iter().map(|(pattern, text)| texts(&mut [pattern, text].into_iter()));
        block.field("replace", &LocatedValue::new(Value::List(pairs.collect())));
    }
}

fn answer(answered: &QuestionOutcome, place: &str, notes: &mut Notes) -> Option<CassetteAnswer> {
    let (kept, bytes) = answered.outcome.transmission(place, notes)?;
    let failed = match &answered.outcome {
        ExportedOutcome::Failed(details) if answered.outcome.is_unanswered() => {
            Some(details.clone())
        }
        _ => None,
    };
    let body = CassetteBody::new(&bytes);
    Some(CassetteAnswer { kept, bytes, body, failed, left: None })
}

/// How clients left, by the attempts that they did not wait for.
fn departures(reader: &mut dyn Reader, run: RunId) -> Result<BTreeMap<Seq, ClientLeft>, LogError> {
    let (mut attempts, mut found) = (BTreeMap::new(), BTreeMap::new());
    let mut events = RunEvents::new(run);
    while let Some(stored) = events.next(reader)? {
        match stored.event()? {
            Event::ResponseReceived(it) => attempts.insert(it.request, stored.seq),
            Event::AnswerReused(it) => attempts.insert(it.request, stored.seq),
            Event::AttemptFailed(it) => attempts.insert(it.request, stored.seq),
            Event::ClientLeft(left) => {
                if let Some(attempt) = attempts.get(&left.request) {
                    found.insert(*attempt, left);
                }
                continue;
            }
            _ => continue,
        };
    }
    Ok(found)
}

fn place_of(answered: &QuestionOutcome, asked: &Request) -> CassettePlace {
    let call = named_by_program(&answered.call);
    let kind = call.unwrap_or_else(|| answered.call.kind());
    let messages = asked.body()["messages"].as_array().map_or(0, Vec::len);
    (kind, messages, asked.body().to_string(), answered.sample, answered.question)
}

/// The name that a program gave a call; `None` for the name that a call has otherwise, which ends with a hash.
fn named_by_program(call: &CallPath) -> Option<String> {
    let name = call.as_str().strip_suffix("/stream").unwrap_or(call.as_str());
    // The calls of tools have the name of the tool in theirs.
    let is_dialect = |name: &str| {
        name.starts_with("tool.") || DIALECTS.iter().any(|dialect| dialect.name() == name)
    };
    let is_hash =
        |last: &str| last.len() == HASH_DIGITS && last.bytes().all(|b| b.is_ascii_hexdigit());
    let is_own =
        name.split_once('/').is_some_and(|(dialect, last)| is_dialect(dialect) && is_hash(last));
    (!is_own).then(|| name.to_owned())
}

fn write(block: &mut YamlBlock, exchange: &CassetteExchange) {
    let CassetteExchange { call, labels, asked, json, answers, varying } = exchange;
    if let Some(call) = call {
        block.text("call", call);
    }
    if !labels.is_empty() {
        block.fields("labels", |block| {
            labels.iter().for_each(|(name, value)| block.text(name, value))
        });
    }
    block.fields("request", |block| {
        block.text("upstream", &asked.upstream);
        block.text("method", asked.method.as_str());
        block.text("path", &asked.path);
        if let Some(query) = &asked.query {
            block.text("query", query);
        }
        headers(block, &asked.headers);
        if let Some(json) = json {
            block.field("json", json);
        }
        if let RestoredBody::Bytes(bytes) = &asked.body {
            body(block, bytes);
        }
    });
    block.items("answers", answers, write_answer);
    block.line("varying", &LocatedValue::new(Value::Map(varying.values().to_vec())));
}

fn write_answer(block: &mut YamlBlock, answer: &CassetteAnswer) {
    let CassetteAnswer { kept, bytes, body: found, failed, left } = answer;
    let number = |number: u64| LocatedValue::new(Value::Number(number.into()));
    if let Some(details) = failed {
        block.text("failure", &details.failure);
        block.text("error", &details.error);
        if details.gave_up {
            block.field("gave_up", &LocatedValue::new(Value::Bool(true)));
        }
    }
    block.field("status", &number(kept.status.into()));
    let lasting =
        |(name, _): &&(String, String)| !FLEETING.iter().any(|begin| name.starts_with(begin));
    let lasting: Vec<_> = kept.headers.iter().filter(lasting).cloned().collect();
    headers(block, &lasting);
    match found {
        CassetteBody::Json(style, value) => {
            block.field("json", value);
            block.text("layout", &style.name());
        }
        CassetteBody::Stream(lines, is_crlf) => {
            block.text("stream", &CassetteBody::stream_text(lines));
            if *is_crlf {
                block.text("lines", "crlf");
            }
        }
        CassetteBody::Plain => body(block, bytes),
    }
    match kept.end {
        Some(BodyEnd::BrokenOff) => block.text("end", "broken_off"),
        Some(BodyEnd::ClientLeft) => block.text("end", "client_left"),
        None => {}
    }
    if let Some(left) = left {
        block.fields("client_left", |block| {
            block.field("after_ms", &number(left.after_ms.div_ceil(ROUNDED) * ROUNDED));
            if let Some(bytes) = left.bytes {
                block.field("bytes", &number(bytes));
            }
        });
    }
}

/// Headers of one name are one list.
fn headers(block: &mut YamlBlock, all: &[(String, String)]) {
    if all.is_empty() {
        return;
    }
    let pairs = all.iter().map(|(name, value)| {
        let text = |text: &String| LocatedValue::new(Value::Text(text.clone()));
        LocatedValue::new(Value::Map(vec![(name.clone(), text(value))]))
    });
    block.field("headers", &LocatedValue::new(Value::List(pairs.collect())));
}

fn body(block: &mut YamlBlock, bytes: &[u8]) {
    let value = match std::str::from_utf8(bytes) {
        Ok(text) => Value::Text(text.to_owned()),
        Err(_) => Value::Bytes(bytes.to_vec()),
    };
    block.field("body", &LocatedValue::new(value));
}

/// JSON whose order does not count, with the fields of `FIRST` first.
fn readable(value: &Json) -> LocatedValue {
    LocatedValue::new(match value {
        Json::Null => Value::Null,
        Json::Bool(truth) => Value::Bool(*truth),
        Json::Number(number) => Value::Number(number.clone()),
        Json::String(text) => Value::Text(text.clone()),
        Json::Array(items) => Value::List(items.iter().map(readable).collect()),
        Json::Object(fields) => {
            let mut fields: Vec<_> =
                fields.iter().map(|(name, field)| (name.clone(), readable(field))).collect();
            let rank =
                |name: &str| FIRST.iter().position(|first| *first == name).unwrap_or(FIRST.len());
            fields.sort_by_key(|(name, _)| rank(name));
            Value::Map(fields)
        }
    })
}

#[cfg(test)]
#[path = "cassette_tests.rs"]
mod tests;
