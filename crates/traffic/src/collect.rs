//! From exchanges to a run: the events that `retold record` would have written.

use std::collections::{BTreeMap, BTreeSet};

use http::{HeaderMap, HeaderValue};
use retold::escaping::printable;
use retold::event::{ClientLeft, DecidedBy, DecisionDetails, Labels, RunStarted};
use retold::exchange::{CollectedRun, Collector};
use retold::id::{CallPath, IdError, RunId, Seq, Time};
use retold::members::Members;
use retold::model::{HTTP, ModelInfo, Response, UNENDED, Unreadable, providers};

use retold::prompt::{Request, RequestError};
use retold_wire::{
    AnswerTooLong, AskedError, BodyEnd, Elsewhere, ImportSource, Incoming, Key, LoggedOutcome,
    PROGRAM, ProgramSettings, RecordedRules, ReplayQueue, ReplayTurn, RuleError, Rules, Ticket,
    is_counted, is_kept, translate_urls,
};
use serde_json::json;

use crate::error::{FileProblem, TrafficError};
use crate::exchange::{Http, TrafficAnswer, TrafficDecision, TrafficExchange, TrafficQuestion};
use crate::export::HASH_DIGITS;
use crate::format::Format;
use crate::hosts::{Hosts, UrlParts};
use crate::notes::Notes;

/// The field with the headers that count.
const COUNTED_HEADERS: &str = "http.headers";

/// A run that was read from files, with notes on the parts that it could not represent.
pub struct TrafficImport {
    /// The run; it is stored whole or not at all.
    pub run: CollectedRun,
    /// The format of the files.
    pub format: &'static str,
    /// How many questions it has.
    pub questions: u64,
    /// How many answers.
    pub answers: u64,
    /// How many failed attempts.
    pub failed: u64,
    /// How many questions have no answer.
    pub unanswered: u64,
    /// How many decisions.
    pub decisions: u64,
    /// True if every question has an answer and the recording came to its end.
    pub is_finished: bool,
    /// Where the requests of each upstream went.
    pub urls: BTreeMap<String, String>,
    /// The parts that could not be represented.
    pub notes: Notes,
}

/// How exchanges become a run.
pub(crate) struct Plan {
    pub(crate) files: Vec<String>,
    pub(crate) format: &'static str,
    pub(crate) name: Option<String>,
    pub(crate) rules: Rules,
    pub(crate) hosts: Hosts,
    pub(crate) time: Time,
    /// True if the recording came to its end.
    pub(crate) is_ended: bool,
    /// Whether the answers were made up.
    pub(crate) is_simulated: bool,
}

/// Makes a run of exchanges.
///
/// # Errors
/// [`TrafficError::Log`] if there is no room for it.
pub(crate) fn collect(
    plan: Plan,
    exchanges: Vec<TrafficExchange>,
    mut notes: Notes,
) -> Result<TrafficImport, TrafficError> {
    let Plan { files, format, name, rules, mut hosts, time, is_ended, is_simulated } = plan;
    let rules = without_headers(rules, &exchanges, &mut notes);
    let mut started = RunStarted::new(
        PROGRAM,
        0,
        json!({}),
        json!(ModelInfo { kind: "upstream".to_owned(), source: None, simulated: is_simulated }),
    );
    let begun = Collector::begin(files.join(", "), started.clone(), time)?;
    let mut writer = RunBuilder {
        file: files.join(", "),
        format,
        run: begun,
        // Nothing that is recorded is added to it, so that its run does not matter.
        book: ReplayQueue::new(RunId([0; 8]), true),
        rules,
        questions: 0,
        answers: 0,
        failed: 0,
        unanswered: 0,
        decisions: 0,
    };
    // Known before the first redirect is read, because it may lead to any of them.
    for exchange in &exchanges {
        if let TrafficQuestion::Http(http) = &exchange.asked
            && let Ok(parts) = UrlParts::parse(&http.url)
        {
            hosts.place(&parts);
        }
    }
    for exchange in exchanges {
        writer.add(exchange, &mut hosts, &mut notes)?;
    }
    let RunBuilder { run, rules, questions, answers, failed, unanswered, decisions, .. } = writer;
    let files = files.iter().map(|file| rules.redact_text(file)).collect();
    let upstreams = hosts.urls().keys().cloned().collect();
    let urls = hosts.urls().iter().filter(|(_, url)| !url.is_empty());
    let urls: BTreeMap<_, _> =
        urls.map(|(name, url)| (name.clone(), rules.redact_text(url))).collect();
    let settings = ProgramSettings {
        chance: None,
        command: Vec::new(),
        intercept: None,
        imported: Some(ImportSource { files, format: format.to_owned(), urls: urls.clone() }),
        name,
        rules: rules.as_recorded().clone(),
        shared: false,
        upstreams,
        urls: BTreeMap::new(),
    };
    started.settings = json!(settings);
    // A cassette has no decisions and facts, so those that a program reports have nothing to be compared with.
    let is_finished = unanswered == 0 && is_ended;
    let run = run.finish(started, is_finished && format != Format::Cassette.name())?;
    Ok(TrafficImport {
        run,
        format,
        questions,
        answers,
        failed,
        unanswered,
        decisions,
        is_finished,
        urls,
        notes,
    })
}

