//! Says from which event on a run cannot be trusted, and shows what is left of it.

use std::fmt::Write;

use serde_json::json;

use crate::again::typed;
use crate::error::{CliError, Status};
use crate::output::{Output, counted};
use crate::select::Selected;
use crate::views::event::as_json;
use crate::views::known::{AtOnce, Known};
use retold::audit::Target;
use retold::id::{RunId, Seq};
use retold::log::ledger::Ledger;
use retold::log::{Finding, LedgerFault, Log, LogError, Reader, deleted_runs};
use retold_archive::{Damage, ReadableRest, first_untrusted, is_cut_off, readable_rest};

/// Shows something of a run. If it cannot be read to its end, which an index of it wants, the run is
/// read up to the damage: what is asked for may come before it. Then `show` gets the first event that is not
/// read, since what is missing may be there.
pub(crate) fn before<T>(
    selected: &Selected,
    damage: Option<&Damage>,
    mut show: impl FnMut(&Selected, Option<Seq>) -> Result<T, CliError>,
) -> Result<T, CliError> {
    show(selected, None).or_else(|error| {
        let is_damage = matches!(error.status, Status::Difference | Status::Io);
        match damage.and_then(Damage::last_good).filter(|_| is_damage) {
            Some(last) => {
                let log = selected.log.until(selected.run, last);
                // What does not come before the damage is not shown because of it.
                show(&Selected { log, run: selected.run }, Some(last.next())).map_err(|_| error)
            }
            None => Err(error),
        }
    })
}

/// The error to end with after something of a damaged run was shown.
pub(crate) fn error(run: RunId, damage: Damage) -> CliError {
    LogError::corrupt(run, damage.seq, damage.fault).into()
}

/// Ends with the error about a run that was shown nevertheless, if there is one.
pub(crate) fn ended(status: Status, doubt: Option<CliError>) -> Status {
    match doubt {
        None => status,
        Some(error) => {
            error.print();
            Status::Difference
        }
    }
}

/// Does something with runs. If one of them is damaged, this is said first, and the exit code is that
/// of a difference. The work gets the damage of the first that is damaged.
pub(crate) fn with_banner<'a>(
    runs: impl IntoIterator<Item = (&'a Log, RunId)>,
    output: &Output,
    work: impl FnOnce(Option<&Damage>) -> Result<Status, CliError>,
) -> Result<Status, CliError> {
    with_banner_at_once(runs, AtOnce::default(), output, work)
}

/// The same for a command that may be told not to verify a long run first.
pub(crate) fn with_banner_at_once<'a>(
    runs: impl IntoIterator<Item = (&'a Log, RunId)>,
    at_once: AtOnce,
    output: &Output,
    work: impl FnOnce(Option<&Damage>) -> Result<Status, CliError>,
) -> Result<Status, CliError> {
    let (mut damaged, mut found) = (None, None);
    let mut unverified: Vec<(&Log, RunId, Known)> = Vec::new();
    for (log, run) in runs {
        let known = Known::begin(log, run, at_once, output)?;
        if known.verdict.from.is_some() || damaged.is_none() {
            let said = known.say(run, output)?;
            damaged = damaged.or(said);
        }
        found = found.or(known.verdict.from.clone());
        if known.unverified.is_some() {
            unverified.push((log, run, known));
        }
    }
    match (work(found.as_ref()), damaged) {
        (Err(error), None) if matches!(error.status, Status::Difference | Status::Io) => {
            met(&unverified, error, output)
        }
        (Err(mut error), None) => {
            for (log, run, known) in &unverified {
                error = known.not_found(log, *run, error, output)?;
            }
            Err(error)
        }
        (done, None) => done,
        (Ok(_), Some(error)) => {
            error.print();
            Ok(Status::Difference)
        }
        // What is read further on may be damaged too: the first event is the one to name.
        (Err(error), Some(first)) if matches!(error.status, Status::Difference | Status::Io) => {
            Err(first.hints_of(error))
        }
        // What is asked for may be what is missing.
        (Err(error), Some(_)) => Err(CliError { status: Status::Difference, ..error }),
    }
}

