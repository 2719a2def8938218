//! `retold audit`.

use std::fmt::Write;

use serde_json::{Value, json};

use super::Global;
use super::error::{CliError, Status};
use super::output::Output;
use super::select;
use crate::audit::{Audit, Folded, Link, Origin, Place, Target, audit};
use crate::event::Event;
use crate::inert::inert;

/// The longest text shown of what was folded in.
const SHOWN: usize = 70;

/// Show the chain from a decision to its prompt: decision, method, parser, answer, prompt, and what of
/// the run stands in the prompt, each with its place in the log and its hash.
///
/// What stands in the prompt: earlier answers, decisions and facts whose text it has word for word. Short texts (a
/// vote, a name) are believed only of whom or what the call is about. That subject's own answers are followed to
/// their prompts in turn.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The run (first digits of its id, or `latest`), or a recording's file.
    pub(super) run: String,
    /// The decision: its call (its parts in any order), CALL#SAMPLE, or its seq.
    pub(super) decision: Target,
}

pub(super) fn run(args: Args, global: &Global, output: &Output) -> Result<Status, CliError> {
    let selected = select::run_or_file(global, &args.run)?;
    let mut reader = selected.log.reader()?;
    let simulated = select::started(reader.as_mut(), selected.run)?.is_simulated();
    let audit = audit(reader.as_mut(), selected.run, &args.decision)?;
    if output.is_json() {
        let mut object = object(&audit);
        object["simulated"] = simulated.into();
        output.object(&object)?;
    } else {
        let said = if simulated { select::SIMULATED } else { "" };
        output.text(&format!("{said}{}", text(&audit)))?;
    }
    Ok(Status::Fine)
}

/// The answer's text and what else is known of it.
fn answer_of(event: &Event) -> (&str, String) {
    match event {
        Event::ResponseReceived(r) => {
            let details = serde_json::to_string(&r.details).unwrap_or_default();
            (r.content.text(), details)
        }
        Event::AnswerReused(r) => {
            (r.content.text(), format!("reused from run {} seq {}", r.from_run, r.from_seq))
        }
        _ => ("", String::new()),
    }
}

fn object(audit: &Audit) -> Value {
    let place = |seq, hash| json!({"seq": seq, "hash": hash});
    let decision = audit.decision.as_ref().map(|Link { seq, hash, event }| {
        json!({"seq": seq, "hash": hash, "parser": event.by.parser, "method": event.by.method,
            "value": event.details.value, "reasoning": event.details.reasoning,
            "warnings": event.details.warnings, "verdict": audit.verdict})
    });
    let answer = audit.answer.as_ref().map(
        |Link { seq, hash, event }| json!({"seq": seq, "hash": hash, "text": answer_of(event).0}),
    );
    json!({
        "run": audit.run,
        "call": audit.call,
        "sample": audit.sample,
        "decision": decision,
        "answer": answer,
        "failed_attempts": audit.attempts.iter().map(|a| place(a.seq, a.hash)).collect::<Vec<_>>(),
        "question": place(audit.question.seq, audit.question.hash),
        "prompt_hash": audit.request.hash(),
        "request": audit.request.body(),
        "folded": audit.folded.iter().map(folded_object).collect::<Vec<_>>(),
        "facts": audit.facts.iter().map(|f| place(f.seq, f.hash)).collect::<Vec<_>>(),
    })
}

