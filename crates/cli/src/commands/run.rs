//! `retold run`.

use std::path::PathBuf;

use crate::error::{CliError, Status};
use crate::global::Global;
use crate::model::ModelArgs;
use crate::output::Output;
use crate::runs::abandon::abandon;
use crate::runs::cancel::cancel;
use crate::runs::config::NamedConfig;
use crate::runs::folder::FolderArgs;
use crate::runs::merge::merge;
use crate::runs::record::{StudyRecording, recording_to_begin};
use crate::runs::resume::{same_study, this_run};
use crate::runs::several::{SeveralRuns, run_all};
use crate::runs::so_far::look_at;
use crate::select::{self, names_a_file};
use retold_study::shard::Shard;

/// Record runs of studies, or continue interrupted ones.
///
/// The model is simulated unless the config or a flag says otherwise.
///
/// If the config names its outputs (deliberation: pilot_id), the run writes the folder outputs/NAME
/// when it has finished. If the folder exists, nothing is recorded: --new-folder writes the next
/// free one (outputs/NAME-2, and so on). If the folder cannot be written, nothing is lost:
/// `retold export RUN --as outputs` makes it from the log at any time. outputs/NAME.log reports the
/// phases of the run, with answers, failures and cost so far, and stays.
///
/// No second run is started while another process executes a run with the same name, or while the
/// log has an unfinished one: --resume continues that. Runs of a config without a name are
/// recognised by their settings. (In a log in a bucket or a shared folder, only runs that have begun are known.)
///
/// Several configs (`retold run exp_*.yaml`) are checked before the first call of any and run at the same time: flags apply to
/// all, limits such as --max-cost and the pace of a server count over all, and one summary shows all. A run that fails does not
/// stop the others, and the exit code is that of the worst. With --resume, those that are not finished continue, and those that
/// have no run yet are started.
///
/// With --resume, the experiment runs again from the start: whatever is in the log is answered from
/// the log, and only the rest is asked. Nothing is asked twice except calls that were in flight.
///
/// With --shard and --until, several machines record one study: docs/guide/machines.md describes it. --merge then makes one run
/// of the shards, as if one machine had run it: the whole study is run again, each answer is taken from the shard that has it,
/// and nothing is asked. If no shard has an answer, the merge stops and says which shard to continue; afterwards, the same command
/// continues. All shards are in one log: `retold copy` brings those of other machines there. If a study needs the answers of
/// all participants for what comes next, the merged run stops after the last phase that the shards have, and --resume continues
/// it.
///
/// `retold record --resume RUN -- CMD` continues the run of a program, and `retold import` that of
/// an original run.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The config file (YAML); several to run at the same time. With --resume, runs (first digits of their ids, their
    /// names, or `latest`) can be named instead; if left out, it is the last unfinished run in the log. With --abandon, a run,
    /// and with --merge, all shards of a study.
    #[arg(value_name = "CONFIG|RUN", required_unless_present_any = ["resume", "config_file"])]
    configs: Vec<PathBuf>,
    /// The config file, as the program of the deliberation's document names it.
    #[arg(long = "config", value_name = "CONFIG", conflicts_with = "configs", hide = true)]
    config_file: Option<PathBuf>,
    /// The experiment, if the config does not name it.
    #[arg(long, value_name = "NAME")]
    experiment: Option<String>,
    /// Change a setting of the config, such as samples=10 or request.model=gpt-4o. Can be repeated. With --resume, only
    /// settings that say how to ask may change, such as limits.timeout_seconds=1200 or retry.max_retries=9.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    settings: Vec<String>,
    /// Do not let the log file grow beyond this many bytes.
    #[arg(long, value_name = "BYTES")]
    log_limit: Option<u64>,
    /// Continue a run instead of starting one: the unfinished one of the config, or the named one.
    #[arg(long, conflicts_with = "log_limit")]
    resume: bool,
    /// Start a run even if the log has an unfinished one with the same name, or with the same
    /// settings if the config names no outputs.
    #[arg(long, conflicts_with = "resume")]
    new: bool,
    /// Record only one shard of the study, as a run of its own: 3/16 is the third of 16, which as many machines may record at
    /// the same time. --merge makes one run of them.
    #[arg(long, value_name = "SHARD")]
    shard: Option<Shard>,
    /// Make one run of the shards that are named.
    #[arg(long, conflicts_with_all = ["config_file", "experiment", "settings", "log_limit", "resume", "new", "shard", "until", "ModelArgs"])]
    merge: bool,
    /// End the unfinished run that is named for good: it can never be resumed. Its record is kept, and can be shown, replayed,
    /// exported and forked like any other. This is an event of the run, and cannot be undone.
    #[arg(long, conflicts_with_all = ["config_file", "experiment", "settings", "log_limit", "resume", "new", "shard", "until", "merge", "FolderArgs", "ModelArgs"])]
    abandon: bool,
    /// Ask the servers of the batches that the run waits for to begin nothing more of them. What was answered by then is kept, and paid
    /// for: --resume collects it.
    #[arg(long, conflicts_with_all = ["config_file", "experiment", "settings", "log_limit", "resume", "new", "shard", "until", "merge", "abandon", "FolderArgs"])]
    cancel: bool,
    /// Stop after a phase, such as phase_3 of a deliberation or round_2 of a game. --resume continues the run.
    #[arg(long, value_name = "PHASE")]
    until: Option<String>,
    /// Show what has come out so far after each phase. Of a run that is named and that nobody executes, show it now. Each look is
    /// recorded as an event of the run: a figure that was looked at before the end is read differently.
    #[arg(long, conflicts_with_all = ["merge", "abandon"])]
    so_far: bool,
    /// Record by a plan that `retold plan CONFIG --register` has written to the log: its run, as all runs are named. The run
    /// names it, and `retold stats --figure` says what is not as planned.
    #[arg(long, value_name = "PLAN", conflicts_with_all = ["resume", "merge", "abandon"])]
    plan: Option<String>,
    #[command(flatten)]
    folder: FolderArgs,
    // Last, because clap puts everything that follows under its heading.
    #[command(flatten)]
    model: ModelArgs,
}

