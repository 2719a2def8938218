//! `retold verify seal`.

use std::path::PathBuf;

use serde_json::json;

use crate::error::{CliError, Status};
use crate::global::Global;
use crate::output::Output;
use crate::select;
use retold::event::Event;
use retold::id::Seq;
use retold::jsonl::{IfExists, JsonlWriter};
use retold::log::{LogError, verify_run};

use super::ssh_seal::Seal;

/// Sign the head of a run with an SSH key.
///
/// Anyone who can write to a log can replace a whole run by another that verifies. With a seal that
/// was kept elsewhere, `retold verify RUN --seal FILE --signer KEY.pub` notices. The run is verified
/// first. `ssh-keygen` signs; it asks for the passphrase if the key has one.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The run (first digits of its id, its name, or `latest`), or a recording's file.
    #[arg(default_value = "latest")]
    run: String,
    /// The private key, or the public key of one that ssh-agent has.
    #[arg(long, value_name = "FILE")]
    key: PathBuf,
    /// Where to write the seal; RUN.seal if left out.
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace the seal if it exists.
    #[arg(long)]
    force: bool,
}

pub(super) fn run(args: Args, global: &Global, output: &Output) -> Result<Status, CliError> {
    let Args { run, key, output: file, force } = args;
    let selected = select::run_or_file(global, &run)?;
    let run = selected.run;
    let mut reader = selected.log.backend().reader()?;
    let verified = verify_run(reader.as_mut(), run, None)?;
    if let Some(finding) = verified.finding {
        return Err(CliError::new(Status::Difference, finding.to_string())
            .hint("a damaged run is not sealed"));
    }
    let (events, head) = (verified.head.seq, verified.head.hash);
    let last = reader.events(run, Seq(events.0.saturating_sub(1)), 1)?.into_iter().next();
    let root = match last.map(|last| last.event()).transpose().map_err(LogError::from)? {
        Some(Event::RunFinished(finished)) => Some(finished.events_root),
        _ => None,
    };
    let file = file.unwrap_or_else(|| PathBuf::from(format!("{run}.seal")));
    let if_exists = if force { IfExists::Replace } else { IfExists::Refuse };
    let mut writer = JsonlWriter::create(&file, if_exists)?;
    let text = Seal { run, events, head, root }.sign(&key)?;
    for line in text.lines() {
        writer.write_line(line)?;
    }
    writer.finish()?;
    let path = file.display();
    if output.is_json() {
        output.object(&json!({"run": run, "events": events, "head": head, "root": root,
            "file": path.to_string()}))?;
    } else {
        output.text(&format!(
            "sealed run {run}: {events} events, head {head}\nwrote {path}: keep it apart from the log\n"
        ))?;
    }
    Ok(Status::Fine)
}
