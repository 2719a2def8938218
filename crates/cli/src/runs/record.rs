//! Records a run from a config.

use std::path::PathBuf;

use crate::error::{CliError, write_err};
use crate::global::Global;
use crate::model::ModelArgs;
use crate::run_id::new_run_id;
use crate::runs::answers;
use crate::runs::conclusion::RunConclusion;
use crate::runs::config::{NamedConfig, drawn_seed_of, remember_drawn_seed};
use crate::runs::first_event::first_event;
use crate::runs::folder::{FolderArgs, OutputFolder};
use crate::runs::pending::PendingRun;
use crate::runs::person::with_person;
use crate::runs::plan::PlanInLog;
use crate::runs::session::StudyExecution;
use crate::runs::unfinished::{self, StudyLease};
use retold::event::RunStarted;
use retold::log::Log;
use retold::model::Answerer;
use retold::run::Mode;
use retold_study::config::ModelKind;
use retold_study::study::{SettingsOf, Study};

/// A run to be recorded.
pub(crate) struct StudyRecording {
    /// Its config; `None` if a command made its settings.
    pub(crate) config: Option<NamedConfig>,
    pub(crate) study: Study,
    pub(crate) model: ModelArgs,
    pub(crate) log_limit: Option<u64>,
    /// Whether to start it even if another run with its name is unfinished.
    pub(crate) new: bool,
    pub(crate) folder: FolderArgs,
    /// The person who takes part, if any.
    pub(crate) seat: Option<Answerer>,
    /// The phase after which it stops; `None` if it goes on to its end.
    pub(crate) until: Option<String>,
    /// The run of the plan by which it is recorded, as it was named.
    pub(crate) plan: Option<String>,
}

impl StudyRecording {
    /// A run of a study to its end, which nobody plays and nobody planned.
    pub(crate) fn new(study: Study, model: ModelArgs) -> Self {
        StudyRecording {
            config: None,
            study,
            model,
            log_limit: None,
            new: false,
            folder: FolderArgs::default(),
            seat: None,
            until: None,
            plan: None,
        }
    }
}

/// A run that is about to be recorded.
pub(crate) fn recording_to_begin(
    recording: StudyRecording,
    global: &Global,
) -> Result<PendingRun, CliError> {
    let log_limit = recording.log_limit;
    let prepared = PreparedRecording::new(recording, global)?;
    prepared.begin(&log_to_record(log_limit, global)?, global)
}

/// The log, which is created if it does not exist.
pub(crate) fn log_to_record(log_limit: Option<u64>, global: &Global) -> Result<Log, CliError> {
    Ok(Log::new(global.open_or_create_within(log_limit)?))
}

/// A run to be recorded, about which everything is known that can be found out without the log.
pub(crate) struct PreparedRecording {
    config: Option<NamedConfig>,
    study: Study,
    model: ModelArgs,
    new: bool,
    is_played: bool,
    answerer: Answerer,
    started: RunStarted,
    flags: FolderArgs,
    folder: Option<OutputFolder>,
    until: Option<String>,
    plan: Option<String>,
}

impl PreparedRecording {
    /// Finds all errors before the log is changed.
    pub(crate) fn new(recording: StudyRecording, global: &Global) -> Result<Self, CliError> {
        let StudyRecording {
            config,
            mut study,
            model,
            log_limit: _,
            new,
            folder: flags,
            seat,
            until,
            plan,
        } = recording;
        let studies = global.studies;
        let until = match until {
            Some(phase) => studies.until(&study.experiment, &study.settings.experiment, &phase)?,
            None => None,
        };
        model.apply(studies, &study.experiment, &mut study.settings)?;
        if let Some(config) = &config {
            model.keys_fit(&study.settings.runtime, config)?;
        }
        let runtime = study.settings.runtime.clone();
        let scripted = match runtime.model.kind {
            ModelKind::Scripted => Some(model.scripted_model(&runtime, Mode::Record)?),
            ModelKind::Simulated | ModelKind::Server(_) => None,
        };
        let answerer: Answerer = match &scripted {
            Some(scripted) => scripted.clone(),
            None => model.make(studies, &study.experiment, study.seed, &runtime, Mode::Record)?,
        };
        model.endpoints_are_used(studies, &study.experiment, &study.settings, None)?;
        ModelArgs::can_be_asked(studies, &study.experiment, &study.settings, &answerer)?;
        ModelArgs::are_listed(studies, &study.experiment, &study.settings, &answerer)?;
        let is_played = seat.is_some();
        let settings = &study.settings.experiment;
        let answerer = with_person(studies, answerer, seat, &study.experiment, settings)?;
        let folder = OutputFolder::new(studies, &study.experiment, settings, flags)?;
        if let Some(folder) = &folder {
            flags.accepts(folder)?;
            folder.can_be_made()?;
        }
        // A person may be asked first.
        let scripted = scripted.filter(|_| !is_played);
        if let Some(NamedConfig { path, settings, model, .. }) = &config {
            studies.supply(path, &mut study, settings, model.trust)?;
        }
        let started = first_event(&study, answerer.as_ref())?;
        if let Some(scripted) = &scripted {
            answers::begin_a_run(scripted, &started, &study.settings, global)?;
        }
        Ok(PreparedRecording {
            config,
            study,
            model,
            new,
            is_played,
            answerer,
            started,
            flags,
            folder,
            until,
            plan,
        })
    }

