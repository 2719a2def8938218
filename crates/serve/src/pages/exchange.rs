//! A question with everything that came of it: the prompt as a conversation, the answer with the part
//! that the parser took, decisions, failed attempts, and the facts that follow.

use std::collections::BTreeSet;

use retold::content::Content;
use retold::event::{DecisionMade, Event, ResponseDetails, StoredEvent};
use retold::id::Seq;
use retold::inert::inert_lines;
use retold::log::{Index, LogError, each_event_at};
use retold::model::HTTP;
use retold::parse::ParserSpec;
use retold::prompt::Request;
use retold::run::Beside;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::participants::lane_of;
use super::row::{Row, row};
use super::{OfRun, Reply, participant_href};
use crate::error::PageError;
use crate::span::{Taken, taken};
use crate::text::floor;

/// The longest text that is shown at once, in bytes. The whole is a file.
const LONGEST: usize = 64 << 10;

/// The longest message of a prompt that is shown at once, in bytes.
const LONGEST_MESSAGE: usize = 24 << 10;

/// The most messages that are shown: the first ones and the last ones.
const FIRST: usize = 6;
const LAST: usize = 34;

#[derive(Serialize)]
struct Exchange {
    call: String,
    sample: u32,
    /// The question's seq, which names the exchange.
    question: u64,
    asked_at: String,
    /// Other samples of the same call.
    samples: Vec<OtherSample>,
    participant: Option<(String, String)>,
    prompt: Prompt,
    attempts: Vec<Attempt>,
    answer: Option<Answer>,
    decision: Option<Decision>,
    /// Other decisions about the same answer.
    others: Vec<Row>,
    facts: Vec<Row>,
    /// The address of the page about how it came about.
    chain: String,
    /// The address of the parser's comparison, around this decision.
    check: Option<String>,
    /// The address of the state after the last of it.
    state: Option<String>,
    previous: Option<String>,
    next: Option<String>,
}

#[derive(Serialize)]
struct OtherSample {
    sample: u32,
    href: String,
    here: bool,
}

#[derive(Serialize)]
struct Prompt {
    hash: String,
    model: Option<String>,
    /// Everything besides messages and tools.
    settings: Vec<(String, String)>,
    messages: Vec<Message>,
    /// How many messages are left out between the first and the last ones.
    left_out: usize,
    tools: Vec<Tool>,
    /// The canonical request, exactly the bytes that are hashed.
    canonical: String,
    bytes: usize,
}

#[derive(Serialize)]
struct Message {
    /// From 1.
    number: usize,
    role: String,
    text: String,
    /// How many bytes are not shown.
    cut: usize,
    tool_calls: Vec<ToolCall>,
}

#[derive(Serialize)]
struct Tool {
    name: String,
    description: String,
    parameters: String,
}

#[derive(Serialize)]
struct ToolCall {
    name: String,
    arguments: String,
    id: Option<String>,
}

#[derive(Serialize)]
struct Attempt {
    seq: u64,
    time: String,
    number: u32,
    failure: String,
    error: String,
    status: Option<u16>,
    retry_after_ms: Option<u64>,
    gave_up: bool,
}

#[derive(Serialize)]
struct Answer {
    seq: u64,
    time: String,
    /// The text in pieces, one of which the parser took.
    pieces: Vec<Piece>,
    /// How many bytes of the text are not shown.
    cut: usize,
    bytes: usize,
    /// Where the whole text is.
    whole: String,
    /// For a vector: how many numbers it has.
    numbers: Option<usize>,
    model: Option<String>,
    finish_reason: Option<String>,
    latency_ms: Option<u64>,
    /// Tokens and cost, as far as they were counted.
    usage: Vec<(String, String)>,
    reasoning: Option<String>,
    refusal: Option<String>,
    tool_calls: Vec<ToolCall>,
    /// Everything else that was kept.
    extra: Vec<(String, String)>,
    /// The answer that was reused: its run and event.
    reused_from: Option<(String, u64)>,
}

#[derive(Serialize)]
struct Piece {
    text: String,
    taken: bool,
}

#[derive(Serialize)]
struct Decision {
    seq: u64,
    time: String,
    parser: String,
    method: String,
    value: String,
    reasoning: Option<String>,
    warnings: Vec<String>,
    verdict: Option<&'static str>,
    params: Option<String>,
    /// What is known about the part of the answer that it was made from: `span`, `nothing` or
    /// `unknown`.
    taken: &'static str,
    /// Whether it was reported by a program, which no parser here can repeat.
    reported: bool,
}

