//! A run that is about to be executed: everything that can be refused has been found out, and nothing is recorded yet.

use crate::error::{CliError, Status};
use crate::global::Global;
use crate::output::Output;
use crate::runs::concluded::ConcludedRun;
use crate::runs::conclusion::RunConclusion;
use crate::runs::continuation;
use crate::runs::expected_time::ExpectedTime;
use crate::runs::session::{self, StudyExecution};
use crate::runs::shortfalls::longer;
use crate::runs::trace::{TraceTo, phase_files};
use crate::runs::unfinished::StudyLease;
use retold::run::Mode;

/// A run that is about to be executed.
pub(crate) struct PendingRun {
    pub(crate) execution: StudyExecution,
    pub(crate) conclusion: RunConclusion,
    /// Whether it asks nothing, because it was finished before.
    pub(crate) is_finished: bool,
    /// Whether a person plays, who is not shown a log.
    pub(crate) is_played: bool,
    /// The claims on its study and its folder, held until it has ended.
    pub(crate) claims: Vec<StudyLease>,
}

impl PendingRun {
    /// Begins its log file. `label` is the run's name on the console, if there are others.
    pub(crate) fn begin_trace(
        &mut self,
        label: Option<&str>,
        global: &Global,
    ) -> Result<(), CliError> {
        let StudyExecution { mode, started, settings, .. } = &self.execution;
        let (experiment, settings) = (&started.experiment, &settings.experiment);
        let folder = self.conclusion.folder.as_ref();
        let files = phase_files(experiment, settings, folder, global)?;
        if let (Mode::Record, Some(left_behind)) = (mode, &files) {
            // By a run with the same name that was abandoned.
            left_behind.remove();
        }
        self.conclusion.phase_files.clone_from(&files);
        let name = self.execution.run.short(8);
        let go_on = continuation::command(global.studies, started, &name);
        let RunConclusion { servers, limits, .. } = &self.conclusion;
        let longer = format!("{go_on}{servers}{}", longer(limits));
        // A finished run has nothing new to report.
        self.execution.trace = match (self.is_finished, self.is_played) {
            (true, _) => None,
            (false, true) => Some(TraceTo::of_play(longer)),
            (false, false) => {
                let to = TraceTo::new(experiment, settings, folder, files, *mode, longer, global)?;
                Some(to.with_label(label))
            }
        };
        Ok(())
    }

    /// Lets it stop after a phase.
    ///
    /// # Errors
    /// If its study has no such phase.
    pub(crate) fn until(
        mut self,
        phase: Option<String>,
        global: &Global,
    ) -> Result<Self, CliError> {
        if let Some(phase) = phase {
            let StudyExecution { started, settings, .. } = &self.execution;
            let until = global.studies.until(&started.experiment, &settings.experiment, &phase)?;
            if self.is_finished && until.is_some() {
                let run = self.execution.run.short(8);
                let message = format!("run {run} has finished: it cannot stop after {phase}");
                return Err(CliError::usage(message));
            }
            self.execution.until = until;
        }
        Ok(self)
    }

    /// Shows what has come out at each of its marks, if that is asked for.
    pub(crate) fn so_far(mut self, so_far: bool) -> Self {
        self.execution.so_far = so_far;
        self
    }

    /// Executes it and reports how it ended.
    pub(crate) fn go(self, global: &Global, output: &Output) -> Result<Status, CliError> {
        self.conclude(global)?.report(global, output)
    }

    /// Executes it.
    pub(crate) fn conclude(mut self, global: &Global) -> Result<ConcludedRun, CliError> {
        self.begin_trace(None, global)?;
        let PendingRun { execution, conclusion, claims: _claims, .. } = self;
        let limits = session::limits_of(&execution, global);
        let expected = ExpectedTime::new(&execution, &limits, global)?;
        let expected = expected.map(|ExpectedTime { answers, text }| (answers, text));
        let ended = session::go_expecting(execution, expected, global)?;
        conclusion.of(ended, global)
    }
}
