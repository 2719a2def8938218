//! The parts of an exchange as its page shows them: all text of models and files is made inert, and
//! long texts are cut.

use retold::content::Content;
use retold::escaping::{excerpt, inert_lines};
use retold::event::{DecisionMade, Event, ResponseDetails, StoredEvent};
use retold::model::{HTTP, is_not_read};
use retold::parse::ParserSpec;
use retold::prompt::Request;
use retold::run::AnswerDetails;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::super::RunPageRequest;
use super::super::answer_parts::{AnswerParts, ToolCallView, cut, pretty};
use crate::prompt_images::{self, MessagePart, PromptImage};
use crate::span::{DecisionSpan, decision_span};
use retold::char_boundary::floor;

/// The longest text that is shown at once, in bytes. The whole is a file.
const LONGEST: usize = 64 << 10;

/// The longest message of a prompt that is shown at once, in bytes.
const LONGEST_MESSAGE: usize = 24 << 10;

/// The most messages that are shown: the first ones and the last ones.
const FIRST: usize = 6;
const LAST: usize = 34;

#[derive(Serialize)]
pub(super) struct PromptView {
    hash: String,
    model: Option<String>,
    /// The tool that is called, if no model is asked.
    tool: Option<String>,
    /// Everything besides messages and tools.
    settings: Vec<(String, String)>,
    messages: Vec<MessageView>,
    /// How many messages are left out between the first and the last ones.
    left_out: usize,
    tools: Vec<Tool>,
    /// The canonical request, exactly the bytes that are hashed.
    canonical: String,
    bytes: usize,
}

#[derive(Serialize)]
pub(super) struct MessageView {
    /// From 1.
    number: usize,
    role: String,
    text: String,
    /// How many bytes are not shown.
    cut: usize,
    /// The beginning of a message that is folded, so that the answer is near.
    folded: Option<String>,
    images: Vec<ImageView>,
    tool_calls: Vec<ToolCallView>,
}

/// An image in a message.
#[derive(Serialize)]
pub(super) struct ImageView {
    /// Where it is shown from; `None` if it is on another server, or cannot be shown.
    href: Option<String>,
    /// A note about it.
    text: String,
}

#[derive(Serialize)]
pub(super) struct Tool {
    name: String,
    description: String,
    parameters: String,
}

#[derive(Serialize)]
pub(super) struct AttemptView {
    seq: u64,
    time: String,
    number: u32,
    failure: String,
    error: String,
    status: Option<u16>,
    retry_after_ms: Option<u64>,
    gave_up: bool,
    /// What had come of an answer to a recorded program.
    text: Option<String>,
}

#[derive(Serialize)]
pub(super) struct AnswerView {
    seq: u64,
    time: String,
    /// The text in pieces, one of which the parser took.
    pieces: Vec<TextPiece>,
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
    refusal: Option<String>,
    #[serde(flatten)]
    parts: AnswerParts,
    /// Everything else that was kept.
    extra: Vec<(String, String)>,
    /// The answer that was reused: its run and event.
    reused_from: Option<(String, u64)>,
    /// Whether its text is the whole body, because its API is not described.
    is_not_read: bool,
}

#[derive(Serialize)]
pub(super) struct TextPiece {
    text: String,
    taken: bool,
}

#[derive(Serialize)]
pub(super) struct DecisionView {
    pub(super) seq: u64,
    time: String,
    parser: String,
    method: String,
    value: String,
    /// Which choice of the answer it is about, if the answer has several.
    choice: Option<u32>,
    reasoning: Option<String>,
    warnings: Vec<String>,
    verdict: Option<&'static str>,
    params: Option<String>,
    /// The part of the answer that it was made from, as far as it is known: `span`, `nothing` or `unknown`.
    taken: &'static str,
    /// Whether it was reported by a program, which no parser here can repeat.
    pub(super) reported: bool,
}

/// The longest message that is not folded, and how much all messages that are not folded may take together, in
/// characters; a line counts as one of [`LINE`].
const LONG_MESSAGE: usize = 2_400;
const MOST_OPEN: usize = 5_000;
const LINE: usize = 60;

/// The longest beginning of a folded message, in characters.
const BEGINNING: usize = 200;

/// Folds long messages, and those before the last ones if all together are long.
fn fold(messages: &mut [MessageView]) {
    let mut open = 0;
    for message in messages.iter_mut().rev() {
        let lines = message.text.lines().count();
        let takes = message.text.len().max(lines * LINE) + LINE;
        if takes <= LONG_MESSAGE && open + takes <= MOST_OPEN {
            open += takes;
        } else if !message.text.is_empty() {
            message.folded = Some(excerpt(&message.text, BEGINNING));
        }
    }
}

