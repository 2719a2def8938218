//! A plan as the log has it.

use serde_json::Value;

use crate::error::{CliError, Status};
use crate::global::Global;
use crate::run_id::new_run_id;
use crate::runs::record::log_to_record;
use retold::escaping::printable;
use retold::id::RunId;
use retold::log::{Head, Log};
use retold::members::Members;
use retold::run::clock;
use retold_plan::RegisteredPlan;

/// A plan in the log.
pub(super) struct StoredPlan {
    run: RunId,
    name: String,
    head: Head,
    is_new: bool,
}

impl StoredPlan {
    /// Writes a plan to the log, unless it is there already.
    pub(super) fn store(
        plan: &RegisteredPlan,
        of: &str,
        global: &Global,
    ) -> Result<Self, CliError> {
        let name = format!("{of}-plan");
        let log = log_to_record(None, global)?;
        let known = plan.find(log.reader()?.as_mut())?;
        let run = match known {
            Some(run) => run,
            None => {
                let run = new_run_id()?;
                plan.store(log.backend().as_ref(), (run, &name), clock::now())?;
                run
            }
        };
        let head = head_of(&log, run)?;
        Ok(StoredPlan { run, name, head, is_new: known.is_none() })
    }

    pub(super) fn add_to(&self, object: &mut Value) {
        object.set("plan", self.run.to_string().into());
        object.set("head", self.head.hash.to_string().into());
        object.set("is_new", self.is_new.into());
    }

    /// Where it is, and the command that records by it.
    pub(super) fn text(&self, records: &str) -> String {
        let StoredPlan { run, name, head, is_new } = self;
        let shown = run.short(8);
        let stored = match is_new {
            true => {
                format!("registered as {}, run {run}, head {}", printable(name, 100), head.hash)
            }
            false => format!("run {run} is this plan already, head {}", head.hash),
        };
        let command = match records.starts_with("record") {
            true => format!("retold {records} {shown} -- CMD"),
            false => format!("retold {records} {shown}"),
        };
        format!(
            "{stored}\n`{command}` records by it; `retold verify seal {shown} --key KEY` signs it, and `retold show {shown}` shows it again\n"
        )
    }
}

/// The end of the plan's run.
fn head_of(log: &Log, run: RunId) -> Result<Head, CliError> {
    let head = log.reader()?.runs()?.into_iter().find(|head| head.run == run);
    head.map(|head| head.head)
        .ok_or_else(|| CliError::new(Status::Io, "the plan is not in the log any more"))
}