/// Ends with an error after the banner, if one of the runs that were read is damaged.
fn met(
    runs: &[(&Log, RunId, Known)],
    error: CliError,
    output: &Output,
) -> Result<Status, CliError> {
    for (log, run, _) in runs {
        if let Some(damage) = first_untrusted(log.backend().as_ref(), *run)? {
            output.damaged(&damage)?;
            return Err(self::error(*run, damage).hints_of(error));
        }
    }
    Err(error)
}

/// What is wrong with the file and the ledger, runs that were deleted, and lost events that are not
/// among what is `known`.
pub(crate) fn beside_the_runs(
    log: &Log,
    reader: &mut dyn Reader,
    runs: &[RunId],
    known: &[Finding],
) -> Result<Vec<Finding>, CliError> {
    let mut found = deleted_runs(log.backend().as_ref())?;
    let ledger = match Ledger::read(reader) {
        Ok(ledger) => {
            let findings = ledger.mismatches(!runs.is_empty());
            // What is wrong with the ledger is said once, and not of each run.
            let is_whole = findings.is_empty() && !is_cut_off(log.backend().as_ref());
            let unnamed = runs.iter().filter(|_| is_whole);
            let unnamed =
                unnamed.filter_map(|run| Some(Finding::of_run(*run, ledger.mismatch(*run)?)));
            let unnamed: Vec<Finding> = unnamed.collect();
            findings.into_iter().chain(unnamed).collect()
        }
        Err(LogError::Damaged { fault: why, .. }) => {
            vec![Finding::of_file(LedgerFault::Unreadable { why })]
        }
        Err(error) => return Err(error.into()),
    };
    found.extend(ledger);
    for lost in log.backend().lost() {
        let is_it = |other: &Finding| lost.run.is_some() && other.run == lost.run;
        if !known.iter().chain(&found).any(is_it) {
            found.push(lost);
        }
    }
    found.extend(log.backend().damaged());
    Ok(found)
}

/// Shows what is left of a run: one that is `known` to be damaged, or found to be when it is read.
/// `None` if it is not damaged.
pub(crate) fn show(
    selected: &Selected,
    known: Option<Damage>,
    part: Option<&Target>,
    output: &Output,
) -> Result<Option<Status>, CliError> {
    let seq = match part {
        Some(Target::Seq(seq)) => Some(*seq),
        _ => None,
    };
    let (log, run) = (selected.log.backend().as_ref(), selected.run);
    let Some(ReadableRest { damage, counted: left, event }) = readable_rest(log, run, known, seq)?
    else {
        return Ok(None);
    };
    output.damaged(&damage)?;
    // All events before the first that is damaged are there.
    let before = left.as_ref().map_or(damage.seq.0 - 1, |left| left.trusted.values().sum());
    if output.is_json() {
        let (kinds, after) = (left.as_ref().map(|left| &left.trusted), left.as_ref());
        output.object(&json!({
            "run": run, "trusted": {"events": before, "kinds": kinds},
            "events_after": after.map(|left| left.after), "event": event.as_ref().map(as_json),
        }))?;
        return Ok(Some(Status::Difference));
    }
    let mut text = format!("run {run}\n");
    let sound = match before {
        1 => "1 event that matches its hash".to_owned(),
        n => format!("{} that match their hashes", counted(n, "event")),
    };
    let kinds = left.iter().flat_map(|left| &left.trusted);
    let kinds: Vec<String> = kinds.map(|(kind, n)| format!("{n} {kind}")).collect();
    let kinds = if kinds.is_empty() { String::new() } else { format!(" ({})", kinds.join(", ")) };
    // Writing to a string cannot fail.
    let _ = writeln!(text, "before it: {sound}{kinds}");
    let _ = match &left {
        Some(left) => {
            writeln!(text, "from it on: {} can still be read", counted(left.after, "event"))
        }
        None => {
            writeln!(text, "from it on: in a run as long as this, what can be read is not counted")
        }
    };
    if let Some(event) = event {
        text.push('\n');
        for (key, value) in as_json(&event).as_object().into_iter().flatten() {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let _ = writeln!(text, "{key}: {value}");
        }
    }
    let hint =
        "`retold serve` shows what can be read; `retold verify` names everything that is damaged";
    let _ = writeln!(text, "{}", typed(hint));
    output.text(&text)?;
    Ok(Some(Status::Difference))
}
