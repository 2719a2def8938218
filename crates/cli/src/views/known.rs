//! What is known of a run before anything of it is shown.

use retold::id::{RunId, Seq};
use retold::log::Log;
use retold_archive::{
    Damage, Verdict, is_cut_off, is_long, ledger_mismatch, missing_end, recall, verdict_as_kept,
};

use crate::error::{CliError, Status};
use crate::output::Output;
use crate::progress;
use crate::search::cache;

/// Whether a long run is verified before a part of it is shown.
#[derive(Debug, Clone, Copy, Default, clap::Args)]
pub(crate) struct AtOnce {
    /// Do not verify a run of more than 100,000 events first, as is otherwise done once until the
    /// log changes. Only what is read is checked.
    #[arg(long)]
    unverified: bool,
}

/// What is known of a run before a part of it is shown.
pub(crate) struct Known {
    /// What is wrong with it.
    pub(crate) verdict: Verdict,
    /// Its last event, if it was not to be verified and has not been since the log was changed.
    pub(crate) unverified: Option<Seq>,
}

impl Known {
    /// A run is verified, or what was found when it was last verified still holds.
    pub(crate) fn new(log: &Log, run: RunId, output: &Output) -> Result<Self, CliError> {
        let backend = log.backend().as_ref();
        let is_long = is_long(log.reader()?.as_mut(), run);
        let verdict = match backend.file() {
            // What was read into memory was verified then.
            None if is_long => {
                Verdict { from: end(log, run)?, whole: ledger_mismatch(backend, run)? }
            }
            _ => {
                let _shown = is_long.then(|| progress::verifying(output));
                verdict_as_kept(cache().as_deref(), backend, run, output.elapsed())?
            }
        };
        Ok(Known { verdict, unverified: None })
    }

    /// The same, unless a long run is not to be verified: then damage of it is noticed when it is read.
    pub(crate) fn begin(
        log: &Log,
        run: RunId,
        AtOnce { unverified }: AtOnce,
        output: &Output,
    ) -> Result<Self, CliError> {
        let backend = log.backend().as_ref();
        // A recording was verified when it was read.
        let Some(file) = backend.file().filter(|_| unverified) else {
            return Known::new(log, run, output);
        };
        let kept = cache().and_then(|cache| recall(&cache, file, run));
        if kept.is_some() || !is_long(log.reader()?.as_mut(), run) {
            return Known::new(log, run, output);
        }
        let last = last(log, run)?.unwrap_or_default();
        let from = missing_end(backend, run, last)?;
        // Where something is missing, something before it may be damaged too.
        let is_damaged = from.is_some()
            || is_cut_off(backend)
            || backend.damaged().is_some()
            || !backend.lost().is_empty();
        if is_damaged {
            return Known::new(log, run, output);
        }
        let whole = ledger_mismatch(backend, run)?;
        Ok(Known { verdict: Verdict { from: None, whole }, unverified: Some(last) })
    }

    /// Says before anything else that a run is damaged, that it is not known whether it is whole, or that it is
    /// not verified; returns the error to end with.
    pub(crate) fn say(&self, run: RunId, output: &Output) -> Result<Option<CliError>, CliError> {
        let error = self.error(run);
        match &self.verdict {
            Verdict { from: Some(damage), .. } => output.damaged(damage)?,
            Verdict { whole: Some(fault), .. } => output.unconfirmed(fault)?,
            _ => {}
        }
        if let Some(last) = self.unverified {
            output.not_verified(last);
        }
        Ok(error)
    }

    /// An error about something that was not found in the run. Damage may have hidden it, so now the run is
    /// verified, however long it is.
    pub(crate) fn not_found(
        &self,
        log: &Log,
        run: RunId,
        error: CliError,
        output: &Output,
    ) -> Result<CliError, CliError> {
        let known = Known::new(log, run, output)?;
        known.say(run, output)?;
        Ok(match known.verdict.is_damaged() {
            true => CliError { status: Status::Difference, ..error }.hint(format!(
                "damage may hide it: `retold log {}` reads event by event",
                run.short(8)
            )),
            false => error,
        })
    }

    /// The error to end with after something of the run was shown, if anything is wrong with it.
    pub(crate) fn error(&self, run: RunId) -> Option<CliError> {
        match &self.verdict {
            Verdict { from: Some(damage), .. } => Some(super::damaged::error(run, damage.clone())),
            Verdict { whole: Some(fault), .. } => {
                let error = CliError::new(Status::Difference, format!("run {run}: {fault}"));
                Some(error.hint("`retold verify` names everything that is damaged"))
            }
            _ => None,
        }
    }
}

/// The first event that is missing at the end of a run, if its end is.
pub(crate) fn end(log: &Log, run: RunId) -> Result<Option<Damage>, CliError> {
    match last(log, run)? {
        Some(last) => Ok(missing_end(log.backend().as_ref(), run, last)?),
        None => Ok(None),
    }
}

/// The last event that there is of a run.
fn last(log: &Log, run: RunId) -> Result<Option<Seq>, CliError> {
    let head = log.reader()?.runs()?.into_iter().find(|head| head.run == run);
    Ok(head.map(|head| head.head.seq))
}