    /// The folder that it will write, unless that is taken by then.
    pub(crate) fn folder(&self) -> Option<PathBuf> {
        self.folder.as_ref().map(OutputFolder::place)
    }

    /// Claims the study and its folder. Nothing is recorded yet.
    pub(crate) fn begin(self, log: &Log, global: &Global) -> Result<PendingRun, CliError> {
        let PreparedRecording {
            config,
            study,
            model,
            new,
            is_played,
            answerer,
            mut started,
            flags,
            folder,
            until,
            plan,
        } = self;
        if let Some(plan) = &plan {
            PlanInLog::find(plan, log, global)?.record(&mut started)?;
        }
        let mut claims = Vec::new();
        if let Some(config) = config.filter(|_| !new) {
            let model = &started.model;
            claims.push(unfinished::none_of(global.studies, &config, &study, model, log)?);
        }
        let (folder, claim, flags) = match folder {
            Some(folder) => choose_folder(folder, &study, log, new, flags, global)?,
            None => (None, None, flags),
        };
        claims.extend(claim);
        flags.remember(&mut started.settings);
        remember_drawn_seed(&study, &mut started.settings);
        global.studies.record_name(&mut started);
        let run = new_run_id()?;
        let conclusion = RunConclusion {
            is_new: true,
            log: log.clone(),
            run,
            experiment: study.experiment,
            simulated: answerer.info().simulated,
            folder,
            phase_files: None,
            limits: study.settings.runtime.limits,
            settings_of: SettingsOf::Config,
            drawn_seed: drawn_seed_of(&started),
            servers: model.named_again(&study.settings.runtime.model),
        };
        let execution = StudyExecution {
            batch_wait: model.batches.batch_wait(),
            prices: model.prices()?,
            model: Some(answerer),
            until,
            ..StudyExecution::new(log.clone(), run, Mode::Record, started, study.settings)
        };
        Ok(PendingRun { execution, conclusion, is_finished: false, is_played, claims })
    }
}

/// The folder that a run will write: the first free one with its name. It is claimed, unless the
/// name is, and its number is recorded.
pub(crate) fn choose_folder(
    folder: OutputFolder,
    study: &Study,
    log: &Log,
    new: bool,
    flags: FolderArgs,
    global: &Global,
) -> Result<(Option<OutputFolder>, Option<StudyLease>, FolderArgs), CliError> {
    let first = folder.place();
    // Otherwise, no run with the name is unfinished.
    let taken = if new { unfinished::folders(global.studies, study, log)? } else { Vec::new() };
    let mut claim = None;
    let (folder, number) = folder.next_free(|number, name| {
        if taken.contains(&number) {
            return Ok(true);
        }
        claim = unfinished::claim_folder(study, name, log)?;
        // The claim on the name includes the first folder.
        Ok(claim.is_none() && (new || number > 1))
    })?;
    if number > 1 {
        let (first, chosen) = (first.display(), folder.place());
        let chosen = chosen.display();
        write_err(&format!("{first} is taken: the outputs of this run go to {chosen}\n"));
    }
    Ok((Some(folder), claim, flags.with_number(number)))
}
