//! Recomputes hash chains: `retold verify`.

use serde_json::json;

use crate::again::spell_commands;
use crate::error::{CliError, Status};
use crate::global::Global;
use crate::output::{Output, count_of};
use crate::runs::continuation;
use crate::select;
use crate::views::event::finding_as_json;
use retold::id::{EventHash, LedgerHash, RunId};
use retold::log::ledger::{Ledger, LedgerChange, LedgerCheckpoint};
use retold::log::{
    Fault, Finding, LogError, Reader, UncountedEvents, Verification, verify_all, verify_run,
};
use retold::run::run_start;
use retold_archive::{Archive, is_cut_off};

use super::checked_seal::{CheckedSeal, SealArgs};
use super::ssh_seal::Seal;

/// What is verified, and against which hashes.
#[derive(Debug, clap::Args)]
#[command(mut_arg("seal", |seal| seal.requires("run")))]
pub(super) struct RunsArgs {
    /// A run (first digits of its id, its name, or `latest`) or a recording's file; the whole log if left
    /// out.
    run: Option<String>,
    /// The head that the run must have.
    #[arg(long, value_name = "HASH", requires = "run")]
    head: Option<EventHash>,
    #[command(flatten)]
    sealed: SealArgs,
    /// A hash that `retold verify head` printed earlier: the ledger must still contain it.
    #[arg(long, value_name = "HASH", conflicts_with = "run")]
    checkpoint: Option<LedgerHash>,
}

impl RunsArgs {
    /// Whether anything is given.
    pub(super) fn is_given(&self) -> bool {
        let RunsArgs { run, head, sealed, checkpoint } = self;
        let SealArgs { seal, signer, authority } = sealed;
        let has_seal = seal.is_some() || signer.is_some() || authority.is_some();
        run.is_some() || head.is_some() || has_seal || checkpoint.is_some()
    }
}

pub(super) fn run(args: RunsArgs, global: &Global, output: &Output) -> Result<Status, CliError> {
    let seal = args.sealed.read()?;
    let (VerifyResults { runs, uncounted }, mut problems) =
        match verify(&args, seal.as_ref().map(|checked| &checked.seal), global) {
            // If damage prevents reading, that is the result.
            Err(e) if e.status == Status::Difference => return unreadable(&e, output),
            other => other?,
        };
    let mut checkpoint = None;
    if let Some(hash) = args.checkpoint {
        checkpoint = find(hash, global)?;
        if checkpoint.is_none() {
            let why = format!(
                "the ledger does not contain the checkpoint {hash}: entries up to it were removed or \
                 replaced, or it is of another log"
            );
            problems.push(Finding::of_file(Fault::Outside { why }));
        }
    }
    let found: Vec<&Finding> =
        runs.iter().filter_map(|v| v.finding.as_ref()).chain(&problems).collect();
    let ok = found.is_empty();
    if output.is_json() {
        // A single run is reported at the top; for several, there is a total.
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
            "problems": found.iter().map(|found| finding_as_json(found)).collect::<Vec<_>>(),
            "seal": seal.as_ref().map(CheckedSeal::json),
            "uncounted": uncounted.iter().map(|(events, next)| json!({"run": events.run, "first": events.first,
                "last": events.last, "what": events.to_string(), "next": next})).collect::<Vec<_>>(),
            "checkpoint": checkpoint.map(|c| json!({"entry": c.number, "runs_since": c.runs_since})),
            "runs": runs.iter().map(|v| json!({"run": v.run, "ok": v.finding.is_none(),
                "events": v.events, "head": v.head.hash})).collect::<Vec<_>>(),
        }))?;
    } else {
        let mut text = String::new();
        for Verification { run, events, head, finding } in &runs {
            text.push_str(&match finding {
                None => {
                    format!("run {run}: ok, {}, head {}\n", count_of(*events, "event"), head.hash)
                }
                Some(finding) => format!("{finding}\n"),
            });
        }
        for problem in &problems {
            text.push_str(&format!("{problem}\n"));
        }
        for (events, next) in &uncounted {
            text.push_str(&format!("notice: {events}. {next}\n"));
        }
        if let Some(LedgerCheckpoint { number, runs_since }) = checkpoint {
            let runs = count_of(runs_since, "run");
            text.push_str(&format!(
                "checkpoint found: entry {number} of the ledger, {runs} since\n"
            ));
        }
        if let Some(seal) = seal.filter(|_| ok) {
            text.push_str(&seal.text());
        }
        let total = if ok {
            format!("{} verified\n", count_of(runs.len() as u64, "run"))
        } else {
            format!("NOT OK: {}\n", count_of(found.len() as u64, "problem"))
        };
        output.text(&format!("{text}{total}"))?;
    }
    Ok(if ok { Status::Fine } else { Status::Difference })
}

/// Looks for a hash that was saved earlier.
fn find(checkpoint: LedgerHash, global: &Global) -> Result<Option<LedgerCheckpoint>, CliError> {
    let archive = Archive::open(&global.log, global.sqlite())?;
    let found = match Ledger::read(archive.backend().reader()?.as_mut()) {
        Ok(ledger) => ledger.checkpoint(checkpoint),
        // The reason why it cannot be read is among the problems.
        Err(LogError::Damaged { .. }) => None,
        Err(e) => return Err(e.into()),
    };
    Ok(found)
}

