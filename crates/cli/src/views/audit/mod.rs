//! Prints how a decision came about, back to its prompt.

mod object;

use std::fmt::Write;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use self::object::object;
use crate::error::{CliError, Status};
use crate::global::Global;
use crate::output::{Output, counted, grouped};
use crate::runs::effective;
use crate::select::{self, RunSelection};
use crate::views::origin::origin;
use retold::audit::{
    Audit, AuditError, DeclaredSources, Link, MadeFrom, Match, Origin, PromptRelation, Target,
    audit,
};
use retold::content::Content;
use retold::decide::PARSER_FILE;
use retold::effective::EffectiveDecisions;
use retold::escaping::printable;
use retold::event::{DecisionMade, Event, ResponseDetails, RunStarted};
use retold::id::{RunId, Seq};
use retold::log::Reader;
use retold::model::{HTTP, NOT_READ, UNENDED, choice_count, is_not_read, other_choices};
use retold::parse::{Parsers, ToolCall, WholeAnswer};
use retold::proof::ProofStatement;
use retold::run::AnswerDetails;

/// The longest excerpt of a fact or a match that is shown.
const SHOWN: usize = 70;

/// How many of the earlier prompts that led to the audited one are shown to people.
const SHOWN_BEHIND: usize = 20;

/// How a decision came about, ready to be printed.
pub(crate) struct AuditView {
    pub(crate) audit: Audit,
    run: RunId,
    /// How it began.
    started: RunStarted,
    /// How many events were read and found intact.
    checked: u64,
    /// The file of its proof, and what that proves.
    pub(crate) proof: Option<(PathBuf, ProofStatement)>,
    /// The decision about the same answer that was accepted last, and the run that it is in.
    since: Option<(RunId, Link<DecisionMade>)>,
    /// For a run of accepted decisions: which of them are in force.
    in_force: EffectiveDecisions,
    /// Of a damaged run, the first event that was not read.
    end: Option<Seq>,
}

impl AuditView {
    /// The same of a damaged run that was read only up to an event.
    pub(crate) fn before(self, end: Option<Seq>) -> Self {
        AuditView { end, ..self }
    }
}

/// Reads how a decision of a run came about, back to its prompt.
pub(crate) fn read(
    selected: &RunSelection,
    decision: &Target,
    global: &Global,
) -> Result<AuditView, CliError> {
    let (mut reader, run) = (selected.checked()?, selected.run);
    let started = select::started(&mut reader, run)?;
    let parsers = global.studies.parsers();
    let audit = audit(&mut reader, run, decision, parsers)?;
    let in_force = effective::of(selected)?;
    let since = since(&mut selected.checked()?, &audit, &in_force, parsers)?;
    Ok(AuditView {
        audit,
        run,
        started,
        checked: reader.checked(),
        proof: None,
        since,
        in_force,
        end: None,
    })
}

/// The decision that was accepted last of those that replace the audited one, or of all about its answer if it has none.
fn since(
    reader: &mut dyn Reader,
    of: &Audit,
    in_force: &EffectiveDecisions,
    parsers: &Parsers,
) -> Result<Option<(RunId, Link<DecisionMade>)>, CliError> {
    let target = Target::Call(of.call.clone(), Some(of.sample));
    if let Some(damage) = in_force.damage() {
        return Err(damage.clone().into());
    }
    let choice_of = |made: &DecisionMade| made.details.choice.unwrap_or(0);
    let choice = of.decision.as_ref().map_or(0, |decision| choice_of(&decision.event));
    for accepted in in_force.accepted.iter().rev() {
        let (decision, others) = match audit(reader, accepted.run, &target, parsers) {
            Ok(Audit { decision: Some(decision), others, .. }) => (decision, others),
            Err(AuditError::Log(error)) => return Err(error.into()),
            // That run is about other answers.
            Ok(_) | Err(_) => continue,
        };
        let is_same = |made: &Link<DecisionMade>| {
            let audited = of.decision.as_ref().map(|decision| &decision.event.by);
            let replaces = audited.is_none_or(|audited| made.event.by.replaces(audited));
            replaces && choice_of(&made.event) == choice
        };
        if let Some(made) = std::iter::once(decision).chain(others).find(is_same) {
            return Ok(Some((accepted.run, made)));
        }
    }
    Ok(None)
}

