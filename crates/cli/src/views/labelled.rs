//! The calls that a label belongs to, one after another: a person of a program, as `show RUN NAME` finds it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use serde::Serialize;
use serde_json::{Value, json};

use crate::error::{CliError, Status};
use crate::output::{Output, count_of};
use crate::select::{self, RunSelection};
use retold::content::Content;
use retold::decided::CallDecisions;
use retold::escaping::{inert_lines, printable};
use retold::event::{CLUSTERS, Event, Labels, PARTICIPANTS, ResponseDetails};
use retold::id::{CallPath, RunId, Sample, Seq};
use retold::log::{Index, LogError, Reader, RunEvents, each_event_at};
use retold::model::providers::reasoning_text;
use retold::parse::{ToolCall, WholeAnswer};

/// The most people that an error names.
const MOST_NAMED: usize = 8;

/// The calls that have a label with a value, in the order in which they were made.
pub(crate) struct LabelledCalls {
    run: RunId,
    label: String,
    value: String,
    calls: Vec<LabelledCall>,
    simulated: bool,
    /// How many events were read and found intact.
    checked: u64,
}

/// A call, and what came of it.
#[derive(Serialize)]
struct LabelledCall {
    call: CallPath,
    sample: Sample,
    seq: Seq,
    labels: Labels,
    /// The tool that was called, if no model was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    tool: Option<String>,
    /// The role and the text of the last message of its prompt.
    asked: Option<(String, String)>,
    answer: Option<String>,
    /// What the model thought, as far as its API says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<String>,
    /// The tools that the answer calls, with their arguments.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    calls: Vec<String>,
    failed: Vec<String>,
    decisions: Vec<LabelledDecision>,
}

/// A decision that is in force.
#[derive(Serialize)]
struct LabelledDecision {
    name: String,
    value: Value,
    method: String,
}

/// The calls of a run that have a label with a value: the label that says who is asked, if that has it. `None` if no call has
/// one.
///
/// # Errors
/// [`CliError`] if the run cannot be read.
pub(crate) fn read(
    selected: &RunSelection,
    value: &str,
) -> Result<Option<LabelledCalls>, CliError> {
    let (mut reader, run) = (selected.checked_reader()?, selected.run);
    let mut by_label: BTreeMap<String, BTreeSet<Seq>> = BTreeMap::new();
    each_question(&mut reader, run, |seq, labels| {
        for (label, _) in labels.iter().filter(|(_, of)| *of == value) {
            by_label.entry(label.clone()).or_default().insert(seq);
        }
    })?;
    let usual = PARTICIPANTS.iter().chain(&CLUSTERS).find(|label| by_label.contains_key(**label));
    let label = usual.map(|label| (*label).to_owned()).or_else(|| by_label.keys().next().cloned());
    let Some((label, questions)) = label.and_then(|label| by_label.remove_entry(&label)) else {
        return Ok(None);
    };
    let calls = calls(&mut reader, run, &questions)?;
    let simulated = select::run_start(&mut reader, run)?.is_simulated();
    let (value, checked) = (value.to_owned(), reader.checked_events());
    Ok(Some(LabelledCalls { run, label, value, calls, simulated, checked }))
}

/// The first people that the calls of a run are labelled with, and how many more there are; none in a run whose calls say not
/// who is asked.
///
/// # Errors
/// [`CliError`] if the run cannot be read.
pub(crate) fn people(selected: &RunSelection) -> Result<Option<String>, CliError> {
    let mut people = BTreeSet::new();
    each_question(&mut selected.checked_reader()?, selected.run, |_, labels| {
        let person = PARTICIPANTS.iter().find_map(|label| labels.get(*label));
        people.extend(person.cloned());
    })?;
    let mut named: Vec<String> =
        people.iter().take(MOST_NAMED).map(|name| printable(name, 60)).collect();
    if let Some(more) = people.len().checked_sub(MOST_NAMED).filter(|more| *more > 0) {
        named.push(format!("{more} more"));
    }
    Ok((!named.is_empty()).then(|| named.join(", ")))
}

/// Reads the labels of each question of a run.
fn each_question(
    reader: &mut dyn Reader,
    run: RunId,
    mut read: impl FnMut(Seq, &Labels),
) -> Result<(), LogError> {
    let mut events = RunEvents::new(run);
    while let Some(event) = events.next(reader)? {
        if event.is_question() {
            read(event.seq, &event.labels().unwrap_or_default());
        }
    }
    Ok(())
}