/// The events of an exchange.
struct Gathered {
    question: StoredEvent,
    answer: Option<StoredEvent>,
    attempts: Vec<StoredEvent>,
    /// The decision that was asked for, or the last.
    decision: Option<(StoredEvent, DecisionMade)>,
    others: Vec<StoredEvent>,
    facts: Vec<StoredEvent>,
    index: Index,
}

pub(super) fn page(mut of: OfRun<'_>, seq: Seq) -> Result<Reply, PageError> {
    let gathered = of.gather(seq)?;
    let Gathered { question, answer, attempts, decision, others, facts, index } = gathered;
    let run = of.head.run;
    let slot = of.asked.site.roll(&of.head);
    let untrusted = slot.roll().damage.as_ref().map(|damage| damage.seq.0);
    let request = of.request(&question)?;
    let call = question.call.clone();
    let call_text = call.as_ref().map_or_else(|| "?".to_owned(), ToString::to_string);
    let sample = question.sample.unwrap_or(0);
    let participant = call.as_ref().map(|call| lane_of(&of, call)).map(|name| {
        let href = participant_href(&of.info.run, &name);
        (name, href)
    });
    let mut samples = Vec::new();
    if let Some(call) = &call {
        let places = index.calls(of.reader.as_mut(), call)?;
        let places = places.get(..places.len().min(200)).unwrap_or(&[]).to_vec();
        each_event_at::<LogError>(of.reader.as_mut(), run, &places, |stored| {
            if stored.is_question() && stored.call.as_ref() == Some(call) {
                samples.push((stored.sample.unwrap_or(0), stored.seq));
            }
            Ok(())
        })?;
    }
    let samples: Vec<OtherSample> = samples
        .into_iter()
        .map(|(sample, at)| OtherSample {
            sample,
            href: of.href(&format!("/exchange/{at}")),
            here: at == question.seq,
        })
        .collect();
    let here = samples.iter().position(|sample| sample.here).unwrap_or(0);
    let neighbour = |at: Option<usize>| at.and_then(|at| samples.get(at)).map(|s| s.href.clone());
    let (previous, next) = (neighbour(here.checked_sub(1)), neighbour(Some(here + 1)));
    let shown_answer = answer.as_ref().map(|stored| answer_of(&of, stored, decision.as_ref()));
    let (answer_shown, taken) = match shown_answer {
        Some((answer, taken)) => (Some(answer), taken),
        None => (None, Taken::Unknown),
    };
    let last = facts.last().or(decision.as_ref().map(|(stored, _)| stored)).or(answer.as_ref());
    let last = last.map_or(question.seq, |stored| stored.seq);
    let is_study = of.info.kind == "study";
    let decision_shown =
        decision.map(|(stored, made)| decision_of(&of, &stored, made, answer.as_ref(), &taken));
    let check = decision_shown.as_ref().filter(|decision| !decision.reported);
    let data = Exchange {
        chain: of.href(&format!("/chain/{}", question.seq)),
        check: check.map(|decision| {
            let around = decision.seq.saturating_sub(1);
            of.href(&format!("/check?after={around}#d{}", decision.seq))
        }),
        state: is_study.then(|| of.href(&format!("/state?at={last}"))),
        call: call_text.clone(),
        sample,
        question: question.seq.0,
        asked_at: question.time.to_string(),
        samples,
        participant,
        prompt: prompt_of(&request),
        attempts: attempts.iter().filter_map(attempt_of).collect(),
        answer: answer_shown,
        decision: decision_shown,
        others: others.iter().map(|other| row(run, other, untrusted)).collect(),
        facts: facts.iter().map(|fact| row(run, fact, untrusted)).collect(),
        previous,
        next,
    };
    of.page("exchange", format!("{call_text}#{sample}"), false, data)
}

/// The canonical request as a file.
pub(super) fn prompt(mut of: OfRun<'_>, seq: Seq) -> Result<Reply, PageError> {
    let gathered = of.gather(seq)?;
    let request = of.request(&gathered.question)?;
    let name = format!("prompt-{}.json", request.hash().short(12));
    Ok(Reply::Text { name, text: request.canonical().to_owned() })
}

