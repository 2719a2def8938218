//! `retold audit`.

use std::path::PathBuf;

use crate::error::{CliError, NAMES_DAMAGE, Status};
use crate::global::Global;
use crate::output::Output;
use crate::runs::program::next_command;
use crate::select::{self, RunSelection};
use crate::{gate, views};
use retold::audit::Target;
use retold::id::{CallPath, RunId};
use retold::jsonl::{IfExists, JsonlWriter};
use retold::proof::{ProveError, prove, verify};
use retold_archive::RunView;
use retold_wire::PROGRAM;

/// Show how a decision came about, back to the first prompt.
///
/// That is: decision, method, parser, answer, prompt, and what the prompt was made from, each with
/// its place in the log and its hash.
///
/// "Declared" is what the experiment says its prompts were made from: earlier decisions and facts,
/// traced back to the first prompt. It is part of the log's hash chain, and a replay compares it.
/// "The same text" is listed separately: answers and facts whose text (32 bytes or more) is in the
/// prompt word for word, and how rare that text is; a text that is common in the run is left out.
/// Imports declare nothing, and the runs of programs only what their tools gave.
///
/// Decisions that no model made, but the experiment from earlier answers, are computed again and shown with what else was
/// possible and by how much it was missed: in a deliberation, `p_0001/opposing` (the opposing view) and
/// `p_0001/cluster`. --list names them.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The run (first digits of its id, its name, or `latest`), or a recording's file.
    run: String,
    /// The decision: its call (with the parts in any order), CALL#SAMPLE, or its seq.
    #[arg(required_unless_present_any = ["independence", "list"])]
    decision: Option<Target>,
    /// Instead, say what the decisions rest on: how many are draws (where a call was asked again, its last answer
    /// is one), how many answers are not shared, and the effective sample size over what a label (game, pair,
    /// dialogue, group, puzzle, cluster) or the study says to be independent. Decisions that rest on one recorded
    /// answer are listed.
    #[arg(long, conflicts_with_all = ["decision", "proof"])]
    independence: bool,
    /// Instead, list the decisions that the experiment derived from earlier answers without asking a model.
    #[arg(long, conflicts_with_all = ["decision", "proof", "independence"])]
    list: bool,
    /// Also write a proof that the decision, its answer and its prompt are in the run: a file for
    /// people who do not have the log. `retold verify proof` checks it.
    #[arg(long, value_name = "FILE")]
    proof: Option<PathBuf>,
    /// Replace the file of the proof if it exists.
    #[arg(long, requires = "proof")]
    force: bool,
}

pub(crate) fn run(args: Args, global: &Global, output: &Output) -> Result<Status, CliError> {
    let selected = select::to_read(global, &args.run)?;
    gate::show_run(&selected, output, |view| show(view, &args, global, output))
}

fn show(view: &RunView, args: &Args, global: &Global, output: &Output) -> Result<Status, CliError> {
    if args.list {
        views::derived::list(&RunSelection::before_damage(view), global, output)?;
        return Ok(Status::Fine);
    }
    // Without a decision, it was asked for the independence of all.
    let Some(decision) = &args.decision else {
        return views::independence::show(
            &RunSelection::up_to_damage(view),
            global.studies,
            output,
        );
    };
    let selected = RunSelection::before_damage(view);
    let end = view.damage().map(|damage| damage.seq);
    let read = views::audit::read(&selected, decision, global);
    // No answer has such a decision, but the experiment may have derived it.
    if let (Err(error), Target::Call(name, None)) = (&read, decision)
        && error.status == Status::Usage
        && let Some(derived) = views::derived::read(&selected, name.as_str(), global)?
    {
        if args.proof.is_some() {
            return Err(not_of_one_answer(name, selected.run));
        }
        derived.show(output)?;
        return Ok(Status::Fine);
    }
    let mut shown = match read {
        Err(error)
            if error.status == Status::Usage && views::derived::has_any(&selected, global)? =>
        {
            let run = selected.run.short(8);
            return Err(error.hint(format!(
                "`retold audit {run} --list` lists the decisions that the experiment derived from several answers"
            )));
        }
        read => read?.before(end),
    };
    if let Some(file) = &args.proof {
        let if_exists = if args.force { IfExists::Replace } else { IfExists::Refuse };
        // Before the run is read: a file that cannot be written is said at once.
        let mut writer = JsonlWriter::create(file, if_exists)?;
        let selected = RunSelection::up_to_damage(view);
        let text = prove(&mut selected.checked_reader()?, &shown.audit)
            .map_err(|error| not_proved(error, &selected))?;
        writer.write_line(&text)?;
        writer.finish()?;
        shown.proof = Some((file.clone(), verify(&text, None)?));
    }
    shown.show(output)
}

/// Why a derived decision has no proof.
fn not_of_one_answer(name: &CallPath, run: RunId) -> CliError {
    let run = run.short(8);
    CliError::usage(format!(
        "{name} is a derived decision: the experiment computed it from several answers, and a proof is about one answer"
    ))
    .hint(format!("`retold audit {run} {name}` shows what it was computed from"))
    .hint(format!("`retold audit {run} CALL --proof FILE` proves a decision about one of these answers"))
}

fn not_proved(error: ProveError, selected: &RunSelection) -> CliError {
    let reader = selected.log.reader().ok();
    let started = reader.and_then(|mut it| select::run_start(it.as_mut(), selected.run).ok());
    match (&error, started) {
        (ProveError::NotFinished(run), Some(started)) if started.experiment == PROGRAM => {
            let resume = next_command("record --resume", selected.run, &[], &started);
            CliError::usage(error.to_string()).hint(format!(
                "`retold {resume}` completes it, `retold run --abandon {run}` ends it as it is"
            ))
        }
        _ => error.into(),
    }
}

impl From<ProveError> for CliError {
    fn from(error: ProveError) -> Self {
        match error {
            ProveError::Log(error) => error.into(),
            ProveError::NotFinished(run) => CliError::usage(error.to_string()).hint(format!(
                "`retold run --resume {run}` completes it, `retold run --abandon {run}` ends it as it is"
            )),
            ProveError::NoAnswer { .. } => CliError::usage(error.to_string()),
            other => CliError::new(Status::Difference, other.to_string()).hint(NAMES_DAMAGE),
        }
    }
}
