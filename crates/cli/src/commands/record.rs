//! `retold record`.

use std::ffi::OsString;

use crate::error::{CliError, Status};
use crate::global::Global;
use crate::runs::program::{self, Destinations, InterceptArgs, Recording, RulesArgs};

/// Run any program with its requests to models recorded.
///
/// The command after -- runs as it would without retold, in its own terminal and with its own exit
/// code. Its requests go through a server on this machine, because the variables in which SDKs look
/// for their base URL name it: OPENAI_BASE_URL, OPENAI_API_BASE, ANTHROPIC_BASE_URL,
/// GOOGLE_GEMINI_BASE_URL, OLLAMA_HOST, TOGETHER_BASE_URL, and if they are set, AZURE_OPENAI_ENDPOINT,
/// GROQ_BASE_URL, CEREBRAS_BASE_URL, GOOGLE_VERTEX_BASE_URL and ANTHROPIC_VERTEX_BASE_URL. What these
/// variables were is where the requests go on to; otherwise they go to the provider. Each answer is in
/// the log before the program has seen its end. Keys are forwarded, and never recorded.
///
/// `retold replay RUN -- CMD` runs the program again from the recorded answers: retold asks nothing
/// then, and needs no key. Requests that go past retold are neither recorded nor replayed: --watch
/// counts them. If the program ended with an error, `retold resume RUN -- CMD` continues the run.
///
/// A program can name the call that a request belongs to in the header X-Retold-Call, which is not
/// forwarded. Otherwise, equal requests get their recorded answers in the order in which they were
/// made.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A name for the run, by which `replay`, `resume` and `fork` find the last one of that name.
    #[arg(long)]
    name: Option<String>,
    /// Where the requests of an upstream go: openai, anthropic, gemini, azure, ollama, or any other
    /// name, whose base URL the command then finds in NAME_BASE_URL. Can be repeated.
    #[arg(long = "upstream", value_name = "NAME=URL")]
    upstreams: Vec<String>,
    #[command(flatten)]
    rules: RulesArgs,
    #[command(flatten)]
    intercept: InterceptArgs,
    /// The largest size of the log file in bytes; the program then gets errors.
    #[arg(long, value_name = "BYTES")]
    log_limit: Option<u64>,
    /// The command to run.
    #[arg(last = true, required = true, value_name = "CMD")]
    command: Vec<OsString>,
}

pub(crate) fn run(args: Args, global: &Global) -> Result<Status, CliError> {
    let Args { name, upstreams, rules, intercept, log_limit, command } = args;
    let destinations = Destinations { upstreams, intercept };
    let recording = Recording { name, destinations, rules, log_limit, command };
    program::record(recording, global)
}
