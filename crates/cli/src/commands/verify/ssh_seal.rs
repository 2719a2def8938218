//! Seals: the head of a run, signed with an SSH key.
//!
//! A log that was forged as a whole is consistent in itself. A signature over the head, made when
//! the run was new, shows which of two logs is the right one. `ssh-keygen` makes and checks it, as
//! it does for git: it knows agents, security keys and keys with passphrases, and people have keys
//! for it already.

use std::fmt;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use retold::escaping::printable;
use retold::id::{EventHash, EventsRoot, RunId, Seq};
use retold::jsonl::read_whole;
use retold::log::{LogError, Reader};
use retold::scratch_folder::ScratchFolder;

use crate::error::{CliError, Status};

/// The purpose of a signature: one for another purpose is refused.
const NAMESPACE: &str = "retold";

/// The first line of a seal.
const FIRST: &str = "retold seal 1";

const BEGIN: &str = "-----BEGIN SSH SIGNATURE-----";

/// The longest public key, in bytes.
const LONGEST: u64 = 64 << 10;

/// The name that the signer has for `ssh-keygen`.
const SIGNER: &str = "signer";

/// The statement that is signed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Seal {
    pub(super) run: RunId,
    /// How many events it covers.
    pub(super) events: Seq,
    /// The hash of the last of them.
    pub(super) head: EventHash,
    /// The root that this event states, if it ends the run.
    pub(super) root: Option<EventsRoot>,
}

/// The message, a line for each field.
impl fmt::Display for Seal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Seal { run, events, head, root } = self;
        writeln!(f, "{FIRST}\nrun {run}\nevents {events}\nhead {head}")?;
        root.as_ref().map_or(Ok(()), |root| writeln!(f, "root {root}"))
    }
}

impl Seal {
    fn parse(message: &str) -> Option<Self> {
        let mut lines = message.lines();
        let mut field = |name: &str| lines.next()?.strip_prefix(name)?.strip_prefix(' ');
        let seal = Seal {
            run: (field("retold")? == "seal 1").then(|| field("run"))??.parse().ok()?,
            events: Seq(field("events")?.parse().ok()?),
            head: field("head")?.parse().ok()?,
            root: field("root").map(str::parse).transpose().ok()?,
        };
        // Exactly what this program would write.
        (seal.to_string() == message).then_some(seal)
    }

    /// Signs it with a private key, or with the public key of one that an agent has. Returns the
    /// text of the file.
    pub(super) fn sign(&self, key: &Path) -> Result<String, CliError> {
        let message = self.to_string();
        let mut command = keygen("sign");
        let signed = run_keygen(command.arg("-f").arg(key), &message)?;
        if !signed.status.success() {
            let message =
                format!("ssh-keygen did not sign with {}: {}", key.display(), error_line(&signed));
            return Err(CliError::usage(message).hint(
                "--key takes a private SSH key, or the public key of one that ssh-agent has",
            ));
        }
        Ok(message + &String::from_utf8_lossy(&signed.stdout))
    }

    /// Checks the signature of a seal. With the public key of a signer, it has to be theirs. Returns how the key is shown.
    pub(super) fn read_signed(
        text: &str,
        signer: Option<&Path>,
        refused: &dyn Fn(&str) -> CliError,
    ) -> Result<(Self, String), CliError> {
        let begin =
            text.find(BEGIN).ok_or_else(|| refused("it is not a seal: it has no signature"))?;
        let (message, signature) = text.split_at(begin);
        let not_one = || refused("it is not a seal that this program knows");
        let seal = Seal::parse(message).ok_or_else(not_one)?;
        let cannot = |error: std::io::Error| {
            CliError::new(Status::Io, format!("a temporary folder for ssh-keygen: {error}"))
        };
        let folder = ScratchFolder::make().map_err(cannot)?;
        let path = folder.path().join("signature");
        std::fs::write(&path, signature).map_err(cannot)?;
        let mut command = keygen(if signer.is_some() { "verify" } else { "check-novalidate" });
        command.arg("-s").arg(&path);
        if let Some(signer) = signer {
            let key = public_key(signer)?;
            let signers = folder.path().join("signers");
            let line = format!("{SIGNER} namespaces=\"{NAMESPACE}\" {key}\n");
            std::fs::write(&signers, line).map_err(cannot)?;
            command.arg("-f").arg(&signers).args(["-I", SIGNER]);
        }
        let checked = run_keygen(&mut command, message)?;
        if !checked.status.success() {
            let by = if signer.is_some() { ", or another key's" } else { "" };
            return Err(refused(&format!("its signature is wrong{by}: {}", error_line(&checked))));
        }
        let shown = String::from_utf8_lossy(&checked.stdout);
        let key = shown.trim().rsplit_once(" with ").map_or("a key", |(_, key)| key);
        Ok((seal, printable(key, 200)))
    }

