//! `retold verify`.

use serde_json::json;

use super::Global;
use super::error::{CliError, Status};
use super::output::{Output, counted};
use super::select;
use crate::id::EventHash;
use crate::log::{Problem, Verification, verify_all, verify_run};

/// Recompute the hash chains, and name the first event of each run that is not as it was written.
///
/// Exit code 1 if anything is wrong. A tail that was cut off leaves a sound chain: give the head you
/// noted down when the run ended to see it.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// A run (first digits of its id, or `latest`), or a recording's file; the whole log if not given.
    run: Option<String>,
    /// The head the run must have.
    #[arg(long, value_name = "HASH", requires = "run")]
    head: Option<EventHash>,
}

pub(super) fn run(args: Args, global: &Global, output: &Output) -> Result<Status, CliError> {
    let (runs, problems) = match verified(&args, global) {
        // What cannot be read for damage is the result.
        Err(e) if e.status == Status::Difference => return unreadable(&e.message, output),
        other => other?,
    };
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
            "events": runs.iter().map(|v| v.events).sum::<u64>(),
            "head": only.map(|v| v.head.hash),
            "problem": found.first().map(|p| p.to_string()),
            "problems": found.iter().map(|p| json!({"run": p.run, "seq": p.seq, "what": p.what})).collect::<Vec<_>>(),
            "runs": runs.iter().map(|v| json!({"run": v.run, "ok": v.problem.is_none(),
                "events": v.events, "head": v.head.hash})).collect::<Vec<_>>(),
        }))?;
    } else {
        let mut text = String::new();
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
        let total = match ok {
            true => format!("{} verified\n", counted(runs.len() as u64, "run")),
            false => format!("NOT OK: {}\n", counted(found.len() as u64, "problem")),
        };
        output.text(&format!("{text}{total}"))?;
    }
    Ok(if ok { Status::Fine } else { Status::Difference })
}

/// What is verified, and the problems of the file.
fn verified(args: &Args, global: &Global) -> Result<(Vec<Verification>, Vec<Problem>), CliError> {
    let Some(name) = &args.run else {
        return Ok(verify_all(select::open(global)?.reader()?.as_mut())?);
    };
    let selected = select::run_or_file(global, name).map_err(|e| {
        // Reading a recording verifies it, whatever is wrong with it.
        let is_damaged = select::looks_like_a_file(name) && e.status != Status::Io;
        if is_damaged { CliError { status: Status::Difference, ..e } } else { e }
    })?;
    let mut reader = selected.log.reader()?;
    Ok((vec![verify_run(reader.as_mut(), selected.run, args.head)?], Vec::new()))
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