impl AuditView {
    /// Prints it.
    pub(crate) fn show(&self, output: &Output) -> Result<Status, CliError> {
        let AuditView { audit, run, started, checked, proof, since, in_force, end } = self;
        if output.is_json() {
            let mut object = object(audit);
            object["simulated"] = started.is_simulated().into();
            if !started.merged_from.is_empty() {
                object["merged_from"] = json!(started.merged_from);
            }
            object["checked_events"] = (*checked).into();
            if let Some((run, made)) = since {
                object["accepted_since"] = json!({"run": run, "seq": made.seq,
                    "method": made.event.by.method, "value": made.event.details.value});
            }
            if in_force.decides_about.is_some() {
                object["decisions_in_force"] = json!(in_force);
            }
            if let Some(end) = end {
                object["read_before"] = json!(end);
            }
            if let Some((file, ProofStatement { root, head, events, .. })) = proof {
                let file = file.display().to_string();
                object["proof"] =
                    json!({"file": file, "root": root, "head": head, "events": events});
            }
            output.object(&object)?;
        } else {
            let said = if started.is_simulated() { select::SIMULATED } else { "" };
            let origin = origin(started).map_or_else(String::new, |origin| origin + "\n");
            let checked = select::checked(*checked, *run);
            let proof = proof.as_ref().map(|(file, proved)| proof_text(file, proved));
            let proof = proof.unwrap_or_default();
            let mut in_force = String::new();
            if let Some((run, made)) = since {
                let DecisionMade { by, details, .. } = &made.event;
                in_force = format!(
                    "in force is a decision that was accepted since: {} ({}), run {run} seq {}\n",
                    printable(&details.value.to_string(), SHOWN),
                    printable(&by.method, SHOWN),
                    made.seq
                );
            } else if self.in_force.decides_about.is_some() {
                in_force = effective::text(&self.in_force);
            }
            output
                .text(&format!("{said}{origin}{in_force}{}{checked}{proof}", text(audit, *end)))?;
        }
        Ok(Status::Fine)
    }
}

fn proof_text(file: &Path, proved: &ProofStatement) -> String {
    let (file, ProofStatement { root, head, .. }) = (file.display(), proved);
    format!(
        "proof written to {file}\n  root {root}\n  head {head}\n\
         send the root separately from the file; `retold verify proof FILE --root HASH` then checks both\n"
    )
}

/// The answer's text, and its other known properties.
fn answer_of(event: &Event) -> (&str, String) {
    match event {
        Event::ResponseReceived(r) => {
            let details = shown_details(&r.details);
            (r.content.text(), details)
        }
        Event::AnswerReused(r) => {
            let from = format!("reused from run {} seq {}", r.from_run, r.from_seq);
            let details = shown_details(&r.details);
            (r.content.text(), if details == "{}" { from } else { format!("{from}  {details}") })
        }
        _ => ("", String::new()),
    }
}

/// The properties of an answer for people. The body that a program received says the same once more.
fn shown_details(details: &ResponseDetails) -> String {
    let mut details = details.clone();
    details.extra.remove(HTTP);
    json!(details).to_string()
}

/// The recorded parts of an answer other than its text.
fn details_of(event: &Event) -> Option<(&Content, &ResponseDetails)> {
    match event {
        Event::ResponseReceived(r) => Some((&r.content, &r.details)),
        Event::AnswerReused(r) => Some((&r.content, &r.details)),
        _ => None,
    }
}

/// The parts of an answer next to its text: tool calls, and a refusal.
fn parts_text(extra: &Map<String, Value>) -> String {
    let whole = WholeAnswer { extra: Some(extra), ..WholeAnswer::text("") };
    let mut out = String::new();
    for ToolCall { recorded, id, name, arguments } in whole.tool_calls() {
        let line = match name {
            Some(name) => {
                let arguments =
                    arguments.as_str().map_or_else(|| arguments.to_string(), str::to_owned);
                let id = id.map(|id| format!("  ({})", printable(id, 100)));
                format!("{}({arguments}){}", printable(name, 100), id.unwrap_or_default())
            }
            None => recorded.to_string(),
        };
        // Writing to a string cannot fail.
        let _ = writeln!(out, "  tool call\n{}", indented(&line));
    }
    if let Some(refusal) = whole.refusal() {
        let _ = writeln!(out, "  refusal\n{}", indented(refusal));
    }
    out
}

