//! `retold verify proof`.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::error::{CliError, Status};
use crate::output::{Output, count_of};
use retold::audit::Link;
use retold::escaping::printable;
use retold::event::Event;
use retold::id::EventsRoot;
use retold::jsonl::read_whole;
use retold::proof::{ProofError, ProofStatement, verify};

use super::checked_seal::{CheckedSeal, SealArgs, SealTime};

/// The largest file that is read, in bytes.
const LARGEST: u64 = 64 << 20;

/// How many characters of an answer are shown.
const SHOWN: usize = 400;

/// Check a proof that `retold audit --proof` wrote, without the log.
///
/// It holds if the answer, the decision about it if the proof has one, the prompt, and every event that the prompt
/// states it was made from are in a run with this root.
///
/// The file may also have the events from which those were made, but whether it has all of them is not checked: their
/// decisions have proofs of their own.
///
/// Anyone can make a run of their own, and a proof from it. So compare the root, or the head of the
/// run, with one that you have from somewhere else: from the run's author, or from a seal. Exit code
/// 1 if the proof does not hold.
#[derive(Debug, clap::Args)]
#[command(mut_arg("seal", |seal| seal.conflicts_with("root")))]
pub(super) struct Args {
    /// The proof.
    file: PathBuf,
    /// The root that it must have.
    #[arg(long, value_name = "HASH")]
    root: Option<EventsRoot>,
    #[command(flatten)]
    sealed: SealArgs,
}

pub(super) fn run(args: Args, output: &Output) -> Result<Status, CliError> {
    let Args { file, mut root, sealed } = args;
    let checked = sealed.read()?;
    let mut by = "that you gave".to_owned();
    if let Some(CheckedSeal { seal, key, has_signer, time }) = &checked {
        root = Some(seal.root.ok_or_else(|| {
            let message = "the run was not finished when it was sealed, so the seal has no root";
            let path = sealed.seal.as_deref().unwrap_or(&file);
            CliError::usage(format!("{}: {message}", path.display()))
        })?);
        by = match has_signer {
            true => format!("that {key} sealed, as you wanted"),
            false => format!("that {key} sealed: compare the key with that of the signer"),
        };
        if let SealTime::Known(time) = time {
            by.push_str(&format!("; the seal existed by {time}"));
        }
    }
    let bytes = read_whole(&file, LARGEST)?;
    let failed = |error: &dyn std::fmt::Display| {
        CliError::new(Status::Difference, format!("{}: {error}", file.display()))
            .hint("this proves nothing: ask for the proof again, or for the log itself")
    };
    let text = std::str::from_utf8(&bytes).map_err(|error| failed(&error))?;
    // Exactly one line, so that two proofs of the same decision are the same bytes.
    let Some(line) = text.strip_suffix('\n') else {
        return Err(failed(&"it does not end with a line end: it was cut off"));
    };
    let proved = verify(line, root).map_err(|error| failed(&error))?;
    match output.is_json() {
        true => output.object(&object(&proved, root))?,
        false => output.text(&statement_text(&proved, root.map(|_| by.as_str())))?,
    }
    Ok(Status::Fine)
}

impl From<ProofError> for CliError {
    fn from(error: ProofError) -> Self {
        CliError::new(Status::Difference, error.to_string())
    }
}

fn answer_of(event: &Event) -> &str {
    match event {
        Event::ResponseReceived(received) => received.content.text(),
        Event::AnswerReused(reused) => reused.content.text(),
        _ => "",
    }
}

fn object(proved: &ProofStatement, root: Option<EventsRoot>) -> Value {
    let ProofStatement { question, answer, decision, .. } = proved;
    let decision = decision.as_ref().map(|Link { seq, hash, event }| {
        json!({"seq": seq, "hash": hash, "value": event.details.value, "method": event.by.method,
            "parser": event.by.parser})
    });
    json!({
        "run": proved.run,
        "experiment": proved.started.experiment,
        "simulated": proved.started.is_simulated(),
        "root": proved.root,
        "root_was_given": root.is_some(),
        "head": proved.head,
        "events": proved.events,
        "call": question.event.call,
        "sample": question.event.sample,
        "question": {"seq": question.seq, "hash": question.hash, "prompt_hash": question.event.prompt},
        "answer": {"seq": answer.seq, "hash": answer.hash, "text": answer_of(&answer.event)},
        "decision": decision,
        "others": proved.others.iter().map(|event| event.seq).collect::<Vec<_>>(),
    })
}

fn statement_text(proved: &ProofStatement, known_by: Option<&str>) -> String {
    let ProofStatement { run, root, head, events, question, answer, decision, others, .. } = proved;
    let simulated = if proved.started.is_simulated() { ", with a SIMULATED model" } else { "" };
    let experiment = printable(&proved.started.experiment, 100);
    let sent = &question.event;
    let mut lines = vec![
        format!("run {run} of {experiment}{simulated}"),
        format!("call {}  sample {}", sent.call, sent.sample),
    ];
    if let Some(Link { seq, event, .. }) = decision {
        let value = printable(&event.details.value.to_string(), SHOWN);
        lines.push(format!(
            "decision  seq {seq}  {value}  method {}",
            printable(&event.by.method, 100)
        ));
    }
    lines.push(format!(
        "answer    seq {}  {}",
        answer.seq,
        printable(answer_of(&answer.event), SHOWN)
    ));
    lines.push(format!("question  seq {}  prompt {}", question.seq, sent.prompt));
    let (others, events) =
        (count_of(others.len() as u64, "other event"), count_of(*events, "event"));
    lines.push(format!("and {others}; the root covers {events}"));
    lines.push(match known_by {
        Some(by) => format!("proved: all of this is in the run with the root {root} {by}"),
        None => format!(
            "consistent with root {root}: compare it, or the head {head}, with what you know of this run \
             from somewhere else"
        ),
    });
    lines.join("\n") + "\n"
}
