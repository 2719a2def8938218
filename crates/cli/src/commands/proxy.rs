//! `retold proxy`.

use std::net::SocketAddr;
use std::path::PathBuf;

use crate::error::{CliError, Status};
use crate::global::Global;
use crate::output::Output;
use crate::runs::program::{self, PaceArg, Playing, ProxyMode, Proxying, RulesArgs};

/// Record or replay programs that are started elsewhere, several at once.
///
/// The server runs until Ctrl-C or SIGTERM, which finishes its runs. Its URL is printed on
/// stdout. A program uses it as its base URL: URL/run/NAME/UPSTREAM, where each NAME is a run of
/// its own; a header X-Retold-Run may have the name instead. POST URL/run/NAME/_retold/finish
/// finishes one run while the others go on.
///
/// The URL has a new token (http://ADDRESS/token/TOKEN), without which nobody is answered. With a token of
/// your own, which stays the same when the proxy is started again, the URL is printed without it: clients send it in
/// the header X-Retold-Token, or before the path as above.
///
/// In a replay, the exit code is 1 if a request was not recorded or a reported outcome differs.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Where answers come from.
    #[arg(long, value_enum)]
    mode: ProxyMode,
    /// Where the requests below /NAME go. Nothing else is asked. Can be repeated.
    #[arg(
        long = "upstream",
        value_name = "NAME=URL",
        required_if_eq_any = [("mode", "record"), ("mode", "resume")]
    )]
    upstreams: Vec<String>,
    /// Where to listen; port 0 is any free port.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:0")]
    listen: SocketAddr,
    /// A file with the token that clients must send. Without it, RETOLD_TOKEN may have one; otherwise it is
    /// new each time.
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Answer without a token, on this machine alone: every user and program of it can then ask on your
    /// account, add to the runs and finish them.
    #[arg(long, conflicts_with = "token_file")]
    no_token: bool,
    #[command(flatten)]
    rules: RulesArgs,
    /// The largest size of the log file in bytes; programs then get errors.
    #[arg(long, value_name = "BYTES")]
    log_limit: Option<u64>,
    /// In a replay, leave out failed attempts, so that programs get only answers.
    #[arg(long)]
    skip_errors: bool,
    /// In a replay, how fast streams are sent.
    #[arg(long, value_enum, default_value = "at-once")]
    pace: PaceArg,
}

pub(crate) fn run(args: Args, global: &Global, output: &Output) -> Result<Status, CliError> {
    let Args { mode, upstreams, listen, token_file, no_token, rules, log_limit, .. } = args;
    let Args { skip_errors, pace, .. } = args;
    let playing = Playing::new(skip_errors, pace);
    let proxying =
        Proxying { mode, upstreams, listen, token_file, no_token, rules, log_limit, playing };
    program::proxy(proxying, global, output)
}
