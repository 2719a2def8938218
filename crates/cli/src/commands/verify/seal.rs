//! `retold verify seal`.

use std::path::PathBuf;

use serde_json::json;

use crate::error::{CliError, Status};
use crate::global::Global;
use crate::output::Output;
use crate::select;
use retold::event::Event;
use retold::fetch::PublicUrl;
use retold::id::Seq;
use retold::jsonl::{IfExists, JsonlWriter};
use retold::log::{LogError, verify_run};

use super::ssh_seal::Seal;
use super::time_stamp::TimeStamp;

/// Sign the head of a run with an SSH key.
///
/// Anyone who can write to a log can replace a whole run by another that verifies. With a seal that
/// was kept elsewhere, `retold verify RUN --seal FILE --signer KEY.pub` notices. The run is verified
/// first. `ssh-keygen` signs; it asks for the passphrase if the key has one.
///
/// The signer can still write any time. With --time, somebody else signs that the seal existed, so that a plan is known to be
/// older than its run: `retold verify PLAN --seal FILE --authority CERTIFICATES` checks that without a network.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The run (first digits of its id, its name, or `latest`), or a recording's file.
    #[arg(default_value = "latest")]
    run: String,
    /// The private key, or the public key of one that ssh-agent has.
    #[arg(long, value_name = "FILE")]
    key: PathBuf,
    /// A time-stamp authority (RFC 3161), such as https://freetsa.org/tsr: it signs when the seal existed, and the seal keeps that.
    /// A hash of the seal is sent to it, and nothing else.
    #[arg(long, value_name = "URL", requires = "authority")]
    time: Option<PublicUrl>,
    /// The certificates, in PEM, that vouch for this authority: a file of its own, or that of the system, such as
    /// /etc/ssl/certs/ca-certificates.crt.
    #[arg(long, value_name = "FILE", requires = "time")]
    authority: Option<PathBuf>,
    /// Where to write the seal; RUN.seal if left out.
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace the seal if it exists.
    #[arg(long)]
    force: bool,
}

pub(super) fn run(args: Args, global: &Global, output: &Output) -> Result<Status, CliError> {
    let Args { run, key, time, authority, output: file, force } = args;
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
    let stamped = time.as_ref().zip(authority.as_deref());
    let stamped = stamped.map(|(url, certificates)| TimeStamp::ask(url, certificates, &text));
    let stamped = stamped.transpose()?;
    let stamp = stamped.as_ref().map(|(stamp, _)| stamp.to_string()).unwrap_or_default();
    for line in text.lines().chain(stamp.lines()) {
        writer.write_line(line)?;
    }
    writer.finish()?;
    let path = file.display();
    if output.is_json() {
        output.object(&json!({"run": run, "events": events, "head": head, "root": root,
            "existed_by": stamped.map(|(_, time)| time.to_string()), "file": path.to_string()}))?;
    } else {
        let when =
            stamped.map(|(_, time)| format!("the authority signed that it existed by {time}\n"));
        let when = when.unwrap_or_default();
        output.text(&format!(
            "sealed run {run}: {events} events, head {head}\n{when}wrote {path}: keep it apart from the log\n"
        ))?;
    }
    Ok(Status::Fine)
}
