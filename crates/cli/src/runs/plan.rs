//! The plan by which a run is recorded.

use crate::error::CliError;
use crate::global::Global;
use crate::select;
use retold::escaping::printable;
use retold::event::{PROGRAM, RunStarted};
use retold::log::Log;
use retold_plan::{NamedPlan, RegisteredPlan};

/// How much of a name is shown, in characters.
const SHOWN: usize = 60;

/// A plan in a log.
pub(crate) struct PlanInLog {
    named: NamedPlan,
    plan: RegisteredPlan,
}

impl PlanInLog {
    /// Finds it by its run.
    pub(crate) fn find(name: &str, log: &Log, global: &Global) -> Result<Self, CliError> {
        let found = select::find(log, name, global)?;
        let (run, head) = (found.run, found.head);
        select::sound(log, run, "nothing was recorded")?;
        let registered = RegisteredPlan::of(&select::run_start(log.reader()?.as_mut(), run)?);
        let plan = registered.ok_or_else(|| {
            CliError::usage(format!("run {run} is not a plan"))
                .hint("`retold plan --register` registers one; `retold log` lists the runs")
        })?;
        Ok(PlanInLog { named: NamedPlan { run, head }, plan })
    }

    /// The name of the runs of a planned program.
    pub(crate) fn program_name(&self) -> Option<&str> {
        self.plan.is_of_program().then_some(self.plan.study.as_str())
    }

    /// Names it in the beginning of a run, which has to be of its study.
    pub(crate) fn record(&self, started: &mut RunStarted) -> Result<(), CliError> {
        let PlanInLog { named, plan } = self;
        if plan.is_of(started) {
            named.record(started);
            return Ok(());
        }
        let study = printable(&plan.study, SHOWN);
        let of = match plan.is_of_program() {
            true => format!("programs' runs with the name {study}"),
            false => study,
        };
        let this = match (started.experiment == PROGRAM, started.name()) {
            (false, _) => format!("the config is of {}", printable(&started.experiment, SHOWN)),
            (true, Some(name)) => format!("this run has the name {}", printable(name, SHOWN)),
            (true, None) => "this run is of a program".to_owned(),
        };
        Err(CliError::usage(format!("run {} is a plan of {of}, and {this}", named.run)))
    }
}