pub(crate) fn run(args: Args, global: &Global, output: &Output) -> Result<Status, CliError> {
    let Args {
        configs,
        config_file,
        experiment,
        settings,
        model,
        log_limit,
        resume,
        new,
        shard,
        merge: merges,
        abandon: abandons,
        cancel: cancels,
        until,
        so_far,
        plan,
        folder,
    } = args;
    let mut named: Vec<PathBuf> = configs.into_iter().chain(config_file).collect();
    if merges {
        return merge(&named_runs(&named), folder, global)?.go(global, output);
    }
    if abandons {
        return match named_runs(&named).as_slice() {
            [run] => abandon(run, global, output),
            _ => Err(CliError::usage("--abandon ends one run: name it")),
        };
    }
    if cancels {
        return match named_runs(&named).as_slice() {
            [run] => {
                let log = select::open(global)?;
                cancel(this_run(log, Some(run), settings, model, folder, global)?, output)
            }
            _ => Err(CliError::usage("--cancel is for the batches of one run: name it")),
        };
    }
    if so_far && global.quiet {
        return Err(CliError::usage("--so-far shows what came out so far, and --quiet hides it"));
    }
    let is_run = |named: &PathBuf| !names_a_file(global, &named.to_string_lossy());
    if resume
        && (named.is_empty() || named.iter().any(is_run))
        && (experiment.is_some() || shard.is_some())
    {
        return Err(CliError::usage(
            "--experiment and --shard are for a config, and a run continues as what it is",
        ));
    }
    if so_far && !resume && named.iter().all(is_run) {
        return match named_runs(&named).as_slice() {
            [run] => look_at(run, global, output),
            _ => Err(CliError::usage("--so-far shows one run: name it")),
        };
    }
    if named.len() > 1 {
        if plan.is_some() {
            return Err(CliError::usage("--plan is for one config, because a plan is of one")
                .hint("run each config by itself, with its own plan"));
        }
        let several = SeveralRuns {
            named,
            experiment,
            settings,
            shard,
            model,
            log_limit,
            resume,
            new,
            until,
            so_far,
            folder,
        };
        return run_all(several, global, output);
    }
    let config = match named.pop() {
        Some(config) if !resume || !is_run(&config) => config,
        run => {
            let run = run.map(|run| run.to_string_lossy().into_owned());
            let log = select::open(global)?;
            let pending = this_run(log, run.as_deref(), settings, model, folder, global)?;
            return pending.until(until, global)?.so_far(so_far).go(global, output);
        }
    };
    let config = NamedConfig { path: config, experiment, settings, shard, model: model.clone() };
    let study = config.study(global.studies)?;
    if resume {
        let pending = same_study(&config, &study, model, folder, global)?;
        return pending.until(until, global)?.so_far(so_far).go(global, output);
    }
    let config = Some(config);
    let recording = StudyRecording {
        config,
        log_limit,
        new,
        folder,
        until,
        plan,
        ..StudyRecording::new(study, model)
    };
    recording_to_begin(recording, global)?.so_far(so_far).go(global, output)
}

fn named_runs(named: &[PathBuf]) -> Vec<String> {
    named.iter().map(|name| name.to_string_lossy().into_owned()).collect()
}
