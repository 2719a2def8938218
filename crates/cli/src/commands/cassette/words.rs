//! The words of a cassette: texts and tool calls, without ids, times, counts and layouts.

use std::collections::BTreeSet;
use std::path::Path;

use retold::counted::group_digits;
use retold::escaping::{inert_lines, printable};
use retold::event::{Event, RequestSent, ResponseReceived};
use retold::log::{LogError, Reader, RunEvents};
use retold::model::HTTP;
use retold::run::AnswerDetails;
use retold::text_diff::unified_diff;
use serde_json::Value;

use crate::error::CliError;
use crate::select::{RunSelection, cassette};

/// The shortest text that stands once, in bytes.
const SHORTEST: usize = 40;

/// The fields of requests that are shown besides their messages.
const SHOWN: &[&str] = &["tools", "functions"];

/// The difference between two cassettes, in words, and how many more lines differ; `None` if one of them is not a cassette that can
/// be read. `diff` is that of their texts.
pub(super) fn difference(
    before: &Path,
    now: &Path,
    diff: &str,
) -> Result<Option<String>, CliError> {
    let (Some(old), Some(new)) = (words(before)?, words(now)?) else { return Ok(None) };
    let name = printable(&before.display().to_string(), 300);
    let shown = unified_diff(&old, &new, [&name, "asked now"]);
    let is_changed = |line: &&str| line.starts_with(['+', '-']);
    let lines = group_digits(diff.lines().skip(2).filter(is_changed).count() as u64);
    Ok(Some(match shown.is_empty() {
        true => format!(
            "{name}: the words are the same; lines that differ in ids, times, counts or layout: {lines}\n"
        ),
        false => format!(
            "{shown}lines of the file that differ, with ids, times, counts and layout: {lines}\n"
        ),
    }))
}

/// The words of a cassette: no words if there is no file, and `None` if the file cannot be read as a cassette.
fn words(path: &Path) -> Result<Option<String>, CliError> {
    if !path.exists() {
        return Ok(Some(String::new()));
    }
    let Some(name) = path.to_str() else { return Ok(None) };
    // The reason is in the way of accepting it, which checks it.
    let Ok(Some(RunSelection { log, run })) = cassette(name) else { return Ok(None) };
    let (mut reader, mut words) = (log.reader()?, CassetteWords::default());
    let mut events = RunEvents::new(run);
    while let Some(stored) = events.next(reader.as_mut())? {
        match stored.event().map_err(LogError::from)? {
            Event::RequestSent(sent) => words.add_request(reader.as_mut(), &sent)?,
            Event::ResponseReceived(answer) => words.add_answer(answer),
            Event::AttemptFailed(failed) => words.add("failed", &failed.details.error),
            _ => {}
        }
    }
    Ok(Some(words.text))
}

#[derive(Debug, Default)]
struct CassetteWords {
    text: String,
    /// The longer texts that were there before.
    seen: BTreeSet<String>,
}

impl CassetteWords {
    fn add_request(&mut self, reader: &mut dyn Reader, sent: &RequestSent) -> Result<(), LogError> {
        let RequestSent { call, prompt, .. } = sent;
        let Some(request) = reader.request(*prompt)? else { return Ok(()) };
        let name = if call.is_unnamed() { call.kind() } else { call.as_str().to_owned() };
        let model = request.model().map_or_else(String::new, |model| format!(" ({model})"));
        self.text.push_str(&printable(&format!("{name}{model}"), 300));
        self.text.push('\n');
        let messages = request.messages();
        for (role, text) in &messages {
            self.add_once(role, text);
        }
        for (name, field) in
            SHOWN.iter().filter_map(|name| Some((name, request.body().get(*name)?)))
        {
            self.add_once(name, &format!("{field:#}"));
        }
        if messages.is_empty() {
            let mut body = request.body().clone();
            if let Some(fields) = body.as_object_mut() {
                fields.remove(HTTP);
            }
            self.add_once("request", &format!("{body:#}"));
        }
        Ok(())
    }

    fn add_answer(&mut self, answer: ResponseReceived) {
        let ResponseReceived { content, details, request: _ } = answer;
        let details = AnswerDetails::new(&content, details);
        let whole = details.whole(&content);
        if !whole.text.is_empty() {
            self.add("answer", whole.text);
        }
        for call in whole.tool_calls() {
            let arguments = match call.arguments {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            self.add("tool call", &format!("{}({arguments})", call.name.unwrap_or_default()));
        }
        if let Some(refusal) = whole.refusal() {
            self.add("refusal", refusal);
        }
    }

    /// Adds a text that may be long and stand in every request: the first time.
    fn add_once(&mut self, of: &str, text: &str) {
        match text.len() >= SHORTEST && !self.seen.insert(text.to_owned()) {
            true => self.add(of, "(as above)"),
            false => self.add(of, text),
        }
    }

    fn add(&mut self, of: &str, text: &str) {
        let of = printable(of, 40);
        match text.contains('\n') {
            true => {
                let lines = inert_lines(text.trim_end_matches('\n')).replace('\n', "\n    ");
                self.text.push_str(&format!("  {of}:\n    {lines}\n"));
            }
            false => self.text.push_str(&format!("  {of}: {}\n", inert_lines(text))),
        }
    }
}