/// The whole text of an answer as a file.
pub(super) fn answer(mut of: OfRun<'_>, seq: Seq) -> Result<Reply, PageError> {
    let gathered = of.gather(seq)?;
    let stored =
        gathered.answer.ok_or_else(|| PageError::none("answer to event", &seq.to_string()))?;
    let text = match &stored.content {
        Some(Content::Text(text)) => text.to_string(),
        Some(Content::Vector(numbers)) => serde_json::to_string(&numbers[..])?,
        None => String::new(),
    };
    Ok(Reply::Text { name: format!("answer-{}-{}.txt", of.info.short, stored.seq), text })
}

impl OfRun<'_> {
    /// The events of the exchange that an event belongs to.
    fn gather(&mut self, seq: Seq) -> Result<Gathered, PageError> {
        let mut question = self.event(seq)?;
        // Decision, answer, question.
        for _ in 0..3 {
            if question.is_question() {
                break;
            }
            let none = || PageError::NotFound(format!("event {seq} does not belong to a question"));
            let cause = match question.event() {
                Ok(Event::Occurred(fact)) => fact.causes.first().copied(),
                _ => question.cause,
            };
            question = self.event(cause.filter(|cause| *cause < question.seq).ok_or_else(none)?)?;
        }
        if !question.is_question() {
            return Err(PageError::NotFound(format!("event {seq} does not belong to a question")));
        }
        let run = self.head.run;
        let reader = self.reader.as_mut();
        let index = Index::open(reader, run)?;
        let mut all = BTreeSet::new();
        let mut newest = BTreeSet::from([question.seq]);
        for _ in 0..3 {
            newest = index.caused_by(reader, &newest)?.into_values().flatten().collect();
            all.extend(newest.iter().copied());
        }
        let places: Vec<Seq> = all.into_iter().collect();
        let (mut answer, mut attempts) = (None, Vec::new());
        let mut decisions: Vec<(StoredEvent, DecisionMade)> = Vec::new();
        let mut facts: Vec<(StoredEvent, Vec<Seq>)> = Vec::new();
        each_event_at::<LogError>(reader, run, &places, |stored| {
            let is_answer = |seq| answer.as_ref().is_some_and(|a: &StoredEvent| a.seq == seq);
            match stored.event() {
                Ok(Event::ResponseReceived(received)) if received.request == question.seq => {
                    answer = Some(stored);
                }
                Ok(Event::AnswerReused(reused)) if reused.request == question.seq => {
                    answer = Some(stored);
                }
                Ok(Event::AttemptFailed(failed)) if failed.request == question.seq => {
                    attempts.push(stored);
                }
                Ok(Event::DecisionMade(made)) if is_answer(made.response) => {
                    decisions.push((stored, made));
                }
                Ok(Event::Occurred(fact)) => facts.push((stored, fact.causes)),
                _ => {}
            }
            Ok(())
        })?;
        let wanted = decisions.iter().position(|(decision, _)| {
            let leads_to = |(fact, causes): &(StoredEvent, Vec<Seq>)| {
                fact.seq == seq && causes.contains(&decision.seq)
            };
            decision.seq == seq || facts.iter().any(leads_to)
        });
        let wanted = wanted.or(decisions.len().checked_sub(1));
        let decision = wanted.map(|at| decisions.remove(at));
        let decided = decision.as_ref().map(|(stored, _)| stored.seq);
        facts.retain(|(_, causes)| decided.is_some_and(|seq| causes.contains(&seq)));
        let facts = facts.into_iter().map(|(fact, _)| fact).collect();
        let others = decisions.into_iter().map(|(stored, _)| stored).collect();
        Ok(Gathered { question, answer, attempts, decision, others, facts, index })
    }

    fn request(&mut self, question: &StoredEvent) -> Result<Request, PageError> {
        let missing = || LogError::Corrupt {
            run: question.run,
            seq: question.seq,
            what: "its request is missing".to_owned(),
        };
        let prompt = question.prompt.ok_or_else(missing)?;
        Ok(self.reader.request(prompt)?.ok_or_else(missing)?)
    }
}

/// A text cut at a length, and how many bytes of it are left out.
fn cut(text: &str, most: usize) -> (String, usize) {
    let end = floor(text, most);
    (inert_lines(&text[..end]), text.len() - end)
}