fn calls(
    reader: &mut dyn Reader,
    run: RunId,
    questions: &BTreeSet<Seq>,
) -> Result<Vec<LabelledCall>, CliError> {
    let mut calls: BTreeMap<Seq, LabelledCall> = BTreeMap::new();
    let (mut prompts, places) = (Vec::new(), questions.iter().copied().collect::<Vec<Seq>>());
    each_event_at::<LogError>(reader, run, &places, |event| {
        let labels = event.labels().unwrap_or_default();
        if let Event::RequestSent(sent) = event.event().map_err(LogError::from)? {
            let (call, sample, seq) = (sent.call, sent.sample, event.seq);
            prompts.push((seq, sent.prompt));
            let call = LabelledCall {
                call,
                sample,
                seq,
                labels,
                tool: None,
                asked: None,
                answer: None,
                reasoning: None,
                calls: Vec::new(),
                failed: Vec::new(),
                decisions: Vec::new(),
            };
            calls.insert(seq, call);
        }
        Ok(())
    })?;
    for (seq, prompt) in prompts {
        let Some(request) = reader.request(prompt)? else { continue };
        if let Some(call) = calls.get_mut(&seq) {
            call.tool = request.tool().map(str::to_owned);
            call.asked = request.messages().pop();
        }
    }
    let following = Index::open(reader, run)?.caused_by(reader, questions)?;
    let following: Vec<Seq> =
        following.into_values().flatten().collect::<BTreeSet<Seq>>().into_iter().collect();
    each_event_at::<LogError>(reader, run, &following, |event| {
        let Some(call) = event.cause.and_then(|cause| calls.get_mut(&cause)) else { return Ok(()) };
        match event.event().map_err(LogError::from)? {
            Event::ResponseReceived(it) => call.note_answer(&it.content, &it.details),
            Event::AnswerReused(it) => call.note_answer(&it.content, &it.details),
            Event::AttemptFailed(it) => call.failed.push(it.details.error),
            _ => {}
        }
        Ok(())
    })?;
    let decisions = CallDecisions::open(reader, run)?;
    for call in calls.values_mut() {
        let about = decisions.about(reader, (&call.call, call.sample))?;
        let in_force = about.into_iter().filter(|made| made.in_force).map(|it| LabelledDecision {
            name: it.made.by.decides().to_owned(),
            value: it.made.details.value.clone(),
            method: it.made.by.method,
        });
        call.decisions = in_force.collect();
    }
    Ok(calls.into_values().collect())
}

impl LabelledCalls {
    /// Prints them.
    pub(crate) fn show(&self, output: &Output) -> Result<Status, CliError> {
        let LabelledCalls { run, label, value, calls, simulated, checked } = self;
        if output.is_json() {
            output.object(&json!({
                "run": run, "simulated": simulated, "label": label, "value": value, "calls": calls,
                "checked_events": checked,
            }))?;
            return Ok(Status::Fine);
        }
        let mut text = format!("run {run}\n");
        text.push_str(if *simulated { select::SIMULATED } else { "" });
        // Writing to a string cannot fail, here and below.
        let _ = writeln!(
            text,
            "{} {}: {}, in the order in which they were made",
            printable(label, 60),
            printable(value, 100),
            count_of(calls.len() as u64, "call")
        );
        calls.iter().for_each(|call| call.write(label, &mut text));
        text.push('\n');
        text.push_str(&select::checked_line(*checked, *run));
        output.text(&text)?;
        Ok(Status::Fine)
    }
}

impl LabelledCall {
    fn note_answer(&mut self, content: &Content, details: &ResponseDetails) {
        self.answer = Some(content.text().to_owned());
        self.reasoning = reasoning_text(&details.extra);
        let whole = WholeAnswer { extra: Some(&details.extra), ..WholeAnswer::text("") };
        let called = whole.tool_calls().map(|ToolCall { name, arguments, .. }| {
            let arguments = arguments.as_str().map_or_else(|| arguments.to_string(), str::to_owned);
            format!("{} {arguments}", name.unwrap_or("?"))
        });
        self.calls = called.collect();
    }

    fn write(&self, label: &str, text: &mut String) {
        let LabelledCall { call, sample, seq, labels, asked, answer, failed, decisions, .. } = self;
        let sample = if *sample == 0 { String::new() } else { format!("#{sample}") };
        let others = labels.iter().filter(|(name, _)| *name != label);
        let others = others
            .map(|(name, value)| format!("  {}={}", printable(name, 60), printable(value, 60)));
        let _ = writeln!(text, "\n{call}{sample}  seq {seq}{}", others.collect::<String>());
        if let Some((role, asked)) = asked {
            let _ = writeln!(text, "  {}:\n{}", printable(role, 40), indented(asked));
        }
        for failed in failed {
            let what = if self.tool.is_some() { "error" } else { "failed attempt" };
            let _ = writeln!(text, "  {what}: {}", printable(failed, 200));
        }
        if let Some(reasoning) = &self.reasoning {
            let _ = writeln!(text, "  reasoning:\n{}", indented(reasoning));
        }
        match answer {
            // What it calls is the answer.
            Some(answer) if answer.is_empty() && !self.calls.is_empty() => {}
            Some(answer) => {
                let what = if self.tool.is_some() { "result" } else { "answer" };
                let _ = writeln!(text, "  {what}:\n{}", indented(answer));
            }
            None if self.tool.is_some() => {}
            None => text.push_str("  no answer\n"),
        }
        for called in &self.calls {
            let _ = writeln!(text, "  calls {}", printable(called, 300));
        }
        for LabelledDecision { name, value, method } in decisions {
            let (name, method) = (printable(name, 60), printable(method, 60));
            let _ = writeln!(
                text,
                "  decided: {name} = {} by {method}",
                printable(&value.to_string(), 300)
            );
        }
    }
}

fn indented(text: &str) -> String {
    inert_lines(text).lines().map(|line| format!("    {line}")).collect::<Vec<_>>().join("\n")
}