/// Whether an answer is empty, and whether it was cut off.
fn shortcomings(event: &Event) -> (bool, bool) {
    let Some((content, details)) = details_of(event) else { return (false, false) };
    let beside = AnswerDetails::new(content, details.clone());
    let whole = beside.whole(content);
    let is_blank = matches!(content, Content::Text(_)) && whole.is_empty() && !beside.is_not_read();
    (is_blank, whole.is_cut_off())
}

/// Whether nothing of an answer is read.
fn is_an_answer_not_read(event: &Event) -> bool {
    details_of(event).is_some_and(|(content, details)| is_not_read(content, &details.extra))
}

/// Whether an answer was refused without a word on it: its finish reason alone says so.
fn ended_as_refusal(event: &Event) -> bool {
    details_of(event).is_some_and(|(content, details)| {
        let beside = AnswerDetails::new(content, details.clone());
        let whole = beside.whole(content);
        whole.is_refused() && whole.refusal().is_none()
    })
}

/// How many choices the answer has.
fn choices(audit: &Audit) -> u32 {
    let details = audit.answer.as_ref().and_then(|answer| details_of(&answer.event));
    details.map_or(1, |(_, details)| choice_count(&details.extra))
}

/// Which choice of the answer a decision is about, if the answer has several or the decision says so.
fn choice_said(audit: &Audit, made: &DecisionMade) -> Option<String> {
    let has = counted(choices(audit).into(), "choice");
    match made.details.choice {
        Some(at) => Some(format!("{at}, counted from 0: the answer has {has}")),
        None if choices(audit) == 1 => None,
        None if made.by.is_reported() => {
            Some(format!("not said by the program: the answer has {has}"))
        }
        None => Some(format!("0, the first: the answer has {has}")),
    }
}

/// The parser of a decision. One of a parser file has the file's name and hash.
fn parser(out: &mut String, parser: &Value) {
    let from = &parser["params"][PARSER_FILE];
    let text = |value: &Value| printable(value.as_str().unwrap_or("?"), 200);
    // Writing to a string cannot fail.
    if from.is_null() {
        let _ = writeln!(out, "  parser   {parser}");
        return;
    }
    let _ = writeln!(out, "  parser   {}@{}", text(&parser["name"]), parser["version"]);
    let _ = writeln!(out, "  file     {}, BLAKE3 {}", text(&from["file"]), text(&from["blake3"]));
    let _ = writeln!(out, "  defined  {}", from["parser"]);
    // Decisions that were recorded before there were other rules have no number.
    let _ = writeln!(out, "  rules    {}", from["rules"].as_u64().unwrap_or(1));
}

/// A line about what was not found; `end` is the first event that was not read, if a damaged run was not read
/// to its end.
fn nothing(what: &str, end: Option<Seq>) -> String {
    match end {
        None => format!("\nno {what}\n"),
        Some(end) => {
            format!("\nno {what} before event {end}, from which on the run cannot be trusted\n")
        }
    }
}

