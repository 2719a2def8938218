//! A request that is not recorded: the nearest one that is, and the first field that differs.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex};

use retold::escaping::printable;
use retold::id::{CallPath, PromptHash, Seq};
use retold::log::LogError;
use serde_json::{Value, json};

use crate::limits::COMPARED;
use crate::lock::lock;
use crate::recorded::Library;
use crate::rules::Rules;
use crate::samples::Samples;
use crate::wire_request::WireRequest;

/// The longest excerpt of a value, in characters.
const LONGEST: usize = 100;

/// The recorded prompts, for comparison. They are read at the first miss, and a replay without any
/// does without them.
pub(crate) struct RecordedPrompts {
    samples: Samples,
    known: Mutex<Option<Arc<KnownPrompts>>>,
}

/// By prompt and call: its first question, and how many samples it has.
type KnownPrompts = BTreeMap<(PromptHash, CallPath), KnownRequest>;

#[derive(Debug)]
struct KnownRequest {
    request: Seq,
    samples: usize,
    /// Whether anything came of one of them.
    is_tried: bool,
}

/// A request that is not recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NearestMatch {
    /// The call that it would have been.
    pub call: CallPath,
    /// Method, upstream and path, as in `POST openai/v1/chat/completions`.
    pub asked: String,
    /// Why there is nothing for it.
    pub why: Why,
    /// The rules under which it was compared, if there are any.
    pub rules: String,
    /// If the key of the run's redactions is not known: where it was looked for.
    pub lacks_key: Option<String>,
}

/// Why there is no recorded answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Why {
    /// It was asked more often than it is recorded.
    Exhausted {
        /// How often it is recorded.
        samples: usize,
    },
    /// It is recorded without an answer.
    Unanswered {
        /// Whether failures are recorded, which are left out.
        failed: bool,
    },
    /// It differs from what is recorded.
    Differs {
        /// The nearest recorded question.
        nearest: Seq,
        /// Its call.
        call: CallPath,
        /// The first field that differs, as a path.
        field: String,
        /// How many fields differ.
        fields: usize,
        /// Its recorded value; `None` if it had none.
        recorded: Option<String>,
        /// Its value now; `None` if it has none.
        now: Option<String>,
    },
    /// Nothing is recorded that it could be compared with.
    Nothing,
    /// There were too many misses to compare them all.
    NotCompared,
    /// It cannot be asked, for this reason, and is not recorded as refused, either.
    Refused(String),
}

impl RecordedPrompts {
    /// Those of these samples.
    pub(crate) fn new(samples: Samples) -> Self {
        RecordedPrompts { samples, known: Mutex::default() }
    }

    fn known(&self, library: &Library) -> Result<Arc<KnownPrompts>, LogError> {
        let mut known = lock(&self.known);
        if let Some(known) = known.as_ref() {
            return Ok(known.clone());
        }
        let mut read = KnownPrompts::new();
        if let Some(questions) = self.samples.questions() {
            library.questions(questions.run, &questions.all(), |request, sent| {
                let new = KnownRequest { request, samples: 0, is_tried: false };
                let entry = read.entry((sent.prompt, sent.call)).or_insert(new);
                entry.samples += usize::from(questions.is_answered(request));
                entry.is_tried |= questions.is_tried(request);
            })?;
        }
        Ok(known.insert(Arc::new(read)).clone())
    }

    /// Why a request has no recorded answer.
    ///
    /// # Errors
    /// [`LogError`] if the recorded ones cannot be read.
    pub(crate) fn miss(
        &self,
        asked: &WireRequest,
        rules: &Rules,
        library: &Library,
    ) -> Result<NearestMatch, LogError> {
        let call = asked.key.call.clone();
        let shown = asked.shown();
        let rules_shown = rules.shown();
        let lacks_key = rules.lacks_key().map(str::to_owned);
        let miss = |why| {
            let (rules, lacks_key) = (rules_shown.clone(), lacks_key.clone());
            NearestMatch { call: call.clone(), asked: shown.clone(), why, rules, lacks_key }
        };
        let prompt = asked.request.hash();
        let all = self.known(library)?;
        if let Some(known) = all.get(&(prompt, call.clone())) {
            return Ok(miss(known.used_up()));
        }
        let of_prompt = all.iter().find(|((other, _), _)| *other == prompt);
        if let Some(((_, other), known)) = of_prompt {
            return Ok(miss(same_prompt(other, known, &call)));
        }
        let now = shown_body(asked.request.api(), rules.counted(&asked.request));
        let texts = Texts::new(&now);
        let mut best: Option<(Score, (&CallPath, &KnownRequest), BodyDifferences)> = None;
        // Those of the same call first, then those of the same form.
        let mut candidates: Vec<_> = all.iter().collect();
        candidates.sort_by_key(|((_, other), known)| {
            (*other != call, !alike(other, &call), known.request)
        });
        for ((prompt, other), known) in candidates.into_iter().take(COMPARED) {
            let Some(request) = library.request(*prompt)? else { continue };
            let recorded = shown_body(request.api(), rules.counted(&request));
            let mut found = BodyDifferences::default();
            compare(&recorded, &now, "", &mut found);
            let form = usize::from(!alike(other, &call));
            let equal = texts.equal_to(&recorded) + found.common;
            let score = (known.samples == 0, Reverse(equal), found.fields + form, known.request);
            if best.as_ref().is_none_or(|(least, ..)| score < *least) {
                best = Some((score, (other, known), found));
            }
        }
        Ok(miss(match best {
            None => Why::Nothing,
            Some((
                _,
                (other, known),
                BodyDifferences { first: Some((field, recorded, now)), fields, .. },
            )) => {
                let (recorded, now) = excerpts(recorded.as_ref(), now.as_ref());
                let (nearest, call) = (known.request, other.clone());
                Why::Differs { nearest, call, field, fields, recorded, now }
            }
            // Nothing that counts differs.
            Some((_, (other, known), _)) if *other == call => known.used_up(),
            Some((_, (other, known), _)) => same_prompt(other, known, &call),
        }))
    }
}