    /// Why a run is not the one that was sealed. Its chain has to be verified already.
    pub(super) fn differs(
        &self,
        reader: &mut dyn Reader,
        run: RunId,
    ) -> Result<Option<String>, LogError> {
        if run != self.run {
            return Ok(Some(format!("the seal is of another run, {}", self.run)));
        }
        let before = Seq(self.events.0.saturating_sub(1));
        let found = reader.events(run, before, 1)?.into_iter().next();
        Ok(match found.filter(|event| event.seq == self.events) {
            None => Some(format!("the seal covers {} events, and the run has fewer", self.events)),
            Some(event) if event.hash != self.head => Some(format!(
                "it is not the run that was sealed: seq {} had the hash {}",
                self.events, self.head
            )),
            Some(_) => None,
        })
    }
}

/// The public key in a file, without what else its line has.
fn public_key(file: &Path) -> Result<String, CliError> {
    let text = String::from_utf8_lossy(&read_whole(file, LONGEST)?).into_owned();
    let mut words = text.split_whitespace();
    match (words.next(), words.next()) {
        (Some(kind), Some(key)) if kind.contains("ssh-") || kind.starts_with("ecdsa-") => {
            Ok(format!("{kind} {key}"))
        }
        _ => Err(CliError::usage(format!("{} is not a public SSH key", file.display()))
            .hint("--signer takes the file of a public key, such as ~/.ssh/id_ed25519.pub")),
    }
}

fn keygen(action: &str) -> Command {
    let mut command = Command::new("ssh-keygen");
    command.args(["-Y", action, "-n", NAMESPACE]);
    command
}

/// Runs `ssh-keygen` on a message.
fn run_keygen(command: &mut Command, message: &str) -> Result<Output, CliError> {
    let cannot = |error: std::io::Error| {
        CliError::new(Status::Io, format!("cannot run ssh-keygen: {error}"))
            .hint("it makes and checks seals: install OpenSSH 8.2 or later")
    };
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(cannot)?;
    if let Some(mut input) = child.stdin.take() {
        // If it ended early, its exit code says why.
        let _ = input.write_all(message.as_bytes());
    }
    child.wait_with_output().map_err(cannot)
}

/// The error that `ssh-keygen` printed, on one line.
fn error_line(output: &Output) -> String {
    let (err, out) =
        (String::from_utf8_lossy(&output.stderr), String::from_utf8_lossy(&output.stdout));
    let lines = err.lines().chain(out.lines()).filter(|line| !line.starts_with("Signing data"));
    printable(&lines.collect::<Vec<_>>().join("; "), 400)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_has_one_spelling() {
        let seal = Seal {
            run: RunId([1; 8]),
            events: Seq(12),
            head: EventHash([2; 32]),
            root: Some(EventsRoot([3; 32])),
        };
        let text = seal.to_string();
        assert_eq!(Seal::parse(&text), Some(seal.clone()));
        let without = Seal { root: None, ..seal };
        assert_eq!(Seal::parse(&without.to_string()), Some(without));
        for other in [
            text.replace("seal 1", "seal 2"),
            text.replace("events 12", "events 012"),
            text.replace("run ", "run  "),
            text.clone() + "more\n",
            text.trim_end().to_owned(),
        ] {
            assert_eq!(Seal::parse(&other), None, "{other}");
        }
    }
}