/// The image with a number among the images of a prompt, counted from 0.
pub(super) fn image_of(request: &Request, number: usize) -> Option<PromptImage> {
    let messages = request.body()["messages"].as_array()?.iter();
    let parts = messages.filter_map(prompt_images::parts).flatten();
    let mut packed = parts.filter_map(|part| match part {
        MessagePart::Image(base64) => Some(base64),
        _ => None,
    });
    packed.nth(number).and_then(prompt_images::image)
}

/// The text and the images of a message; `number` counts the images of the prompt.
fn parts_of(own: &Value, href: &str, number: &mut usize) -> Option<(String, Vec<ImageView>)> {
    let (mut texts, mut images) = (Vec::new(), Vec::new());
    for part in prompt_images::parts(own)? {
        match part {
            MessagePart::Text(text) => texts.push(text.to_owned()),
            MessagePart::Other(other) => texts.push(other.to_string()),
            MessagePart::Remote(url) => {
                let text = format!("This image is on another server and is not loaded: {url}");
                images.push(ImageView { href: None, text });
            }
            MessagePart::Image(base64) => {
                let found = prompt_images::image(base64);
                let href = found.as_ref().map(|_| format!("{href}/image/{number}"));
                let text = match found {
                    Some(image) => format!("{}, {} bytes", image.kind, image.bytes.len()),
                    None => "This image is not a PNG, JPEG, GIF or WebP file and is not shown."
                        .to_owned(),
                };
                images.push(ImageView { href, text });
                *number += 1;
            }
        }
    }
    Some((texts.join("\n"), images))
}

/// A prompt; `href` is the address of its exchange.
pub(super) fn prompt_of(request: &Request, href: &str) -> PromptView {
    let body = request.body();
    let listed = body["messages"].as_array();
    let all = request.messages();
    // Instructions outside the messages come first.
    let before = all.len() - listed.map_or(0, Vec::len).min(all.len());
    let left_out = all.len().saturating_sub(FIRST + LAST);
    let is_shown = |at: usize| left_out == 0 || at < FIRST || at >= FIRST + left_out;
    let (mut messages, mut number) = (Vec::new(), 0);
    for (at, (role, text)) in all.iter().enumerate() {
        let own = at.checked_sub(before).and_then(|at| listed?.get(at));
        // Images are counted in all messages, whether these are shown or not.
        let parts = own.and_then(|own| parts_of(own, href, &mut number));
        if !is_shown(at) {
            continue;
        }
        let (text, images) = parts.unwrap_or_else(|| (text.clone(), Vec::new()));
        let (text, cut) = cut(&text, LONGEST_MESSAGE);
        let own = own.and_then(Value::as_object);
        let tool_calls = own.map(|own| ToolCallView::all_in(own, LONGEST_MESSAGE));
        let tool_calls = tool_calls.unwrap_or_default();
        let (number, role) = (at + 1, role.clone());
        messages.push(MessageView { number, role, text, cut, folded: None, images, tool_calls });
    }
    fold(&mut messages);
    let tools = body["tools"].as_array().into_iter().flatten().map(|tool| {
        let named = tool.get("function").unwrap_or(tool);
        let text = |key: &str| named[key].as_str().unwrap_or("").to_owned();
        let parameters = named.get("parameters").or(named.get("input_schema"));
        let parameters = parameters.map_or_else(String::new, pretty);
        Tool { name: text("name"), description: text("description"), parameters }
    });
    let is_elsewhere = |key: &str| match request.tool() {
        Some(_) => matches!(key, "tool" | "arguments"),
        None => matches!(key, "messages" | "tools" | "input"),
    };
    let is_setting = |key: &str| !is_elsewhere(key);
    let fields = body.as_object().into_iter().flatten().filter(|(key, _)| is_setting(key));
    let settings = fields.map(|(key, value)| {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        (key.clone(), cut(&text, 2_000).0)
    });
    PromptView {
        hash: request.hash().to_string(),
        model: request.model().map(str::to_owned),
        tool: request.tool().map(str::to_owned),
        settings: settings.collect(),
        messages,
        left_out,
        tools: tools.collect(),
        canonical: cut(request.canonical(), LONGEST).0,
        bytes: request.canonical().len(),
    }
}

