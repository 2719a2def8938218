//! A program that has started retold: told over our standard output where we listen, and heard over our standard
//! input. Each message is one line of JSON.

use std::collections::BTreeMap;
use std::io::{BufRead, Write};
use std::net::SocketAddr;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::oneshot;

use super::child::FIRST_OF_SIGNALS;
use super::environment::EnvironmentChanges;
use crate::error::{CliError, Status};
use crate::signal::{Signals, StopSignal};
use retold::id::RunId;
use retold::model::providers;
use retold_wire::Secret;

/// The exit code of a program that died without a word: as if a SIGKILL had ended it.
const DIED: u8 = FIRST_OF_SIGNALS + 9;

/// The first message to the program.
#[derive(Serialize)]
struct LibraryGreeting<'a> {
    run: RunId,
    /// An earlier run of the same name that is not finished.
    unfinished: Option<RunId>,
    /// Where its transport sends requests, with the token in `X-Retold-Token` and their server in `X-Retold-Origin`.
    url: String,
    token: &'a str,
    /// What its transport sends us: requests below these URLs, to these hosts, in which `*` stands for any text, and
    /// those that are posted to a path that ends with one of these.
    bases: Vec<&'a str>,
    hosts: Vec<&'static str>,
    paths: Vec<&'static str>,
    /// The variables in the environment of its own child processes.
    environment: BTreeMap<String, String>,
    /// The seed of its own draws, as a process has it in a variable, if they are the run's.
    chance: Option<String>,
    /// The variables to remove from that environment.
    unset: Vec<String>,
}

/// The last message from the program.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LibraryFarewell {
    exit_code: u8,
}

/// The program that has started us.
pub(super) struct Parent(oneshot::Receiver<u8>);

impl Parent {
    /// Tells it where we listen, and hears it from now on.
    ///
    /// # Errors
    /// [`CliError`] if it does not listen.
    pub(super) fn greet(
        (run, unfinished): (RunId, Option<RunId>),
        server: SocketAddr,
        secret: &Secret,
        bases: &[(String, String)],
        environment: EnvironmentChanges,
        chance: Option<String>,
    ) -> Result<Self, CliError> {
        let EnvironmentChanges { set, unset } = environment;
        let text =
            |(name, value): (String, std::ffi::OsString)| Some((name, value.into_string().ok()?));
        tell(&LibraryGreeting {
            run,
            unfinished,
            url: format!("http://{server}"),
            token: secret.text(),
            bases: bases.iter().map(|(_, url)| url.as_str()).collect(),
            hosts: providers::hosts().collect(),
            paths: providers::paths().collect(),
            environment: set.into_iter().filter_map(text).collect(),
            chance,
            unset,
        })?;
        let (said, heard) = oneshot::channel();
        // A thread of its own: the runtime would wait for it.
        std::thread::spawn(move || {
            let mut line = String::new();
            let read = std::io::stdin().lock().read_line(&mut line);
            let farewell =
                read.ok().and_then(|_| serde_json::from_str::<LibraryFarewell>(&line).ok());
            // Nobody listens any more if a signal ended us.
            let _ = said.send(farewell.map_or(DIED, |it| it.exit_code));
        });
        Ok(Parent(heard))
    }

    /// Waits for its end, and gives its exit code.
    pub(super) async fn wait(mut self, mut signals: Signals) -> u8 {
        loop {
            tokio::select! {
                code = &mut self.0 => return code.unwrap_or(DIED),
                // Ctrl-C is for the program, which tells us what becomes of it.
                received = signals.next() => if received == StopSignal::Terminate { return DIED },
            }
        }
    }
}

/// Tells the program what happened.
///
/// # Errors
/// [`CliError`] if it does not listen.
pub(super) fn summed_up(summary: &Value) -> Result<(), CliError> {
    tell(summary)
}

fn tell(message: &impl Serialize) -> Result<(), CliError> {
    let lost = |error: std::io::Error| {
        CliError::new(
            Status::Io,
            format!("cannot speak to the program that started retold: {error}"),
        )
    };
    let mut line = serde_json::to_string(message).map_err(|error| lost(error.into()))?;
    line.push('\n');
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(line.as_bytes()).and_then(|()| stdout.flush()).map_err(lost)
}
