//! `retold proxy`: a server for programs that are started elsewhere, each in a run of its own.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::json;

use super::args::{Playing, RulesArgs};
use super::environment;
use super::proxy_runs::{ProxyMode, ProxyRuns};
use super::running::{CLOSING, PATIENCE};
use crate::error::{CliError, Status, write_err};
use crate::global::Global;
use crate::output::Output;
use crate::secret::new_secret;
use crate::signal::Signals;
use crate::{redaction, runtime, select};
use retold::log::Log;
use retold_wire::{Bodies, FailureReplay, Front, Pace, Reach, Secret, Server, Token, Upstreams};

/// The variable that holds the token.
const TOKEN: &str = "RETOLD_TOKEN";

/// The token that clients of a proxy have to know.
enum ProxyToken {
    /// None: `--no-token`.
    None,
    /// The token that the user gave them; it is not shown.
    Given(Token),
    /// The token in the URL that is printed.
    Printed(Secret),
}

/// A proxy to be started.
pub(crate) struct Proxying {
    pub(crate) mode: ProxyMode,
    pub(crate) upstreams: Vec<String>,
    pub(crate) listen: SocketAddr,
    pub(crate) token_file: Option<PathBuf>,
    pub(crate) no_token: bool,
    pub(crate) rules: RulesArgs,
    pub(crate) log_limit: Option<u64>,
    pub(crate) playing: Playing,
}

/// Serves until a signal ends it.
pub(crate) fn proxy(
    proxying: Proxying,
    global: &Global,
    output: &Output,
) -> Result<Status, CliError> {
    let Proxying { mode, upstreams, listen, token_file, no_token, .. } = proxying;
    let Proxying { rules, log_limit, playing, .. } = proxying;
    let token = match no_token {
        true => ProxyToken::None,
        false => token(token_file.as_deref())?,
    };
    if no_token && !listen.ip().is_loopback() {
        let message =
            format!("{} can be reached from other machines, and there is no token", listen);
        return Err(CliError::usage(message)
            .hint("without --no-token, the URL that is printed has one; --token-file FILE or RETOLD_TOKEN give your own")
            .hint("or listen on this machine alone: --listen 127.0.0.1:8377"));
    }
    fits(mode, &rules, playing)?;
    rules.check()?;
    let log = match mode {
        ProxyMode::Record | ProxyMode::Resume => {
            if rules.redacts() {
                redaction::can_be_kept(&global.log)?;
            }
            Log::new(global.open_or_create_within(log_limit)?)
        }
        ProxyMode::Replay => select::open(global)?,
    };
    let (rules, shared) = (rules.rules(&global.log)?, rules.shared);
    let (upstreams, names) = match mode {
        ProxyMode::Replay => (None, None),
        ProxyMode::Record | ProxyMode::Resume => {
            let named = environment::only(&upstreams)?;
            Upstreams::new(&named)?;
            let names: Vec<String> = named.keys().cloned().collect();
            (Some(named), Some(names))
        }
    };
    let runs = Arc::new(ProxyRuns {
        log,
        path: global.log.clone(),
        mode,
        upstreams,
        rules,
        shared,
        playing,
        is_json: global.json,
        is_quiet: global.quiet,
        open: Mutex::default(),
        differs: AtomicBool::new(false),
    });
    let tokio = runtime::of_all_cores()?;
    let serving = serve(runs, listen, token_file.as_deref(), names, token, global, output);
    let result = tokio.block_on(serving);
    // Programs may have left connections open, which hold the log: it is closed with them, so that nothing of it stays
    // in a WAL.
    tokio.shutdown_timeout(CLOSING);
    result
}