fn prompt_of(request: &Request) -> Prompt {
    let body = request.body();
    let listed = body["messages"].as_array();
    let all = request.messages();
    // Instructions outside the messages come first.
    let before = all.len() - listed.map_or(0, Vec::len).min(all.len());
    let left_out = all.len().saturating_sub(FIRST + LAST);
    let is_shown = |at: usize| left_out == 0 || at < FIRST || at >= FIRST + left_out;
    let messages =
        all.iter().enumerate().filter(|(at, _)| is_shown(*at)).map(|(at, (role, text))| {
            let (text, cut) = cut(text, LONGEST_MESSAGE);
            let own = at.checked_sub(before).and_then(|at| listed?.get(at));
            let calls = own.and_then(|own| own["tool_calls"].as_array()).into_iter().flatten();
            let tool_calls = calls.map(tool_call).collect();
            Message { number: at + 1, role: role.clone(), text, cut, tool_calls }
        });
    let tools = body["tools"].as_array().into_iter().flatten().map(|tool| {
        let named = tool.get("function").unwrap_or(tool);
        let text = |key: &str| named[key].as_str().unwrap_or("").to_owned();
        let parameters = named.get("parameters").or(named.get("input_schema"));
        let parameters = parameters.map_or_else(String::new, pretty);
        Tool { name: text("name"), description: text("description"), parameters }
    });
    let is_setting = |key: &str| !matches!(key, "messages" | "tools" | "input");
    let fields = body.as_object().into_iter().flatten().filter(|(key, _)| is_setting(key));
    let settings = fields.map(|(key, value)| {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        (key.clone(), cut(&text, 2_000).0)
    });
    Prompt {
        hash: request.hash().to_string(),
        model: request.model().map(str::to_owned),
        settings: settings.collect(),
        messages: messages.collect(),
        left_out,
        tools: tools.collect(),
        canonical: cut(request.canonical(), LONGEST).0,
        bytes: request.canonical().len(),
    }
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}

/// A tool call; for Anthropic, the arguments are its `input`.
fn tool_call(call: &Value) -> ToolCall {
    let called = call.get("function").unwrap_or(call);
    let arguments = called.get("arguments").unwrap_or(&called["input"]);
    // Arguments are JSON in a text.
    let arguments = match arguments {
        Value::String(text) => match serde_json::from_str::<Value>(text) {
            Ok(value) => pretty(&value),
            Err(_) => text.clone(),
        },
        other => pretty(other),
    };
    ToolCall {
        name: called["name"].as_str().unwrap_or("?").to_owned(),
        arguments: cut(&arguments, LONGEST_MESSAGE).0,
        id: call["id"].as_str().map(str::to_owned),
    }
}

fn attempt_of(stored: &StoredEvent) -> Option<Attempt> {
    let Ok(Event::AttemptFailed(failed)) = stored.event() else { return None };
    let details = failed.details;
    Some(Attempt {
        seq: stored.seq.0,
        time: stored.time.to_string(),
        number: details.attempt + 1,
        failure: details.failure,
        error: cut(&details.error, LONGEST_MESSAGE).0,
        status: details.status,
        retry_after_ms: details.retry_after_ms,
        gave_up: details.gave_up,
    })
}

fn spec_of(made: &DecisionMade) -> Option<ParserSpec> {
    ParserSpec::deserialize(&made.by.parser).ok()
}

