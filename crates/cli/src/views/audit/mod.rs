//! Prints how a decision came about, back to its prompt.

mod answer;
mod decision;
mod hashes;
mod in_force;
mod object;
mod sources;

use std::fmt::Write;
use std::path::{Path, PathBuf};

use serde_json::json;

use self::answer::{answer_text, choices};
use self::decision::{decision_text, other_decision};
use self::hashes::hashes_text;
use self::in_force::decisions_in_force;
use self::object::object;
use self::sources::{declared_text, matches_text, origin_text};
use crate::error::{CliError, Status};
use crate::global::Global;
use crate::output::{Output, group_digits};
use crate::runs::effective;
use crate::select::{self, RunSelection};
use crate::views::origin::origin;
use retold::audit::{Audit, AuditedFact, Link, Target, audit};
use retold::decided::AnswerDecision;
use retold::effective::EffectiveDecisions;
use retold::escaping::printable;
use retold::event::{Event, RunStarted};
use retold::id::{RunId, Seq};
use retold::members::Members;
use retold::proof::ProofStatement;

/// The longest excerpt of a fact or a match that is shown.
const SHOWN: usize = 70;

/// How many of the other causes of a fact are shown to people.
const SHOWN_CAUSES: usize = 20;

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
    /// The decisions about the answer that are in force.
    decisions: Vec<AnswerDecision>,
    /// For a run of accepted decisions: which of them are in force.
    effective: EffectiveDecisions,
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
    let (mut reader, run) = (selected.checked_reader()?, selected.run);
    let started = select::run_start(&mut reader, run)?;
    let parsers = global.studies.parsers();
    let audit = audit(&mut reader, run, decision, parsers)?;
    let effective = effective::of(selected)?;
    let decisions = decisions_in_force(&mut selected.checked_reader()?, &audit, &effective)?;
    Ok(AuditView {
        audit,
        run,
        started,
        checked: reader.checked_events(),
        proof: None,
        decisions,
        effective,
        end: None,
    })
}

impl AuditView {
    /// Prints it.
    pub(crate) fn show(&self, output: &Output) -> Result<Status, CliError> {
        let AuditView { audit, run, started, checked, proof, decisions, effective, end } = self;
        if output.is_json() {
            let mut object = object(audit);
            object.set("simulated", started.is_simulated().into());
            if !started.merged_from.is_empty() {
                object.set("merged_from", json!(started.merged_from));
            }
            object.set("checked_events", (*checked).into());
            let decisions: Vec<_> = decisions.iter().map(in_force::json).collect();
            object.set("in_force", decisions.into());
            if effective.decides_about.is_some() {
                object.set("decisions_in_force", json!(effective));
            }
            if let Some(end) = end {
                object.set("read_before", json!(end));
            }
            if let Some((file, ProofStatement { root, head, events, .. })) = proof {
                let file = file.display().to_string();
                object.set(
                    "proof",
                    json!({"file": file, "root": root, "head": head, "events": events}),
                );
            }
            output.object(&object)?;
        } else {
            let said = if started.is_simulated() { select::SIMULATED } else { "" };
            let origin = origin(started).map_or_else(String::new, |origin| origin + "\n");
            let checked = select::checked_line(*checked, *run);
            let proof = proof.as_ref().map(|(file, proved)| proof_text(file, proved));
            let proof = proof.unwrap_or_default();
            let accepted: String =
                decisions.iter().filter(|it| it.run != *run).map(in_force::text).collect();
            let text = text(audit, !accepted.is_empty(), *end);
            let in_force = match effective.decides_about {
                Some(_) => effective::text(effective),
                None => accepted,
            };
            output.text(&format!("{said}{origin}{in_force}{text}{checked}{proof}"))?;
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

/// A line that says that nothing was found; `end` is the first event that was not read, if a damaged run was not read
/// to its end.
fn nothing(what: &str, end: Option<Seq>) -> String {
    match end {
        None => format!("\nno {what}\n"),
        Some(end) => {
            format!("\nno {what} before event {end}, from which on the run cannot be trusted\n")
        }
    }
}

/// `has_accepted` if decisions about the answer were accepted since.
fn text(audit: &Audit, has_accepted: bool, end: Option<Seq>) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(out, "run {}  call {}  sample {}", audit.run, audit.call, audit.sample);
    match &audit.decision {
        Some(made) => out.push_str(&decision_text(audit, made)),
        None if has_accepted => {
            out.push_str(&nothing("decision was made on this call in its own run", end));
        }
        None => out.push_str(&nothing("decision was made on this call", end)),
    }
    if !audit.others.is_empty() {
        out.push_str("\nother decisions on the same answer (`retold audit RUN SEQ` follows one)\n");
    }
    audit.others.iter().for_each(|other| out.push_str(&other_decision(other)));
    match &audit.answer {
        Some(answer) => out.push_str(&answer_text(answer, choices(audit))),
        None => out.push_str(&nothing("answer was received", end)),
    }
    for Link { seq, event, .. } in &audit.attempts {
        if let Event::AttemptFailed(failed) = event {
            let details = &failed.details;
            let last = if details.gave_up { ", the last" } else { "" };
            let _ = writeln!(
                out,
                "\nfailed attempt {}{last}  seq {seq}\n  {}: {}",
                details.attempt, details.failure, details.error
            );
            let text = details.http.as_ref().and_then(|http| http["text"].as_str());
            if let Some(text) = text {
                let _ = writeln!(out, "  what had come of an answer:\n{}", indent(text));
            }
        }
    }
    if let Some(Link { seq, event: left, .. }) = &audit.left {
        let had = match left.bytes {
            Some(bytes) => format!("with {} bytes", group_digits(bytes)),
            None => "before the beginning".to_owned(),
        };
        let _ = writeln!(
            out,
            "\nthe client left  seq {seq}\n  after {} ms, {had} of the answer",
            group_digits(left.after_ms),
        );
    }
    let _ = writeln!(out, "\nprompt  seq {}", audit.question.seq);
    for (name, value) in &audit.labels {
        let _ = writeln!(out, "  {}: {}", printable(name, 100), printable(value, 200));
    }
    let body = audit.request.body().as_object();
    for (key, value) in body.into_iter().flatten().filter(|(key, _)| *key != "messages") {
        let _ = writeln!(out, "  {key}: {value}");
    }
    for (role, text) in audit.request.messages() {
        let _ = writeln!(out, "  {role}:\n{}", indent(&text));
    }
    declared_text(&audit.declared, &mut out);
    matches_text(audit, &mut out);
    for AuditedFact { fact: Link { seq, event, .. }, also } in &audit.facts {
        let _ = writeln!(out, "\nfact that follows  seq {seq}");
        let _ = writeln!(out, "{}", indent(&event.fact.to_string()));
        let more = also.len().saturating_sub(SHOWN_CAUSES);
        if !also.is_empty() {
            out.push_str("it also rests on\n");
        }
        also.iter().take(SHOWN_CAUSES).for_each(|origin| origin_text(origin, &mut out));
        if more > 0 {
            let _ = writeln!(out, "  and on {more} more, which --json has");
        }
    }
    hashes_text(audit, &mut out);
    out
}

fn indent(text: &str) -> String {
    text.lines().map(|line| format!("    {line}")).collect::<Vec<_>>().join("\n")
}