impl KnownRequest {
    /// Why there is no more of it.
    fn used_up(&self) -> Why {
        match self.samples {
            0 => Why::Unanswered { failed: self.is_tried },
            samples => Why::Exhausted { samples },
        }
    }
}

/// Why a prompt has no answer: it is recorded in another form, or under another name.
fn same_prompt(other: &CallPath, known: &KnownRequest, call: &CallPath) -> Why {
    let (field, recorded, now) = match (streamed(other), streamed(call)) {
        (before, now) if before != now => ("stream", json!(before), json!(now)),
        _ => ("X-Retold-Call", json!(other), json!(call)),
    };
    let shown = |value: Value| Some(printable(&value.to_string(), LONGEST));
    Why::Differs {
        nearest: known.request,
        call: other.clone(),
        field: field.to_owned(),
        fields: 1,
        recorded: shown(recorded),
        now: shown(now),
    }
}

fn streamed(call: &CallPath) -> bool {
    call.as_str().ends_with("/stream")
}

/// Whether two calls are of one API and form, as far as their names say.
fn alike(a: &CallPath, b: &CallPath) -> bool {
    let api = |call: &CallPath| call.as_str().split('/').next().map(str::to_owned);
    streamed(a) == streamed(b) && api(a) == api(b)
}

/// Of two recorded requests, the one with the least is the nearer one: whether it has no answer, how much of its text is equal
/// (the number of fields says little: two dialogues differ in as many as they have messages), how many fields differ, and where it is.
type Score = (bool, Reverse<usize>, usize, Seq);

/// The texts in a body, wherever they are: a message that was put in moves those behind it.
struct Texts<'a>(BTreeMap<&'a str, usize>);

impl<'a> Texts<'a> {
    fn new(body: &'a Value) -> Self {
        let mut texts = Texts(BTreeMap::new());
        each_text(body, &mut |text| *texts.0.entry(text).or_default() += 1);
        texts
    }

    /// How many bytes of text another body has in common with this one, in whole texts.
    fn equal_to(&self, other: &Value) -> usize {
        let (mut left, mut equal) = (self.0.clone(), 0);
        each_text(other, &mut |text| {
            if let Some(count) = left.get_mut(text).filter(|count| **count > 0) {
                *count -= 1;
                equal += text.len();
            }
        });
        equal
    }
}