fn answer_of(
    of: &OfRun<'_>,
    stored: &StoredEvent,
    decision: Option<&(StoredEvent, DecisionMade)>,
) -> (Answer, Taken) {
    let (content, details, reused_from) = match stored.event() {
        Ok(Event::ResponseReceived(received)) => (received.content, received.details, None),
        Ok(Event::AnswerReused(reused)) => {
            let from = (reused.from_run.to_string(), reused.from_seq.0);
            (reused.content, reused.details, Some(from))
        }
        _ => (Content::from(""), ResponseDetails::default(), None),
    };
    let text = content.text();
    let taken_from = decision.and_then(|(_, made)| {
        let parser = of.asked.site.studies.parsers().parser(&spec_of(made)?).ok()?;
        let beside = Beside::of(&content, details.clone());
        let whole = beside.whole(&content);
        Some(taken(parser.as_ref(), whole, &made.by.method, &made.details.value))
    });
    let taken_from = taken_from.unwrap_or(Taken::Unknown);
    let end = floor(text, LONGEST);
    let span = match &taken_from {
        Taken::Span(span) if span.end <= end => span.clone(),
        _ => end..end,
    };
    let pieces = [(0..span.start, false), (span.clone(), true), (span.end..end, false)];
    let pieces = pieces.into_iter().filter(|(range, _)| !range.is_empty());
    let pieces = pieces.map(|(range, taken)| Piece { text: inert_lines(&text[range]), taken });
    let extra = &details.extra;
    let said = |names: &[&str]| {
        names.iter().find_map(|name| extra.get(*name)?.as_str()).map(|text| cut(text, LONGEST).0)
    };
    let calls = extra.get("tool_calls").and_then(Value::as_array).into_iter().flatten();
    let parts = extra.get("content_parts").and_then(Value::as_array).into_iter().flatten();
    let used = parts.filter(|part| part["type"] == "tool_use");
    let counted = [
        ("prompt tokens", details.prompt_tokens),
        ("of them cached", details.cached_tokens),
        ("answer tokens", details.completion_tokens),
        ("of them reasoning", details.reasoning_tokens),
    ];
    let mut usage: Vec<(String, String)> = counted
        .into_iter()
        .filter_map(|(name, count)| Some((name.to_owned(), count?.to_string())))
        .collect();
    usage.extend(details.cost.map(|cost| ("cost".to_owned(), cost.to_string())));
    let answer = Answer {
        seq: stored.seq.0,
        time: stored.time.to_string(),
        pieces: pieces.collect(),
        cut: text.len() - end,
        bytes: text.len(),
        whole: of.href(&format!("/exchange/{}/answer", stored.seq)),
        numbers: match &content {
            Content::Vector(numbers) => Some(numbers.len()),
            Content::Text(_) => None,
        },
        latency_ms: Some(details.latency_ms).filter(|ms| *ms > 0),
        usage,
        reasoning: said(&["reasoning_content", "reasoning", "thinking"]),
        refusal: said(&["refusal"]),
        tool_calls: calls.chain(used).map(tool_call).collect(),
        extra: other_parts(extra),
        model: details.model,
        finish_reason: details.finish_reason,
        reused_from,
    };
    (answer, taken_from)
}

/// The parts of an answer that have no place of their own on the page.
fn other_parts(extra: &Map<String, Value>) -> Vec<(String, String)> {
    let is_shown = |name: &str| {
        matches!(
            name,
            HTTP | "tool_calls" | "refusal" | "reasoning_content" | "reasoning" | "thinking"
        )
    };
    let others = extra.iter().filter(|(name, _)| !is_shown(name));
    others.map(|(name, value)| (name.clone(), cut(&pretty(value), LONGEST_MESSAGE).0)).collect()
}

fn decision_of(
    of: &OfRun<'_>,
    stored: &StoredEvent,
    made: DecisionMade,
    answer: Option<&StoredEvent>,
    taken: &Taken,
) -> Decision {
    let spec = spec_of(&made);
    let verdict = spec.as_ref().and_then(|spec| {
        let parser = of.asked.site.studies.parsers().parser(spec).ok()?;
        let (content, details) = match answer?.event().ok()? {
            Event::ResponseReceived(received) => (received.content, received.details),
            Event::AnswerReused(reused) => (reused.content, reused.details),
            _ => return None,
        };
        let beside = Beside::of(&content, details);
        parser.parse_whole_any(beside.whole(&content)).1
    });
    let params = spec.as_ref().map(|spec| &spec.params).filter(|params| !params.is_null());
    let reported = spec.as_ref().is_some_and(|spec| spec.name == retold::decide::REPORTED);
    Decision {
        seq: stored.seq.0,
        time: stored.time.to_string(),
        parser: spec.as_ref().map_or_else(|| "?".to_owned(), ToString::to_string),
        method: made.by.method,
        value: cut(&pretty(&made.details.value), LONGEST_MESSAGE).0,
        reasoning: made.details.reasoning.map(|text| cut(&text, LONGEST_MESSAGE).0),
        warnings: made.details.warnings,
        verdict,
        params: params.map(|params| cut(&pretty(params), LONGEST_MESSAGE).0),
        taken: match taken {
            Taken::Span(_) => "span",
            Taken::Nothing => "nothing",
            Taken::Unknown => "unknown",
        },
        reported,
    }
}