fn text(audit: &Audit, end: Option<Seq>) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(out, "run {}  call {}  sample {}", audit.run, audit.call, audit.sample);
    match &audit.decision {
        Some(Link { seq, hash, event }) => {
            let _ = writeln!(out, "\ndecision  seq {seq}  hash {hash}");
            if event.by.is_reported() {
                let _ = writeln!(out, "  name     {}", printable(event.by.decides(), 200));
            }
            let _ = writeln!(out, "  value    {}", event.details.value);
            if let Some(choice) = choice_said(audit, event) {
                let _ = writeln!(out, "  choice   {choice}");
            }
            let _ = writeln!(out, "  method   {}", event.by.method);
            if let Some(verdict) = audit.verdict {
                let _ = writeln!(out, "  verdict  {verdict}");
            }
            parser(&mut out, &event.by.parser);
            for warning in &event.details.warnings {
                let _ = writeln!(out, "  warning  {warning}");
            }
            if let Some(reasoning) = &event.details.reasoning {
                let _ = writeln!(out, "  reasoning\n{}", indented(reasoning));
            }
        }
        None => out.push_str(&nothing("decision was made on this call", end)),
    }
    if !audit.others.is_empty() {
        out.push_str("\nother decisions on the same answer (`retold audit RUN SEQ` follows one)\n");
    }
    for Link { seq, hash: _, event } in &audit.others {
        let (name, value) = (printable(event.by.decides(), 200), event.details.value.to_string());
        let choice = event.details.choice.map(|at| format!("  choice {at}")).unwrap_or_default();
        let _ = writeln!(out, "  seq {seq}  {name}{choice}  {}", printable(&value, 90));
    }
    match &audit.answer {
        Some(Link { seq, hash, event }) => {
            let (text, details) = answer_of(event);
            let _ = writeln!(out, "\nanswer  seq {seq}  hash {hash}  {details}");
            let (blank, cut_off) = shortcomings(event);
            if blank {
                let _ = writeln!(out, "  blank: neither a text nor a tool call nor a refusal");
            }
            if ended_as_refusal(event) {
                let _ = writeln!(out, "  refused: the model ended the answer as a refusal");
            }
            if cut_off {
                let _ = writeln!(out, "  cut off: it had reached the limit of tokens");
            }
            let unended = details_of(event).and_then(|(_, details)| details.extra.get(UNENDED));
            if let Some(why) = unended.and_then(Value::as_str) {
                let _ = writeln!(out, "  without its end: {}", printable(why, 200));
            }
            if is_an_answer_not_read(event) {
                let _ = writeln!(
                    out,
                    "  {NOT_READ}: no file of retold's describes this API; this is the whole body"
                );
            }
            if choices(audit) > 1 {
                let _ = writeln!(out, "  the first of {} choices", choices(audit));
            }
            let parts = details_of(event).map(|(_, details)| parts_text(&details.extra));
            let parts = parts.unwrap_or_default();
            if !text.is_empty() || parts.is_empty() {
                let _ = writeln!(out, "{}", indented(text));
            }
            out.push_str(&parts);
            let others = details_of(event).map(|(_, details)| other_choices(&details.extra));
            for (other, at) in others.unwrap_or_default().iter().zip(1..) {
                let _ = writeln!(out, "  choice {at}");
                if !other.text.is_empty() {
                    let _ = writeln!(out, "{}", indented(&other.text));
                }
                out.push_str(&parts_text(&other.extra));
            }
        }
        None => out.push_str(&nothing("answer was received", end)),
    }
    for Link { seq, hash, event } in &audit.attempts {
        if let Event::AttemptFailed(failed) = event {
            let details = &failed.details;
            let last = if details.gave_up { ", the last" } else { "" };
            let _ = writeln!(
                out,
                "\nfailed attempt {}{last}  seq {seq}  hash {hash}\n  {}: {}",
                details.attempt, details.failure, details.error
            );
            let text = details.http.as_ref().and_then(|http| http["text"].as_str());
            if let Some(text) = text {
                let _ = writeln!(out, "  what had come of an answer:\n{}", indented(text));
            }
        }
    }
    if let Some(Link { seq, hash, event: left }) = &audit.left {
        let had = match left.bytes {
            Some(bytes) => format!("with {} bytes", grouped(bytes)),
            None => "before the beginning".to_owned(),
        };
        let _ = writeln!(
            out,
            "\nthe client left  seq {seq}  hash {hash}\n  after {} ms, {had} of the answer",
            grouped(left.after_ms),
        );
    }
    let _ = writeln!(out, "\nquestion  seq {}  hash {}", audit.question.seq, audit.question.hash);
    for (name, value) in &audit.labels {
        let _ = writeln!(out, "  {}: {}", printable(name, 100), printable(value, 200));
    }
    let _ = writeln!(out, "prompt {}", audit.request.hash());
    let body = audit.request.body().as_object();
    for (key, value) in body.into_iter().flatten().filter(|(key, _)| *key != "messages") {
        let _ = writeln!(out, "  {key}: {value}");
    }
    for (role, text) in audit.request.messages() {
        let _ = writeln!(out, "  {role}:\n{}", indented(&text));
    }
    declared_text(&audit.declared, &mut out);
    matches_text(audit, &mut out);
    for Link { seq, hash, event } in &audit.facts {
        let _ = writeln!(out, "\nfact that follows  seq {seq}  hash {hash}");
        let _ = writeln!(out, "{}", indented(&event.fact.to_string()));
    }
    out
}