fn each_text<'a>(body: &'a Value, each: &mut dyn FnMut(&'a str)) {
    match body {
        Value::String(text) => each(text),
        Value::Array(items) => items.iter().for_each(|item| each_text(item, each)),
        Value::Object(fields) => fields.values().for_each(|field| each_text(field, each)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The differences of two bodies.
#[derive(Debug, Default)]
struct BodyDifferences {
    fields: usize,
    first: Option<(String, Option<Value>, Option<Value>)>,
    /// How many characters the first two differing texts share at both ends.
    common: usize,
}

/// The body with its API, so that both are compared.
fn shown_body(api: retold::prompt::Api, mut body: Value) -> Value {
    if let Value::Object(fields) = &mut body {
        fields.insert("api".to_owned(), json!(api));
    }
    body
}

/// Messages and contents first: they are what most often differs, and what a reader looks for.
fn order(name: &str) -> (u8, &str) {
    let rank = match name {
        "model" => 0,
        "messages" | "input" | "content" | "parts" => 1,
        "http" | "api" => 3,
        _ => 2,
    };
    (rank, name)
}

fn compare(recorded: &Value, now: &Value, path: &str, found: &mut BodyDifferences) {
    match (recorded, now) {
        (Value::Object(before), Value::Object(after)) => {
            let mut names: Vec<&String> = before.keys().chain(after.keys()).collect();
            names.sort_by_key(|name| order(name));
            names.dedup();
            for name in names {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                both(before.get(name), after.get(name), &path, found);
            }
        }
        (Value::Array(before), Value::Array(after)) => {
            for at in 0..before.len().max(after.len()) {
                both(before.get(at), after.get(at), &format!("{path}.{at}"), found);
            }
        }
        // `1` and `1.0` are one number.
        (Value::Number(a), Value::Number(b)) if a.as_f64() == b.as_f64() => {}
        (before, after) if before == after => {}
        (before, after) => note(Some(before), Some(after), path, found),
    }
}

fn both(before: Option<&Value>, after: Option<&Value>, path: &str, found: &mut BodyDifferences) {
    match (before, after) {
        (Some(before), Some(after)) => compare(before, after, path, found),
        (before, after) => note(before, after, path, found),
    }
}

fn note(before: Option<&Value>, after: Option<&Value>, path: &str, found: &mut BodyDifferences) {
    found.fields += 1;
    if found.first.is_none() {
        if let (Some(Value::String(a)), Some(Value::String(b))) = (before, after) {
            let begin = a.bytes().zip(b.bytes()).take_while(|(x, y)| x == y).count();
            let most = a.len().min(b.len()) - begin;
            let ends = a.bytes().rev().zip(b.bytes().rev());
            found.common = begin + ends.take_while(|(x, y)| x == y).count().min(most);
        }
        found.first = Some((path.to_owned(), before.cloned(), after.cloned()));
    }
}

/// Both values, texts from shortly before where they differ.
fn excerpts(before: Option<&Value>, after: Option<&Value>) -> (Option<String>, Option<String>) {
    const LEAD: usize = 30;
    if let (Some(Value::String(a)), Some(Value::String(b))) = (before, after) {
        let common = a.chars().zip(b.chars()).take_while(|(x, y)| x == y).count();
        let skipped = common.saturating_sub(LEAD);
        let cut = |text: &str| {
            let rest: String = text.chars().skip(skipped).collect();
            let dots = if skipped > 0 { "\u{2026}" } else { "" };
            Some(format!("{dots}{}", printable(&rest, LONGEST)))
        };
        return (cut(a), cut(b));
    }
    let shown = |value: Option<&Value>| value.map(|value| printable(&value.to_string(), LONGEST));
    (shown(before), shown(after))
}

impl fmt::Display for NearestMatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let call = printable(self.call.as_str(), LONGEST);
        match &self.why {
            Why::Exhausted { samples: 1 } => {
                write!(f, "{call} is recorded once, and was asked again")?
            }
            Why::Exhausted { samples } => {
                write!(f, "{call} is recorded {samples} times, and was asked once more")?;
            }
            Why::Unanswered { failed: true } => {
                write!(f, "of {call} only failures are recorded, which were skipped")?;
            }
            Why::Unanswered { failed: false } => write!(f, "{call} is recorded without an answer")?,
            Why::Nothing => write!(f, "{call} is not recorded, and neither is any other request")?,
            Why::NotCompared => write!(f, "{call} is not recorded")?,
            Why::Refused(why) => write!(f, "{call} is not recorded: {}", printable(why, 300))?,
            Why::Differs { nearest, call: recorded_call, field, fields, recorded, now } => {
                let (field, recorded_call) =
                    (printable(field, LONGEST), printable(recorded_call.as_str(), LONGEST));
                let more = match fields - 1 {
                    0 => String::new(),
                    1 => " (and 1 more field)".to_owned(),
                    n => format!(" (and {n} more fields)"),
                };
                writeln!(
                    f,
                    "{call} is not recorded; the nearest recorded request is seq {nearest} ({recorded_call})"
                )?;
                writeln!(f, "first difference at {field}{more}")?;
                let absent = "(not given)".to_owned();
                writeln!(f, "  recorded  {}", recorded.as_ref().unwrap_or(&absent))?;
                write!(f, "  asked now {}", now.as_ref().unwrap_or(&absent))?;
            }
        }
        if !self.rules.is_empty() {
            write!(f, "\ncompared under the run's rules: {}", printable(&self.rules, 500))?;
        }
        if let Some(place) = &self.lacks_key {
            write!(
                f,
                "\nthe run was recorded with --redact, and its key is not in {}: a request with a redacted value is \
                 not found without it",
                printable(place, 500)
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_difference_is_named_by_its_path() {
        let recorded =
            json!({"model": "m", "temperature": 1, "messages": [{"role": "user", "content": "a"}]});
        let first = |now: Value| {
            let mut found = BodyDifferences::default();
            compare(&recorded, &now, "", &mut found);
            (found.first.map(|(path, ..)| path), found.fields)
        };
        assert_eq!(first(recorded.clone()), (None, 0));
        let changed = json!({"model": "n", "temperature": 1.0, "messages": [{"role": "user", "content": "b"}]});
        assert_eq!(first(changed), (Some("model".to_owned()), 2));
        let longer = json!({"model": "m", "messages": [{"role": "user", "content": "a"}, {}]});
        assert_eq!(first(longer), (Some("messages.1".to_owned()), 2));
    }
}