/// What was verified.
struct VerifyResults {
    runs: Vec<Verification>,
    /// Events that are stored and do not count, each with what can be done.
    uncounted: Vec<(UncountedEvents, String)>,
}

impl VerifyResults {
    fn new(
        runs: Vec<Verification>,
        of: Option<RunId>,
        reader: &mut dyn Reader,
        global: &Global,
    ) -> Result<Self, CliError> {
        let uncounted = reader.uncounted_events(of)?;
        let with_next = |events: UncountedEvents| {
            let next = next(&events, reader, global);
            (events, next)
        };
        let uncounted = uncounted.into_iter().map(with_next).collect();
        Ok(VerifyResults { runs, uncounted })
    }
}

/// What adds stored events to the ledger: continuing the run does that first.
fn next(events: &UncountedEvents, reader: &mut dyn Reader, global: &Global) -> String {
    if !events.are_all()
        && let Ok(started) = run_start(reader, events.run)
    {
        let command = continuation::of_any(global.studies, &started, events.run);
        return spell_commands(&format!("`retold {command}` writes it to the ledger"));
    }
    match events.changes.contains(&LedgerChange::Imported) {
        true => "Importing or copying the run again writes it to the ledger".to_owned(),
        false => "Nothing else was stored of this run, so that nothing is lost if it is run again"
            .to_owned(),
    }
}

/// What is verified, and the problems of the file.
fn verify(
    args: &RunsArgs,
    seal: Option<&Seal>,
    global: &Global,
) -> Result<(VerifyResults, Vec<Finding>), CliError> {
    let Some(name) = &args.run else {
        let log = select::open_to_verify_silently(global)?;
        let mut reader = log.backend().reader()?;
        let (runs, mut problems) = verify_all(reader.as_mut())?;
        let is_named = |lost: &Finding, all: &[Finding]| {
            all.iter().any(|one| lost.run.is_some() && (one.run, one.seq) == (lost.run, lost.seq))
        };
        let mut lost = others(log.backend().losses(), &runs);
        lost.retain(|lost| !is_named(lost, &problems));
        problems.extend(lost);
        // Of a log that cannot be read, there is nothing to verify, and of one that was cut off not all.
        let is_first = runs.is_empty() || is_cut_off(log.backend().as_ref());
        problems.splice(0..0, log.backend().damage().filter(|_| is_first));
        let found = VerifyResults::new(runs, None, reader.as_mut(), global)?;
        return Ok((found, problems));
    };
    let selected = if select::names_a_file(global, name) {
        // Reading a recording verifies it, whatever is wrong with it.
        select::to_read(global, name).map_err(|e| match e.status {
            Status::Io => e,
            _ => CliError { status: Status::Difference, ..e },
        })?
    } else {
        select::run_of(select::open_to_verify(global)?, name, global)?
    };
    let mut reader = selected.log.backend().reader()?;
    let run = selected.run;
    let verified = verify_run(reader.as_mut(), run, args.head)?;
    let mut problems = others(selected.log.backend().losses(), std::slice::from_ref(&verified));
    // What is wrong with the file or with other runs was said; this run may have all of its events.
    problems.retain(|problem| problem.run == Some(run));
    if verified.finding.is_none()
        && let Some(fault) = retold_archive::ledger_mismatch(selected.log.backend().as_ref(), run)?
    {
        problems.push(Finding::of_run(run, fault));
    }
    if let Some(seal) = seal.filter(|_| verified.finding.is_none())
        && let Some(why) = seal.differs(reader.as_mut(), run)?
    {
        problems.push(Finding::of_run(run, Fault::Outside { why }));
    }
    let found = VerifyResults::new(vec![verified], Some(run), reader.as_mut(), global)?;
    Ok((found, problems))
}

/// What was lost, but for what verification found as well: the end of a run that is missing.
fn others(mut lost: Vec<Finding>, runs: &[Verification]) -> Vec<Finding> {
    let is_found = |lost: &Finding| {
        let mut found = runs.iter().filter_map(|verified| verified.finding.as_ref());
        found.any(|problem| (problem.run, problem.seq) == (lost.run, lost.seq))
    };
    lost.retain(|problem| problem.run.is_none() || !is_found(problem));
    lost
}

/// Reports that a recording or a log is not as it was written.
fn unreadable(error: &CliError, output: &Output) -> Result<Status, CliError> {
    let problem = &error.message;
    let (run, seq) = match error.damage.as_deref() {
        Some(Finding { run, seq, .. }) => (*run, *seq),
        None => (None, None),
    };
    if output.is_json() {
        output.object(&json!({"run": run, "ok": false, "events": 0, "head": null,
            "problem": problem, "problems": [{"run": run, "seq": seq, "what": problem}],
            "runs": []}))?
    } else {
        // A message about a run names the event.
        let at = seq.filter(|_| run.is_none()).map(|seq| format!("seq {seq}: "));
        output.text(&format!("{}{problem}\nNOT OK: 1 problem\n", at.unwrap_or_default()))?
    }
    Ok(Status::Difference)
}
