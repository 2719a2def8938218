//! `retold record`.

use std::ffi::OsString;

use crate::error::{CliError, Status};
use crate::global::Global;
use crate::limits::BudgetArgs;
use crate::runs::continuation;
use crate::runs::program::{
    self, ChanceArg, Destinations, InterceptArgs, LayerArgs, Layers, MatchingArgs, ProcessArgs,
    ProgramCommand, ProgramRecording, ProgramResumption, RulesArgs, needs_command,
};
use crate::select;
use retold::run::new_run_name;

/// Record any program's requests to models, or continue such a run.
///
/// The command after -- runs as it would without retold, in its own terminal and with its own exit
/// code. Its requests go through a server on this machine, because the variables in which SDKs look
/// for their base URL name it: OPENAI_BASE_URL, OPENAI_API_BASE, ANTHROPIC_BASE_URL,
/// GOOGLE_GEMINI_BASE_URL, OLLAMA_HOST, TOGETHER_BASE_URL, and if they are set, AZURE_OPENAI_ENDPOINT,
/// GROQ_BASE_URL, CEREBRAS_BASE_URL, GOOGLE_VERTEX_BASE_URL and ANTHROPIC_VERTEX_BASE_URL. From there,
/// requests go to the servers that these variables named before, or else to the provider. Each answer is
/// in the log before the program has seen its end. Keys are forwarded, and not recorded, as far as they can be told
/// from other text.
///
/// `retold replay RUN -- CMD` runs the program again from the recorded answers: retold asks nothing
/// then, and needs no key. Requests that go past retold are neither recorded nor replayed: --watch
/// counts them.
///
/// If the program ended with an error, --resume continues the run: its requests are answered from
/// what was recorded, then asked and recorded. A recorded failure is sent again if an answer follows
/// it, or if the server refused the request itself (400, 404, 422); otherwise the request is asked
/// again.
///
/// A program can name the call that a request belongs to in the header X-Retold-Call, which is not
/// forwarded. Otherwise, equal requests get their recorded answers in the order in which they were
/// made.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Continue this run, which was cut off: first digits of its id, its name, or `latest`.
    #[arg(long, value_name = "RUN")]
    #[arg(conflicts_with_all = ["name", "redact", "log_limit"])]
    resume: Option<String>,
    /// With --resume: send no recorded failure again, and ask every request that has no answer.
    #[arg(long, requires = "resume")]
    retry_failed: bool,
    /// A name for the run, by which `replay`, `fork` and --resume find the last one of that name.
    #[arg(long, value_parser = new_run_name)]
    name: Option<String>,
    /// Record by a plan that `retold plan --register --name NAME` has written to the log: its run, as all runs are named. The run
    /// gets the planned name, and `retold stats --figure` says what is not as planned.
    #[arg(long, value_name = "PLAN", conflicts_with = "resume")]
    plan: Option<String>,
    /// Where the requests of an upstream go: openai, anthropic, gemini, azure, ollama, or any other
    /// name, whose base URL the command then finds in NAME_BASE_URL. --resume takes no server from the
    /// run: name those again that are not the provider's own. Can be repeated.
    #[arg(long = "upstream", value_name = "NAME=URL")]
    upstreams: Vec<String>,
    #[command(flatten)]
    rules: RulesArgs,
    #[command(flatten)]
    intercept: InterceptArgs,
    /// Record the seed of the program's own draws, from which a replay, `record --resume` and `fork` draw again: of
    /// Python's `random` and `numpy.random`, and with `uuid` also of `uuid4`. Each task, thread and process has a stream of
    /// its own. A seed in the program wins; `secrets`, `os.urandom` and TLS are left alone.
    #[arg(long, value_enum, value_name = "WHAT", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "draws", conflicts_with = "resume")]
    chance: Option<ChanceArg>,
    /// The largest size of the log file in bytes; the program then gets errors.
    #[arg(long, value_name = "BYTES")]
    log_limit: Option<u64>,
    /// Show calls, failures, cost and rate in a line at the bottom of the terminal while the command runs. For
    /// commands that write nothing to the terminal themselves: the line would be in the middle of their output.
    #[arg(long, conflicts_with = "stdio")]
    progress: bool,
    /// Of CMD, record the name of its program alone. Without this, CMD is recorded without keys, as far as they can be
    /// told from other words.
    #[arg(long, conflicts_with = "resume")]
    hide_command: bool,
    #[command(flatten)]
    process: ProcessArgs,
    #[command(flatten)]
    budget: BudgetArgs,
    #[command(flatten)]
    layers: LayerArgs,
    /// The command to run.
    #[arg(last = true, required_unless_present = "resume", value_name = "CMD")]
    command: Vec<OsString>,
}

pub(crate) fn run(args: Args, global: &Global) -> Result<Status, CliError> {
    let Args {
        resume,
        retry_failed,
        name,
        plan,
        upstreams,
        rules,
        intercept,
        chance,
        log_limit,
        progress,
        hide_command: is_hidden,
        process,
        budget,
        layers,
        command,
    } = args;
    let with_progress = |words| {
        let has_progress = progress && !global.quiet;
        ProgramCommand { has_progress, is_hidden, ..process.program(words) }
    };
    let destinations = Destinations { upstreams, intercept };
    if let Some(run) = resume {
        if command.is_empty() {
            return Err(without_command(&run, global)?);
        }
        let RulesArgs { ignore, replace, shared, redact: _ } = rules;
        let matching = MatchingArgs { shared, ignore, replace };
        let resumption = ProgramResumption {
            name: &run,
            matching: &matching,
            retry_failed,
            destinations: &destinations,
            budget: &budget,
            layers: Layers::from(&layers),
            command: with_progress(command),
        };
        return program::resume(resumption, global);
    }
    let command = with_progress(command);
    let layers = Layers::from(&layers);
    let recording = ProgramRecording {
        name,
        plan,
        destinations,
        rules,
        log_limit,
        chance,
        budget,
        command,
        layers,
    };
    program::record(recording, global)
}

/// Why a run cannot be continued without a command: that of a program needs it, and that of a study
/// is continued otherwise.
fn without_command(name: &str, global: &Global) -> Result<CliError, CliError> {
    let selected = select::run(global, name)?;
    let started = select::run_start(selected.log.reader()?.as_mut(), selected.run)?;
    needs_command(&selected, &started)?;
    let next = continuation::command(global.studies, &started, &selected.run.short(8));
    Ok(CliError::usage(format!("run {} was not recorded from a program", selected.run))
        .hint(format!("`retold {next}` continues it")))
}
