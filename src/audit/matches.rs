//! Texts of the run that occur in a prompt word for word.
//!
//! A match proves nothing: two people may say the same thing, and a model may repeat its
//! instructions. So matches are shown apart from the declared sources, together with how rare the
//! text is, and common texts are not shown at all: those shorter than [`LONG`], those in several
//! answers, and those that occur in the settings or templates or in a prompt that was asked before
//! anybody had said them.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::origin::{Events, Origin, request_of};
use crate::event::{Event, StoredEvent};
use crate::id::{PromptHash, Seq};
use crate::log::{LogError, TextKeys, each_event_at};
use crate::lookup::LookupSet;
use crate::prompt::Request;

/// Shorter texts say nothing about where they come from.
const LONG: usize = 32;

/// A text in more answers than this is common.
const FEW: usize = 3;

/// How many other prompts are examined, spread over the run.
const SAMPLE: u64 = 64;

/// How many matches are shown, in the order of their position in the prompt.
const MOST: usize = 200;

/// A text of an answer or a fact that occurs in the audited prompt.
#[derive(Debug, Clone, PartialEq)]
pub struct Match {
    /// The index of the message, from 0.
    pub message: usize,
    /// The message's role.
    pub role: String,
    /// The text.
    pub text: String,
    /// The answers that have it as a text of their own, or as part of such a text that is in the
    /// prompt, too; or the facts if no answer does. This is the full list, which is short.
    pub origins: Vec<Origin>,
    /// Whether one of them was declared as a source of this prompt.
    pub declared: bool,
    /// How many answers and facts the run has.
    pub of: u64,
    /// How many other prompts contain it.
    pub prompts: u64,
    /// How many other prompts were examined.
    pub looked_at: u64,
}

/// The events that contain a text.
#[derive(Default)]
struct Sources {
    at: (usize, usize),
    answers: BTreeSet<Seq>,
    facts: BTreeSet<Seq>,
}

impl Sources {
    /// The ones that count: a fact that repeats an answer is not a source of its own.
    fn counting(&self) -> &BTreeSet<Seq> {
        if self.answers.is_empty() { &self.facts } else { &self.answers }
    }
}

/// The texts of the run that occur in a prompt; `declared` holds the declared sources.
pub(super) fn matches(
    events: &mut Events<'_>,
    question: Seq,
    request: &Request,
    declared: &BTreeSet<Seq>,
) -> Result<Vec<Match>, LogError> {
    let prompt = SearchedPrompt::new(request);
    let mut found: Vec<(String, Sources)> = texts(events, &prompt)?.into_iter().collect();
    // Texts that were said later are not sources.
    found.retain(|(_, sources)| sources.counting().first().is_some_and(|first| *first < question));
    found.sort_by_key(|(text, sources)| (sources.at, std::cmp::Reverse(text.len())));
    let mut found = without_parts(found);
    // Nor are common texts.
    found.retain(|(_, sources)| sources.counting().len() <= FEW);
    found.truncate(MOST);
    if found.is_empty() {
        return Ok(Vec::new());
    }
    let settings = settings(events)?;
    found.retain(|(text, _)| !settings.iter().any(|setting| setting.contains(text.as_str())));
    let census = events.index.census(events.reader)?;
    let count = |kind: &str| census.events.get(kind).copied().unwrap_or(0);
    let of = count("ResponseReceived") + count("AnswerReused") + count("Occurred");
    let others = others(events, question, &found)?;
    let mut all = Vec::new();
    for (text, sources) in found {
        let mut places = sources.counting().clone();
        places.retain(|seq| *seq < question);
        let Some(first) = places.first().copied() else { continue };
        let having = others.iter().filter(|other| other.prompt.has(&text));
        let having: Vec<&OtherPrompt> = having.collect();
        // It was in a prompt before anybody had said it.
        if having.iter().any(|other| other.seq < first) {
            continue;
        }
        let prompts = having.iter().filter(|other| other.is_sample).count() as u64;
        let looked_at = others.iter().filter(|other| other.is_sample).count() as u64;
        let mut origins: Vec<Origin> = events.origins(&places)?.into_values().collect();
        events.find_decisions(origins.iter_mut())?;
        let declared = sources.answers.iter().chain(&sources.facts).any(|s| declared.contains(s));
        let (message, _) = sources.at;
        let role = prompt.role(message).to_owned();
        all.push(Match { message, role, text, origins, declared, of, prompts, looked_at });
    }
    Ok(all)
}

/// The texts, in the order of the prompt, without those that are there only as part of a longer
/// one: that one is the match. A text that is also part of a longer one elsewhere in the prompt has
/// the longer one's sources, too.
fn without_parts(found: Vec<(String, Sources)>) -> Vec<(String, Sources)> {
    let mut whole: Vec<(String, Sources)> = Vec::new();
    for (text, sources) in found {
        let (message, start) = sources.at;
        let is_part = whole.iter().any(|(longer, other)| {
            other.at.0 == message && start + text.len() <= other.at.1 + longer.len()
        });
        if !is_part {
            whole.push((text, sources));
        }
    }
    let longer = |text: &str| {
        let others = whole.iter().filter(|(other, _)| other.len() > text.len());
        let others = others.filter(|(other, _)| other.contains(text)).map(|(_, sources)| sources);
        let mut all = Sources::default();
        for other in others {
            all.answers.extend(&other.answers);
            all.facts.extend(&other.facts);
        }
        all
    };
    let more: Vec<Sources> = whole.iter().map(|(text, _)| longer(text)).collect();
    for ((_, sources), more) in whole.iter_mut().zip(more) {
        sources.answers.extend(more.answers);
        sources.facts.extend(more.facts);
    }
    whole
}