/// If a file has none of the headers that count, although an SDK always sends one, then the tool
/// that wrote it left them out, and a program that sends them must find its answers.
fn without_headers(rules: Rules, exchanges: &[TrafficExchange], notes: &mut Notes) -> Rules {
    let http = |exchange: &&TrafficExchange| match &exchange.asked {
        TrafficQuestion::Http(http) => {
            Some((http.url.clone(), http.headers.keys().any(is_counted)))
        }
        TrafficQuestion::Kept { .. } | TrafficQuestion::Other { .. } => None,
    };
    let all: Vec<(String, bool)> =
        exchanges.iter().filter_map(|exchange| http(&exchange)).collect();
    let is_anthropic = |url: &str| url.contains("/v1/messages");
    let left_out = all.iter().any(|(url, _)| is_anthropic(url)) && all.iter().all(|(_, has)| !has);
    if !left_out || rules.as_recorded().ignore.iter().any(|field| field == COUNTED_HEADERS) {
        return rules;
    }
    let counted = RecordedRules::parse(&[COUNTED_HEADERS.to_owned()], &[]);
    match counted.and_then(|counted| rules.clone().adding(counted)) {
        Ok(rules) => {
            let what = "the headers that count (anthropic-version, ..), which the file does not have: they are ignored";
            notes.add(what, "all requests");
            rules
        }
        Err(_) => rules,
    }
}

struct RunBuilder {
    /// The names of the files.
    file: String,
    format: &'static str,
    run: Collector,
    book: ReplayQueue,
    rules: Rules,
    questions: u64,
    answers: u64,
    failed: u64,
    unanswered: u64,
    decisions: u64,
}