/// Refuses options that the mode would ignore.
fn fits(mode: ProxyMode, rules: &RulesArgs, playing: Playing) -> Result<(), CliError> {
    let of_recording = !rules.redact.is_empty();
    let of_replay = playing.failures == FailureReplay::LeftOut || playing.pace != Pace::AtOnce;
    match mode {
        ProxyMode::Replay if of_recording => {
            Err(CliError::usage("--redact is part of each run: a replay uses what was recorded"))
        }
        ProxyMode::Record | ProxyMode::Resume if of_replay => {
            Err(CliError::usage("--skip-errors and --pace are for --mode replay"))
        }
        _ => Ok(()),
    }
}

async fn serve(
    runs: Arc<ProxyRuns>,
    listen: SocketAddr,
    token_file: Option<&Path>,
    upstreams: Option<Vec<String>>,
    token: ProxyToken,
    global: &Global<'_>,
    output: &Output,
) -> Result<Status, CliError> {
    let is_open = matches!(token, ProxyToken::None);
    let mut signals = Signals::listen();
    let server = Server::bind_to(listen)
        .await
        .map_err(|e| CliError::new(Status::Io, format!("cannot listen on {listen}: {e}")))?;
    let address = shown_address(server.address());
    let url = match &token {
        ProxyToken::Printed(secret) => secret.base_url(address),
        ProxyToken::Given(_) | ProxyToken::None => format!("http://{address}"),
    };
    if output.is_json() {
        output.object(&json!({"url": url, "upstreams": upstreams}))?;
    } else {
        output.text(&format!("{url}\n"))?;
    }
    if !global.quiet {
        let first = upstreams.iter().flatten().next().map_or("UPSTREAM", String::as_str);
        write_err(&format!(
            "retold: base URLs look like {url}/run/NAME/{first}; Ctrl-C or SIGTERM finishes the runs and ends this\n"
        ));
        if let ProxyToken::None = token {
            write_err(
                "retold: there is no token: every user and program of this machine can ask, add to the runs, and finish them\n",
            );
        }
    }
    let token = match token {
        ProxyToken::None => None,
        ProxyToken::Given(token) => Some(token),
        ProxyToken::Printed(secret) => Some(secret.token()),
    };
    let reach = match token {
        // A machine that others can reach has names that it does not know.
        Some(_) => Reach::with_token(),
        None => Reach::this_machine(),
    };
    let front = Front {
        runs: runs.clone(),
        upstreams,
        reach,
        token,
        bodies: Bodies::default(),
        interception: None,
        origins: None,
    };
    let serving = tokio::spawn(server.serve(Arc::new(front)));
    signals.next().await;
    let patience = tokio::time::sleep(PATIENCE);
    let ended = tokio::select! {
        ended = runs.end_all() => ended,
        () = patience => Err(CliError::new(Status::Io, "answers are under way that do not end: their runs are not finished")),
        // A second signal: the runs can be resumed.
        _ = signals.next() => Err(CliError::new(Status::Interrupted, "ended before the runs were finished")
            .hint(format!("`retold {}` continues them", runs.again(listen, token_file, is_open)))),
    };
    serving.abort();
    ended?;
    Ok(if runs.differs.load(Ordering::Relaxed) { Status::Difference } else { Status::Fine })
}

/// An address as a client on this machine would write it.
fn shown_address(address: SocketAddr) -> SocketAddr {
    match address.ip() {
        ip if ip.is_unspecified() => {
            SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), address.port())
        }
        _ => address,
    }
}

/// The token: from a file or the environment, otherwise a new one.
fn token(file: Option<&Path>) -> Result<ProxyToken, CliError> {
    let (text, from) = match file {
        Some(file) => {
            let text = std::fs::read_to_string(file).map_err(|e| {
                CliError::new(Status::Io, format!("cannot read {}: {e}", file.display()))
            })?;
            (text, file.display().to_string())
        }
        None => match environment::variable(TOKEN) {
            Some(text) => (text, TOKEN.to_owned()),
            None => return Ok(ProxyToken::Printed(new_secret()?)),
        },
    };
    // The token itself is never shown.
    let token = Token::new(text.trim());
    token.map(ProxyToken::Given).map_err(|error| CliError::usage(format!("{from}: {error}")))
}
