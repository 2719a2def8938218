//! Several runs in one command: all are checked before the first call of any, executed at the same time, and summed up.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::error::{CliError, Status, write_err};
use crate::global::Global;
use crate::model::ModelArgs;
use crate::output::Output;
use crate::runs::config::NamedConfig;
use crate::runs::folder::FolderArgs;
use crate::runs::pending::PendingRun;
use crate::runs::record::{PreparedRecording, StudyRecording, log_to_record};
use crate::runs::resume::{find_same_study, this_run};
use crate::runs::session;
use crate::runs::summary::{RunSummary, print_summary};
use crate::select::{self, names_a_file};
use retold::log::Log;
use retold_study::shard::Shard;
use retold_study::study::Study;

/// Runs to be recorded or continued in one command.
pub(crate) struct SeveralRuns {
    /// Configs; or, to be continued, also runs.
    pub(crate) named: Vec<PathBuf>,
    pub(crate) experiment: Option<String>,
    pub(crate) settings: Vec<String>,
    pub(crate) shard: Option<Shard>,
    pub(crate) model: ModelArgs,
    pub(crate) log_limit: Option<u64>,
    pub(crate) resume: bool,
    pub(crate) new: bool,
    pub(crate) until: Option<String>,
    pub(crate) so_far: bool,
    pub(crate) folder: FolderArgs,
}

/// A run that may go on, or begin.
enum ReadyRun {
    Continued(Box<PendingRun>),
    New(Box<PreparedRecording>),
}

/// What all of them make, or everything that is in the way of one, so that it can be mended at once.
fn all_or_every_obstacle<T>(
    each: impl Iterator<Item = Result<T, CliError>>,
) -> Result<Vec<T>, CliError> {
    let (mut made, mut obstacles) = (Vec::new(), None::<CliError>);
    for result in each {
        match (result, obstacles.take()) {
            (Ok(one), earlier) => {
                made.push(one);
                obstacles = earlier;
            }
            (Err(error), None) => obstacles = Some(error),
            (Err(error), Some(earlier)) => obstacles = Some(earlier.and_also(error)),
        }
    }
    obstacles.map_or(Ok(made), Err)
}

/// Executes the runs. One that fails does not stop the others; the exit code is that of the worst.
pub(crate) fn run_all(
    several: SeveralRuns,
    global: &Global,
    output: &Output,
) -> Result<Status, CliError> {
    let (shared_budget, prices) =
        (several.model.budget().shared_budget()?, several.model.prices()?);
    let mut pending = match several.resume {
        false => several.recordings(global)?,
        true => several.continuations(global)?,
    };
    let mut names = Vec::new();
    for pending in &mut pending {
        let (started, run) = (&pending.execution.started, pending.execution.run);
        let name = global.studies.run_name(started).unwrap_or_else(|| run.short(8));
        if pending.is_finished {
            write_err(&format!("{name} is finished: nothing is asked again\n"));
            if let Some(budget) = &shared_budget {
                budget.count_recorded(pending.execution.log.reader()?.as_mut(), run)?;
            }
        }
        pending.execution.so_far = several.so_far;
        pending.begin_trace(Some(&name), global)?;
        names.push(name);
    }
    let (mut executions, mut conclusions, mut claims) = (Vec::new(), Vec::new(), Vec::new());
    for PendingRun { execution, conclusion, claims: of_run, .. } in pending {
        executions.push(execution);
        conclusions.push(std::cell::Cell::new(Some(conclusion)));
        claims.extend(of_run);
    }
    let ended = session::go_all(executions, shared_budget, global, |number, ended| {
        let conclusion = conclusions.get(number).and_then(std::cell::Cell::take);
        let name = names.get(number).cloned().unwrap_or_default();
        // Each is called once.
        let concluded = conclusion.map(|conclusion| {
            let concluded = conclusion.of(ended?, global)?;
            concluded.store(global)?;
            Ok(concluded)
        });
        concluded.map(|concluded| RunSummary::new(name, concluded, &prices, global))
    })?;
    drop(claims);
    let summaries: Vec<RunSummary> = ended.into_iter().flatten().collect();
    print_summary(summaries, output)
}