fn text(audit: &Audit) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(out, "run {}  call {}  sample {}", audit.run, audit.call, audit.sample);
    match &audit.decision {
        Some(Link { seq, hash, event }) => {
            let _ = writeln!(out, "\ndecision  seq {seq}  hash {hash}");
            let _ = writeln!(out, "  value    {}", event.details.value);
            let _ = writeln!(out, "  method   {}", event.by.method);
            if let Some(verdict) = audit.verdict {
                let _ = writeln!(out, "  verdict  {verdict}");
            }
            let _ = writeln!(out, "  parser   {}", event.by.parser);
            for warning in &event.details.warnings {
                let _ = writeln!(out, "  warning  {warning}");
            }
            if let Some(reasoning) = &event.details.reasoning {
                let _ = writeln!(out, "  reasoning\n{}", indented(reasoning));
            }
        }
        None => out.push_str("\nno decision was made on this call\n"),
    }
    match &audit.answer {
        Some(Link { seq, hash, event }) => {
            let (text, details) = answer_of(event);
            let _ = writeln!(out, "\nanswer  seq {seq}  hash {hash}  {details}");
            let _ = writeln!(out, "{}", indented(text));
        }
        None => out.push_str("\nno answer was received\n"),
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
        }
    }
    let _ = writeln!(out, "\nquestion  seq {}  hash {}", audit.question.seq, audit.question.hash);
    let _ = writeln!(out, "prompt {}", audit.request.hash());
    let body = audit.request.body().as_object();
    for (key, value) in body.into_iter().flatten().filter(|(key, _)| *key != "messages") {
        let _ = writeln!(out, "  {key}: {value}");
    }
    for (role, text) in audit.request.messages() {
        let _ = writeln!(out, "  {role}:\n{}", indented(&text));
    }
    folded_text(audit, &mut out);
    for Link { seq, hash, event } in &audit.facts {
        let _ = writeln!(out, "\nfact that follows  seq {seq}  hash {hash}");
        let _ = writeln!(out, "{}", indented(&event.fact.to_string()));
    }
    out
}

/// What stands in the prompt, then in the prompts behind it.
fn folded_text(audit: &Audit, out: &mut String) {
    let mut heading = String::new();
    for Folded { place, origin, also } in &audit.folded {
        let shown = match place {
            Place::Prompt { call, sample, message, role, text } => {
                let prompt = format!("\nfolded into the prompt of {call}#{sample}\n");
                if heading != prompt {
                    out.push_str(&prompt);
                    heading = prompt;
                }
                format!("  message {message} {role}: \"{}\"", inert(text, SHOWN))
            }
            Place::CauseOf(fact) => format!("    a cause of the fact at seq {fact}"),
        };
        let _ = match origin {
            Origin::Answer { call, sample, answer, content, decision } => {
                let decision =
                    decision.as_ref().map(|d| format!("decision seq {}  hash {}", d.seq, d.hash));
                writeln!(
                    out,
                    "{shown}\n    {call}#{sample}  {}\n    answer seq {}  hash {}  content {content}",
                    decision.unwrap_or_else(|| "no decision".to_owned()),
                    answer.seq,
                    answer.hash
                )
            }
            Origin::Fact(Link { seq, hash, event }) => {
                let fact = inert(&event.to_string(), SHOWN);
                writeln!(out, "{shown}\n    fact seq {seq}  hash {hash}\n    {fact}")
            }
        };
        if *also > 0 {
            let _ = writeln!(out, "    and {also} more with the same text");
        }
    }
}

fn folded_object(folded: &Folded) -> Value {
    let Folded { place, origin, also } = folded;
    let place = match place {
        Place::Prompt { call, sample, message, role, text } => {
            json!({"call": call, "sample": sample, "message": message, "role": role, "text": text})
        }
        Place::CauseOf(fact) => json!({"cause_of": fact}),
    };
    let link = |seq, hash| json!({"seq": seq, "hash": hash});
    let origin = match origin {
        Origin::Answer { call, sample, answer, content, decision } => json!({
            "call": call,
            "sample": sample,
            "answer": link(answer.seq, answer.hash),
            "content": content,
            "decision": decision.as_ref().map(|d| link(d.seq, d.hash)),
        }),
        Origin::Fact(Link { seq, hash, event }) => {
            json!({"fact": {"seq": seq, "hash": hash, "body": event}})
        }
    };
    json!({"into": place, "origin": origin, "also": also})
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("    {line}")).collect::<Vec<_>>().join("\n")
}
