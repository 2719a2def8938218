//! `retold plan`.

mod against;
mod alone;
mod command;
mod planned;
mod register;
mod stored_plan;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::ArgGroup;

use crate::error::{CliError, Status};
use crate::gate;
use crate::global::Global;
use crate::limits::prices;
use crate::output::Output;
use crate::runs::run_figures::FiguresArgs;
use crate::select::{self, RunSelection};
use retold::audit::Target;
use retold::run::new_run_name;

/// Show what a run would ask and cost before it is paid for.
///
/// That is: its calls, their tokens and cost, and how wide the intervals of its figures will be.
///
/// A config alone is executed with simulated answers, which cost nothing; if its settings make it wait between requests, the plan
/// says how long it takes at least. With `-- CMD`, the plan is what
/// the last recorded run of that command asked. With --against, the experiment is executed offline
/// against a recorded run: a config shows what a run of it has in common with the record, and without a config, the
/// plan is what `retold fork` with the same options would ask.
///
/// Against a recorded run, a call is known to be new if its prompt differs from the recorded one, if it
/// was never recorded, or if it comes after --at. Its new answer is not known, so the experiment
/// continues with the recorded answer, or with one to another call of its kind. Calls whose prompts are
/// made from such answers are foretold, not known: a dialogue may take more or fewer turns. Tokens are
/// estimated from recorded answers; a model without a price costs "unknown". If the recorded run and
/// the planned one are simulated, the simulated model is asked: then every call is known, and
/// the tokens are those that the run will use.
///
/// With --register, what is expected is written to the log before the first call: hypotheses, each a figure with its
/// baseline and direction, and with them the complete settings of the study. This is a run of its own, which `retold verify
/// seal` signs. `retold run CONFIG --plan PLAN` records by it, and of a program, `retold record --plan PLAN -- CMD`; `retold stats --figure`, the report and the page then say below
/// each figure whether it is by the plan, and what deviates.
#[derive(Debug, clap::Args)]
#[command(group = ArgGroup::new("planned").args(["config", "name"]))]
pub(crate) struct Args {
    /// The config of the planned run. With --against alone, the plan is for a fork of the recorded run.
    #[arg(required_unless_present_any = ["against", "command", "name"])]
    config: Option<PathBuf>,
    /// The recorded run (first digits of its id, its name, or `latest`) or a recording's file.
    #[arg(long, value_name = "RUN", conflicts_with_all = ["command", "figure", "figures"])]
    against: Option<String>,
    /// Where answers will come from, as for `run`; or the model whose price counts for all answers in
    /// text, such as gpt-4o-mini, in place of the models that requests name.
    #[arg(long, value_name = "KIND|MODEL", conflicts_with = "against")]
    model: Option<String>,
    #[command(flatten)]
    figures: FiguresArgs,
    /// For a fork: share only the answers before this place, as for `fork`.
    #[arg(long, value_name = "PLACE", conflicts_with = "config", requires = "against")]
    at: Option<Target>,
    /// Change a value of the config, or a recorded setting of the fork. Can be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE", conflicts_with = "command")]
    settings: Vec<String>,
    /// For a fork: take templates from this folder, as for `fork`.
    #[arg(long, value_name = "DIR", conflicts_with = "config", requires = "against")]
    prompts: Option<PathBuf>,
    /// For a fork: ask failed calls again, as for `fork`.
    #[arg(long, conflicts_with = "config", requires = "against")]
    retry_failed: bool,
    /// The config is your own or you have read it: it may name files outside of its folder, and send keys to
    /// other servers than those that they are for. A pair of a variable and a server is remembered.
    #[arg(long, requires = "config")]
    trust: bool,
    /// Write the plan to the log, before anything is asked. --model is then the model that will answer.
    #[arg(long, conflicts_with_all = ["against", "command", "figure", "figures"])]
    #[arg(requires = "planned")]
    register: bool,
    /// With --register, in place of a config: the name of the runs of a program, which `retold record --plan` then records.
    /// The hypotheses may say how many `calls` it makes and which `models` answer.
    #[arg(long, value_name = "NAME", requires = "register", value_parser = new_run_name, conflicts_with = "config")]
    name: Option<String>,
    /// What is expected, in a YAML file: `hypotheses`, each with `figure`, `baseline` and `direction` (`greater`, `less` or
    /// `different`); also `clustered_by`, `stopping`, `exclusions`, and what else is admitted: `parsers`, `judges` (their configs)
    /// and `models`. If left out, it is the file beside the config, CONFIG.hypotheses.yaml.
    #[arg(long, value_name = "FILE", requires = "register")]
    hypotheses: Option<PathBuf>,
    /// The prices: a file like config/prices.yaml, used instead of the built-in prices.
    #[arg(long, value_name = "FILE")]
    prices: Option<PathBuf>,
    /// A command that was recorded with `retold record -- CMD`: the plan is its last run.
    #[arg(last = true, value_name = "CMD", conflicts_with = "config")]
    command: Vec<OsString>,
}

pub(crate) fn run(args: Args, global: &Global, output: &Output) -> Result<Status, CliError> {
    let prices = prices(args.prices.as_deref())?;
    if let Some(run) = &args.against {
        let selected = select::to_read(global, run)?;
        let show =
            |[selected]: [RunSelection; 1]| against::show(selected, &args, &prices, global, output);
        return gate::show_runs([selected], output, show);
    }
    match (&args.config, &args.name) {
        (Some(config), _) if args.register => {
            register::register(config, &args, &prices, global, output)
        }
        (Some(config), _) => alone::show(config, &args, &prices, global, output),
        (None, Some(name)) => register::register_program(name, &args, global, output),
        (None, None) => {
            let selected = command::last_run(&args.command, global)?;
            let show = |[selected]: [RunSelection; 1]| {
                command::show(&selected, &args, &prices, global, output)
            };
            gate::show_runs([selected], output, show)
        }
    }
}