/// Why an exchange, or an answer in it, is left out of the run.
#[derive(Debug, thiserror::Error)]
enum NotCollected {
    /// It has no URL.
    #[error(transparent)]
    Url(#[from] FileProblem),
    /// Its request cannot be recorded.
    #[error(transparent)]
    Asked(#[from] AskedError),
    /// The rules cannot be applied to its request.
    #[error(transparent)]
    Rules(#[from] RuleError),
    /// Its request has no canonical form without the parts that are redacted.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// The name of its call cannot be used.
    #[error(transparent)]
    Call(#[from] IdError),
    /// Its answer is too long to be kept.
    #[error(transparent)]
    TooLong(#[from] AnswerTooLong),
    /// Somebody has edited its request.
    #[error(
        "the request was edited: its hash is {now}, and the cassette says {kept}. A test asks what its program asks, and \
         finds no answer under the old hash: record it again, or write {now} if the answer is still the right one"
    )]
    Edited { kept: String, now: String },
    /// Its request did not go over HTTP.
    #[error("it came over HTTP, and was not asked so")]
    NotAskedOverHttp,
}

/// A question, as it is asked.
struct CollectedQuestion {
    key: Key,
    request: Request,
    retry: Option<u32>,
    labels: Labels,
    /// The request over HTTP, if it was one.
    http: Option<(Incoming, retold_wire::WireRequest)>,
}

impl RunBuilder {
    fn add(
        &mut self,
        exchange: TrafficExchange,
        hosts: &mut Hosts,
        notes: &mut Notes,
    ) -> Result<(), TrafficError> {
        let TrafficExchange { place, asked, answers, decisions, mut label, latency } = exchange;
        if let Some(label) = &mut label {
            self.rules.redact(label);
        }
        let question = match self.question(asked, hosts, notes) {
            Ok(question) => question,
            Err(why @ NotCollected::Edited { .. }) => {
                return Err(TrafficError::wrong(
                    &self.file,
                    Some(place),
                    FileProblem::Said(why.to_string()),
                ));
            }
            Err(why) => {
                notes.add(&format!("an exchange: {why}"), &place);
                return Ok(());
            }
        };
        let turn = self.book.take(&question.key, question.retry);
        let ReplayTurn::Live(mut ticket) = turn else { return Ok(()) };
        if answers.is_empty() {
            self.record_request(&mut ticket, &question)?;
            self.unanswered += 1;
            return Ok(());
        }
        let last = answers.len() - 1;
        for (at, answer) in answers.into_iter().enumerate() {
            let (answer, left) = match answer {
                TrafficAnswer::Left { answer, after_ms, bytes } => {
                    (*answer, Some((after_ms, bytes)))
                }
                answer => (answer, None),
            };
            let is_unsent = matches!(answer, TrafficAnswer::Failed(_));
            let outcome = match self.outcome(answer, &question, &ticket, hosts, notes) {
                Ok(outcome) => outcome,
                Err(why) => {
                    notes.add(&format!("an answer: {why}"), &place);
                    continue;
                }
            };
            let request = self.record_request(&mut ticket, &question)?;
            let left = left.map(|(after_ms, bytes)| ClientLeft { request, after_ms, bytes });
            match outcome {
                LoggedOutcome::Answer(response) => {
                    self.answers += 1;
                    doubtful(&response, &place, notes);
                    let answer = self.run.add_answer(request, *response, latency, label)?;
                    left.map(|left| self.run.add_departure(left)).transpose()?;
                    for decision in decisions {
                        self.record_decision(answer, decision)?;
                    }
                    return Ok(());
                }
                LoggedOutcome::Failed { mut details } => {
                    // A call that was asked again was not given up.
                    details.gave_up &= at == last;
                    let reopens = !details.gave_up;
                    self.failed += 1;
                    self.run.add_failure(request, details)?;
                    left.map(|left| self.run.add_departure(left)).transpose()?;
                    if at < last {
                        ticket.attempt += 1;
                        continue;
                    }
                    self.unanswered += u64::from(is_unsent && reopens);
                    if reopens {
                        self.book.reopen(ticket);
                    }
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    fn record_decision(
        &mut self,
        answer: Seq,
        decision: TrafficDecision,
    ) -> Result<(), TrafficError> {
        let TrafficDecision { name, mut value, reasoning } = decision;
        self.rules.redact(&mut value);
        let by = DecidedBy::from_import(&self.rules.redact_text(&name), self.format);
        let reasoning = reasoning.map(|text| self.rules.redact_text(&text));
        self.run.add_decision(
            answer,
            by,
            DecisionDetails { choice: None, reasoning, value, warnings: Vec::new() },
        )?;
        self.decisions += 1;
        Ok(())
    }

    fn question(
        &self,
        asked: TrafficQuestion,
        hosts: &mut Hosts,
        notes: &mut Notes,
    ) -> Result<CollectedQuestion, NotCollected> {
        match asked {
            TrafficQuestion::Http(mut http) => {
                let labels = self.rules.redacted_labels(std::mem::take(&mut http.labels));
                let incoming = incoming(http, hosts, notes)?;
                let asked = incoming.wire_request(&self.rules)?;
                let (key, request, retry) = (asked.key.clone(), asked.request.clone(), asked.retry);
                Ok(CollectedQuestion { key, request, retry, labels, http: Some((incoming, asked)) })
            }
            TrafficQuestion::Kept { incoming, hash, labels } => {
                let asked = incoming.wire_request(&self.rules)?;
                let (key, request) = (asked.key.clone(), asked.request.clone());
                let now = request.hash().short(HASH_DIGITS);
                if now != hash {
                    return Err(NotCollected::Edited { kept: hash, now });
                }
                hosts.name(&incoming.upstream);
                let labels = self.rules.redacted_labels(labels);
                Ok(CollectedQuestion {
                    key,
                    request,
                    // All attempts of a question are in its exchange.
                    retry: Some(0),
                    labels,
                    http: Some((*incoming, asked)),
                })
            }
            TrafficQuestion::Other { name, request, labels } => {
                let request = self.rules.redact_request(*request)?;
                let prompt = self.rules.key(&request)?;
                let call = CallPath::new(format!("{name}/{}", prompt.short(16)))?;
                let key = Key { call, prompt };
                let labels = self.rules.redacted_labels(labels);
                Ok(CollectedQuestion { key, request, retry: Some(0), labels, http: None })
            }
        }
    }

    fn outcome(
        &self,
        answer: TrafficAnswer,
        question: &CollectedQuestion,
        ticket: &Ticket,
        hosts: &mut Hosts,
        notes: &mut Notes,
    ) -> Result<LoggedOutcome, NotCollected> {
        match (answer, &question.http) {
            (TrafficAnswer::Http { status, mut headers, body }, Some((incoming, asked))) => {
                note_headers(&headers, "headers of answers", is_kept, notes);
                redirect(&mut headers, incoming, hosts);
                let answer = Elsewhere { status, headers, body };
                Ok(answer.outcome(incoming, asked, ticket.attempt, &self.rules)?)
            }
            (TrafficAnswer::Heard { status, headers, body }, _) => {
                let whole = TrafficAnswer::Http { status, headers, body };
                let mut outcome = self.outcome(whole, question, ticket, hosts, notes)?;
                if let LoggedOutcome::Answer(response) = &mut outcome
                    && let Some(http) = response.extra.get_mut(HTTP)
                {
                    http.set("end", json!(BodyEnd::ClientLeft));
                }
                Ok(outcome)
            }
            (TrafficAnswer::Http { .. }, None) => Err(NotCollected::NotAskedOverHttp),
            // It was taken apart before.
            (TrafficAnswer::Left { answer, .. }, _) => {
                self.outcome(*answer, question, ticket, hosts, notes)
            }
            (TrafficAnswer::Read(mut response), _) => {
                self.rules.redact_answer(&mut response);
                Ok(LoggedOutcome::Answer(response))
            }
            (TrafficAnswer::Failed(mut details), _) => {
                self.rules.redact_failure(&mut details);
                let details = retold::event::AttemptDetails { attempt: ticket.attempt, ..details };
                Ok(LoggedOutcome::Failed { details })
            }
        }
    }

    fn record_request(
        &mut self,
        ticket: &mut Ticket,
        question: &CollectedQuestion,
    ) -> Result<Seq, TrafficError> {
        if let Some(request) = ticket.request {
            return Ok(request);
        }
        let Key { call, .. } = &ticket.key;
        let (request, labels) = (question.request.clone(), question.labels.clone());
        let request = self.run.add_question(call.clone(), ticket.sample, request, labels)?;
        self.questions += 1;
        ticket.request = Some(request);
        Ok(request)
    }
}

fn incoming(http: Http, hosts: &mut Hosts, notes: &mut Notes) -> Result<Incoming, NotCollected> {
    let Http { method, url, headers, body, labels: _ } = http;
    let parts = UrlParts::parse(&url)?;
    note_headers(&headers, "headers of requests", is_counted, notes);
    let (upstream, path) = hosts.place(&parts);
    // Of an upstream that the user named, as well.
    let path = providers::path(&upstream, &path).into_owned();
    let (is_led, query) = (false, parts.query);
    Ok(Incoming { upstream, is_led, method, path, query, headers, body })
}

/// Notes the names of headers that are not kept.
fn note_headers(
    headers: &HeaderMap,
    side: &'static str,
    kept: impl Fn(&http::HeaderName) -> bool,
    notes: &mut Notes,
) {
    let left: BTreeSet<&str> =
        headers.keys().filter(|name| !kept(name)).map(http::HeaderName::as_str).collect();
    notes.names(side, left);
}

/// Notes that an answer cannot be read, or has no end.
fn doubtful(response: &Response, place: &str, notes: &mut Notes) {
    if let Some(unreadable) = Unreadable::new(&response.extra) {
        let reason = printable(&unreadable.reason, 200);
        notes.add(&format!("an answer that cannot be read: {reason}"), place);
    }
    if response.extra.contains_key(UNENDED) {
        notes.add("the end of an answer, which is not in the file", place);
    }
}

/// URLs that lead to a recorded request lead to the server that replays it.
fn redirect(headers: &mut HeaderMap, asked: &Incoming, hosts: &mut Hosts) {
    // A path is one at the server that answered.
    let origin = hosts.urls().get(&asked.upstream).and_then(|url| UrlParts::parse(url).ok());
    let mut within = |url: &str| {
        let is_path = url.starts_with('/') && !url.starts_with("//");
        let whole = match &origin {
            Some(UrlParts { origin, .. }) if is_path => format!("{origin}{url}"),
            _ => url.to_owned(),
        };
        hosts.within(&UrlParts::parse(&whole).ok()?)
    };
    for (name, value) in headers.iter_mut() {
        let said =
            value.to_str().ok().and_then(|it| translate_urls(name.as_str(), it, &mut within));
        if let Some(said) = said.and_then(|said| HeaderValue::from_str(&said).ok()) {
            *value = said;
        }
    }
}