/// A tool call; for Anthropic, the arguments are its `input`.
pub(super) fn attempt_of(stored: &StoredEvent) -> Option<AttemptView> {
    let Ok(Event::AttemptFailed(failed)) = stored.event() else { return None };
    let details = failed.details;
    Some(AttemptView {
        seq: stored.seq.0,
        time: stored.time.to_string(),
        number: details.attempt + 1,
        failure: details.failure,
        error: cut(&details.error, LONGEST_MESSAGE).0,
        status: details.status,
        retry_after_ms: details.retry_after_ms,
        gave_up: details.gave_up,
        text: details.http.and_then(|http| Some(cut(http["text"].as_str()?, LONGEST_MESSAGE).0)),
    })
}

fn spec_of(made: &DecisionMade) -> Option<ParserSpec> {
    ParserSpec::deserialize(&made.by.parser).ok()
}

pub(super) fn answer_of(
    of: &RunPageRequest<'_>,
    stored: &StoredEvent,
    decision: Option<&(StoredEvent, DecisionMade)>,
) -> (AnswerView, DecisionSpan) {
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
        // The text that is shown is the first choice.
        if made.details.choice.is_some_and(|choice| choice > 0) {
            return None;
        }
        let beside = AnswerDetails::new(&content, details.clone());
        let whole = beside.whole(&content);
        Some(decision_span(parser.as_ref(), whole, &made.by.method, &made.details.value))
    });
    let taken_from = taken_from.unwrap_or(DecisionSpan::Unknown);
    let end = floor(text, LONGEST);
    let span = match &taken_from {
        DecisionSpan::Span(span) if span.end <= end => span.clone(),
        _ => end..end,
    };
    let pieces = [(0..span.start, false), (span.clone(), true), (span.end..end, false)];
    let pieces = pieces.into_iter().filter(|(range, _)| !range.is_empty());
    let pieces = pieces.map(|(range, taken)| TextPiece { text: inert_lines(&text[range]), taken });
    let extra = &details.extra;
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
    let is_not_read = is_not_read(&content, extra);
    let answer = AnswerView {
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
        refusal: extra.get("refusal").and_then(Value::as_str).map(|text| cut(text, LONGEST).0),
        parts: AnswerParts::of(extra, LONGEST),
        extra: other_parts(extra),
        model: details.model,
        finish_reason: details.finish_reason,
        reused_from,
        is_not_read,
    };
    (answer, taken_from)
}

/// The parts of an answer that have no place of their own on the page.
fn other_parts(extra: &Map<String, Value>) -> Vec<(String, String)> {
    let is_shown = |name: &str| {
        matches!(
            name,
            HTTP | "tool_calls"
                | "function_call"
                | "refusal"
                | "reasoning_content"
                | "reasoning"
                | "thinking"
        )
    };
    let others = extra.iter().filter(|(name, _)| !is_shown(name));
    others.map(|(name, value)| (name.clone(), cut(&pretty(value), LONGEST_MESSAGE).0)).collect()
}

pub(super) fn decision_of(
    of: &RunPageRequest<'_>,
    stored: &StoredEvent,
    made: DecisionMade,
    answer: Option<&StoredEvent>,
    taken: &DecisionSpan,
) -> DecisionView {
    let spec = spec_of(&made);
    let verdict = spec.as_ref().and_then(|spec| {
        let parser = of.asked.site.studies.parsers().parser(spec).ok()?;
        let (content, details) = match answer?.event().ok()? {
            Event::ResponseReceived(received) => (received.content, received.details),
            Event::AnswerReused(reused) => (reused.content, reused.details),
            _ => return None,
        };
        let beside = AnswerDetails::new(&content, details);
        beside.of_choice(&content, made.details.choice, |whole| parser.parse_whole_any(whole).1)?
    });
    let params = spec.as_ref().map(|spec| &spec.params).filter(|params| !params.is_null());
    let reported = spec.as_ref().is_some_and(|spec| spec.name == retold::decide::REPORTED);
    DecisionView {
        seq: stored.seq.0,
        time: stored.time.to_string(),
        parser: spec.as_ref().map_or_else(|| "?".to_owned(), ToString::to_string),
        method: made.by.method,
        value: cut(&pretty(&made.details.value), LONGEST_MESSAGE).0,
        choice: made.details.choice,
        reasoning: made.details.reasoning.map(|text| cut(&text, LONGEST_MESSAGE).0),
        warnings: made.details.warnings,
        verdict,
        params: params.map(|params| cut(&pretty(params), LONGEST_MESSAGE).0),
        taken: match taken {
            DecisionSpan::Span(_) => "span",
            DecisionSpan::Nothing => "nothing",
            DecisionSpan::Unknown => "unknown",
        },
        reported,
    }
}