impl SeveralRuns {
    fn config(&self, path: &Path) -> NamedConfig {
        NamedConfig {
            path: path.to_owned(),
            experiment: self.experiment.clone(),
            settings: self.settings.clone(),
            shard: self.shard,
            model: self.model.clone(),
        }
    }

    fn recording(&self, config: NamedConfig, study: Study) -> StudyRecording {
        StudyRecording {
            config: Some(config),
            log_limit: self.log_limit,
            new: self.new,
            folder: self.folder,
            until: self.until.clone(),
            ..StudyRecording::new(study, self.model.of_each())
        }
    }

    /// New runs. Nothing is written before each of them may begin.
    fn recordings(&self, global: &Global) -> Result<Vec<PendingRun>, CliError> {
        let prepared = self.named.iter().map(|path| {
            let config = self.config(path);
            let study = config.study(global.studies)?;
            PreparedRecording::new(self.recording(config, study), global)
        });
        let prepared = all_or_every_obstacle(prepared)?;
        self.write_different_folders(&prepared)?;
        let log = log_to_record(self.log_limit, global)?;
        all_or_every_obstacle(prepared.into_iter().map(|prepared| prepared.begin(&log, global)))
    }

    /// Refuses configs with one name: the second would wait for the first.
    fn write_different_folders(&self, prepared: &[PreparedRecording]) -> Result<(), CliError> {
        let mut taken: Vec<(PathBuf, &Path)> = Vec::new();
        let each = prepared.iter().zip(&self.named).map(|(prepared, path)| {
            let Some(folder) = prepared.folder() else { return Ok(()) };
            if let Some((_, earlier)) = taken.iter().find(|(other, _)| *other == folder) {
                let (folder, earlier) = (folder.display(), earlier.display());
                let message = format!("{earlier} and {} would both write {folder}", path.display());
                return Err(CliError::usage(message)
                    .hint("nothing was recorded: give each config a name of its own"));
            }
            taken.push((folder, path));
            Ok(())
        });
        all_or_every_obstacle(each).map(drop)
    }

    /// Runs to be continued. A config without a run is recorded, and a finished run is only read.
    fn continuations(&self, global: &Global) -> Result<Vec<PendingRun>, CliError> {
        let log = select::open(global)?;
        let ready = self.named.iter().map(|named| {
            if names_a_file(global, &named.to_string_lossy()) {
                return self.study_continued(&log, named, global);
            }
            let (name, model) = (named.to_string_lossy(), self.model.of_each());
            let continued = this_run(
                log.clone(),
                Some(&name),
                self.settings.clone(),
                model,
                self.folder,
                global,
            )?;
            Ok(ReadyRun::Continued(Box::new(continued)))
        });
        let ready = all_or_every_obstacle(ready)?;
        let pending = ready.into_iter().map(|ready| match ready {
            ReadyRun::Continued(continued) => Ok(*continued),
            ReadyRun::New(prepared) => prepared.begin(&log, global),
        });
        // One that is named twice is continued once.
        let mut taken = BTreeSet::new();
        let mut pending = all_or_every_obstacle(pending)?;
        pending.retain(|pending| taken.insert(pending.execution.run));
        let until = |pending: PendingRun| pending.until(self.until.clone(), global);
        pending.into_iter().map(until).collect()
    }

    fn study_continued(
        &self,
        log: &Log,
        path: &Path,
        global: &Global,
    ) -> Result<ReadyRun, CliError> {
        let config = self.config(path);
        let study = config.study(global.studies)?;
        match find_same_study(&config, &study, log, global)? {
            Some(found) => {
                let model = self.model.of_each();
                let continued = found.resume(log, &config, &study, model, self.folder, global)?;
                Ok(ReadyRun::Continued(Box::new(continued)))
            }
            None => {
                let prepared = PreparedRecording::new(self.recording(config, study), global)?;
                write_err(&format!("{} has no run yet: one is started\n", path.display()));
                Ok(ReadyRun::New(Box::new(prepared)))
            }
        }
    }
}