/// Every long text of the run that occurs in a prompt, with the events that contain it.
fn texts(
    events: &mut Events<'_>,
    prompt: &SearchedPrompt,
) -> Result<BTreeMap<String, Sources>, LogError> {
    let mut keys = TextKeys::default();
    prompt.messages.iter().for_each(|(_, text)| keys.within(text));
    let places = events.index.texts(events.reader, &keys)?;
    let mut found: BTreeMap<String, Sources> = BTreeMap::new();
    each_event_at::<LogError>(events.reader, events.run, &places, |stored| {
        let event = stored.event()?;
        for text in texts_of(&event) {
            if text.len() < LONG {
                continue;
            }
            let Some(at) = prompt.find(&text) else { continue };
            let sources = found.entry(text).or_default();
            sources.at = at;
            let (of_its_kind, seq) = match &event {
                Event::Occurred(_) => (&mut sources.facts, stored.seq),
                Event::DecisionMade(made) => (&mut sources.answers, made.response),
                _ => (&mut sources.answers, stored.seq),
            };
            // Beyond `FEW` the exact number does not matter.
            if of_its_kind.len() <= FEW {
                of_its_kind.insert(seq);
            }
        }
        Ok(())
    })?;
    Ok(found)
}

/// The texts of an event that a prompt may have been made from.
fn texts_of(event: &Event) -> Vec<String> {
    match event {
        Event::ResponseReceived(answer) => vec![answer.content.text().trim().to_owned()],
        Event::AnswerReused(answer) => vec![answer.content.text().trim().to_owned()],
        Event::DecisionMade(made) => strings(&made.details.value),
        Event::Occurred(occurred) => strings(&occurred.fact),
        _ => Vec::new(),
    }
}

/// Every text in the run's settings that is long enough to contain a match.
fn settings(events: &mut Events<'_>) -> Result<Vec<String>, LogError> {
    let first = events.reader.events(events.run, Seq(0), 1)?.pop();
    let first = first.map(|first| first.event()).transpose()?;
    let Some(Event::RunStarted(started)) = first else { return Ok(Vec::new()) };
    let mut texts = strings(&started.settings);
    texts.retain(|text| text.len() >= LONG);
    Ok(texts)
}

/// Another prompt of the run.
struct OtherPrompt {
    seq: Seq,
    /// Whether it is part of the sample that is spread over the run.
    is_sample: bool,
    prompt: SearchedPrompt,
}

/// Other prompts of the run: a sample spread over it, and those whose answers contain a text, since
/// such an answer may just have repeated it.
fn others(
    events: &mut Events<'_>,
    question: Seq,
    found: &[(String, Sources)],
) -> Result<Vec<OtherPrompt>, LogError> {
    let mut wanted: BTreeMap<Seq, (PromptHash, bool)> = BTreeMap::new();
    let answers: BTreeSet<Seq> = found.iter().flat_map(|(_, s)| &s.answers).copied().collect();
    let answers = events.at(&answers)?;
    let asked = answers.values().filter_map(|(_, event)| request_of(event)).collect();
    for (seq, (_, sent)) in events.questions(&asked)? {
        wanted.insert(seq, (sent.prompt, false));
    }
    let end = events.index.end().0;
    for n in 0..SAMPLE {
        let from = Seq(end.saturating_mul(n) / SAMPLE);
        let near = events.reader.events(events.run, from, 8)?;
        let asked = |event: &StoredEvent| event.is_request() && event.seq != question;
        if let Some((seq, hash)) =
            near.into_iter().find(asked).and_then(|event| Some((event.seq, event.prompt?)))
        {
            wanted.insert(seq, (hash, true));
        }
    }
    wanted.remove(&question);
    let mut others = Vec::new();
    for (seq, (hash, is_sample)) in wanted {
        let request = events.reader.request(hash)?;
        others.extend(request.map(|r| OtherPrompt {
            seq,
            is_sample,
            prompt: SearchedPrompt::new(&r),
        }));
    }
    Ok(others)
}

/// The messages of a request, prepared to be searched for many texts.
struct SearchedPrompt {
    /// Role and text.
    messages: Vec<(String, String)>,
    /// Every sequence of [`START`] bytes that occurs in some message.
    starts: LookupSet<[u8; START]>,
}

/// How many bytes a position is looked up by.
const START: usize = 16;

impl SearchedPrompt {
    fn new(request: &Request) -> Self {
        let messages = request.messages();
        let mut starts = LookupSet::default();
        for (_, text) in &messages {
            for window in text.as_bytes().windows(START) {
                let mut start = [0; START];
                start.copy_from_slice(window);
                starts.insert(start);
            }
        }
        SearchedPrompt { messages, starts }
    }

    fn role(&self, message: usize) -> &str {
        self.messages.get(message).map_or("", |(role, _)| role)
    }

    /// The index of the first message that contains a text, and the byte position in it.
    fn find(&self, text: &str) -> Option<(usize, usize)> {
        let start = text.as_bytes().first_chunk::<START>()?;
        if !self.starts.contains(start) {
            return None;
        }
        let places = self.messages.iter().enumerate();
        places.filter_map(|(number, (_, message))| Some((number, message.find(text)?))).next()
    }

    fn has(&self, text: &str) -> bool {
        self.find(text).is_some()
    }
}

/// Every string in a JSON value.
fn strings(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(items) => items.iter().flat_map(strings).collect(),
        Value::Object(map) => map.values().flat_map(strings).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    }
}
