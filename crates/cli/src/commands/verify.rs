//! `retold verify`.

use serde_json::json;

use crate::error::{CliError, Status, write_err};
use crate::global::Global;
use crate::output::{Output, counted};
use crate::select;
use retold::id::{EventHash, LedgerHash};
use retold::log::ledger::{Checkpoint, Ledger};
use retold::log::{
    LogError, Problem, SqliteBackend, Verification, damaged_slots, verify_all, verify_run,
};

/// Recompute the hash chains and the ledger: name the first event of each run that is not as it was written,
/// and every run that was deleted, cut off or added without retold.
///
/// Exit code 1 if anything is wrong. Whoever can write the file can also write a ledger that fits what they
/// left of it. That shows only against a hash that is kept elsewhere: give one that `retold head` printed as
/// --checkpoint, or the head that a run had as --head.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A run (first digits of its id, or `latest`), or a recording's file; the whole log if not given.
    run: Option<String>,
    /// The head the run must have.
    #[arg(long, value_name = "HASH", requires = "run")]
    head: Option<EventHash>,
    /// A hash that `retold head` printed earlier: the ledger must still contain it.
    #[arg(long, value_name = "HASH", conflicts_with = "run")]
    checkpoint: Option<LedgerHash>,
    /// Let the log go on without the events that it has lost: a damaged WAL is kept as LOG-wal.lost-N, and
    /// high-water marks that are not reached are forgotten.
    #[arg(long, conflicts_with = "run")]
    accept_loss: bool,
}

pub(crate) fn run(args: Args, global: &Global, output: &Output) -> Result<Status, CliError> {
    let accepted = match args.accept_loss {
        true => SqliteBackend::accept_loss(&global.log, global.sqlite())?,
        false => Vec::new(),
    };
    let (runs, mut problems) = match verified(&args, global) {
        // What cannot be read for damage is the result.
        Err(e) if e.status == Status::Difference => return unreadable(&e.message, output),
        other => other?,
    };
    let mut checkpoint = None;
    if let Some(hash) = args.checkpoint {
        checkpoint = find(hash, global)?;
        if checkpoint.is_none() {
            let what = format!(
                "the ledger does not contain the checkpoint {hash}: entries up to it were removed or \
                 replaced, or it is of another log"
            );
            problems.push(Problem { run: None, seq: None, what });
        }
    }
    let found: Vec<&Problem> =
        runs.iter().filter_map(|v| v.problem.as_ref()).chain(&problems).collect();
    let ok = found.is_empty();
    if output.is_json() {
        // One run is told at the top; of several, the whole.
        let only = match runs.as_slice() {
            [only] => Some(only),
            _ => None,
        };
        output.object(&json!({
            "run": only.map(|v| v.run),
            "ok": ok,
            "accepted": accepted.iter().map(object).collect::<Vec<_>>(),
            "events": runs.iter().map(|v| v.events).sum::<u64>(),
            "head": only.map(|v| v.head.hash),
            "problem": found.first().map(|p| p.to_string()),
            "problems": found.iter().map(|p| object(p)).collect::<Vec<_>>(),
            "checkpoint": checkpoint.map(|c| json!({"entry": c.number, "runs_since": c.runs_since})),
            "runs": runs.iter().map(|v| json!({"run": v.run, "ok": v.problem.is_none(),
                "events": v.events, "head": v.head.hash})).collect::<Vec<_>>(),
        }))?;
    } else {
        let mut text = String::new();
        for problem in &accepted {
            text.push_str(&format!("accepted: {problem}\n"));
        }
        for Verification { run, events, head, problem } in &runs {
            text.push_str(&match problem {
                None => {
                    format!("run {run}: ok, {}, head {}\n", counted(*events, "event"), head.hash)
                }
                Some(problem) => format!("{problem}\n"),
            });
        }
        for problem in &problems {
            text.push_str(&format!("{problem}\n"));
        }
        if let Some(Checkpoint { number, runs_since }) = checkpoint {
            let runs = counted(runs_since, "run");
            text.push_str(&format!(
                "checkpoint found: entry {number} of the ledger, {runs} since\n"
            ));
        }
        let total = match ok {
            true => format!("{} verified\n", counted(runs.len() as u64, "run")),
            false => format!("NOT OK: {}\n", counted(found.len() as u64, "problem")),
        };
        output.text(&format!("{text}{total}"))?;
    }
    Ok(if ok { Status::Fine } else { Status::Difference })
}

/// Looks for a hash that was noted down earlier.
fn find(checkpoint: LedgerHash, global: &Global) -> Result<Option<Checkpoint>, CliError> {
    let log = select::open_silently(global)?;
    let found = match Ledger::read(log.reader()?.as_mut()) {
        Ok(ledger) => ledger.unwrap_or_default().checkpoint(checkpoint),
        // Why it cannot be read is among the problems.
        Err(LogError::Damaged { .. }) => None,
        Err(e) => return Err(e.into()),
    };
    Ok(found)
}

/// Says that the high-water marks are damaged: verification goes on without them.
fn warn_of_damaged_marks(global: &Global) {
    let damaged = damaged_slots(&global.log) as u64;
    if damaged > 0 {
        let (marks, log) = (counted(damaged, "high-water mark"), global.log.display());
        write_err(&format!(
            "warning: {marks} in {log}-mark cannot be read: if these runs lost their last events, that is \
             not noticed\n"
        ));
    }
}

/// What is verified, and the problems of the file.
fn verified(args: &Args, global: &Global) -> Result<(Vec<Verification>, Vec<Problem>), CliError> {
    let Some(name) = &args.run else {
        let log = select::open_silently(global)?;
        warn_of_damaged_marks(global);
        let (runs, mut problems) = verify_all(log.reader()?.as_mut())?;
        problems.extend(log.backend().lost());
        return Ok((runs, problems));
    };
    let selected = match select::looks_like_a_file(name) {
        // Reading a recording verifies it, whatever is wrong with it.
        true => select::run_or_file(global, name).map_err(|e| match e.status {
            Status::Io => e,
            _ => CliError { status: Status::Difference, ..e },
        })?,
        false => select::run_of(select::open_silently(global)?, global, name)?,
    };
    let mut reader = selected.log.reader()?;
    let mut problems = selected.log.backend().lost();
    problems.retain(|problem| problem.run.is_none_or(|run| run == selected.run));
    Ok((vec![verify_run(reader.as_mut(), selected.run, args.head)?], problems))
}

fn object(problem: &Problem) -> serde_json::Value {
    json!({"run": problem.run, "seq": problem.seq, "what": problem.what})
}

/// Says that a recording or a log is not as it was written.
fn unreadable(problem: &str, output: &Output) -> Result<Status, CliError> {
    match output.is_json() {
        true => output.object(&json!({"run": null, "ok": false, "events": 0, "head": null,
            "problem": problem, "problems": [{"run": null, "seq": null, "what": problem}],
            "runs": []}))?,
        false => output.text(&format!("{problem}\nNOT OK: 1 problem\n"))?,
    }
    Ok(Status::Difference)
}