/// The declared sources of the prompt, and those of earlier prompts.
fn declared_text(declared: &DeclaredSources, out: &mut String) {
    let DeclaredSources::Kept { prompts, complete, .. } = declared else {
        out.push_str(
            "\nnothing was declared: this run does not keep what its prompts were made from\n",
        );
        return;
    };
    let mut behind = 0;
    for MadeFrom { call, sample, part, from, .. } in prompts {
        behind += usize::from(*part == PromptRelation::Behind);
        if behind > SHOWN_BEHIND {
            continue;
        }
        // Writing to a string cannot fail.
        let _ = match (part, from.is_empty()) {
            (PromptRelation::Itself, true) => {
                writeln!(out, "\ndeclared: the prompt was not made from anything in the run")
            }
            (_, true) => continue,
            (PromptRelation::Itself, false) => {
                writeln!(out, "\ndeclared: the prompt was made from")
            }
            (PromptRelation::Within, false) => {
                writeln!(
                    out,
                    "\nand from everything that the prompt of {call}#{sample} was made from"
                )
            }
            (PromptRelation::Behind, false) => {
                writeln!(out, "\nearlier: the prompt of {call}#{sample} was made from")
            }
        };
        from.iter().for_each(|origin| origin_text(origin, out));
    }
    // Writing to a string cannot fail.
    let _ = match (behind.saturating_sub(SHOWN_BEHIND), complete) {
        (0, _) => Ok(()),
        (more, true) => writeln!(out, "\nand {more} more earlier prompts: --json has them all"),
        (more, false) => writeln!(
            out,
            "\nand {more} more earlier prompts, which --json has, and others before these: audit one of them"
        ),
    };
}

fn origin_text(origin: &Origin, out: &mut String) {
    // Writing to a string cannot fail.
    let _ = match origin {
        Origin::Decision { call, sample, answer, content, decision } => {
            let decision =
                decision.as_ref().map(|d| format!("decision seq {}  hash {}", d.seq, d.hash));
            let decision = decision.unwrap_or_else(|| "no decision".to_owned());
            let Link { seq, hash, .. } = answer;
            writeln!(
                out,
                "  {call}#{sample}  {decision}\n    answer seq {seq}  hash {hash}  content {content}"
            )
        }
        Origin::Fact { fact: Link { seq, hash, event }, causes: _ } => {
            let fact = printable(&event.to_string(), SHOWN);
            writeln!(out, "  fact seq {seq}  hash {hash}\n    {fact}")
        }
        Origin::Question { call, sample, question: Link { seq, hash, .. } } => {
            writeln!(out, "  everything that {call}#{sample} was made from  seq {seq}  hash {hash}")
        }
        Origin::Other { event: Some(Link { seq, hash, event }), .. } => {
            writeln!(out, "  {event}, which is not a source of prompts  seq {seq}  hash {hash}")
        }
        Origin::Other { event: None, seq } => writeln!(out, "  seq {seq}, which does not exist"),
    };
}

/// Texts that are in the prompt, and how rare they are.
fn matches_text(audit: &Audit, out: &mut String) {
    if audit.same_text.is_empty() {
        return;
    }
    out.push_str(
        "\nthe same text is in the prompt, which alone does not prove where it came from\n",
    );
    for found in &audit.same_text {
        let Match { message, role, text, origins, declared, of, prompts, looked_at } = found;
        let having = origins.len();
        let declared = if *declared { "; declared above" } else { "" };
        // Writing to a string cannot fail.
        let _ = writeln!(out, "  message {message} {role}: \"{}\"", printable(text, SHOWN));
        let _ = writeln!(
            out,
            "    a text of {having} of {of} answers and facts, and in {prompts} of {looked_at} other prompts{declared}"
        );
        let mut shown = String::new();
        origins.iter().for_each(|origin| origin_text(origin, &mut shown));
        for line in shown.lines() {
            let _ = writeln!(out, "  {line}");
        }
    }
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("    {line}")).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use retold::id::{EventHash, Seq};

    #[test]
    fn what_no_prompt_is_made_from_is_named() {
        let mut text = String::new();
        let event = Link { seq: Seq(1), hash: EventHash([0; 32]), event: "RunStarted".to_owned() };
        origin_text(&Origin::Other { event: Some(event), seq: Seq(1) }, &mut text);
        origin_text(&Origin::Other { event: None, seq: Seq(9) }, &mut text);
        let hash = "0".repeat(64);
        assert_eq!(
            text,
            format!(
                "  RunStarted, which is not a source of prompts  seq 1  hash {hash}\n  seq 9, which does not exist\n"
            )
        );
    }
}
